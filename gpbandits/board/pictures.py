"""A page that asks which of two pictures is better, and draws the posterior of the utilities beside them."""

import copy
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from agents.tuning import Linear, PreferenceTuner
from gpbandits.board.app import GUARD, SAFE, answer_with, body_of
from gpbandits.report.chart import rendered

SPACE = {"brightness": Linear(0.4, 1.8), "contrast": Linear(0.4, 1.8)}
NUM_ARMS = 128
LONGEST = 1000  # bytes of an answer, which has some 40
RESTART = "the answer is not kept; mend this, or restart the page where another one writes the file"


class OpenQuestion:
    """A preference tuner in a file, whose open question the page shows.

    Every answer and every question is written before it is shown, so a page that is closed loses none, and
    what cannot be written, on a full disk or where another page has written the file, has not happened.
    """

    def __init__(self, file: Path, seed: int = 0):
        self.file, self._lock = file, threading.RLock()
        fresh = PreferenceTuner(SPACE, num_arms=NUM_ARMS, seed=seed)
        self.tuner = PreferenceTuner.load(file) if file.exists() else fresh
        names = ", ".join(self.tuner.space.kinds)
        if self.tuner.space.kinds != SPACE:
            raise ValueError(f"FILE must be a tuner of {', '.join(SPACE)}, got one of {names}")

    def state(self) -> dict[str, Any]:
        """Return the open question, asking one if there is none, and what the answers say."""
        with self._lock:
            if all(each.outcome is not None or each.dropped for each in self.tuner.questions[-1:]):
                self._keep(PreferenceTuner.ask)
            tuner = self.tuner
        told = [each for each in tuner.questions if each.outcome is not None]
        mean, std = tuner.utilities()
        return {
            "ticket": len(tuner.questions) - 1,
            "pair": list(tuner.questions[-1].pair),
            "told": [[*each.pair, each.outcome] for each in told],
            "points": [[point[name] for name in SPACE] for point in tuner.points],
            "mean": mean.round(6).tolist(),
            "std": std.round(6).tolist(),
            "best": int(mean.argmax()) if told else None,  # where the difference to the best is 0
        }

    def answer(self, text: bytes) -> dict[str, Any]:
        """Keep an answer, a JSON object of `ticket` and `winner`, and return the next state."""
        try:
            told = json.loads(text)
        except RecursionError as error:
            raise ValueError("an answer must be an object of ticket and winner, got a deep one") from error
        if not isinstance(told, dict) or told.keys() != {"ticket", "winner"}:
            raise ValueError(f"an answer must be an object of ticket and winner, got {told!r}")
        with self._lock:
            self._keep(lambda tuner: tuner.tell(**told))
            return self.state()

    def _keep(self, change: Callable[[PreferenceTuner], Any]) -> None:
        """Write the tuner with a change, and adopt it once it is written."""
        changed = copy.deepcopy(self.tuner)
        change(changed)
        try:
            changed.save(self.file)
        except (ValueError, OSError) as error:
            raise ValueError(f"{error}; {RESTART}") from error
        self.tuner = changed


def make_pictures(file: Path, seed: int = 0) -> Starlette:
    """Return the application that asks, and keeps its tuner in a file, which may exist already."""
    asked = OpenQuestion(file, seed)
    ranges = {name: (kind.low, kind.high) for name, kind in SPACE.items()}
    page = rendered("gpbandits.board", "pictures.html", file=str(file), ranges=ranges)

    async def index(request: Request) -> Response:
        return HTMLResponse(page, headers=SAFE)

    async def question(request: Request) -> Response:
        return await answer_with(asked.state)

    async def answer(request: Request) -> Response:
        # Another site's page cannot send this type without asking this server first, which says no.
        if request.headers.get("content-type") != "application/json":
            return JSONResponse({"error": "an answer must be JSON"}, status_code=415, headers=SAFE)
        text = await body_of(request, LONGEST)
        if text is None:
            return JSONResponse(
                {"error": f"an answer must have at most {LONGEST} bytes"}, status_code=413, headers=SAFE
            )
        return await answer_with(lambda: asked.answer(text))

    routes = [Route("/", index), Route("/question", question), Route("/answer", answer, methods=["POST"])]
    return Starlette(routes=routes, middleware=[GUARD])

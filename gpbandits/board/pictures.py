"""A page that asks which of two pictures is better, and draws the posterior of the utilities beside them."""

import json
import threading
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from agents.tuning import Linear, PreferenceTuner
from gpbandits.board.app import GUARD, SAFE, answer_with, rendered

SPACE = {"brightness": Linear(0.4, 1.8), "contrast": Linear(0.4, 1.8)}
NUM_ARMS = 128


class OpenQuestion:
    """A preference tuner in a file, whose open question the page shows.

    Every answer is written before the next question is shown, so a page that is closed loses none.
    """

    def __init__(self, file: Path, seed: int = 0):
        self.file, self._lock = file, threading.Lock()
        fresh = PreferenceTuner(SPACE, num_arms=NUM_ARMS, seed=seed)
        self.tuner = PreferenceTuner.load(file) if file.exists() else fresh
        names = ", ".join(self.tuner.space.kinds)
        if self.tuner.space.kinds != SPACE:
            raise ValueError(f"FILE must be a tuner of {', '.join(SPACE)}, got one of {names}")

    def state(self) -> dict[str, Any]:
        """Return the open question, asking one if there is none, and what the answers say."""
        with self._lock:
            return self._state()

    def answer(self, text: bytes) -> dict[str, Any]:
        """Keep an answer, a JSON object of `ticket` and `winner`, and return the next state."""
        told = json.loads(text)
        if not isinstance(told, dict) or told.keys() != {"ticket", "winner"}:
            raise ValueError(f"an answer must be an object of ticket and winner, got {told!r}")
        with self._lock:
            self.tuner.tell(**told)
            self.tuner.save(self.file)
            return self._state()

    def _state(self) -> dict[str, Any]:
        tuner = self.tuner
        told = [each for each in tuner.questions if each.outcome is not None]
        if all(each.outcome is not None or each.dropped for each in tuner.questions[-1:]):
            tuner.ask()
            tuner.save(self.file)
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


def make_pictures(file: Path, seed: int = 0) -> Starlette:
    """Return the application that asks, and keeps its tuner in a file, which may exist already."""
    asked = OpenQuestion(file, seed)
    ranges = {name: (kind.low, kind.high) for name, kind in SPACE.items()}
    page = rendered("pictures.html", file=str(file), ranges=ranges)

    async def index(request: Request) -> Response:
        return HTMLResponse(page, headers=SAFE)

    async def question(request: Request) -> Response:
        return await answer_with(asked.state)

    async def answer(request: Request) -> Response:
        # Another site's page cannot send this type without asking this server first, which says no.
        if request.headers.get("content-type") != "application/json":
            return JSONResponse({"error": "an answer must be JSON"}, status_code=415, headers=SAFE)
        text = await request.body()
        return await answer_with(lambda: asked.answer(text))

    routes = [Route("/", index), Route("/question", question), Route("/answer", answer, methods=["POST"])]
    return Starlette(routes=routes, middleware=[GUARD])

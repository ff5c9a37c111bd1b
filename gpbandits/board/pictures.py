"""A page that asks which of two pictures is better, and draws the posterior of the utilities beside them."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from agents.tuning import Linear, PreferenceTuner
from gpbandits.board.app import GUARD, SAFE, answer_with

SPACE = {"brightness": Linear(0.4, 1.8), "contrast": Linear(0.4, 1.8)}
NUM_ARMS = 128


class OpenQuestion:
    """A preference tuner in a file, whose open question the page shows.

    Every answer is written before the next question is shown, so a page that is closed loses none.
    """

    def __init__(self, file: Path, seed: int = 0):
        self.file, self._lock = file, threading.Lock()
        self.tuner = PreferenceTuner.load(file) if file.exists() else self._new(seed)
        if self.tuner.space.kinds != SPACE:
            raise ValueError(
                f"FILE must be a tuner of {', '.join(SPACE)}, got one of {', '.join(self.tuner.space.kinds)}"
            )

    @staticmethod
    def _new(seed: int) -> PreferenceTuner:
        return PreferenceTuner(SPACE, num_arms=NUM_ARMS, seed=seed)

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
            return self._state()

    def _state(self) -> dict[str, Any]:
        tuner = self.tuner
        last = len(tuner.questions) - 1
        if last < 0 or tuner.questions[last].outcome is not None or tuner.questions[last].dropped:
            last = tuner.ask()[0]
        tuner.save(self.file)
        mean, std = tuner.utilities()
        told = [each for each in tuner.questions if each.outcome is not None]
        best = tuner.points.index(tuner.recommend(anywhere=True).parameters) if told else None
        return {
            "ticket": last,
            "pair": list(tuner.questions[last].pair),
            "told": [[*each.pair, each.outcome] for each in told],
            "points": [[point[name] for name in SPACE] for point in tuner.points],
            "mean": mean.round(6).tolist(),
            "std": std.round(6).tolist(),
            "best": best,
        }


def make_pictures(file: Path, seed: int = 0) -> Starlette:
    """Return the application that asks, and keeps its tuner in a file, which may exist already."""
    comparison = OpenQuestion(file, seed)
    templates = Environment(
        loader=PackageLoader("gpbandits.board"), autoescape=True, undefined=StrictUndefined
    )
    ranges = {name: (kind.low, kind.high) for name, kind in SPACE.items()}
    page = templates.get_template("pictures.html").render(file=str(file), ranges=ranges)

    async def index(request: Request) -> Response:
        return HTMLResponse(page, headers=SAFE)

    async def question(request: Request) -> Response:
        return await answer_with(comparison.state)

    async def answer(request: Request) -> Response:
        # Another site's page cannot send this type without asking this server first, which says no.
        if request.headers.get("content-type") != "application/json":
            return JSONResponse({"error": "an answer must be JSON"}, status_code=415, headers=SAFE)
        text = await request.body()
        return await answer_with(lambda: comparison.answer(text))

    routes = [Route("/", index), Route("/question", question), Route("/answer", answer, methods=["POST"])]
    return Starlette(routes=routes, middleware=[GUARD])

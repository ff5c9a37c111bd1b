"""A trial for people: as a picture, as text, or in a notebook."""

from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.types import Floats
from bandit_envs.problem.simulator import SingleSimulator
from bandit_envs.rendering.scene import Scene

COLUMNS = 60
BLOCKS = "▁▂▃▄▅▆▇█"


class Picture(np.ndarray):
    """Hold an RGB array, (height, width, 3), that notebooks show as a picture."""

    def _repr_png_(self) -> bytes | None:
        if self.ndim != 3 or self.shape[2] != 3 or self.dtype != np.uint8:
            return None  # a slice of a picture is shown as an array
        with from_extra("eval", "pictures"):
            from PIL import Image

        file = BytesIO()
        Image.fromarray(np.ascontiguousarray(self)).save(file, format="PNG")
        return file.getvalue()


class Text(str):
    """Hold lines that notebooks show in a fixed-width font."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def render(simulator: SingleSimulator, mode: str, agent: object = None) -> Any:
    """Render the truth in the current context and segment, the plays there and their delivered feedback.

    The posterior of an agent is drawn if it has a method `posterior(observation)`.
    """
    scene = Scene.of(simulator, agent)
    if mode == "ansi":
        return Text(text(scene))
    with from_extra("eval", "pictures"):
        from bandit_envs.rendering.picture import draw

    return draw(scene).view(Picture)


def text(scene: Scene) -> str:
    """Return the last round in numbers, and the truth as a line of blocks above a mark of the last play."""
    head = f"{scene.name}: {scene.total} of {scene.horizon} rounds, regret {scene.regret:.4g}"
    news = f"delivered in the last round: {scene.arrivals}, reward {scene.reward:.4g}"
    news += f"; {scene.since}" if scene.since else ""
    place = scene.places[-1:] if len(scene.places) else None
    return "\n".join([head, news, *_sparkline(scene.order, scene.truth, place)]) + "\n"


def _sparkline(order: Floats, truth: Floats, place: Floats | None) -> list[str]:
    """Return one block a column, as high as the best truth in it, and the line of the mark."""
    edges = np.linspace(order.min(), order.max(), min(COLUMNS, len(order)) + 1)
    column = _column(edges, order)
    best = np.full(len(edges) - 1, -np.inf)
    np.maximum.at(best, column, truth)
    span = max(float(np.ptp(truth)), np.finfo(float).tiny)
    share = np.clip((best - truth.min()) / span, 0.0, 1.0)  # an empty column shows the lowest block
    line = "".join(BLOCKS[level] for level in np.round(share * (len(BLOCKS) - 1)).astype(int))
    return [line] if place is None else [line, " " * int(_column(edges, place)[0]) + "^ last play here"]


def _column(edges: Floats, order: Floats) -> Any:
    return np.clip(np.searchsorted(edges, order, side="right") - 1, 0, len(edges) - 2)

"""Place a setting's arms and contexts: sets or boxes, and both as one indexed decision set."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require, written_as
from bandit_envs.basics.types import Floats
from bandit_envs.problem.decisions import Decisions, corner

Box = tuple[Any, Any]  # low and high, (d,) each


def checked_places(arms: Any, box: Box, contexts: Any) -> dict[str, Any]:
    """Return a setting's fields of arms and contexts as arrays, or raise."""
    anchors = corner("low", box[0]) if arms is None else arms
    decisions = Decisions(anchors, contexts, *box)
    found = {
        "arms": None if arms is None else decisions.arms,
        "low": decisions.low,
        "high": decisions.high,
        "contexts": None if contexts is None else decisions.contexts,
    }
    return found if arms is None else {**found, "decisions": decisions}  # as the property computes it


def checked_context_box(arms: Any, contexts: Any, box: Box) -> dict[str, Any]:
    """Return a setting's bounds of contexts as arrays, {} without any, or raise."""
    low, high = box
    if low is None and high is None:
        return {}
    usable = arms is None and contexts is None and low is not None and high is not None
    expected = "both given, with neither arms nor contexts"
    require(usable, "context_low and context_high", expected, box)
    with written_as({"low": "context_low", "high": "context_high"}):
        found = Decisions(corner("low", low), None, low, high)
    return {"context_low": found.low, "context_high": found.high}


def corners_of(arms: Floats | None, box: Box, contexts: Floats | None, context_box: Box) -> Decisions:
    """Return arms and contexts as one indexed set; a box of either gives two corners."""
    if context_box[0] is not None:
        contexts = np.vstack(context_box)
    return Decisions(np.vstack(box) if arms is None else arms, contexts, *box, arms is None)

"""Make the law of the change-points from `change_points`, `num_segments` or `changes`."""

from __future__ import annotations

from typing import Any

from bandit_envs.basics.arguments import written_as
from bandit_envs.laws import changes as laws
from bandit_envs.laws.by_name import parse

WAYS = ("changes", "change_points", "num_segments")


def changes_of(changes: Any, change_points: Any, num_segments: Any) -> laws.Changes:
    """Return the law that one of the keywords describes; stationary if all are None.

    Args:
        changes: {"law": "stationary" | "at" | "evenly" | "geometric" | "recurring", ...}.
        change_points: the first rounds of new functions, as {"law": "at"} takes them.
        num_segments: the number of segments of equal length, as {"law": "evenly"} takes it.
    """
    given = dict(zip(WAYS, (changes, change_points, num_segments), strict=True))
    chosen = {way: value for way, value in given.items() if value is not None}
    if len(chosen) > 1:
        raise ValueError(f"give only one of {', '.join(WAYS)}, got {chosen}")
    if change_points is not None:
        with written_as({"rounds": "change_points"}):
            return laws.AtRounds(change_points)
    if num_segments is not None:
        return laws.Evenly(num_segments)
    return parse("changes", "stationary" if changes is None else changes, laws.LAWS)

"""Actions that a policy may choose: those that were available in a row, without those that it never may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_integer, require
from bandit_envs.basics.types import Bools, Floats, Ints
from gpbandits.logs.log import PlayLog
from gpbandits.logs.rows import require_rows


def allowed_actions(log: PlayLog, never: Sequence[Any] = ()) -> tuple[Bools, Ints] | None:
    """Return the different masks of actions that may be chosen, (S, A), and the index of each row's, (n,).

    None where all may be chosen in every row.
    """
    barred = _codes(log, never)
    if log.available is None and not barred:
        return None
    masks, row = log.available_sets
    allowed = masks.copy()
    allowed[:, barred] = False
    left = f"must have an available action beside those that are never chosen ({', '.join(map(str, never))})"
    some: Bools = np.logical_or.reduce(allowed, axis=1)
    require_rows(some[row], left, [log.actions[a] for a in log.action])
    return allowed, row


def restricted(probabilities: Floats, allowed: tuple[Bools, Ints] | None) -> Floats:
    """Return probabilities of the actions that may be chosen alone, over their sum, (n, A)."""
    if allowed is None:
        return probabilities
    masks, row = allowed
    kept = np.where(masks[row], probabilities, 0.0)
    total = kept.sum(axis=1, keepdims=True)
    words = "must have an available action that the policy chooses with some probability"
    require_rows(total[:, 0] > 0.0, words, total[:, 0])
    return kept / total


def _codes(log: PlayLog, never: Sequence[Any]) -> list[int]:
    listed = isinstance(never, list | tuple | set)
    known = {label: code for code, label in enumerate(log.actions)}
    codes = [int(a) if is_integer(a) else known.get(str(a), -1) for a in never] if listed else [-1]
    usable = all(0 <= code < log.num_actions for code in codes)
    require(usable, "never", f"a list of actions among {', '.join(log.actions[:20])}", never)
    return codes

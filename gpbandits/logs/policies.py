"""Policies that do not learn: the probability of each action, and which actions may be chosen in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_integer, require
from bandit_envs.basics.types import Bools, Floats, Ints
from gpbandits.logs.log import PlayLog, require_rows

ROUNDING = 1e-6  # by which probabilities may miss a sum of 1
CHUNK = 100_000  # contexts that are asked together


@dataclass(frozen=True)
class ContextPolicy:
    """Choose by the context.

    Args:
        probabilities: contexts (m, dz) -> probabilities of the actions (m, A).

    Example:
        >>> policy = ContextPolicy(lambda x: np.column_stack([x[:, 0] > 0, x[:, 0] <= 0]).astype(float))
    """

    probabilities: Callable[[Floats], Any]


FixedPolicy = ContextPolicy | Floats  # of an array, (A,) in every context, or (n, A) a row of the log


def is_fixed(policy: Any) -> bool:
    """Return whether this is a policy that does not learn: a `ContextPolicy`, or numbers."""
    if isinstance(policy, ContextPolicy):
        return True
    if not isinstance(policy, list | tuple | np.ndarray):
        return False
    require(len(policy), "policy", "a probability for each action", policy)
    named = isinstance(policy[0], str) or callable(policy[0])
    return not named and np.asarray(policy, dtype=object).ravel()[0] is not None


def probabilities_of(policy: Any, log: PlayLog) -> Floats:
    """Return the policy's probability of every action in each row, (n, A); of one for all rows a view."""
    size = len(log), log.num_actions
    if isinstance(policy, ContextPolicy):
        contexts, row = log.contexts
        parts = [contexts[start : start + CHUNK] for start in range(0, len(contexts), CHUNK)]
        table = np.concatenate([_checked(policy.probabilities(x), (len(x), size[1])) for x in parts])
        return np.broadcast_to(table, size) if len(table) == 1 else table[row]
    given = np.asarray(policy, dtype=np.float64)
    if given.ndim == 1:
        return np.broadcast_to(_checked(given[None], (1, size[1])), size)
    return _checked(given, size)


def _checked(values: Any, shape: tuple[int, int]) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    require(found.shape == shape, "policy", f"probabilities of shape {shape}", found.shape)
    right = (found >= 0.0).all(axis=1) & (np.abs(found.sum(axis=1) - 1.0) <= ROUNDING)
    complaint = "must have probabilities >= 0 that sum to 1"
    if len(found) == 1 and not right[0]:
        raise ValueError(f"policy {complaint}, got {found[0]}")
    require_rows(right, complaint, found)
    return found


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

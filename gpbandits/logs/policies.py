"""Policies that do not learn: the probability of each action, in every context or in each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats
from gpbandits.logs.log import PlayLog
from gpbandits.logs.rows import row_error

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
    numbers = isinstance(policy, list | tuple | np.ndarray) and not isinstance(policy[0], str)
    return numbers and np.asarray(policy, dtype=object).ravel()[0] is not None and not callable(policy[0])


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
    wrong = np.flatnonzero(~right)
    if len(wrong):
        complaint = f"must have probabilities >= 0 that sum to 1, got {found[wrong[0]]}"
        raise row_error(int(wrong[0]), complaint) if len(found) > 1 else ValueError(f"policy {complaint}")
    return found

"""Read the feedback in `info` as one record, whatever its shape."""

from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, shown
from bandit_envs.basics.types import Bools, Floats, Ints, fixed

FIRST, NO_COST = fixed(np.zeros(1, dtype=np.int64)), np.empty((1, 0))
REQUIRED = ("feedback_step", "feedback_reward")
OPTIONAL = ("feedback_cost", "feedback_std", "feedback_spent")
# raised by entries of a wrong type or shape
UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class Feedback(NamedTuple):
    """Hold the feedback delivered after a round: row i is what round `round[i]` of trial `trial[i]` earned.

    Trials ascend; a trial has any number of rows, none while everything is pending.
    """

    trial: Ints  # (n,)
    round: Ints  # (n,)
    reward: Floats  # (n,)
    cost: Floats  # (n, C)

    @classmethod
    def arrived(cls, info: dict[str, Any]) -> "Feedback":
        """Read the `info` of one environment, slots (K,), or of a batch, (B, K).

        Raises:
            ArgumentError: an entry is missing, of the wrong shape or type, or not finite; it names the entry.
        """
        try:
            mask = info["feedback_mask"]
            if mask.shape == (1,) and mask.item() and "feedback_cost" not in info:
                return cls._single(info["feedback_step"], info["feedback_reward"])
            if mask.ndim == 1:
                (row,) = mask.nonzero()
                trial = np.zeros(len(row), dtype=np.int64)
            else:
                row = trial, _ = mask.nonzero()
            rounds, reward = info["feedback_step"][row], info["feedback_reward"][row]
            cost = info["feedback_cost"][row] if "feedback_cost" in info else np.empty((len(trial), 0))
            _check_finite("feedback_reward", reward)
            if cost.size:
                _check_finite("feedback_cost", cost)
        except ArgumentError:
            raise
        except UNREADABLE as error:
            raise _damage(info) from error
        return cls(trial, rounds, reward, cost)

    @classmethod
    def _single(cls, rounds: Ints, reward: Floats) -> "Feedback":
        """Read one environment without delays and constraints, (1,) each, in a third of the time."""
        if not isfinite(reward.item()):
            raise ArgumentError("feedback_reward", f"must be finite, got {reward}")
        # A named tuple's own `__new__` is a call of Python's.
        return tuple.__new__(cls, (FIRST, rounds.copy(), reward.copy(), NO_COST))

    def where(self, kept: Bools) -> "Feedback":
        """Return the selected rows."""
        return Feedback(self.trial[kept], self.round[kept], self.reward[kept], self.cost[kept])


def feedback_stds(info: dict[str, Any]) -> Floats | None:
    """Return the noise std of each delivered reward, (n,), NaN for the setting's; None without any."""
    if "feedback_std" not in info:
        return None
    return _delivered(info, "feedback_std", lambda std: isnan(std) or 0.0 < std < inf, "positive and finite")


def spendings(info: dict[str, Any]) -> Floats | None:
    """Return the observed cost of each play that `Feedback.arrived` reads, (n,); None without a budget."""
    if "feedback_spent" not in info:
        return None
    return _delivered(info, "feedback_spent", isfinite, "finite")


def _delivered(info: dict[str, Any], key: str, usable: Callable[[float], bool], must: str) -> Floats:
    try:
        values = info[key][info["feedback_mask"]]
        valid = all(map(usable, values.tolist()))
    except UNREADABLE as error:
        raise _damage(info) from error
    if not valid:
        raise ArgumentError(key, f"must be {must}, got {values}")
    return values


def delivery(
    t: int,
    rounds: Ints,
    reward: Floats,
    cost: Floats,
    max_delay: int = 0,
    std: Floats | None = None,
    spent: Floats | None = None,
) -> dict[str, Any]:
    """Return the `info` of one environment's round with delivered feedback, as `Feedback.arrived` reads it.

    Args:
        t: the round, counted from 0.
        rounds: the rounds that earned it, at most t, (n,), distinct.
        reward, cost: of those rounds, (n,) and (n, C).
        std: noise std of each reward, (n,), if known.
        spent: cost of each play, (n,), if there is a budget.
        max_delay: slots that may be needed later; there are more where feedback is older.
    """
    slot, slots = t - rounds, 1 + max(max_delay, t)
    info: dict[str, Any] = {"t": t, "feedback_mask": np.zeros(slots, dtype=np.bool_)}
    info["feedback_step"] = np.full(slots, -1)
    info["feedback_mask"][slot] = True
    info["feedback_step"][slot] = rounds
    values = {"reward": reward, "std": std, "spent": spent, "cost": cost if cost.shape[1] else None}
    for name, given in values.items():
        if given is not None:
            info[f"feedback_{name}"] = np.zeros((slots, *np.shape(given)[1:]))
            info[f"feedback_{name}"][slot] = given
    return info | ({"cost": float(np.maximum(cost, 0.0).sum())} if cost.shape[1] else {})


def _check_finite(key: str, values: Floats) -> None:
    if not all(map(isfinite, values.ravel().tolist())):  # a few numbers: faster than numpy
        raise ArgumentError(key, f"must be finite, got {values}")


def _damage(info: Any) -> ArgumentError:
    """Return the error that names the entry of `info` that cannot be read."""
    step = "the dict that the environment's step returned"
    if not isinstance(info, Mapping):
        return ArgumentError("info", f"must be {step}, got {shown(info)}")
    if "feedback_mask" not in info:
        learn = 'has no "feedback_mask": agents learn from info, not from the reward'
        return ArgumentError("info", f"{learn}; pass the info that the environment's step returned")
    mask = info["feedback_mask"]
    if not (isinstance(mask, np.ndarray) and mask.ndim in (1, 2) and mask.dtype.kind in "biu"):
        wanted = "a numpy array of booleans, (K,) or (B, K) in a batch"
        return ArgumentError("feedback_mask", f"must be {wanted}, got {shown(mask)}")
    wanted = f"a numpy array of numbers, one a slot of feedback_mask {mask.shape}"
    for key in (*REQUIRED, *OPTIONAL):
        given: Any = info.get(key)
        numbers = isinstance(given, np.ndarray) and given.dtype.kind in "biuf"
        fits = numbers and given.shape[: mask.ndim] == mask.shape
        if (key in info or key in REQUIRED) and not fits:
            found = shown(given) if key in info else "nothing"
            return ArgumentError(key, f"must be {wanted}, got {found}")
    return ArgumentError("info", f"must be {step}, got {shown(info)}")

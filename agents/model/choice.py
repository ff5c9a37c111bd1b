"""The choice of an arm: those offered, a fair draw among ties, and the recommendation at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

KEY = "action_mask"
FLOAT = np.dtype(np.float64)
LOWEST = -np.finfo(np.float64).max
BLOCK = 1024  # uniforms drawn from a trial's generator at a time


def offered_in(info: dict[str, Any], setting: Setting, num_trials: int | None) -> Bools | None:
    """Return the mask of arms available in the next round, (B, A); None where arms are never missing."""
    if not isinstance(info, dict):
        require(isinstance(info, Mapping), "info", "the dict that the environment returned", info)
    if not setting.volatile:
        if KEY in info:
            raise ValueError(
                f'info must have no "{KEY}" where setting.volatile is False; make the agent for the setting '
                "of the environment, or make Setting(..., volatile=True)"
            )
        return None
    shape = (() if num_trials is None else (num_trials,)) + (setting.decisions.num_arms,)
    mask = np.asarray(info.get(KEY))
    empty = mask.shape == shape and not mask.any(axis=-1).all()
    if mask.shape != shape or empty or not np.isin(mask, (0, 1)).all():
        given = f"one of shape {mask.shape}" if KEY in info else "none"
        given = f"{given} without any arm" if empty else given
        raise ValueError(f'info["{KEY}"] must be {shape}, 1 of arms that may be played, got {given}')
    return np.asarray(np.atleast_2d(mask) == 1)


def require_offered(offered: Bools | None, setting: Setting) -> None:
    """Raise where arms may be missing but no mask has been given."""
    if setting.volatile and offered is None:
        raise RuntimeError(
            "the agent does not know which arms may be played; call start(info) after its reset, with the "
            "info of env.reset()"
        )


def only_offered(values: Floats, offered: Bools | None) -> Floats:
    """Return the values of arms, (B, A), with minus infinity for unavailable ones."""
    return values if offered is None else np.where(offered, values, -np.inf)


class TieBreaker:
    """Source of one uniform in [0, 1) per trial and round, each trial's from its own generator.

    Uniforms are drawn in blocks, so that a round takes a microsecond for any B; the stream of a trial does
    not depend on its batch.
    """

    def __init__(self, generators: Sequence[np.random.Generator]):
        self._generators = list(generators)
        self._next = BLOCK
        self._block = np.empty((BLOCK, len(self._generators)))

    def __call__(self) -> Floats:
        """Return the next uniform of every trial, (B,)."""
        if self._next == BLOCK:
            self._block = np.stack([rng.random(BLOCK) for rng in self._generators], axis=1)
            self._next = 0
        self._next += 1
        return self._block[self._next - 1]


def arms_among(among: Any, num_arms: int, name: str = "among") -> Ints:
    """Return the arms that may be chosen, (n,): the given ones, or all; an error has the argument's name."""
    if among is None:
        return np.arange(num_arms)
    arms = np.asarray(among)
    integers = arms.ndim == 1 and len(arms) > 0 and arms.dtype.kind in "iu"
    if not integers or arms.min() < 0 or arms.max() >= num_arms:
        raise ValueError(f"{name} must be arms in 0..{num_arms - 1}, at least one, got {among!r}")
    return arms


def arms_of(action: Any, num_trials: int, num_arms: int) -> Ints:
    """Return the arms that trials played, (B,), or raise an error."""
    if num_trials == 1 and type(action) is int and 0 <= action < num_arms:  # a third of the time
        return np.array([action])
    arm = np.atleast_1d(np.asarray(action))
    if arm.shape != (num_trials,) or arm.dtype.kind not in "iu":
        raise ValueError(f"action must be {num_trials} integer arm(s), got {action!r}")
    played = arm.tolist()
    if min(played) < 0 or max(played) >= num_arms:  # -1 would be an arm of another context
        raise ValueError(f"action must be an arm in 0..{num_arms - 1}, got {action!r}")
    return arm.astype(np.int64)  # a copy


def argmax_with_ties(
    scores: Floats, tolerance: float | Floats, uniform: Floats, offered: Bools | None = None
) -> Ints:
    """Return the index of each row's maximum, drawn uniformly among scores within `tolerance` of it, (B,).

    A row of -inf is one tie. Without a tolerance, one or (B,), the last bit of a batched product would decide
    where the prior ties. Scores, (B, A), have no NaN; at least one of a row is `offered`.
    """
    if offered is not None:
        scores = np.where(offered, np.maximum(scores, LOWEST), -np.inf)
    if scores.dtype != FLOAT or not scores.flags.writeable:  # of a rule of the user's own
        scores = np.array(scores, dtype=FLOAT)
    choice = scores.argmax(axis=1)  # of a row with NaN, the first NaN
    if len(choice) == 1:  # a third of the time that arrays of one entry take
        return _choice_of_one(scores, choice, tolerance, uniform)
    num_arms, flat = scores.shape[1], scores.ravel()  # a view of contiguous scores
    cell = choice + np.arange(0, scores.size, num_arms)
    best = flat[cell]
    least = best - tolerance
    flat[cell] = -inf
    second = flat.reshape(scores.shape).max(axis=1)  # half the time of comparing all scores
    flat[cell] = best
    if (second < least).all():  # which nothing is of a NaN
        return choice
    if np.isnan(best).any():
        raise ValueError(_nan_message(best))
    tied = scores >= least[:, None]
    count = np.count_nonzero(tied, axis=1)
    rank = (uniform * count).astype(np.int64)
    return np.flatnonzero(tied)[np.cumsum(count) - count + rank] % num_arms


def _choice_of_one(scores: Floats, choice: Ints, tolerance: float | Floats, uniform: Floats) -> Ints:
    """Do the same of the only row, whose largest score is at `choice`, (1,)."""
    place = choice.item()
    best = scores.item(place)
    if isnan(best):
        raise ValueError(_nan_message(np.array([best])))
    scores[0, place] = -inf
    second = scores.item(scores.argmax())
    scores[0, place] = best
    if second < best - tolerance:
        return choice
    (tied,) = (scores[0] >= best - tolerance).nonzero()
    return tied[[int(uniform.item() * len(tied))]]


def _nan_message(best: Floats) -> str:
    trials = ", ".join(map(str, np.flatnonzero(np.isnan(best))))
    return f"agent computed NaN in trial {trials}: its rewards, noise or kernel are not finite; check them"


class Recommendation(NamedTuple):
    """Recommended arm with its posterior; a single trial has no trial axis."""

    action: Any  # (B,) arms, on a box (B, d)
    point: Floats  # (B, d) their features
    mean: Any  # (B,) posterior mean of the reward there; None for an agent without a model of the reward
    std: Any  # (B,) posterior standard deviation of the mean reward; None likewise

    @property
    def single(self) -> Recommendation:
        """The recommendation of a batch's only trial, without the trial axis."""
        known = (None if each is None else float(each[0]) for each in (self.mean, self.std))
        action = self.action[0]  # an array on a box
        return Recommendation(action if np.ndim(action) else int(action), self.point[0], *known)

"""Upper confidence bounds that allow exactly for misspecification or corruption of the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.types import Floats

from ..beliefs.pulls import Pulls
from ..validation import PerTrial
from ..widths.base import Width
from .candidates import Candidates
from .rules import UCB


class Extra(Protocol):
    """Term that enlarges a valid half-width."""

    @property
    def apart(self) -> PerTrial:
        """Return the additional distance between f and the function that the band covers."""
        ...

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the term from the observations' weights in the mean of each trial, (B, A)."""
        ...


@dataclass(frozen=True)
class Misspecification:
    """eps sum_i n_i |S[x, i]| / lambda: the largest error of the mean by m, |m| <= eps, f = f_0 + m.

    It is at most eps sqrt((t - 1) / lambda) sigma. For f itself eps must be added, which changes no play.
    """

    eps: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("eps", self.eps, "it bounds how far the function is from the kernel's space")

    @property
    def apart(self) -> PerTrial:
        """Return eps, the bound on |f - f_0|."""
        return self.eps

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the extra half-widths, (B, A)."""
        return _column(self.eps) * np.array([np.abs(each.share).sum(axis=0) for each in pulls])


@dataclass(frozen=True)
class ExactMisspecification(Misspecification):
    """eps (1 + sum_i n_i |S[x, i]| / lambda - 2 n_x S[x, x] / lambda): the exact worst case for f itself.

    m moves the mean by sum_i c_i(x) m(i), and f by m(x), which an arm's own plays share.
    """

    @property
    def apart(self) -> PerTrial:
        """Return 0: the band covers f."""
        return 0.0

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the extra half-widths, (B, A)."""
        own = np.array([each.own for each in pulls])
        return super().__call__(pulls) + _column(self.eps) * (1.0 - 2.0 * own)


@dataclass(frozen=True)
class CorruptedRewards:
    """C / lambda max over played i of |S[x, i]|: the largest effect on the mean of corruption C in total.

    It is never larger than C sigma(x) / sqrt(lambda).
    """

    budget: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("budget", self.budget, "it bounds the corruption of all rewards together")

    @property
    def apart(self) -> PerTrial:
        """Return 0: the band covers f."""
        return 0.0

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the extra half-widths, (B, A)."""
        worst = [(np.abs(each.share) / each.plays[:, None]).max(axis=0, initial=0.0) for each in pulls]
        return _column(self.budget) * np.array(worst)


@dataclass(frozen=True)
class RobustUCB:
    """mu + w sigma + extra, which allows for misspecification or corruption.

    Args:
        width: w, of the clean problem.
        extra: the allowance.
    """

    width: Width
    extra: Extra

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        return UCB(self.width)(candidates) + self.extra(candidates.pulls)


def _column(values: PerTrial) -> Floats:
    return np.reshape(np.asarray(values, dtype=np.float64), (-1, 1))

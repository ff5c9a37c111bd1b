"""Upper confidence bounds that allow exactly for what may have been done to the values."""

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
    """What is added to a valid half-width."""

    @property
    def apart(self) -> PerTrial:
        """How far f itself may be, besides, from what the band is of."""
        ...

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return it from how much each value pulls on the mean in each trial, (B, A)."""
        ...


@dataclass(frozen=True)
class Misspecification:
    """eps sum_i n_i |S[x, i]| / lambda: the worst that m, |m| <= eps, of f = f_0 + m does to a band of f_0.

    At most eps sqrt((t - 1) / lambda) sigma. For f itself eps more is valid, and plays alike.
    """

    eps: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("eps", self.eps, "it bounds how far the function is from the kernel's space")

    @property
    def apart(self) -> PerTrial:
        """|f - f_0|: eps."""
        return self.eps

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the extra half-widths, (B, A)."""
        return _column(self.eps) * np.array([np.abs(each.share).sum(axis=0) for each in pulls])


@dataclass(frozen=True)
class ExactMisspecification(Misspecification):
    """eps (1 + sum_i n_i |S[x, i]| / lambda - 2 n_x S[x, x] / lambda): the same for f itself, exactly.

    m moves the mean by sum_i c_i(x) m(i), and f by m(x), which an arm's own plays have in common.
    """

    @property
    def apart(self) -> PerTrial:
        """Nothing: the band is of f."""
        return 0.0

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the extra half-widths, (B, A)."""
        own = np.array([each.own for each in pulls])
        return super().__call__(pulls) + _column(self.eps) * (1.0 - 2.0 * own)


@dataclass(frozen=True)
class CorruptedRewards:
    """C / lambda max over played i of |S[x, i]|: the worst that rewards changed by C in all do to the mean.

    Never larger than C sigma(x) / sqrt(lambda).
    """

    budget: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("budget", self.budget, "it bounds what is done to all rewards together")

    @property
    def apart(self) -> PerTrial:
        """Nothing: the band is of f."""
        return 0.0

    def __call__(self, pulls: list[Pulls]) -> Floats:
        """Return the extra half-widths, (B, A)."""
        worst = [(np.abs(each.share) / each.plays[:, None]).max(axis=0, initial=0.0) for each in pulls]
        return _column(self.budget) * np.array(worst)


@dataclass(frozen=True)
class RobustUCB:
    """mu + w sigma + extra.

    Args:
        width: w, as if nothing had been done to the values.
        extra: the rest.
    """

    width: Width
    extra: Extra

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        return UCB(self.width)(candidates) + self.extra(candidates.pulls)


def _column(values: PerTrial) -> Floats:
    return np.reshape(np.asarray(values, dtype=np.float64), (-1, 1))

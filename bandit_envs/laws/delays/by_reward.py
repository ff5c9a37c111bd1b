"""Delays that depend on what is earned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import pdtr, pdtrik

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.laws.delays.base import TAIL, Delay
from bandit_envs.laws.delays.in_rounds import Poisson


@dataclass(frozen=True)
class ByReward(Delay):
    """Poisson delays of mean `mean` + `more` s: what disappoints comes late.

    s in [0, 1] is how far the reward y that will be observed falls short of the best mean of its round, as a
    share of the range of the means: s = min(max((max f - y) / (max f - min f), 0), 1). A round draws one
    uniform u, and its delay is the u-quantile of the law of its play, so a better reward is never later.

    What has arrived by some round is a biased sample: noise that helps comes first, and so estimates of
    feedback that has come, censored ones too, are too high until all of it has. No guarantee for delays that
    are independent of rewards holds.

    Args:
        mean: delay of the best rewards.
        more: how much longer the worst take, on average.
    """

    mean: float = 10.0
    more: float = 20.0

    looks_at_rewards = True

    def __post_init__(self) -> None:
        super().__post_init__()
        Poisson(self.mean)
        require(is_number(self.more) and self.more >= 0, "more", "0 or positive", self.more)

    def wait(self, drawn: Any, shortfall: Any) -> Any:
        """The quantiles at the uniforms, (n,) each -> (n,); infinite where it is."""
        lost = np.isinf(drawn)
        return np.where(
            lost, np.inf, _quantile(np.where(lost, 0.0, drawn), self.mean + self.more * shortfall)
        )

    def quantile(self, late: float = TAIL) -> float:
        """Of the worst rewards: none are late more often."""
        return Poisson(self.mean + self.more).quantile(late)

    def _draw_waits(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Uniforms, (T,)."""
        return rng.random(horizon)


def _quantile(uniform: Any, mean: Any) -> Any:
    """The smallest k with P(Poisson(mean) <= k) >= u, (n,) each -> (n,)."""
    above = np.ceil(pdtrik(uniform, mean))
    below = np.maximum(above - 1.0, 0.0)  # where rounding has gone one too far
    return np.where(pdtr(below, mean) >= uniform, below, above)

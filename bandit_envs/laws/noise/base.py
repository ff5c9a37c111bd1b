"""Define the interface of noise laws: draws at standard deviation 1, which the trial scales."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import LARGEST_STD, is_number, require
from bandit_envs.basics.types import Floats


@dataclass(frozen=True)
class Noise(abc.ABC):
    """Draw independent noise of a stated standard deviation.

    Args:
        std: standard deviation in units of the reward.
        share: if given, the noise *variance* is this share of the function's range, max f - min f,
            and differs from trial to trial (Chowdhury & Gopalan 2017, Section 6: 0.01). Comparing a variance
            with a range suits functions of std 1: functions c times as large get noise only sqrt(c) times as
            large, and are easier. Give `std` for those.
    """

    std: float = 0.1
    share: float | None = None

    def __post_init__(self) -> None:
        require(is_number(self.std) and self.std >= 0, "std", "0 or a positive number", self.std)
        require(self.std <= LARGEST_STD, "std", f"at most {LARGEST_STD:g}", self.std)
        valid = self.share is None or (is_number(self.share) and self.share > 0)
        require(valid, "share", "None or positive", self.share)

    def scale(self, values: Floats) -> float:
        """Return the noise std in a trial whose mean rewards are `values`."""
        return self.std if self.share is None else float(np.sqrt(self.share * np.ptp(values)))

    @property
    def stated_std(self) -> float | None:
        """Return the noise std of all trials; None if it is a share of each trial's range."""
        return self.std if self.share is None else None

    @property
    def relative_bound(self) -> float | None:
        """Return an almost sure bound on |noise| in noise stds; None if there is none."""
        return None

    @property
    def sub_gaussian(self) -> float | None:
        """Return R in noise stds, E exp(s noise) <= exp(s^2 R^2 / 2) for all s; None if none is known."""
        return None

    @property
    def is_gaussian(self) -> bool:
        """Return whether the noise is normal with one std at every play."""
        return False

    @property
    def publishes_shape(self) -> bool:
        """Return whether the setting publishes how the noise std differs from play to play."""
        return False

    def shape(self, features: Floats) -> Floats:
        """Return the noise std of plays over the stated one, at most 1, by features in [0, 1]^d; here 1.

        (n, d) -> (n,). A round's draw is multiplied by it, so the draws are the same for all agents.
        """
        return np.ones(len(features))

    @abc.abstractmethod
    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Return noise of standard deviation 1 for each round, (T,)."""

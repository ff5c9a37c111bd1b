"""Which arms may be played in a round: volatile arms come and go."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Bools


@dataclass(frozen=True)
class Availability(abc.ABC):
    """Draws which arms are there, whatever is played."""

    @abc.abstractmethod
    def draw(self, wanted: Bools, rng: np.random.Generator) -> Bools:
        """Which arms may be played in some rounds, (n, A), given that a wanted one is among them.

        Args:
            wanted: arms of which one at least is to be there in each round, (n, A), such as the feasible.
            rng: drawn from round by round, so that rounds may be asked for in pieces.
        """


@dataclass(frozen=True)
class EveryArm(Availability):
    """All arms may be played in all rounds."""

    def draw(self, wanted: Bools, rng: np.random.Generator) -> Bools:
        """All, (n, A)."""
        return np.ones_like(wanted)


@dataclass(frozen=True)
class Bernoulli(Availability):
    """Each arm is there with probability p, independently of the others and of other rounds.

    A round without any wanted arm is drawn again until it has one. That takes one uniform: the first wanted
    arm that is there is a truncated geometric one, and the draws of those after it are used again: they are
    uniform on [0, 1 - p), as all were missing.

    Args:
        p: in (0, 1].
    """

    p: float = 0.8

    def __post_init__(self) -> None:
        require(is_number(self.p) and 0 < self.p <= 1, "p", "a probability above 0", self.p)

    def draw(self, wanted: Bools, rng: np.random.Generator) -> Bools:
        """All but those whose uniform is below 1 - p, (n, A)."""
        drawn, missing = rng.random((len(wanted), 1 + wanted.shape[1])), 1.0 - self.p
        uniform = drawn[:, 1:]
        available: Bools = np.asarray(uniform >= missing)
        for i in np.flatnonzero(~(available & wanted).any(axis=1)):
            (arms,) = wanted[i].nonzero()
            first = self._first(drawn[i, 0], len(arms))
            after = arms[first + 1 :]
            available[i, arms[first]] = True
            available[i, after] = uniform[i, after] / missing >= missing
        return available

    def _first(self, uniform: float, count: int) -> int:
        """The first of so many arms that is there, counted from 0, given that one is; p < 1."""
        log_missing = math.log1p(-self.p)
        some = -math.expm1(count * log_missing)  # P(one is there)
        return min(int(math.log1p(-uniform * some) / log_missing), count - 1)


EVERY_ARM = EveryArm()

LAWS: dict[str, type[Availability]] = {"all": EveryArm, "bernoulli": Bernoulli}

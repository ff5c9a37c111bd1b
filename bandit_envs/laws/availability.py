"""Draw the arms that may be played in a round, for problems with volatile arms."""

import abc
import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bandit_envs.basics.options import Checked, positive_fraction
from bandit_envs.basics.types import Bools


@dataclass(frozen=True)
class Availability(Checked, abc.ABC):
    """Draw the available arms of each round, independently of the plays."""

    @abc.abstractmethod
    def draw(self, wanted: Bools, rng: np.random.Generator) -> Bools:
        """Return the available arms of n rounds, (n, A), of which each has at least one wanted arm, (n, A).

        The generator is consumed round by round, so that rounds may be drawn in pieces.
        """


@dataclass(frozen=True)
class EveryArm(Availability):
    """Make all arms available in all rounds."""

    def draw(self, wanted: Bools, rng: np.random.Generator) -> Bools:
        return np.ones_like(wanted)


@dataclass(frozen=True)
class BernoulliAvailability(Availability):
    """Make each arm available with probability p, independently of other arms and rounds.

    A round without any wanted arm is redrawn until it has one. One uniform draws the result: the index of the
    first available wanted arm is a truncated geometric variable. The uniforms of the wanted arms after it are
    reused: they are uniform on [0, 1 - p), as all those arms were missing.
    """

    p: Annotated[float, positive_fraction()] = 0.8

    def draw(self, wanted: Bools, rng: np.random.Generator) -> Bools:
        """Return the arms whose uniform is at least 1 - p, (n, A), with the rule above for empty rounds."""
        drawn, missing = rng.random((len(wanted), 1 + wanted.shape[1])), 1.0 - self.p
        uniform = drawn[:, 1:]
        available: Bools = np.asarray(uniform >= missing)
        for i in np.flatnonzero(~(available & wanted).any(axis=1)):
            (arms,) = wanted[i].nonzero()
            log_missing = math.log1p(-self.p)  # p < 1, as one of them would be available
            some = -math.expm1(len(arms) * log_missing)  # P(at least one is available)
            first = min(int(math.log1p(-drawn[i, 0] * some) / log_missing), len(arms) - 1)
            after = arms[first + 1 :]
            available[i, arms[first]] = True
            available[i, after] = uniform[i, after] / missing >= missing
        return available


EVERY_ARM = EveryArm()

LAWS: dict[str, type[Availability]] = {"all": EveryArm, "bernoulli": BernoulliAvailability}

Bernoulli = BernoulliAvailability  # former name, shared by two kinds

"""How many further rounds are started before the feedback of a round is seen; -1 is never."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
from scipy.special import pdtrc

from bandit_envs.laws.parse import require
from bandit_envs.types import Ints

TAIL = 1e-6  # share of the feedback that the default window of the environment may lose


class Delay(abc.ABC):
    """Delay d of round t: its feedback is in the `info` of the step of round t + d."""

    @abc.abstractmethod
    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """Delay of each round, (T,)."""

    @abc.abstractmethod
    def quantile(self) -> float:
        """The smallest k with P(d > k) < 1e-6."""


@dataclass(frozen=True)
class Immediate(Delay):
    """No delay."""

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """Zeros, (T,)."""
        return np.zeros(horizon, dtype=np.int64)

    def quantile(self) -> float:
        """0."""
        return 0


@dataclass(frozen=True)
class Constant(Delay):
    """Every feedback takes `rounds` rounds: asynchronous batches of rounds + 1."""

    rounds: int = 10

    def __post_init__(self) -> None:
        require(self.rounds >= 0, "delay rounds", "0 or a positive integer", self.rounds)

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """The constant, (T,)."""
        return np.full(horizon, self.rounds, dtype=np.int64)

    def quantile(self) -> float:
        """The constant."""
        return self.rounds


@dataclass(frozen=True)
class Poisson(Delay):
    """Independent Poisson delays (Verma et al. 2022, Section 6)."""

    mean: float = 10.0

    def __post_init__(self) -> None:
        require(0 <= self.mean < np.inf, "delay mean", "0 or positive", self.mean)

    def draw(self, horizon: int, rng: np.random.Generator) -> Ints:
        """Poisson counts, (T,)."""
        return rng.poisson(self.mean, horizon)

    def quantile(self) -> float:
        """The Poisson quantile."""
        k = int(self.mean)
        while pdtrc(k, self.mean) >= TAIL:
            k += 1
        return k


LAWS: dict[str, type[Delay]] = {"immediate": Immediate, "constant": Constant, "poisson": Poisson}

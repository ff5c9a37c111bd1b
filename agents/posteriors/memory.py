"""The memory of one trial whose older plays count for less: its plays one by one, or their sums.

With n the sum of the weights of the plays of each of the u remembered points X, and b that of their values,

    L L' = K_XX + diag(lambda / n),    V = L^-1 K_X,    e = L^-1 (b / n).
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.definite import pivoted_root, white
from bandit_envs.kernels.gram import TOLERANCE, Gram

from ..options import PerTrial
from .base import Posterior, SufficientStatistics, columns_at
from .decomposition import solve_rows, solve_vector
from .play_factor import Factor, PlayFactor


class Memory(abc.ABC):
    """Rows V (k, A) at any A points and the innovations e (k,): mu = V'e, Sigma = K - V'V.

    A subclass defines the effect of a passing round and of an observation, whose noise is lambda at first.
    """

    def __init__(self, gram: Gram, noise: float):
        self.gram, self.noise = gram, noise

    @property
    def growth(self) -> float:
        """Prior variance of the next round relative to the kernel's; above 1 on finite sets alone."""
        return 1.0

    @abc.abstractmethod
    def advance(self) -> None:
        """Begin a round: all observations become one round older."""

    @abc.abstractmethod
    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on the mean value of some plays of x, `age` rounds before the latest one."""

    @abc.abstractmethod
    def correct(self, x: int, change: float) -> None:
        """Change the value of the latest observed play of x."""

    @abc.abstractmethod
    def rows(self, cells: Ints | None) -> Floats:
        """Return V at some points, (k, A); None for all N. Read only."""

    @property
    @abc.abstractmethod
    def factor(self) -> Factor:
        """The plays as a factor, which determines the belief about the next round anywhere on a box."""

    @property
    @abc.abstractmethod
    def innovation(self) -> Floats:
        """e, (k,)."""

    @property
    @abc.abstractmethod
    def gain(self) -> float:
        """Information gain that widths use, 1/2 logdet(I + Lambda^-1/2 K_X Lambda^-1/2).

        Lambda is the noise of the remembered plays; `Discounted` overrides it by the gain of squared weights.
        """

    @property
    @abc.abstractmethod
    def statistics(self) -> SufficientStatistics:
        """Plays, with their weights, and sums of their values."""

    @abc.abstractmethod
    def replay(self, other: Any) -> None:
        """Observe the plays of another memory of this kind, perhaps of another prior; this one is empty."""

    def mean(self, cells: Ints | None) -> Floats:
        """Posterior mean for the next round, (A,)."""
        return self.innovation @ self.rows(cells)

    def variance(self, cells: Ints | None) -> Floats:
        """Posterior variance for the next round, (A,)."""
        rows = self.rows(cells)
        diagonal = self.gram.diagonal if cells is None else self.gram.diagonal[cells]
        return self.growth * diagonal - np.einsum("ka,ka->a", rows, rows)

    def centred_sample(self, cells: Ints | None, rng: np.random.Generator) -> Floats:
        """Draw f - mean jointly for the next round, (A,); O(A^3)."""
        rows, place = self.rows(cells), np.arange(self.gram.size) if cells is None else cells
        covariance = self.growth * self.gram.between(place, place)
        covariance -= rows.T @ rows
        root, _ = pivoted_root(covariance, TOLERANCE * self.growth * float(self.gram.diagonal.max()))
        return white(len(root), root.shape[1], rng) @ root


class Tallied(Memory):
    """Memory that recomputes its factor, O(u^3 + u^2 A), when a subclass has changed the sums."""

    def __init__(self, gram: Gram, noise: float):
        super().__init__(gram, noise)
        self._count, self._total = np.zeros(gram.size), np.zeros(gram.size)  # n, b
        self._squares = np.zeros(gram.size)  # sums of the squared weights
        self._forget_factor()

    @property
    def factor(self) -> PlayFactor:
        """The plays with their present weights; O(u^3) after every change."""
        if self._play_factor is None:
            seen = self.statistics
            self._play_factor = PlayFactor(self.gram, self.noise, seen, self._squares[seen.point])
        return self._play_factor

    def rows(self, cells: Ints | None) -> Floats:
        """Return V = L^-1 K_X, L L' = K_XX + diag(lambda / n), (u, A); None for all N. Read only."""
        key = None if cells is None else cells.tobytes()
        if key not in self._rows:
            point, triangle = self._factor()
            place = np.arange(self.gram.size) if cells is None else cells
            rows = self.gram.columns(point) if cells is None else self.gram.between(point, place)
            solve_rows(triangle, rows)
            self._rows[key] = rows
        return self._rows[key]

    @property
    def innovation(self) -> Floats:
        point, triangle = self._factor()
        return solve_vector(triangle, self._total[point] / self._count[point])

    @property
    def gain(self) -> float:
        """1/2 logdet(I + diag(n / lambda) K_XX)."""
        point, triangle = self._factor()
        return float(np.log(triangle.diagonal()).sum() + 0.5 * np.log(self._count[point] / self.noise).sum())

    @property
    def statistics(self) -> SufficientStatistics:
        return SufficientStatistics.of(self._count, self._total)

    def _factor(self) -> tuple[Ints, Floats]:
        """Return the remembered points X, (u,), and L, (u, u)."""
        if self._known is None:
            point = self._count.nonzero()[0]
            covariance = self.gram.between(point, point)
            covariance[np.diag_indices(len(point))] += self.noise / self._count[point]
            self._known = point, np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        return self._known

    def _forget_factor(self) -> None:
        self._known: tuple[Ints, Floats] | None = None
        self._play_factor: PlayFactor | None = None
        self._rows: dict[bytes | None, Floats] = {}


class ForgettingPosterior(Posterior):
    """Posterior for the next round with one memory a trial; it loops over trials, as their plays differ.

    In addition to the methods of every posterior, `advance` begins a round, and observations have ages;
    `memories` builds the memory of each trial from the prior and its lambda.
    """

    def __init__(self, gram: Gram, noise: PerTrial, memories: Sequence[Callable[[Gram, float], Memory]]):
        super().__init__(gram, np.asarray(noise, dtype=np.float64), len(memories))
        self._make = memories
        self._trial = [make(gram, float(each)) for make, each in zip(memories, self.noise, strict=True)]

    def advance(self) -> None:
        """Begin a round in every trial."""
        for memory in self._trial:
            memory.advance()

    def elapse(self, trial: Ints, rounds: Ints) -> None:
        """Advance some trials without observations by so many rounds, (n,) each."""
        for i, count in zip(trial.tolist(), rounds.tolist(), strict=True):
            for _ in range(count):
                self._trial[i].advance()

    def observe_aged(self, trial: Ints, point: Ints, value: Floats, age: Ints) -> None:
        """Condition on observations of earlier rounds, (n,) each; age 0 is the latest. Trials may repeat."""
        rows = zip(trial.tolist(), point.tolist(), value.tolist(), age.tolist(), strict=True)
        for i, x, y, rounds in rows:
            self._trial[i].observe(x, y, rounds)

    def under(self, gram: Gram, noise: PerTrial) -> "ForgettingPosterior":
        """Return the posterior of another prior given the same observations in the same rounds."""
        new = ForgettingPosterior(gram, noise, self._make)
        for memory, old in zip(new._trial, self._trial, strict=True):
            memory.replay(old)
        return new

    def factor(self, trial: int) -> Factor:
        """Return the remembered plays of one trial as a factor, which determines its posterior anywhere."""
        return self._trial[trial].factor

    @property
    def gain(self) -> Floats:
        return np.array([memory.gain for memory in self._trial])

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        self.observe_aged(trial, point, value, np.zeros_like(trial))

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        for i, x, dy in zip(trial.tolist(), point.tolist(), change.tolist(), strict=True):
            self._trial[i].correct(x, dy)

    def mean_at(self, cells: Ints | None) -> Floats:
        return np.array([memory.mean(row) for memory, row in self._with(cells)])

    def variance_at(self, cells: Ints | None) -> Floats:
        return np.array([memory.variance(row) for memory, row in self._with(cells)])

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        return np.array([memory.factor.weight_norm(memory.rows(row)) for memory, row in self._with(cells)])

    def count_at(self, cells: Ints | None) -> Floats:
        count = np.zeros((len(self._trial), self.gram.size))
        for row, memory in zip(count, self._trial, strict=True):
            seen = memory.statistics
            row[seen.point] = seen.plays
        return columns_at(count, cells)

    def centred_sample_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        pairs = zip(self._with(cells), rngs, strict=True)
        return np.array([memory.centred_sample(row, rng) for (memory, row), rng in pairs])

    def mean_of(self, trial: Ints, point: Ints) -> Floats:
        return np.array([self._trial[i].mean(point[[k]])[0] for k, i in enumerate(trial.tolist())])

    def variance_of(self, trial: Ints, point: Ints) -> Floats:
        return np.array([self._trial[i].variance(point[[k]])[0] for k, i in enumerate(trial.tolist())])

    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        memory = self._trial[trial]
        prior = memory.growth * self.gram.between(point, other)
        return prior - memory.rows(point).T @ memory.rows(other)

    def reset(self, trial: Ints) -> None:
        for i in trial.tolist():
            self._trial[i] = self._make[i](self.gram, float(self.noise[i]))

    def statistics(self, trial: int) -> SufficientStatistics:
        return self._trial[trial].statistics

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        self.reset(np.array([trial]))
        for x, plays, total in zip(*(each.tolist() for each in seen), strict=True):
            self._trial[trial].observe(x, total / plays, 0, plays)

    def _with(self, cells: Ints | None) -> list[tuple[Memory, Ints | None]]:
        rows = [None] * len(self._trial) if cells is None else list(cells)
        return list(zip(self._trial, rows, strict=True))

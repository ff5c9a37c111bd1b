"""Duels: two arms are played, and the feedback says who won; laws of utilities or chances, and of outcomes.

With utilities f, arm x beats arm x' with probability s(f(x) - f(x')), s(u) = 1 / (1 + exp(-u)). An arm's
reward is q(x) = s(f(x) - f*), its chance to beat the best arm, at most 1/2; that of a duel is the mean of
both, so its regret is the average regret (s(f* - f(x)) + s(f* - f(x')) - 1) / 2 (Pasztor et al. 2024).
Chances of all pairs may be given instead, as a matrix that need not come of utilities: it may have cycles.
"""

import abc
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bandit_envs.basics.arguments import ArgumentError, require, require_choice
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.derived import Derived
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.noise import Std, UniformNoise

__all__ = ["AgainstBest", "DuelLaw", "PairChances", "WhoWins"]

ROUNDING = 1e-9  # of P_ij + P_ji = 1


class DuelLaw(FunctionLaw):
    """Draw the reward q of each arm, such as its chance to beat the best one."""

    @abc.abstractmethod
    def chance(self, q: Floats, context: Any, arms: Ints) -> Floats:
        """Return the chance of the first of two arms to win, (...), from their q and indices, (..., 2)."""


@dataclass(frozen=True)
class AgainstBest(Derived, DuelLaw):
    """Turn another law's utilities f into chances q(z, x) = s(f(z, x) - max f(z, .)) against the best arm.

    The published prior, norm and lower bound stay those of the utilities.

    Args:
        num_arms: A; the best arm is the best of its context. A `Problem` fills it in.
    """

    num_arms: int | None = None

    kept = ("num_functions", "norm_is_drawn", "misspecification")

    def sized(self, num_arms: int, size: int) -> "AgainstBest":
        fits = self.num_arms is None or self.num_arms == num_arms
        require(fits, "num_arms", f"None or {num_arms}, the number of arms of the decisions", self.num_arms)
        return replace(self, law=self.law.sized(num_arms, size), num_arms=num_arms)

    def chance(self, q: Floats, context: Any, arms: Ints) -> Floats:
        return np.asarray(expit(logit(q[..., 0]) - logit(q[..., 1])))

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return self.law.lower_bound(gram, prior_mean, norm)

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        drawn = self.law.draw(gram, rng)
        require(self.num_arms is not None, "num_arms", "given, or filled in by a Problem", None)
        utility = drawn.values.reshape(-1, self.num_arms or 1)
        return Drawn(expit(utility - utility.max(axis=1, keepdims=True)).ravel(), drawn.norm)


@dataclass(frozen=True, eq=False)
class PairChances(DuelLaw):
    """Take the chance of each arm to beat each other one from a matrix, which no utilities need explain.

    Where one arm c beats all others (the Condorcet winner), q(j) = P_jc, the chance to beat it, and the
    regret of an arm is P_cj - 1/2, as with utilities. A cycle of the best arms has no such arm: then ask for
    regret against the largest Borda score, q(j) = mean of P_ji over i != j.

    Args:
        matrix: P, (A, A), or one a context, (Z, A, A); arm i beats j with probability P_ij = 1 - P_ji.
        against: "condorcet" or "borda", the arm that regret is against.

    Example:
        >>> cycle = PairChances(np.array([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]), "borda")
    """

    matrix: Floats
    against: str = "condorcet"

    num_functions = 1

    def __post_init__(self) -> None:
        require_choice("against", self.against, ("condorcet", "borda"))
        given = np.asarray(self.matrix)
        square = given.ndim in (2, 3) and given.size > 0 and given.shape[-1] == given.shape[-2]
        numbers = square and given.dtype.kind in "iuf"
        require(numbers, "matrix", "(A, A) probabilities, or (Z, A, A)", np.shape(self.matrix))
        each = np.array(given, dtype=np.float64).reshape(-1, *given.shape[-2:])
        valid = bool(((each >= 0) & (each <= 1)).all())
        require(valid, "matrix", "of probabilities from 0 to 1", self.matrix)
        off = np.abs(each + each.transpose(0, 2, 1) - 1.0)
        one = "such that P_ij + P_ji = 1 and P_ii = 1/2"
        require(bool((off <= ROUNDING).all()), "matrix", one, self.matrix)
        each.setflags(write=False)
        object.__setattr__(self, "matrix", each)
        if self.against == "condorcet":
            self._winners()

    def sized(self, num_arms: int, size: int) -> "PairChances":
        wanted = (size // num_arms, num_arms, num_arms)
        fits = self.matrix.shape == wanted
        require(fits, "matrix", f"one of {wanted}, (contexts, arms, arms)", self.matrix.shape)
        return self

    def chance(self, q: Floats, context: Any, arms: Ints) -> Floats:
        return np.asarray(self.matrix[context, arms[..., 0], arms[..., 1]])

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        if self.against == "condorcet":
            return Drawn(np.take_along_axis(self.matrix, self._winners()[:, None, None], axis=2).ravel())
        others = max(self.matrix.shape[1] - 1, 1)
        return Drawn(((self.matrix.sum(axis=2) - 0.5) / others).ravel())

    def _winners(self) -> Ints:
        """Return the arm of each context that beats all others, (Z,)."""
        beats = np.count_nonzero(self.matrix > 0.5, axis=2) == self.matrix.shape[1] - 1
        for z in np.flatnonzero(~beats.any(axis=1)):
            expected = "an arm that beats all others, which regret is against"
            complaint = f'must have {expected}, got none in context {z}; give against="borda"'
            raise ArgumentError("matrix", complaint)
        return beats.argmax(axis=1)


@dataclass(frozen=True)
class WhoWins(UniformNoise):
    """Draw the number v on [-1/2, 1/2] that decides a duel: the first arm wins where v < P(it wins) - 1/2.

    The number is the round's, so all agents meet the same randomness. 1/2 is R of the outcome (Hoeffding).
    """

    std: Std = 0.5

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        return rng.uniform(-1.0, 1.0, horizon)


def fought(q: Floats, chance: Floats, number: Any) -> tuple[Floats, Floats]:
    """Return reward and outcome of duels, (..., 1) each, from q, (..., 2), chances and the rounds' numbers.

    The outcome is 1 where the first arm won and 0 where the second did.
    """
    mean = (q[..., :1] + q[..., 1:]) / 2.0
    return mean, (number < chance[..., None] - 0.5).astype(np.float64)

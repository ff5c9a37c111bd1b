"""Safe sets: the arms that may be played where every cost must be kept in every round."""

from __future__ import annotations

import abc

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.safety import Safety

BLOCK = 64  # safe arms whose effect on all others is computed together


class SafeMask(abc.ABC):
    """Set of arms that a rule may choose from: a safe seed S0, and arms that delivered feedback certifies.

    Args:
        seed: S0, (B, Z, A).
    """

    def __init__(self, seed: Bools):
        self.seed = seed
        self._rows = np.arange(len(seed))

    def safe(self, safety: Safety) -> Bools:
        """Return S, (B, A), which always contains S0."""
        return self.seed[self._rows, safety.context] | self.certified(safety)

    @abc.abstractmethod
    def certified(self, safety: Safety) -> Bools:
        """Return the mask of arms that are certified to keep all costs, (B, A)."""

    @abc.abstractmethod
    def expands(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        """Return where safe arms may certify an arm outside S, (n,)."""

    def played(self, safety: Safety) -> None:  # noqa: B027 (usually a no-op)
        """Record that the round was played under this belief about costs."""

    def receive(self, trial: Ints, point: Ints, cost: Floats) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered costs, (n,) and (n, C), in prior stds."""

    def forget(self, trial: Ints) -> None:  # noqa: B027 (usually a no-op)
        """Reset S to S0 in some trials, (n,)."""


class ByBands(SafeMask):
    """S = S0 and all x with ug_j(x) <= 0 for every cost, by this round's bands (Berkenkamp et al. 2016).

    x in S is an expander if the optimistic datum (x, lg_j(x)) would bring ug_j(x') <= 0, for every j, to some
    x' outside S. With the band's posterior covariance s and c = s(x, x') / (s(x, x) + lambda),

        mu'(x') = mu(x') + c (lg(x) - mu(x)),    sd'(x')^2 = sd(x')^2 - c s(x, x').
    """

    def certified(self, safety: Safety) -> Bools:
        """Return where every ug_j <= 0, (B, A)."""
        return np.asarray((safety.upper <= 0.0).all(axis=0))

    def expands(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        """Return where the optimistic datum certifies an arm, (n,), in blocks that bound the memory."""
        blocks = [arms[i : i + BLOCK] for i in range(0, len(arms), BLOCK)]
        return np.concatenate([self._block(safety, trial, each) for each in blocks])

    def _block(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        reached = np.tile(~safety.safe[trial], (len(arms), 1))
        for j, belief in enumerate(safety.costs):
            mean, std, width = safety.mean[j, trial], safety.std[j, trial], safety.width[j, trial]
            across = safety.covariance(j, trial, arms)
            gain = across / (std[arms] ** 2 + belief.spread.noise[trial])[:, None]
            after = mean - gain * (width * std[arms])[:, None]
            left = np.sqrt(np.maximum(std**2 - gain * across, 0.0))
            reached &= after + width * left <= 0.0
        return np.asarray(reached.any(axis=1))

r"""Memory of discounted plays (Deng et al. 2022): s rounds later a play has noise lambda rho^-s.

With weights rho^s of the plays, n their sum at each point and b the sum of the weighted values, n and b are
equivalent to one observation of b / n with noise lambda / n a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.kernels.gram import Gram

from .tallied import Tallied

NEGLIGIBLE = 1e-12  # weight


class Discounted(Tallied):
    """Posterior of plays whose noise grows with age; O(u^3 + u^2 A) a round.

    The noise of all u distinct remembered points changes in every round, each by its own amount, so that the
    factor is recomputed. Deng et al. write the weights rho^-s and lambda_t = lambda rho^-t, which is the same
    posterior; the play of the latest round has noise lambda. A late value enters with the weight of its play.

    Args:
        gram, noise: the prior and lambda.
        discount: rho, in (0, 1].
    """

    def __init__(self, gram: Gram, noise: float, discount: float):
        super().__init__(gram, noise)
        self.discount, self._now = discount, 0
        self._latest = np.zeros(gram.size, dtype=np.int64)  # round of each point's latest observed play

    def advance(self) -> None:
        """Discount all weights, and forget the negligible ones."""
        self._now += 1
        if self.discount < 1.0:
            self._count *= self.discount
            self._total *= self.discount
            self._squares *= self.discount**2
            faded = self._count < NEGLIGIBLE
            self._count[faded] = self._total[faded] = self._squares[faded] = 0.0
            self._forget_factor()

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on a value with the present weight of its play."""
        weight = plays * self.discount**age
        self._reserve(x)
        self._count[x] += weight
        self._total[x] += weight * value
        self._squares[x] += plays * self.discount ** (2 * age)
        self._latest[x] = max(self._latest[x], self._now - age)
        self._forget_factor()

    @property
    def gain(self) -> float:
        """1/2 logdet(I + diag(m / lambda) K_XX), m the sums of squared weights; O(u^3).

        The posterior mean weights the noise of a play of s rounds ago by rho^s, the noise's variance by the
        square: a self-normalised bound counts the squares (Deng et al. 2022, the doubly weighted gain), which
        are at most the weights themselves.
        """
        point = self._squares.nonzero()[0]
        root = np.sqrt(self._squares[point] / self.noise)
        weighted = root[:, None] * self.gram.between(point, point) * root
        weighted[np.diag_indices(len(point))] += 1.0
        return float(np.log(np.linalg.cholesky(weighted).diagonal()).sum())

    def correct(self, x: int, change: float) -> None:
        """Change the value of the latest play of x."""
        self._total[x] += self.discount ** (self._now - self._latest[x]) * change
        self._forget_factor()

    def replay(self, other: Any) -> None:
        """Copy the weights and values of another memory."""
        self._now, self._latest = other._now, other._latest.copy()
        self._count, self._total = other._count.copy(), other._total.copy()
        self._squares = other._squares.copy()
        self._forget_factor()

    def _reserve(self, x: int) -> None:
        """Make room for a new point of a box."""
        if x >= len(self._count):
            more = max(x + 1, 2 * len(self._count)) - len(self._count)
            self._count = np.concatenate([self._count, np.zeros(more)])
            self._total = np.concatenate([self._total, np.zeros(more)])
            self._squares = np.concatenate([self._squares, np.zeros(more)])
            self._latest = np.concatenate([self._latest, np.zeros(more, dtype=np.int64)])

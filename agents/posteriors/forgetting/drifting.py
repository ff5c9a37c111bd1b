r"""Memory of a drifting function (Bogunovic et al. 2016): kernel (1 - eps)^(|t - t'| / 2) k(x, x').

With q = sqrt(1 - eps) a play of round s covaries with the next round t + 1 by q^(t + 1 - s) k, and with a
play of round s' by q^|s - s'| k. So all rows V shrink by q a round, and L does not change.
"""

from __future__ import annotations

import math

import numpy as np

from bandit_envs.kernels.gram import Gram

from .play_memory import PlayMemory

NEGLIGIBLE = 1e-12  # factor below which a row is removed
SPARE = 64  # negligible rows that are kept, because removing a few costs more than it saves


class Drifting(PlayMemory):
    """Posterior of the time-varying Gaussian process for the next round; O(k (k + N)) a round.

    A late value is one more row of the factor, with its own round in its covariances: exact, because the
    order of the rows does not matter. k counts the values of the last 55 / eps rounds: a row that has shrunk
    to 1e-12 since it was added is removed. It takes up to 16 k (2 k + N) bytes.

    Args:
        gram, noise: the prior of one round, and lambda.
        eps: in [0, 1].
    """

    def __init__(self, gram: Gram, noise: float, eps: float):
        super().__init__(gram, noise)
        self._root = math.sqrt(1.0 - eps)  # q

    def advance(self) -> None:
        """Advance to the next round."""
        self.now += 1
        self.kept.fade(self._root)
        old = self._root ** (self.now - self.kept.plays["arrived"]) < NEGLIGIBLE
        count = int(np.count_nonzero(old))
        if count > SPARE + self.kept.used // 4:
            self.kept.cut(count)

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on a value of the latest round or of an earlier one."""
        played = self.now - age
        apart = np.abs(self.kept.plays["played"] - played)
        play = (x, value, self.noise / plays, self._root ** (age + 1), played, self.now)
        self.kept.append(play, self._root**apart * self.kept.among(x))

"""Memories that fade: discounted plays, functions that drift or wander, and a sliding window.

Of discounted plays (Deng et al. 2022), with weights rho^s, n is their sum at each point and b the sum of the
weighted values: they are equivalent to one observation of b / n with noise lambda / n a point.

A drifting function (Bogunovic et al. 2016) has the kernel (1 - eps)^(|t - t'| / 2) k(x, x'). With q = sqrt(1
- eps) a play of round s covaries with the next round t + 1 by q^(t + 1 - s) k, and with a play of round s' by
q^|s - s'| k. So all rows V shrink by q a round, and L does not change.

A function with Brownian drift has the kernel (1 + s^2 min(t, t')) k(x, x'), t = 1, 2, ... rounds: each point
has a Wiener process (UI-TVBO, Brunzema et al. 2022): before round 1 the prior is (1 + s^2) K, and each round
adds s^2 K. A play of round r covaries with every later round by (1 + s^2 r) k.
"""

import math
from typing import Any

import numpy as np

from bandit_envs.kernels.gram import Gram

from .memory import Tallied
from .play_rows import PlayMemory

NEGLIGIBLE = 1e-12  # weight
NEGLIGIBLE_SHARE = 1e-12  # factor below which a row is removed
SPARE = 64  # negligible rows that are kept, because removing a few costs more than it saves
PLAY = np.dtype([("point", np.int64), ("value", np.float64), ("plays", np.float64), ("played", np.int64)])


class Discounted(Tallied):
    """Posterior of plays whose noise grows with age, rho in (0, 1]; O(u^3 + u^2 A) a round.

    The noise of all u distinct remembered points changes in every round, each by its own amount, so that the
    factor is recomputed. Deng et al. write the weights rho^-s and lambda_t = lambda rho^-t, which is the same
    posterior; the play of the latest round has noise lambda. A late value enters with the weight of its play.
    """

    def __init__(self, gram: Gram, noise: float, discount: float):
        super().__init__(gram, noise)
        self.discount, self._now = discount, 0
        self._latest = np.zeros(gram.size, dtype=np.int64)  # round of each point's latest observed play

    def advance(self) -> None:
        self._now += 1
        if self.discount < 1.0:
            self._count *= self.discount
            self._total *= self.discount
            self._squares *= self.discount**2
            faded = self._count < NEGLIGIBLE
            self._count[faded] = self._total[faded] = self._squares[faded] = 0.0
            self._forget_factor()

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        weight = plays * self.discount**age
        if x >= len(self._count):  # points of a box are numbered as they are played
            more = (0, max(x + 1, 2 * len(self._count)) - len(self._count))
            self._count, self._total = np.pad(self._count, more), np.pad(self._total, more)
            self._squares, self._latest = np.pad(self._squares, more), np.pad(self._latest, more)
        self._count[x] += weight
        self._total[x] += weight * value
        self._squares[x] += plays * self.discount ** (2 * age)
        self._latest[x] = max(self._latest[x], self._now - age)
        self._forget_factor()

    @property
    def gain(self) -> float:
        """1/2 logdet(I + diag(m / lambda) K_XX), m the sums of squared weights; O(u^3).

        The mean weights the noise of a play of s rounds ago by rho^s, its variance by the square: a
        self-normalised bound counts the squares (Deng et al. 2022, the doubly weighted gain), which are at
        most the weights.
        """
        point = self._squares.nonzero()[0]
        root = np.sqrt(self._squares[point] / self.noise)
        weighted = root[:, None] * self.gram.between(point, point) * root
        weighted[np.diag_indices(len(point))] += 1.0
        return float(np.log(np.linalg.cholesky(weighted).diagonal()).sum())

    def correct(self, x: int, change: float) -> None:
        self._total[x] += self.discount ** (self._now - self._latest[x]) * change
        self._forget_factor()

    def replay(self, other: Any) -> None:
        self._now, self._latest = other._now, other._latest.copy()
        self._count, self._total = other._count.copy(), other._total.copy()
        self._squares = other._squares.copy()
        self._forget_factor()


class Drifting(PlayMemory):
    """Posterior of the time-varying Gaussian process for the next round, eps in [0, 1]; O(k (k + N)) a round.

    A late value is one more row of the factor, with its own round in its covariances: exact, because the
    order of the rows does not matter. k counts the values of the last 55 / eps rounds: a row that has shrunk
    to 1e-12 since it was added is removed. It takes up to 16 k (2 k + N) bytes.
    """

    def __init__(self, gram: Gram, noise: float, eps: float):
        super().__init__(gram, noise)
        self._root = math.sqrt(1.0 - eps)  # q

    def advance(self) -> None:
        self.now += 1
        self.fade(self._root)
        old = self._root ** (self.now - self.plays["arrived"]) < NEGLIGIBLE_SHARE
        count = int(np.count_nonzero(old))
        if count > SPARE + self.used // 4:
            self.cut(count)

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        played = self.now - age
        apart = np.abs(self.plays["played"] - played)
        play = (x, value, self.noise / plays, self._root ** (age + 1), played, self.now)
        self.append(play, self._root**apart * self.among(x))


class Wandering(PlayMemory):
    """Posterior for the next round of a function with Brownian drift; O(k (k + N)) a round, k plays.

    The variance grows without bound where no point is played, by s^2, `rate`, in prior variances a step, and
    old plays never fade: none is removed. A late value is one more row, as in `Drifting`, with as much
    memory.
    """

    def __init__(self, gram: Gram, noise: float, rate: float):
        super().__init__(gram, noise)
        self._rate = rate

    @property
    def growth(self) -> float:
        return 1.0 + self._rate * (self.now + 1)

    def advance(self) -> None:
        self.now += 1

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        played = self.now - age
        shared = 1.0 + self._rate * self.plays["played"].clip(max=played)
        weight = 1.0 + self._rate * played
        play = (x, value, self.noise / plays, weight, played, self.now)
        self.append(play, shared * self.among(x), weight)


class LastPlays(PlayMemory):
    """Posterior of the plays of the last W rounds, without values delivered later; O(W (W + N)) a round."""

    def __init__(self, gram: Gram, noise: float, window: int):
        super().__init__(gram, noise)
        self.window = window

    def advance(self) -> None:
        self.now += 1
        outdated = (self.plays["played"] <= self.now - self.window).nonzero()[0]
        for j in outdated[::-1].tolist():
            self.drop(j)

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        if age < self.window:
            play = (x, value, self.noise / plays, 1.0, self.now - age, self.now)
            self.append(play, self.among(x))


class LastCounts(Tallied):
    """Posterior of the last W rounds from counts, for windows larger than N; O(W + u^3 + u^2 N) a round.

    The counts and sums of the u points in the window are recomputed, so that rounding does not accumulate.
    """

    def __init__(self, gram: Gram, noise: float, window: int):
        super().__init__(gram, noise)
        self.window, self._now = window, 0
        self._plays = np.empty(0, PLAY)  # plays in the window, in order of delivery

    def advance(self) -> None:
        self._now += 1
        kept = self._plays["played"] > self._now - self.window
        if not kept.all():
            self._plays = self._plays[kept]
            self._add_up()

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        if age < self.window:
            self._plays = np.append(self._plays, np.array([(x, value, plays, self._now - age)], PLAY))
            self._add_up()

    def correct(self, x: int, change: float) -> None:
        j = (self._plays["point"] == x).nonzero()[0][-1]
        self._plays["value"][j] += change / self._plays["plays"][j]
        self._add_up()

    def replay(self, other: Any) -> None:
        self._now, self._plays = other._now, other._plays.copy()
        self._add_up()

    def _add_up(self) -> None:
        point, plays = self._plays["point"], self._plays["plays"]
        self._count = self._squares = np.bincount(point, plays, self.gram.size)
        self._total = np.bincount(point, plays * self._plays["value"], self.gram.size)
        self._forget_factor()

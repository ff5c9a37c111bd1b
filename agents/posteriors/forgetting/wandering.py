r"""Memory of a function with Brownian drift: kernel (1 + s^2 min(t, t')) k(x, x'), t = 1, 2, ... rounds.

Each point has a Wiener process (UI-TVBO, Brunzema et al. 2022): before round 1 the prior is (1 + s^2) K, and
each round adds s^2 K. A play of round r covaries with every later round by (1 + s^2 r) k.
"""

from __future__ import annotations

from bandit_envs.kernels.gram import Gram

from .play_memory import PlayMemory


class Wandering(PlayMemory):
    """Posterior for the next round of a function with Brownian drift; O(k (k + N)) a round, k plays.

    The variance grows without bound where no point is played, and old plays never fade: none is removed. A
    late value is one more row of the factor, with its own round in its covariances: exact, because the order
    of the rows does not matter. It takes up to 16 k (2 k + N) bytes.

    Args:
        gram, noise: k, and lambda.
        rate: s^2, the variance of a step in prior variances.
    """

    def __init__(self, gram: Gram, noise: float, rate: float):
        super().__init__(gram, noise)
        self._rate = rate

    @property
    def growth(self) -> float:
        """Prior variance of the next round."""
        return 1.0 + self._rate * (self.now + 1)

    def advance(self) -> None:
        """Advance to the next round."""
        self.now += 1

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on a value of the latest round or of an earlier one."""
        played = self.now - age
        shared = 1.0 + self._rate * self.kept.plays["played"].clip(max=played)
        weight = 1.0 + self._rate * played
        play = (x, value, self.noise / plays, weight, played, self.now)
        self.kept.append(play, shared * self.kept.among(x), weight)

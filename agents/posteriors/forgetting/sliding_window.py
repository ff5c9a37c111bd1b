"""The memory of a sliding window: the last W plays, each as good as when it was new."""

from __future__ import annotations

from bandit_envs.kernels.gram import Gram

from .play_memory import PlayMemory


class LastPlays(PlayMemory):
    """The Gaussian-process posterior of the plays of the last W rounds; O(W (W + N)) a round.

    A value that comes when its play has left the window is not learnt.

    Args:
        gram, noise: the prior and lambda.
        window: W.
    """

    def __init__(self, gram: Gram, noise: float, window: int):
        super().__init__(gram, noise)
        self.window = window

    def advance(self) -> None:
        """Take out the plays that leave the window."""
        self.now += 1
        outdated = (self.kept.plays["played"] <= self.now - self.window).nonzero()[0]
        for j in outdated[::-1].tolist():
            self.kept.drop(j)

    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Learn a value from within the window."""
        if age < self.window:
            play = (x, value, self.noise / plays, 1.0, self.now - age, self.now)
            self.kept.append(play, self.kept.among(x))

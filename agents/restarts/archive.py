r"""An archive of the segments that have ended, and whether one of them has come back (ours).

Of A archived segments with values Y_a, and y_{1:n} those since the restart in the order of play,

    BF_a = p(y_{1:n} | Y_a) / p(y_{1:n}),    taken over when log BF_a >= log(A G / delta),

where both are predictions of the model, and noise levels, G of them, are weighted as Y_a has them. If the
function of today is a new one and the noise is drawn from its levels, each BF_a is a martingale of mean 1,
whatever is played and however late values come: P(BF_a >= A G / delta for any n) <= delta / (A G) by Ville's
inequality, at most delta / A at each level, and P(any segment is taken over, in this segment) <= delta. Plays
from before the alarm that are kept were chosen by looking, for them it is approximate; and it says nothing
of functions that resemble an archived one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .evidence import Evidence
from .outcomes import Outcomes, Told

HOPELESS = math.log(1e-6)  # log BF_a below which a segment is not looked at any more


class Seen(NamedTuple):
    """A play whose value was looked at."""

    round: int
    point: int
    value: Floats  # (1 + C,)
    share: float  # of its noise variance in what is told


class Candidate:
    """A segment that may have come back.

    Args:
        told: of the values.
        scales: of the noise's deviation.
        plays: of the segment.
    """

    def __init__(self, told: Told, scales: Sequence[float], plays: Sequence[Seen]):
        self.plays = plays
        self._outcomes = Outcomes(told, scales)
        self._joint = np.zeros((len(scales), 1))  # (G, 2) log p(Y_a) p(y | Y_a), and p(Y_a) p(y) beside it
        for play in plays:
            self.observe(play)
        self._outcomes.begin()
        self._joint = np.repeat(self._joint, 2, axis=1)

    @property
    def log_factor(self) -> float:
        """log BF_a."""
        same, fresh = np.logaddexp.reduce(self._joint, axis=0)
        return float(same - fresh)

    def observe(self, play: Seen) -> None:
        """Look at a value since the restart."""
        self._joint = self._joint + self._outcomes.expected(play.point, play.share).log_density(play.value)
        self._outcomes.learn(play.point, play.value, play.share)


class Archive:
    """The archive of one trial, the present segment beside it.

    What is taken over leaves the archive and is a part of the present segment, until that ends. O(G k^2) a
    value for each archived segment that is still in question, and at an alarm for each value in the archive.

    Args:
        told: of the values.
        make_watch: builds from it what looks for the next change.
        false_alarm_rate: delta, the probability that anything is taken over in a segment with a new function,
            at each scale.
        scales: of the noise's deviation, G.
    """

    def __init__(
        self,
        told: Told,
        *,
        make_watch: Callable[[Told], Evidence],
        false_alarm_rate: float = 0.1,
        scales: Sequence[float] = (1.0,),
    ):
        self._told, self._make_watch = told, make_watch
        self._scales, self._rate = scales, false_alarm_rate
        self.clear()

    def watch(self) -> Evidence:
        """A new one, which knows what was taken over."""
        watch = self._make_watch(self._told)
        for play in self.remembered:
            watch.remember(play.point, play.value, play.share)
        return watch

    def clear(self) -> None:
        """Forget everything."""
        self.segments: list[list[Seen]] = []
        self.remembered: list[Seen] = []  # what was taken over, a part of the present segment
        self._present: list[Seen] = []
        self._candidates: list[Candidate] = []
        self._threshold = math.inf

    @property
    def rounds(self) -> Ints:
        """Rounds of the plays that were taken over, ascending, (n,)."""
        return np.array(sorted(play.round for play in self.remembered), dtype=np.int64)

    def end(self, first: int) -> None:
        """After an alarm: what was played before a round is a segment that has ended."""
        ended = [play for play in self._present if play.round < first]
        self.segments += [plays for plays in self._apart(ended) if plays]
        self._present, self.remembered = [], []
        self._candidates = [Candidate(self._told, self._scales, plays) for plays in self.segments]
        self._threshold = math.log((len(self.segments) or 1) * len(self._scales) / self._rate)

    def _apart(self, ended: list[Seen]) -> list[list[Seen]]:
        """What was taken over and what was played then: one segment if they still match, else two."""
        if self.remembered:
            candidate = Candidate(self._told, self._scales, self.remembered)
            for play in ended:
                candidate.observe(play)
            if candidate.log_factor < self._threshold:
                return [self.remembered, ended]
        return [[*self.remembered, *ended]]

    def observe(self, play: Seen) -> bool:
        """Look at a value since the restart, in the order of play; whether a segment is taken over.

        Then the plays since the restart are to be shown again.
        """
        self._present.append(play)
        for candidate in self._candidates:
            candidate.observe(play)
        self._candidates = [each for each in self._candidates if each.log_factor >= HOPELESS]
        best = max(self._candidates, key=lambda each: each.log_factor, default=None)
        if best is None or best.log_factor < self._threshold:
            return False
        self.segments = [plays for plays in self.segments if plays is not best.plays]
        self.remembered, self._present, self._candidates = list(best.plays), [], []
        return True

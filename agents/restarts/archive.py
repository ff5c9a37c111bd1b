r"""An archive of segments that have ended, and a test for the return of one of them (ours).

Of A archived segments with values Y_a, and y_{1:n} those since the restart in the order of play,

    BF_a = p(y_{1:n} | Y_a) / p(y_{1:n}),    reused when log BF_a >= log(A G / delta),

where both are predictions of the model, and noise levels, G of them, are weighted by Y_a's likelihood. If the
present function is new and the noise is drawn from its levels, each BF_a is a martingale of mean 1, for any
plays and delays: P(BF_a >= A G / delta for any n) <= delta / (A G) by Ville's inequality, at most delta / A
at each level, and P(any segment is reused, in this segment) <= delta. Plays from before the alarm that are
kept were selected by their values, so for them it is approximate; and it does not cover functions that
resemble an archived one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .evidence import Evidence
from .outcomes import Outcomes, Told

DISCARDED_BELOW = math.log(1e-6)  # log BF_a below which a segment is discarded


class Seen(NamedTuple):
    """Play whose value was observed."""

    round: int
    point: int
    value: Floats  # (1 + C,)
    share: float  # ratio of its noise variance to the published one


class Candidate:
    """Segment that may have returned.

    Args:
        told: the model of the values.
        scales: factors of the noise std.
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
        """Update the factor with a value since the restart."""
        self._joint = self._joint + self._outcomes.expected(play.point, play.share).log_density(play.value)
        self._outcomes.learn(play.point, play.value, play.share)


class Archive:
    """Archive of one trial, with its present segment.

    A reused segment leaves the archive and is a part of the present segment until that ends. O(G k^2) a value
    for each archived segment that may still return, and at an alarm for each value in the archive.

    Args:
        told: the model of the values.
        make_watch: builds the detector of the next change from it.
        false_alarm_rate: delta, the probability that any segment is reused in a segment with a new function,
            at each scale.
        scales: factors of the noise std, G.
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
        """Return a new detector that includes the reused plays."""
        watch = self._make_watch(self._told)
        for play in self.remembered:
            watch.remember(play.point, play.value, play.share)
        return watch

    def clear(self) -> None:
        """Clear the archive."""
        self.segments: list[list[Seen]] = []
        self.remembered: list[Seen] = []  # reused plays, a part of the present segment
        self._present: list[Seen] = []
        self._candidates: list[Candidate] = []
        self._threshold = math.inf

    @property
    def rounds(self) -> Ints:
        """Rounds of the reused plays, ascending, (n,)."""
        return np.array(sorted(play.round for play in self.remembered), dtype=np.int64)

    def end(self, first: int) -> None:
        """Archive, after an alarm, the plays before round `first` as a segment that has ended."""
        ended = [play for play in self._present if play.round < first]
        self.segments += [plays for plays in self._apart(ended) if plays]
        self._present, self.remembered = [], []
        self._candidates = [Candidate(self._told, self._scales, plays) for plays in self.segments]
        self._threshold = math.log((len(self.segments) or 1) * len(self._scales) / self._rate)

    def _apart(self, ended: list[Seen]) -> list[list[Seen]]:
        """Return reused and later plays as one segment if they still match, else as two."""
        if self.remembered:
            candidate = Candidate(self._told, self._scales, self.remembered)
            for play in ended:
                candidate.observe(play)
            if candidate.log_factor < self._threshold:
                return [self.remembered, ended]
        return [[*self.remembered, *ended]]

    def observe(self, play: Seen) -> bool:
        """Update with a value since the restart, in the order of play; return True if a segment is reused.

        The plays since the restart must then be shown again.
        """
        self._present.append(play)
        for candidate in self._candidates:
            candidate.observe(play)
        self._candidates = [each for each in self._candidates if each.log_factor >= DISCARDED_BELOW]
        best = max(self._candidates, key=lambda each: each.log_factor, default=None)
        if best is None or best.log_factor < self._threshold:
            return False
        self.segments = [plays for plays in self.segments if plays is not best.plays]
        self.remembered, self._present, self._candidates = list(best.plays), [], []
        return True

"""An alarm by the evidence for a change, and an archive of segments that may return (both ours).

`Evidence` alarms with a bound on false alarms by Ville's inequality. For starts s = step, 2 step, ... plays
since the restart, and 1 before s is reached,

    BF_s = p(y_{s+1:n}) / p(y_{s+1:n} | y_{1:s}),    M_n = sum_s w_s BF_s,    sum_s w_s = 1,

both predictions of the model, the first from the prior. Without a change each BF_s is a martingale of mean 1,
for any plays and delays if values are observed in the order of play, and so is M_n >= 0: P(M_n >= 1 / delta
for any n) <= delta. It holds for f ~ GP(prior) and Gaussian noise of the model's variance, or of one of G.

`Archive` tests for the return of one of A ended segments. With their values Y_a, and y_{1:n} those since the
restart in the order of play,

    BF_a = p(y_{1:n} | Y_a) / p(y_{1:n}),    reused when log BF_a >= log(A G / delta),

where noise levels, G of them, are weighted by Y_a's likelihood. If the present function is new, likewise,
P(BF_a >= A G / delta for any n) <= delta / A at each level, and P(any segment is reused) <= delta. For plays
from before the alarm, which were selected by their values, it is approximate; and it does not cover functions
that resemble an archived one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, shown
from bandit_envs.basics.types import Floats, Ints

from .outcomes import Outcomes, ValueModel

GIVEN_NOISE = (1.0, 1.5, 2.2)  # scales of a given or published noise, which may be too small
UNKNOWN_NOISE = (0.1, 0.3, 1.0, 3.0, 10.0)  # scales of a default noise
NEGLIGIBLE = 1e-6  # of M_n: a start of a smaller factor is dropped, which makes M_n smaller still
DISCARDED_BELOW = math.log(1e-6)  # log BF_a below which a segment is discarded


class Evidence:
    """Evidence of one trial.

    The given noise may be too small: with G scales all likelihoods are means over G noise levels, and an
    alarm at M_n >= G / delta keeps delta at each level, since P(M_n >= c for any n) <= 1 / c is a mean over
    them.

    With T, the `horizon`, w_s = step / T; without, for any number of plays, w_s = step^2 / (s (s + step)).
    The `false_alarm_rate` delta is of the time until the next restart; `scales` multiply the noise std.
    """

    def __init__(
        self,
        value_model: ValueModel,
        *,
        horizon: int | None,
        step: int = 10,
        false_alarm_rate: float = 0.1,
        scales: Sequence[float] = (1.0,),
    ):
        self._outcomes, self._step, self._horizon = Outcomes(value_model, scales), step, horizon
        self._threshold = math.log(len(scales) / false_alarm_rate)
        self._joint = np.zeros((len(scales), 1))  # (G, W) log p(y_1:s) p(y_s+1:n); the first is no change
        self._start, self._log_weight = np.zeros(1, dtype=np.int64), np.full(1, -np.inf)
        self._next, self._later_weight = step, 1.0  # the next start, and the weight of all later ones

    @property
    def log_factors(self) -> Floats:
        """log BF_s of the starts so far, (W,); that of the first, no change, is 0."""
        each = np.logaddexp.reduce(self._joint, axis=0)
        return each - each[0]

    @property
    def log_evidence(self) -> float:
        """log M_n."""
        later = math.log(self._later_weight) if self._later_weight > 0.0 else -math.inf
        return float(np.logaddexp(np.logaddexp.reduce(self._log_weight + self.log_factors), later))

    def remember(self, point: int, value: Floats, share: float) -> None:
        """Condition on a value known to be of the present function, before the first observed one.

        It cannot raise an alarm: p(y | remembered values) replaces p(y) until the change.
        """
        self._joint = self._joint + self._outcomes.expected(point, share).log_density(value)
        self._outcomes.learn(point, value, share)

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change plays are kept from the likeliest start on."""
        while self._next <= age and (self._horizon is None or self._next < self._horizon):
            start, step = self._next, self._step
            weight = step**2 / (start * (start + step)) if self._horizon is None else step / self._horizon
            self._outcomes.begin()
            self._joint = np.column_stack([self._joint, self._joint[:, 0]])
            self._start = np.append(self._start, start)
            self._log_weight = np.append(self._log_weight, math.log(weight))
            self._next, self._later_weight = start + step, self._later_weight - weight
        self._joint = self._joint + self._outcomes.expected(point, share).log_density(value)
        self._outcomes.learn(point, value, share)
        evidence, factors = self.log_evidence, self.log_factors
        if evidence >= self._threshold:
            return int(self._start[1:][np.argmax((factors + self._log_weight)[1:])])
        kept = factors >= evidence + math.log(NEGLIGIBLE)
        kept[0] = True
        if not kept.all():
            self._outcomes.keep(kept)
            self._joint, self._start = self._joint[:, kept], self._start[kept]
            self._log_weight = self._log_weight[kept]
        return None


def require_scales(scales: Any) -> tuple[float, ...]:
    """Return factors of the noise std, or raise an error that names what is wrong with them."""
    try:
        given = np.asarray(scales, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    listed = given.ndim == 1 and given.size and not isinstance(scales, str)
    if not listed or not np.all((given > 0) & (given < np.inf)):
        words = "must be positive numbers, factors of the noise std such as (1, 1.5, 2)"
        raise ArgumentError("noise_scales", f"{words}, got {shown(scales)}")
    return tuple(given.tolist())


class Seen(NamedTuple):
    """Play whose value was observed."""

    round: int
    point: int
    value: Floats  # (1 + C,)
    share: float  # ratio of its noise variance to the published one


class Candidate:
    """Segment that may have returned."""

    def __init__(self, value_model: ValueModel, scales: Sequence[float], plays: Sequence[Seen]):
        self.plays = plays
        self._outcomes = Outcomes(value_model, scales)
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
    """Archive of one trial, with its present segment, of which a reused one is a part until that ends.

    O(G k^2) a value for each archived segment that may still return, and at an alarm for each value in it.

    `make_watch` builds the detector of the next change; the `false_alarm_rate` delta is the probability that
    any segment is reused in a segment with a new function, at each of the `scales` of the noise std.
    """

    def __init__(
        self,
        value_model: ValueModel,
        *,
        make_watch: Callable[[ValueModel], Evidence],
        false_alarm_rate: float = 0.1,
        scales: Sequence[float] = (1.0,),
    ):
        self._value_model, self._make_watch = value_model, make_watch
        self._scales, self._rate = scales, false_alarm_rate
        self.clear()

    def watch(self) -> Evidence:
        """Return a new detector that includes the reused plays."""
        watch = self._make_watch(self._value_model)
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
        segments = [[*self.remembered, *ended]]
        if self.remembered:  # reused and later plays are one segment if they still match, else two
            candidate = Candidate(self._value_model, self._scales, self.remembered)
            for play in ended:
                candidate.observe(play)
            if candidate.log_factor < self._threshold:
                segments = [self.remembered, ended]
        self.segments += [plays for plays in segments if plays]
        self._present, self.remembered = [], []
        self._candidates = [Candidate(self._value_model, self._scales, plays) for plays in self.segments]
        self._threshold = math.log((len(self.segments) or 1) * len(self._scales) / self._rate)

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

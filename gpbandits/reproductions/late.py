"""Claims of how regret or violation grows in late rounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import Interval
from gpbandits.reproductions.power_law import RESAMPLES
from gpbandits.reproductions.verdicts import Row, beyond, interval, of_order, sign_of

MIDWAY = 0.75  # between sqrt(t), the power of bounds, and t
LEAST = 1e-12  # regret of a span without any, of which a logarithm is taken


@dataclasses.dataclass(frozen=True)
class LateGrowth:
    """Mean regret grows as R_t = a + b t^c in late rounds, with c above 3/4, or below.

    c = log((R_T - R_s) / (R_s - R_r)) / log(T / s) for rounds r < s < T with s / r = T / s, whatever a is:
    1 where each round costs the same, 1/2 for sqrt(t), 0 where each doubling of t does. Its interval redraws
    trials, each with its regret in all rounds.

    Args:
        label: of the agent.
        since: r and s; T is the horizon.
        linear: whether c is above 3/4, midway between sqrt(t) and t, or else below.
        environment: the beginning of the labels of the environments that it is about; by default all.
    """

    label: str
    since: tuple[int, int]
    linear: bool = False
    environment: str = ""

    @property
    def reads(self) -> tuple[int, ...]:
        """r and s."""
        return self.since

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One an environment in which the agent has played that long."""
        return [self.row(result) for result in results if self.applies_to(result)]

    def applies_to(self, result: Result) -> bool:
        """Whether it is about the environment, and the agent has played longer than s rounds there."""
        long = result.horizon > self.since[-1]
        return long and self.label in result.records and result.environment.startswith(self.environment)

    def row(self, result: Result) -> Row:
        """The power and the verdict."""
        columns = [result.column_of(at) for at in (*self.since, None)]
        power = late_power(result.regret[self.label][:, columns], result.horizon / self.since[-1])
        order = ">" if self.linear else "<"
        verdict = of_order(sign_of(beyond(power, MIDWAY, above=self.linear)), result.num_trials)
        tested = f"late power of t ({self.label}) {order} {MIDWAY}"
        return Row(result.environment, tested, interval(power), verdict)


@dataclasses.dataclass(frozen=True)
class Sublinear:
    """A mean that is summed over rounds grows as t^c in size from a round s on, with c below 1.

    c = log |M_T / M_s| / log(T / s): below 1 where the average over rounds comes nearer to 0, from either
    side. Its interval redraws trials.

    Args:
        label: of the agent.
        metric: that is summed.
        since: s; T is the horizon.
    """

    label: str
    metric: Metric
    since: int

    @property
    def reads(self) -> tuple[int, ...]:
        """s."""
        return (self.since,)

    def rows(self, results: Sequence[Result]) -> list[Row]:
        """One an environment in which the agent has played that long."""
        return [
            self.row(each) for each in results if self.label in each.records and each.horizon > self.since
        ]

    def row(self, result: Result) -> Row:
        """The power and the verdict."""
        sums = result.curves(self.metric)[self.label][:, [result.column_of(self.since), -1]]
        power = power_of_size(sums, result.horizon / self.since)
        verdict = of_order(sign_of(beyond(power, 1.0, above=False)), result.num_trials)
        tested = f"power of t from {self.since} on ({self.metric}, {self.label}) < 1"
        return Row(result.environment, tested, interval(power), verdict)


def power_of_size(sums: Floats, factor: float, seed: int = 0) -> Interval:
    """c of the size of mean sums up to two rounds, the later by a factor, (B, 2)."""
    early, late = np.maximum(np.abs(_means(sums, seed)), LEAST).T
    return _percentiles(np.log(late / early) / np.log(factor))


def late_power(regret: Floats, factor: float, seed: int = 0) -> Interval:
    """c of mean regrets in three rounds, each a factor later than the one before, (B, 3)."""
    early, late = np.maximum(np.diff(_means(regret, seed), axis=1), LEAST).T
    return _percentiles(np.log(late / early) / np.log(factor))


def _means(values: Floats, seed: int) -> Floats:
    """Means of the trials and then of trials redrawn, (B, n) -> (1 + RESAMPLES, n)."""
    drawn = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return np.vstack([values.mean(axis=0), values[drawn].mean(axis=1)])


def _percentiles(powers: Floats) -> Interval:
    """The first with the percentile interval of the others."""
    low, high = np.quantile(powers[1:], [0.025, 0.975])
    return Interval(powers[0], low, high)

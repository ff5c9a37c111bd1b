"""Claims of how regret grows in late rounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.result import Result
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


def late_power(regret: Floats, factor: float, seed: int = 0) -> Interval:
    """c of mean regrets in three rounds, each a factor later than the one before, (B, 3)."""
    drawn = np.random.default_rng(seed).integers(len(regret), size=(RESAMPLES, len(regret)))
    means = np.vstack([regret.mean(axis=0), regret[drawn].mean(axis=1)])  # (1 + RESAMPLES, 3)
    early, late = np.maximum(np.diff(means, axis=1), LEAST).T
    power = np.log(late / early) / np.log(factor)
    low, high = np.quantile(power[1:], [0.025, 0.975])
    return Interval(power[0], low, high)

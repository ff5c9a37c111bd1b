"""Who stands where across environments: losses relative to a reference agent, pooled scores, ranks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.marks import footnotes
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import (
    Interval,
    mean_improvement,
    mean_ranks,
    normalised_scores,
    performance_profile,
    pooled_score,
)
from gpbandits.evaluation.statistics.across import RESAMPLES
from gpbandits.report.grid import Cell, Grid
from gpbandits.report.violations import KINDS, MEANING, relative_violation

INDISTINCT = 0.1  # from the reference's score: an environment whose agents are all nearer ranks chance
THRESHOLDS = np.linspace(-0.5, 1.0, 61)  # of scores, in profiles

_METHOD = (
    "A round costs the positive part of its regret (of its budget regret where plays have a cost) and, where "
    "there are constraints, its violation; a "
    "trial's loss is the sum over rounds relative to the mean of the reference agent ({}), of both equally. "
    "The score is 1 - loss: 1 plays optimally, 0 like the reference."
)
_INTERVALS = (
    "Scores are interquartile means over all trials; relative ranks (0 the best, 1 the worst) are among "
    "those who played, averaged over environments; with 95 % percentile intervals of a bootstrap of trials "
    f"within environments ({RESAMPLES} resamples). Compare agents of different environments by their "
    "ranks, not by their scores."
)
_THINNED = (
    "Where only some rounds are recorded, what is gained by violating a constraint is made up for within the "
    "rounds between two of them."
)


class Standings:
    """Scores and ranks of agents on several environments.

    Args:
        results: one an environment; agents may be missing where they cannot play.
        reference: the agent that scores 0 in the mean, in every result; it has some loss in each.
    """

    def __init__(self, results: Sequence[Result], reference: str):
        if not results:
            raise ValueError("a leaderboard needs at least one environment with results, got none")
        self.results, self.reference = list(results), reference
        self.constrained = any(result.num_constraints for result in self.results)
        self.losses = [relative_losses(result, reference) for result in results]
        self.scores = [normalised_scores(table, reference) for table in self.losses]
        self.ranks = mean_ranks(self.losses)
        self.pooled = {label: pooled_score(self.of(label)) for label in self.ranks}

    @property
    def agents(self) -> list[str]:
        """Labels, least relative rank first."""
        return sorted(self.ranks, key=lambda label: float(self.ranks[label].estimate))

    def of(self, label: str) -> list[Floats]:
        """Scores of an agent in the environments it played, (B,) each."""
        return [table[label] for table in self.scores if label in table]

    def profile(self, label: str) -> Interval:
        """Share of the agent's trials that score above each of `THRESHOLDS`."""
        return performance_profile(self.of(label), THRESHOLDS)

    def marked(self, label: str) -> str:
        """The label with its marks."""
        return next(result.marked(label) for result in self.results if label in result.agents)

    def _comparable(self, label: str) -> bool:
        return all(result.comparable(label) for result in self.results)

    def overall(self) -> Grid:
        """Every agent across the environments that it played."""
        kinds = list(KINDS) if self.constrained else []
        rows = tuple(
            (
                self.marked(label),
                len(self.of(label)),
                self.pooled[label],
                self.ranks[label],
                *(relative_violation(self.results, label, self.reference, kind) for kind in kinds),
            )
            for label in self.agents
        )
        notes = (
            f"n = {self._trials()} of each agent on each environment.",
            _METHOD.format(self.reference),
            _INTERVALS,
            self._apart(),
            *([MEANING] if kinds else []),
            *self._thinned(),
            *footnotes(*self.results),
        )
        header = ("agent", "environments", "score", "relative rank", *kinds)
        return Grid("overall", "Across environments", header, rows, notes)

    def improvement(self) -> Grid:
        """Every agent against the best of those that are neither privileged nor trained beforehand."""
        plain = [label for label in self.agents if self._comparable(label)]
        best = (plain or self.agents)[0]
        rows = tuple(
            (self.marked(label), len(shared), mean_improvement(shared))
            for label in self.agents
            if label != best
            and (shared := [(t[label], t[best]) for t in self.losses if label in t and best in t])
        )
        name = self.marked(best)
        method = (
            f"The probability of a smaller loss than {name}, the best relative rank: the share of trials, "
            "ties half, of each environment that both played, averaged over them (Agarwal et al. 2021); "
            f"95 % percentile intervals of the same bootstrap ({RESAMPLES} resamples), which have no width "
            "where all trials agree."
        )
        header = ("agent", "environments", f"P(less than {name})")
        notes = (
            f"n = {self._trials()} of each agent on each environment.",
            method,
            *footnotes(*self.results),
        )
        return Grid("improvement", f"Probability of improvement over {name}", header, rows, notes)

    def by_environment(self) -> Grid:
        """The mean score of every agent on every environment."""
        rows: list[tuple[Cell, ...]] = [
            (
                self.marked(label),
                *(_mean(table[label]) if label in table else None for table in self.scores),
            )
            for label in self.agents
        ]
        header = ("agent", *(result.environment for result in self.results))
        notes = (
            f"n = {self._trials()}; mean scores, a dash where an agent does not handle the environment.",
            *footnotes(*self.results),
        )
        return Grid("environments", "Environment by environment", header, tuple(rows), notes)

    def _apart(self) -> str:
        ranks = [self.ranks[label] for label in self.agents]
        apart = sum(bool(ahead.high < behind.low) for ahead, behind in itertools.pairwise(ranks))
        return f"Of {len(ranks) - 1} pairs of neighbours in the table, the intervals of {apart} do not meet."

    def _trials(self) -> str:
        counts = sorted({result.num_trials for result in self.results})
        return f"{' to '.join(map(str, counts[:: max(len(counts) - 1, 1)]))} trials"

    def _thinned(self) -> list[str]:
        return (
            [_THINNED] if any(r.num_constraints and r.checkpoints is not None for r in self.results) else []
        )


def relative_losses(result: Result, reference: str) -> dict[str, Floats]:
    """What each trial costs relative to the reference's mean, (B,) an agent.

    The positive part of the regret counts, so that violating a constraint does not pay, and beside it, with
    the same weight, the norm of the violation.
    """
    if reference not in result.agents:
        raise ValueError(f"the reference {reference!r} has not played {result.environment!r}; add it")
    if not has_loss(result, reference):
        raise ValueError(f"the reference {reference!r} has no loss on {result.environment!r}")
    parts = _parts(result)
    scales = [part[reference].mean() for part in parts]
    shares = [
        {label: loss / scale for label, loss in part.items()}
        for part, scale in zip(parts, scales, strict=True)
        if scale > 0
    ]
    return {label: np.mean([share[label] for share in shares], axis=0) for label in result.agents}


def distinct(result: Result, reference: str) -> bool:
    """Whether some agent is clearly apart from the reference: else ranks would be those of chance."""
    scores = normalised_scores(relative_losses(result, reference), reference)
    return any(abs(float(score.mean())) > INDISTINCT for score in scores.values())


def has_loss(result: Result, reference: str) -> bool:
    """Whether the reference has played and lost something, without which nothing has a scale."""
    return reference in result.agents and any(part[reference].any() for part in _parts(result))


def _parts(result: Result) -> list[dict[str, Floats]]:
    """Positive regret and, where there are constraints, violation, summed over rounds, (B,) an agent.

    Where plays have a cost it is the budget's regret: who makes fewer plays does not lose less by that.
    """
    regret = {
        label: record.spending.shortfall if record.spending else record.regret
        for label, record in result.records.items()
    }
    parts = [{label: np.maximum(each, 0.0).sum(axis=1) for label, each in regret.items()}]
    if result.num_constraints:
        parts.append({label: record.violation.sum(axis=1) for label, record in result.records.items()})
    return parts


def _mean(scores: Floats) -> float:
    return round(float(scores.mean()), 12) + 0.0  # the reference's 0, and not what rounding leaves of it

"""A figure of the regret on the worst of several families of functions, by horizon."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from gpbandits.evaluation.record import Record
from gpbandits.evaluation.result import Result
from gpbandits.experiments import EnvironmentEntry
from gpbandits.reproductions.base import Findings, Results
from gpbandits.reproductions.powers import PowerFigure


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorstFigure(PowerFigure):
    """Regret at the horizon as C T^c, of each agent in the environment of each horizon that is worst for it.

    What a minimax rate is about: the largest of mean regrets over functions that may depend on the horizon
    and on the agent. The worst environment is chosen by the mean of all trials, so the largest is a little
    too large, the more so the more environments are alike; intervals do not choose it anew.
    """

    def findings(self, results: Results) -> Findings:
        """As of the worst environments."""
        return super().findings(by_horizon(results))


def by_horizon(results: Results) -> Results:
    """One result a horizon, of each agent the record of its worst environment; same trials, same agents."""
    found = [result for _, result in results]
    horizons = sorted({result.horizon for result in found})
    return [_worst([result for result in found if result.horizon == horizon]) for horizon in horizons]


def _worst(results: Sequence[Result]) -> tuple[EnvironmentEntry, Result]:
    label = f"T = {results[0].horizon}"
    records = {agent: _worst_record(results, agent) for agent in results[0].agents}
    entry = EnvironmentEntry("worst", label, {})
    return entry, dataclasses.replace(results[0], environment=label, records=records)


def _worst_record(results: Sequence[Result], agent: str) -> Record:
    return max(results, key=lambda result: result.regret[agent][:, -1].mean()).records[agent]

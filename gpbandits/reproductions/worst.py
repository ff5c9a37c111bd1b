"""A worst-case figure shows regret on the worst of several families of functions, by horizon."""

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
    """The figure fits regret at the horizon as C T^c, each agent in its worst environment of each horizon.

    A minimax rate concerns the largest mean regret over functions that may depend on the horizon and on the
    agent. The worst environment is chosen by the mean of all trials, so the largest mean is biased upwards,
    more so for similar environments; bootstrap samples do not choose it again.
    """

    def findings(self, results: Results) -> Findings:
        """Return the findings on the worst environments."""
        return super().findings(by_horizon(results))


def by_horizon(results: Results) -> Results:
    """Return one result a horizon, with each agent's record in its worst environment."""
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

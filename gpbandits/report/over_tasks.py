"""Standings with tasks as units: mean ranks over tasks, simple regret, unsafe plays and time a round."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.formats import Cell
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import holm
from gpbandits.evaluation.table import Table
from gpbandits.report.standings import Standings

FEWEST = 6  # tasks of which the best order has a p-value below 5 %: 2 / 2^6
TIED = 9  # digits of mean scores; those that agree in them share a rank

_METHOD = (
    "Over tasks: an agent's rank on a task is that of its mean score there, and the mean rank is over {} "
    "tasks, which are the units here, not trials."
)
_TEST = (
    "p is that of a Wilcoxon signed-rank test of the mean scores against {}, the first by mean rank, "
    "two-sided, with Holm's correction over the agents."
)
_FEW = f"Fewer than {FEWEST} tasks cannot differ significantly, so that no p is shown."
_SIMPLE = (
    "The simple score is 1 - simple regret over the reference's, both at the last round, averaged over "
    "tasks: how good the best play was whose result was delivered."
)
_UNSAFE = "Unsafe plays are the share of rounds in which a cost was above 0."


def over_tasks(standings: Standings, units: Mapping[str, str] | None = None) -> Table:
    """Return the table of mean ranks over tasks, and of what their scores leave out.

    Args:
        standings: of the tasks.
        units: the unit of each environment, by its label; scores are averaged within one first, since tasks
            of one table share its function. By default each environment is one.
    """
    labels = standings.agents
    scores = _of_units(standings, labels, units or {})
    ranks = rankdata(-np.round(scores, TIED), axis=1).mean(axis=0)
    first = int(ranks.argmin())
    p_values = _tests(scores, first)
    simple, unsafe, seconds = _simple(standings, labels), _unsafe(standings, labels), _time(standings, labels)
    columns: dict[str, Sequence[float | None]] = {
        "mean rank": [float(each) for each in ranks],
        **({"p": p_values} if p_values else {}),
        "simple score": simple,
        **({"unsafe plays": unsafe} if unsafe else {}),
        **({"ms a round": seconds} if seconds else {}),
    }
    order = np.argsort(ranks, kind="stable")
    rows: list[tuple[Cell, ...]] = [
        (standings.marked(labels[i]), *(column[i] for column in columns.values())) for i in order
    ]
    notes = (
        _METHOD.format(len(scores)),
        _TEST.format(standings.marked(labels[first])) if p_values else _FEW,
        _SIMPLE,
        *([_UNSAFE] if unsafe else []),
    )
    return Table("Over tasks", ("agent", *columns), tuple(rows), notes, name="over-tasks")


def _of_units(standings: Standings, labels: Sequence[str], units: Mapping[str, str]) -> Floats:
    """Return the mean score of each agent in each unit, (U, K)."""
    groups: dict[str, list[Floats]] = {}
    for result, scores in zip(standings.results, standings.scores, strict=True):
        own = np.array([scores[label].mean() for label in labels])
        groups.setdefault(units.get(result.environment, result.environment), []).append(own)
    return np.array([np.mean(each, axis=0) for each in groups.values()])


def _tests(scores: Floats, first: int) -> list[float | None]:
    """Return the corrected p-value of each agent against the first, None for itself; [] for few units."""
    if len(scores) < FEWEST:
        return []
    others = [i for i in range(scores.shape[1]) if i != first]
    tested = []
    for i in others:
        gap = np.round(scores[:, first] - scores[:, i], TIED)
        test: Any = wilcoxon(gap) if gap.any() else None
        tested.append(1.0 if test is None else float(test.pvalue))
    corrected = dict(zip(others, holm(tested), strict=True))
    return [corrected.get(i) for i in range(scores.shape[1])]


def _simple(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    shares: list[Floats] = []
    for result in standings.results:
        if not result.has_simple_regret:
            continue
        last = {label: float(result.simple_regret[label][:, -1].mean()) for label in labels}
        reference = last[standings.reference]
        if reference > 0:
            shares.append(np.array([1.0 - last[label] / reference for label in labels]))
    return np.mean(shares, axis=0).tolist() if shares else [None] * len(labels)


def _unsafe(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    """Return the share of unsafe rounds over the tasks with constraints; [] without any."""
    limited = [result for result in standings.results if result.num_constraints]
    return [float(np.mean([_share(result, label) for result in limited])) for label in labels if limited]


def _share(result: Result, label: str) -> float:
    return float((result.unsafe_plays[label][:, -1] / result.played[label]).mean())


def _time(standings: Standings, labels: Sequence[str]) -> list[float | None]:
    """Return milliseconds a round, the mean over tasks; [] where results hold no times."""
    each = [
        [1e3 * result.seconds_per_decision[label].mean() for label in labels] for result in standings.results
    ]
    mean = np.mean(each, axis=0)
    return [] if np.isnan(mean).any() else [float(value) for value in mean]

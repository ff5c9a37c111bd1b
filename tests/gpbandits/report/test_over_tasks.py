"""Ranks with tasks as units: an identity with the textbook's, units that share a function, and the notes."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import wilcoxon
from synthetic import record
from synthetic import result as synthetic_result

from gpbandits.report.board import FEWEST, over_tasks
from gpbandits.report.entrants import unit_of_task
from gpbandits.report.standings import Standings


def standings(number, **shape):
    """As many environments, with trials of their own; two agents are alike but for chance."""
    whole = synthetic_result(num_trials=8, **shape)
    results = []
    for i in range(number):
        exponents = enumerate(zip(whole.agents, (0.5, 0.52, 1.0), strict=True))
        records = {
            label: record(num_trials=8, exponent=exponent, seed=10 * i + k, **shape)
            for k, (label, exponent) in exponents
        }
        results.append(dataclasses.replace(whole, environment=f"env {i}", records=records))
    return Standings(results, "random")


def cells(grid):
    return {row[0]: dict(zip(grid.header[1:], row[1:], strict=True)) for row in grid.rows}


def test_a_rank_over_tasks_is_the_mean_of_the_ranks_of_mean_scores():
    own = standings(7)
    means = {label: np.array([each.mean() for each in own.of(label)]) for label in own.agents}
    found = cells(over_tasks(own))
    for label in own.agents:
        rank = [1 + sum(other[i] > means[label][i] for other in means.values()) for i in range(7)]
        assert found[label]["mean rank"] == pytest.approx(np.mean(rank))
    first, second, last = over_tasks(own).rows
    assert first[1] <= second[1] <= last[1]
    assert first[2] is None
    plain = wilcoxon(means[first[0]] - means[last[0]]).pvalue
    assert plain <= last[2] <= 2 * plain + 1e-12  # Holm's correction of two tests


def test_few_tasks_show_no_p_value_and_the_table_says_why():
    grid = over_tasks(standings(FEWEST - 1))
    assert "p" not in grid.header
    assert any("cannot differ significantly" in note for note in grid.notes)
    assert "p" in over_tasks(standings(FEWEST)).header


def test_tasks_of_one_function_count_once():
    own = standings(8)
    alone = over_tasks(own, {"env 0": "digits", "env 1": "digits", "env 2": "digits"})
    assert "p" in alone.header
    assert "mean rank is over 6 tasks" in alone.notes[0]
    assert "p" not in over_tasks(own, dict.fromkeys(["env 0", "env 1", "env 2", "env 3"], "x")).header


def test_the_simple_score_the_unsafe_plays_and_the_time_are_those_of_the_results():
    own = standings(3, num_constraints=1)
    found = cells(over_tasks(own))
    for label in own.agents:
        each = found[label]
        simple = [
            1 - r.simple_regret[label][:, -1].mean() / r.simple_regret["random"][:, -1].mean()
            for r in own.results
        ]
        assert each["simple score"] == pytest.approx(np.mean(simple))
        unsafe = [(r.unsafe_plays[label][:, -1] / r.horizon).mean() for r in own.results]
        assert each["unsafe plays"] == pytest.approx(np.mean(unsafe))
        seconds = [r.seconds_per_decision[label].mean() for r in own.results]
        assert each["ms a round"] == pytest.approx(1e3 * np.mean(seconds))
    assert found["random"]["simple score"] == pytest.approx(0.0)
    assert "unsafe plays" not in over_tasks(standings(3)).header


def test_results_without_times_have_no_column_of_times():
    own = standings(2)
    for each in own.results:
        for own_record in each.records.values():
            own_record.seconds[:] = np.nan
    assert "ms a round" not in over_tasks(own).header


def test_tasks_of_one_table_are_one_unit():
    assert (
        unit_of_task("Real/digits-late") == unit_of_task("Real/digits-budget") != unit_of_task("Real/light")
    )

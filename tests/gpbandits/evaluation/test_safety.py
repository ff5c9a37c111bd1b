"""What is said of unsafe plays, and how far safe ones can come."""

import numpy as np
import pytest

from gpbandits import evaluate
from gpbandits.evaluation.safety import component, reachable

LINE = np.linspace(0.0, 1.0, 41)[:, None]
STEP = 1 / 40


COSTS = 0.15 - np.abs(LINE.T - 0.55)  # kept where x < 0.4 and where x > 0.7
SEED = np.zeros(41, dtype=bool)
SEED[2] = True


@pytest.fixture(scope="module")
def result():
    keywords = {"num_arms": 20, "horizon": 25, "safe_seed": True}
    return evaluate("GPBandit-Constrained-v0", ["config", "safe-ucb"], trials=6, env_kwargs=keywords)


def test_unsafe_plays_are_those_that_violate_a_cost(result):
    for label, record in result.records.items():
        brute = np.cumsum((record.cost > 0).any(axis=2), axis=1)
        np.testing.assert_array_equal(result.unsafe_plays[label], brute)
        for first, counts in zip(result.first_unsafe[label], brute, strict=True):
            assert first == (np.flatnonzero(counts)[0] if counts[-1] else -1)
    assert (result.unsafe_plays["config"][:, -1] > 0).any()
    assert (result.unsafe_plays["safe-ucb"] == 0).all()


def test_the_table_counts_runs_and_plays(result):
    table = result.safety_table()
    share = (result.unsafe_plays["config"][:, -1] > 0).mean()
    config, safe = (dict(zip(table.header, row, strict=True)) for row in sorted(table.texts))
    assert config["runs with an unsafe play"].startswith(f"{share:.3f}"[:4])
    assert safe["first unsafe round"] == "-"
    assert "Wilson" in str(table)


def test_a_result_without_costs_has_no_such_table():
    plain = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs={"num_arms": 5, "horizon": 3})
    with pytest.raises(ValueError, match="needs costs"):
        plain.safety_table()


def test_what_is_reached_is_what_slopes_carry_step_by_step():
    reached = reachable(COSTS, SEED, LINE, [1.0])
    np.testing.assert_array_equal(reached, (COSTS[0] <= 0.0) & (LINE[:, 0] < 0.5))
    few = reachable(COSTS, SEED, LINE, [1.0], eps=0.1)
    assert (few <= reached).all()
    assert SEED.sum() < few.sum() < reached.sum()
    assert reachable(COSTS, SEED, LINE, [1e9]).sum() == 1


def test_each_cost_has_its_own_point_and_slope():
    both = np.concatenate([COSTS, 0.2 - LINE.T])  # the second is kept from 0.2 on
    start = np.zeros(41, dtype=bool)
    start[10] = True
    reached = reachable(both, start, LINE, [1.0, 1.0])
    np.testing.assert_array_equal(reached, (both <= 1e-15).all(axis=0) & (LINE[:, 0] < 0.5))


def test_a_component_stops_at_a_gap():
    np.testing.assert_array_equal(component(COSTS, SEED, LINE, STEP), (COSTS[0] <= 0.0) & (LINE[:, 0] < 0.5))
    assert component(COSTS, SEED, LINE, 0.31).sum() == (COSTS[0] <= 0.0).sum()

"""How regret grows in late rounds, as a claim."""

import dataclasses

import numpy as np
import pytest
from synthetic import result

from gpbandits.reproductions.powers import LateGrowth, Sublinear, late_power, power_of_size
from gpbandits.reproductions.verdicts import FEWEST, HOLDS, OPEN, REVERSED

ROUNDS = np.arange(1, 901)
SINCE = (100, 300)


def growing(regret):
    """A result whose trials have about this regret up to each round."""
    base = result(num_trials=FEWEST, horizon=900)
    paid = np.random.default_rng(0).uniform(0.5, 1.5, size=(FEWEST, 900)) * np.diff(regret, prepend=0.0)
    records = {label: record._replace(regret=paid) for label, record in base.records.items()}
    return dataclasses.replace(base, records=records)


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_the_late_power_is_that_of_a_power_beside_any_constant(power):
    regret = 40.0 + 3.0 * np.array([[100.0, 300.0, 900.0]] * 5) ** power
    assert late_power(regret, 3.0) == pytest.approx((power, power, power))


@pytest.mark.parametrize(
    ("regret", "linear", "verdict"),
    [
        (50.0 + 0.01 * ROUNDS, True, HOLDS),
        (50.0 + 0.01 * ROUNDS, False, REVERSED),
        (9.0 * np.sqrt(ROUNDS), True, REVERSED),
        (9.0 * np.sqrt(ROUNDS), False, HOLDS),
        (ROUNDS**0.75, True, OPEN),
        (np.minimum(ROUNDS, 200.0), False, HOLDS),
    ],
    ids=["linear", "linear is not less", "root is not linear", "root is less", "midway", "none at all"],
)
def test_late_regret_is_linear_or_less_as_the_interval_of_its_power_says(regret, linear, verdict):
    outcome = growing(regret)
    (row,) = LateGrowth(outcome.agents[0], SINCE, linear).rows([outcome])
    assert row.verdict == verdict


def test_late_growth_is_judged_where_the_agent_has_played_longer():
    outcome = growing(1.0 * ROUNDS)
    label = outcome.agents[0]
    assert LateGrowth(label, SINCE).reads == SINCE
    assert LateGrowth("absent", SINCE).rows([outcome]) == []
    assert LateGrowth(label, (300, 900)).rows([outcome]) == []
    assert LateGrowth(label, SINCE, environment="other").rows([outcome]) == []


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_the_power_of_a_sum_is_that_of_its_size(power, sign):
    sums = sign * 3.0 * np.array([[300.0, 900.0]] * 5) ** power
    assert power_of_size(sums, 3.0) == pytest.approx((power, power, power), abs=1e-12)


@pytest.mark.parametrize(
    ("regret", "verdict"),
    [(ROUNDS**1.5, REVERSED), (ROUNDS**0.5, HOLDS), (-(ROUNDS**0.5), HOLDS), (0.0 * ROUNDS, HOLDS)],
    ids=["average rises", "average falls", "average rises to 0", "nothing"],
)
def test_growth_is_sublinear_where_the_average_comes_nearer_to_zero(regret, verdict):
    outcome = growing(regret)
    (row,) = Sublinear(outcome.agents[0], "regret", 450).rows([outcome])
    assert row.verdict == verdict
    assert Sublinear("absent", "regret", 450).rows([outcome]) == []
    assert Sublinear(outcome.agents[0], "regret", 900).rows([outcome]) == []

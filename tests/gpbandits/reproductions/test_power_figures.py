"""Power laws of regret, over a parameter and late in a run, and alarms without a change, as claims."""

import dataclasses

import numpy as np
import pytest
from synthetic import result

from gpbandits.evaluation.record import ragged
from gpbandits.evaluation.statistics import Interval
from gpbandits.reproductions import REPRODUCTIONS
from gpbandits.reproductions.powers import (
    Exponent,
    Growth,
    LateGrowth,
    PowerFigure,
    Sublinear,
    late_power,
    power_law,
    power_of_size,
)
from gpbandits.reproductions.verdicts import DIFFERS, FEWEST, HOLDS, OPEN, REVERSED, SeldomBeforeChange

X = np.array([10.0, 20.0, 40.0])
BY_HORIZON, BY_PERIODS = (REPRODUCTIONS[f"avanesov2020-figure-{number}"] for number in (1, 2))


def scaled(label, factor, **options):
    """A result whose regrets are those of another, times a factor."""
    base = result(**options)
    records = {name: record._replace(regret=factor * record.regret) for name, record in base.records.items()}
    return dataclasses.replace(base, environment=label, records=records)


def test_a_power_law_is_found_and_its_interval_covers_it():
    noise = np.random.default_rng(1).normal(1.0, 0.05, size=(200, 1))
    power = power_law(3.0 * X**0.7 * noise, X)
    assert power.exponent.estimate == pytest.approx(0.7)
    assert power.constant == pytest.approx(3.0 * noise.mean())
    np.testing.assert_allclose(power(X), 3.0 * noise.mean() * X**0.7)
    uneven = power_law(3.0 * X**0.7 * np.random.default_rng(2).normal(1.0, 0.3, size=(200, 3)), X)
    low, high = float(uneven.exponent.low), float(uneven.exponent.high)
    assert 0.0 < high - low < 0.2
    assert low < 0.7 < high


def test_a_power_figure_tabulates_regret_by_x_and_its_fit():
    assert isinstance(BY_PERIODS, PowerFigure)
    figure = dataclasses.replace(BY_PERIODS, statements=())
    findings = figure.findings([(None, scaled(f"K = {x:.0f}, even", x**0.25)) for x in X])
    assert list(findings.figures) == ["avanesov2020-figure-2"]
    header, _, *rows = findings.text.split("\n\n")[1].splitlines()
    assert header == "| agent | K = 10 | K = 20 | K = 40 | fit |"
    assert [row.split("|")[1].strip() for row in rows] == ["GP-UCB", "GP-TS", "random"]
    assert all("K^c, c = 0.250 [0.250, 0.250]" in row for row in rows)


def test_an_exponent_holds_where_its_interval_meets_the_printed_one():
    results = [scaled(f"K = {x:.0f}, even", x**0.25) for x in X]
    for low, high, expected in ((0.2, 0.3, HOLDS), (0.25, 0.3, HOLDS), (0.26, 0.3, DIFFERS)):
        printed = Interval(*map(np.array, ((low + high) / 2, low, high)))
        (row,) = Exponent("GP-UCB", "K", printed).rows(results)
        assert row.verdict == expected
    assert Exponent("GP-UCB", "K", printed).rows(results[:1]) == []


@pytest.mark.parametrize(("power", "expected"), [(0.25, HOLDS), (1.5, REVERSED)])
def test_regret_is_sublinear_where_the_interval_of_its_exponent_is_below_one(power, expected):
    results = [scaled(f"K = {x:.0f}, even", x**power, num_trials=FEWEST) for x in X]
    (row,) = Growth("GP-UCB", "K").rows(results)
    assert row.verdict == expected
    assert row.measured.startswith(f"{power}")
    assert Growth("GP-UCB", "K").rows(results[:1]) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("figure", [BY_HORIZON, BY_PERIODS])
def test_the_short_version_of_a_power_figure_has_fewer_trials_of_as_many_rounds(figure):
    (study,) = figure.load()
    short = figure.short(study)
    horizons = [[entry.kwargs["horizon"] for entry in each.environments] for each in (study, short)]
    assert horizons[0] == horizons[1]
    assert short.trials == 5


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


def alarming(first_alarms, change=30):
    """A result of an agent whose trials have these first alarms, None without one."""
    base = result(num_trials=len(first_alarms), horizon=60)
    alarms = ragged([() if each is None else (each, 50) for each in first_alarms])
    changes = ragged([(change,)] * len(first_alarms))
    records = {
        label: record._replace(alarms=alarms, changes=changes) for label, record in base.records.items()
    }
    return dataclasses.replace(base, records=records)


@pytest.mark.parametrize(
    ("early", "expected"), [(0, HOLDS), (3, OPEN), (30, REVERSED)], ids=["none", "some", "most"]
)
def test_the_share_of_trials_with_an_alarm_before_the_change_is_judged_by_its_interval(early, expected):
    outcome = alarming([10] * early + [None, 35] * ((40 - early) // 2) + [40] * (early % 2))
    row = SeldomBeforeChange(outcome.agents[0], 0.1).row(outcome)
    assert row.verdict == expected
    assert row.measured.startswith(f"{early / 40:.3g}"[:4])


def test_an_alarm_in_the_round_of_the_change_is_none_before_it():
    outcome = alarming([30] * 20)
    assert SeldomBeforeChange(outcome.agents[0], 0.1).row(outcome).verdict == HOLDS
    assert SeldomBeforeChange("absent", 0.1).rows([outcome]) == []
    np.testing.assert_array_equal(outcome.num_trials, 20)

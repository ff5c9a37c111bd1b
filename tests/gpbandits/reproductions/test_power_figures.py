"""Power laws of regret, over a parameter and late in a run, contested ones too, and needless alarms."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from study_cases import played
from synthetic import result

from agents.model.defaults import growth_by_smoothness
from bandit_envs.kernels.kernels import make_kernel
from gpbandits import Result
from gpbandits.evaluation.record import ragged
from gpbandits.evaluation.statistics import Interval
from gpbandits.experiments import EnvironmentEntry
from gpbandits.reproductions import REPRODUCTIONS, figures_of
from gpbandits.reproductions.powers import (
    Exponent,
    Growth,
    LateGrowth,
    PowerFigure,
    Sublinear,
    WorstFigure,
    by_horizon,
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


SOMEWHERE = EnvironmentEntry("GPBandit-Hard-v0", "somewhere")
FIGURES = figures_of("contested")
(MATERN,) = (each for each in FIGURES if isinstance(each, WorstFigure))
NU, DIM = 1.5, 1.0


def lost(label, horizon, **regret):
    """An environment of one horizon, in which each agent has this regret a round."""
    base = result(horizon=horizon, labels=tuple(regret))
    records = {
        agent: base.records[agent]._replace(regret=np.full((8, horizon), each))
        for agent, each in regret.items()
    }
    return dataclasses.replace(base, environment=label, records=records)


def test_each_agent_is_judged_by_the_environment_of_a_horizon_that_is_worst_for_it():
    shallow, steep = lost("T = 10, a", 10, bold=1.0, shy=4.0), lost("T = 10, b", 10, bold=2.0, shy=3.0)
    longer = lost("T = 40, a", 40, bold=0.5, shy=0.5)
    worst = [found for _, found in by_horizon([(SOMEWHERE, each) for each in (longer, shallow, steep)])]
    assert [found.environment for found in worst] == ["T = 10", "T = 40"]
    assert {agent: record.regret[0, 0] for agent, record in worst[0].records.items()} == {
        "bold": 2.0,
        "shy": 4.0,
    }


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_contested_claim_has_trials_enough_and_says_what_would_change_our_mind(figure):
    assert "What would change our mind: " in figure.differs
    assert all(study.trials >= FEWEST for study in figure.load())
    assert all(statement.checks for statement in figure.statements)


def test_the_powers_that_matern_kernels_are_held_against_are_those_of_the_study():
    (study,) = MATERN.load()
    kernels = {entry.kwargs["kernel"] for entry in study.environments}
    assert kernels == {"matern32"}
    growth = growth_by_smoothness(make_kernel("matern32", 0.2), int(DIM), 1000)
    assert growth == pytest.approx(1000 ** (DIM / (2 * NU + 2 * DIM)))
    optimal, of_tied = (NU + DIM) / (2 * NU + DIM), (NU + 2 * DIM) / (2 * NU + 2 * DIM)
    assert MATERN.printed.exponent.estimate == optimal
    checks = [check for statement in MATERN.statements for check in statement.checks]
    assert {check.bar for check in checks if isinstance(check, Growth)} == {optimal}
    assert [check.printed.estimate for check in checks if isinstance(check, Exponent)] == [of_tied, optimal]


def test_few_trials_decide_against_expected_improvement_over_posterior_means():
    folder = Path(__file__).parents[3] / "docs" / "results" / "contested-incumbent"
    for path in sorted(folder.glob("samples-*.parquet")):
        regret = Result.load(path).regret
        mean, sample = (regret[label][:, -1] for label in ("EI, posterior mean", "EIMS"))
        assert np.median(mean) < np.median(sample)
        assert 1 <= (mean > 1.5 * sample.max()).sum() <= len(mean) // 6


EXAMPLES = Path(__file__).parents[3] / "examples"
SCRIPT = EXAMPLES / "papers" / "avanesov2020.py"
HORIZONS = (300, 600, 1200)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("horizons")
    for horizon in HORIZONS:
        result = played("avanesov2020-figure-1", 12, horizon=horizon, num_arms=200)
        (folder / "results").mkdir(exist_ok=True)
        result = dataclasses.replace(result, environment=f"T = {horizon}")
        result.save(folder / "results" / f"{horizon}.parquet")
    return folder


@pytest.mark.long
def test_regret_grows_more_slowly_than_the_horizon(folder):
    paths = [folder / "results" / f"{horizon}.parquet" for horizon in HORIZONS]
    regret = np.stack([Result.load(path).regret["GP-UCB-CPD"][:, -1] for path in paths], axis=1)
    exponent = power_law(regret, np.array(HORIZONS)).exponent
    assert 0.3 < exponent.low < exponent.estimate < exponent.high < 1


@pytest.mark.long
def test_the_interval_of_the_exponent_covers_it_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    x = np.geomspace(100, 1000, 5)
    covered = 0
    for seed in range(60):
        regret = 2 * x**0.7 * np.exp(rng.normal(0, 0.4, (30, 5)))
        exponent = power_law(regret, x, seed).exponent
        covered += bool(exponent.low <= 0.7 <= exponent.high)
    assert 48 <= covered <= 60  # 60 x 0.95 = 57, standard deviation 1.7; percentile ends are a bit short


@pytest.mark.long
def test_the_fit_and_the_table_are_printed_and_drawn(folder):
    for what, lines in (("fit", 2 * (2 + 3)), ("table", 2 + 2)):  # of 2 agents at 3 horizons
        command = [sys.executable, "-W", "error", str(SCRIPT), what, str(folder), "--out", str(folder / what)]
        command[-1] += ".png"
        environ = os.environ | {"PYTHONPATH": str(EXAMPLES.parent), "PYTHONUTF8": "1"}
        done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True, timeout=120)
        assert len([line for line in done.stdout.splitlines() if line.startswith("|")]) == lines
        assert "GP-UCB-Oracle†" in done.stdout
        assert (folder / f"{what}.png").stat().st_size > 10_000

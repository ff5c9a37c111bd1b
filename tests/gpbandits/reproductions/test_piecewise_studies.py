"""Every study of Avanesov (2020) can be played, and the orders and powers that its experiments find hold."""

import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpbandits import Result, evaluate
from gpbandits.evaluation.statistics import paired_difference
from gpbandits.experiments import load_study

EXAMPLES = Path(__file__).parents[3] / "examples"
STUDIES = sorted((EXAMPLES / "studies").glob("avanesov2020-*.toml"))
SCRIPT = EXAMPLES / "papers" / "avanesov2020.py"
HORIZONS = (300, 600, 1200)
power_law = runpy.run_path(str(SCRIPT))["power_law"]


def play(name: str, trials: int, place: int = 0, **changes: object) -> Result:
    """One environment of a study, on fewer trials, changed where a keyword says so."""
    loaded = load_study(EXAMPLES / "studies" / f"{name}.toml")
    entry = loaded.environments[place]
    chosen = {agent.label: (agent.name, agent.options) for agent in loaded.agents}
    return evaluate(entry.id, chosen, trials=trials, seed=loaded.seed, env_kwargs={**entry.kwargs, **changes})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [path.stem for path in STUDIES])
def test_every_agent_of_the_study_plays_its_first_rounds(name):
    result = play(name, trials=2, horizon=36, num_arms=50)
    assert len(result.changes[0]) in (2, 3)
    assert all(np.isfinite(regret).all() for regret in result.regret.values())


def test_the_studies_are_the_papers_experiments():
    horizons, periods, variants = (
        load_study(EXAMPLES / "studies" / f"avanesov2020-figure-{figure}.toml") for figure in (1, 2, 3)
    )
    assert [entry.kwargs["horizon"] for entry in horizons.environments] == [900, 1275, 1650, 2025, 2400]
    assert {entry.kwargs["num_segments"] for entry in horizons.environments} == {3}
    assert [entry.kwargs["num_segments"] for entry in periods.environments] == list(range(3, 10))
    assert {entry.kwargs["horizon"] for entry in periods.environments} == {2700}
    assert variants.environments[0].kwargs == {"horizon": 1200, "num_segments": 4}
    assert {study.trials for study in (horizons, periods, variants)} == {64}


@pytest.fixture(scope="module")
def variants() -> Result:
    return play("avanesov2020-figure-3", trials=10, num_arms=200)


@pytest.mark.long
def test_the_oracle_is_lowest_then_the_detector_then_the_two_without_detection(variants):
    final = {label: regret[:, -1] for label, regret in variants.regret.items()}
    assert paired_difference(final["GP-UCB-CPD"], final["GP-UCB-Oracle"]).low > 0
    for label in ("GP-UCB-NO-Detector", "GP-UCB"):
        assert paired_difference(final[label], final["GP-UCB-CPD"]).low > 0


@pytest.mark.long
def test_before_the_first_change_uniform_plays_and_false_alarms_are_all_that_costs(variants):
    before = {label: regret[:, 299] for label, regret in variants.regret.items()}
    np.testing.assert_array_equal(before["GP-UCB-Oracle"], before["GP-UCB-NO-Detector"])
    quiet = np.array([not (alarms < 300).any() for alarms in variants.alarms["GP-UCB-CPD"]])
    assert 0 < quiet.sum() < 10
    np.testing.assert_array_equal(before["GP-UCB-CPD"][quiet], before["GP-UCB-Oracle"][quiet])
    assert (before["GP-UCB-CPD"][~quiet] != before["GP-UCB-Oracle"][~quiet]).all()
    assert (before["GP-UCB"] < before["GP-UCB-Oracle"]).all()


@pytest.mark.long
def test_most_changes_are_found_within_half_a_period(variants):
    found = variants.detections["GP-UCB-CPD"]
    assert found.missed_share < 0.2
    assert found.mean_delay < 150


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("horizons")
    for horizon in HORIZONS:
        result = play("avanesov2020-figure-1", trials=12, horizon=horizon, num_arms=200)
        (folder / "results").mkdir(exist_ok=True)
        result = replace(result, environment=f"T = {horizon}")
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

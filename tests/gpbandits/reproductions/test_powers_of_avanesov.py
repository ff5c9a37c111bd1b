"""The power of the horizon in the regret of Avanesov (2020), and the example that fits and draws it."""

import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from study_cases import played

from gpbandits import Result

EXAMPLES = Path(__file__).parents[3] / "examples"
SCRIPT = EXAMPLES / "papers" / "avanesov2020.py"
HORIZONS = (300, 600, 1200)
power_law = runpy.run_path(str(SCRIPT))["power_law"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("horizons")
    for horizon in HORIZONS:
        result = played("avanesov2020-figure-1", 12, horizon=horizon, num_arms=200)
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

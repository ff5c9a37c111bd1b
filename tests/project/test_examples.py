"""Every example runs from top to bottom; `test_cli` looks after the studies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
DATA = {"sensors": ("intel_temperature_train.csv", "intel_temperature_test.csv")}
FIGURES = {
    "compare_with_sb3": 1,
    "contextual_tuning": 1,
    "delayed_feedback": 1,
    "everything_at_once": 1,
    "long_term_constraints": 1,
    "piecewise_stationary": 1,
    "quickstart": 1,
    "sensors": 2,
    "train_policy": 1,
    "tune_logistic": 1,
}
TABLE_NOTE = "paired by trial"  # in the last line of every table of results
SAYS = {"tune_something_expensive": "Best of 42 experiments"}


def marked(example: Path) -> object:
    marks = [pytest.mark.needs_data(*DATA[example.stem])] if example.stem in DATA else []
    return pytest.param(example, id=example.stem, marks=marks)


def run(script: Path, folder: Path, *arguments: str) -> str:
    environ = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", str(script), *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", [marked(example) for example in EXAMPLES])
def test_the_example_runs_without_warnings_and_shows_what_it_says(example, tmp_path):
    assert SAYS.get(example.stem, TABLE_NOTE) in run(example, tmp_path)
    figures = list(tmp_path.glob("*.png"))
    assert len(figures) == FIGURES.get(example.stem, 0)
    assert all(figure.stat().st_size > 10_000 for figure in figures)


def test_the_calibration_of_the_papers_is_measured_and_drawn(tmp_path):
    script = ROOT / "examples" / "papers" / "calibration.py"
    printed = run(script, tmp_path, "--trials", "5", "--horizon", "20", "--out", "bands.png")
    assert printed.count("| yes |") == 5
    assert (tmp_path / "bands.png").stat().st_size > 10_000

"""Every example runs from top to bottom; `test_cli` looks after the studies."""

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., str]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
DATA = {"sensors": ("intel_temperature_train.csv", "intel_temperature_test.csv")}
LONG = (  # they train, or play many trials or rounds
    *("compare_with_sb3", "contextual_tuning", "delayed_feedback"),
    *("everything_at_once", "long_term_constraints", "piecewise_stationary", "train_policy"),
    *("sensors", "tune_logistic", "tune_something_expensive"),
)
TABLE_NOTE = "paired by trial"  # in the last line of every table of results
SAYS = {"tune_something_expensive": "Best of 42 experiments"}


def marked(example: Path) -> object:
    marks = [pytest.mark.needs_data(*DATA[example.stem])] if example.stem in DATA else []
    marks += [pytest.mark.long] if example.stem in LONG else []
    return pytest.param(example, id=example.stem, marks=marks)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a script in an empty folder, here: a process of its own would import everything anew."""

    def run(script: Path, *arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(script), *arguments])
        monkeypatch.setattr(sys, "path", [str(script.parent), *sys.path])
        runpy.run_path(str(script), run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.mark.long
@pytest.mark.parametrize("example", [marked(example) for example in EXAMPLES])
def test_the_example_runs_without_warnings_and_shows_what_it_says(example, run, tmp_path):
    assert SAYS.get(example.stem, TABLE_NOTE) in run(example)
    figures = list(tmp_path.glob("*.png"))
    assert figures
    assert all(figure.stat().st_size > 10_000 for figure in figures)


@pytest.mark.long
def test_the_calibration_of_the_papers_is_measured_and_drawn(run, tmp_path):
    script = ROOT / "examples" / "papers" / "calibration.py"
    printed = run(script, "--trials", "5", "--horizon", "20", "--out", "bands.png")
    assert printed.count("| yes |") == 20
    assert (tmp_path / "bands.png").stat().st_size > 10_000


TWO_TRACKS = """
[study]
name = "tracks"
trials = 2

[[environments]]
id = "GPBandit-Constrained-v0"
label = "Constraints"
kwargs = { num_arms = 5, horizon = 12 }

[[agents]]
name = "sb3-ppo"
options = { penalty = 2.0 }

[[agents]]
name = "random"
"""


@pytest.mark.long
def test_the_two_tracks_of_learners_stand_in_one_table_each(run, tmp_path):
    (tmp_path / "tracks.toml").write_text(TWO_TRACKS, encoding="utf-8")
    command = [sys.executable, "-m", "gpbandits", "run", "tracks.toml", "--out", "stored"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    script = ROOT / "examples" / "reinforcement" / "one_table.py"
    printed = run(script, "stored", "--rounds", "64", "--keep", "kept")
    lines = [each for each in printed.split("\n\n") if each.startswith("| agent |")]
    scratch, pretrained = (set(re.findall(r"^\| (?!agent|---)(.+?) \|", each, re.M)) for each in lines)
    assert printed.count("All environments") == 2
    assert scratch >= {"sb3-ppo¶", "random"}  # learners do not declare that they handle constraints
    assert pretrained == {"PPO on statistics‡¶", "RL² (recurrent PPO)‡¶"}
    assert len(list(tmp_path.glob("stored/*.png"))) == 2
    assert len(list(tmp_path.glob("kept/*/*.parquet"))) == 2

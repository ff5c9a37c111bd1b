"""`gpbandits table` compares agents on a CSV, says how it read it, and writes page, picture and results."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from bandit_envs.problems.table import reading_of
from gpbandits import evaluate
from gpbandits.commands import app
from gpbandits.report.own_table import NEAR, add_to_page, found_rows, gaps_of, near_gap, table_figure

ROWS = "dose,kind,yield,hours\n1,a,0.5,2\n1,a,0.7,2\n10,a,0.9,3\n100,b,0.2,4\n1000,b,1.5,5\n"


@pytest.fixture
def csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(ROWS)
    return tmp_path


def run(*more: str):
    given = ["table", "runs.csv", "--arms", "dose,kind", "--reward", "yield", "--out", "compared"]
    return CliRunner().invoke(app, [*given, *more])


@pytest.mark.long
def test_a_table_gives_ranks_a_picture_a_page_and_results(csv):
    few = ["--trials", "2", "--horizon", "12", "--workers", "1", "--agents", "epsilon-greedy,random"]
    done = run(*few, "--price", "hours", "--cost", "hours=5")
    assert done.exit_code == 0, done.output
    for words in ("5 rows: 4 arms with 1 to 2 runs each", "dose: 4 values", "logarithmic", "Best rows found"):
        assert words in done.output
    assert done.output.index("epsilon-greedy") > 0
    for name in ("table.png", "report.html", "study.toml"):
        assert (csv / "compared" / name).stat().st_size > 0
    page = (csv / "compared" / "report.html").read_text(encoding="utf-8")
    assert page.count("<h2>Best rows found</h2>") == 1
    assert "of 2 trials" in page
    assert "on a logarithmic scale</li>" in page
    assert "table.png" in page
    cells = {path.name for path in (csv / "compared" / "cells").iterdir()}
    (csv / "runs.csv").write_text(ROWS.replace("1.5", "1.4"))
    assert run(*few, "--price", "hours", "--cost", "hours=5").exit_code == 0
    assert cells < {path.name for path in (csv / "compared" / "cells").iterdir()}  # computed anew


@pytest.mark.parametrize(
    ("more", "words"),
    [(["--cost", "hours"], "a column and its limit"), (["--context", "place"], "context must be one of")],
)
def test_a_wrong_option_is_refused(csv, more, words):
    done = run(*more)
    assert done.exit_code != 0
    assert words in str(done.exception)


def test_the_picture_shows_all_arms_and_the_share_within_each_gap():
    rows = {"dose": [1.0, 2.0, 3.0], "yield": [1.0, 4.0, 2.0]}
    for minimise, gaps in ((False, [0.0, 2.0, 3.0]), (True, [0.0, 1.0, 3.0])):
        figure = table_figure(reading_of(rows, arms=["dose"]), "yield", minimise)
        left, right = figure.axes
        assert sum(bar.get_height() for bar in left.patches) == 3
        np.testing.assert_allclose(right.lines[0].get_xdata(), gaps)


@pytest.mark.long
def test_the_command_draws_run_times_and_leaves_out_what_must_never_be_played(csv, monkeypatch):
    drawn = []
    monkeypatch.setattr("gpbandits.evaluation.plots.save_figure", lambda figure, path: drawn.append(figure))
    few = ["--trials", "1", "--horizon", "3", "--workers", "1", "--agents", "random"]
    done = run(*few, "--price", "hours", "--delay", "hours", "--never", "kind=b,dose=1000")
    assert done.exit_code == 0, done.output
    assert "4 rows: 3 arms" in done.output
    assert [axes.get_xlabel() for axes in drawn[0].axes][2:] == ["mean hours of a run"]
    refused = run("--never", "kind")
    assert "--never must be columns and their values" in str(refused.exception)


def test_an_agent_found_an_arm_from_the_round_on_in_which_its_simple_regret_is_small():
    rows = {"dose": [1.0, 2.0, 3.0, 4.0], "yield": [0.0, 1.0, 2.0, 10.0]}
    keywords = {"file": rows, "arms": ["dose"], "reward": "yield", "horizon": 15}
    result = evaluate("GPBandit-Table-v0", ["random"], trials=4, env_kwargs=keywords)
    near = near_gap(reading_of(rows, arms=["dose"]), "yield")
    assert near == NEAR * 10.0
    header, (row,) = found_rows(result, near)
    curve = result.simple_regret["random"]
    firsts = [int(np.flatnonzero(each <= near)[0]) + 1 for each in curve if each[-1] == 0.0]
    assert header == ("agent", "found in", "median round", "gap at the end")
    assert row[1] == f"{len(firsts)} of 4 trials"
    assert row[2] == f"{np.median(firsts):.0f}"


def test_an_arm_that_is_best_no_longer_is_not_found():
    rows = {"dose": [1.0, 2.0] * 2, "day": [1, 1, 2, 2], "yield": [0.0, 1.0, 1.0, 0.0]}
    keywords = {"file": rows, "arms": ["dose"], "reward": "yield", "changes": "day", "hold": 6}
    result = evaluate("GPBandit-Table-v0", ["random"], trials=6, env_kwargs=keywords)
    curve = result.simple_regret["random"]
    assert (curve[:, :6] <= 0.0).any(axis=1).all()
    _, (row,) = found_rows(result, 0.0)
    firsts = [next((i for i in range(12) if not each[i:].any()), 12) + 1 for each in curve]
    assert max(firsts) > 6  # some found the arm of the second day there
    assert row[1] == f"{sum(first <= 12 for first in firsts)} of 6 trials"
    assert row[2] == f"{np.median([first for first in firsts if first <= 12]):.0f}"


def test_gaps_are_to_the_best_of_each_context():
    rows = {"dose": [1.0, 2.0, 1.0, 2.0], "site": ["a", "a", "b", "b"], "yield": [1.0, 3.0, 7.0, 6.0]}
    reading = reading_of(rows, arms=["dose"], context=["site"])
    np.testing.assert_allclose(gaps_of(reading, "yield"), [[[2.0, 0.0], [0.0, 1.0]]])
    left, _ = table_figure(reading, "yield").axes
    assert "in each context" in left.get_ylabel()


def test_what_was_found_is_written_into_the_page_as_text(tmp_path):
    page = tmp_path / "report.html"
    page.write_text('<main>before<section id="a"></section></main>after')
    said = ["<dose>: 4 values, on a logarithmic scale"]
    add_to_page(page, said, ("agent", "found in"), [("<b>mine</b>", "1 of 2 trials")])
    assert page.read_text().startswith("<main>before<section>\n<h2>Best rows found</h2>")
    assert page.read_text().endswith('<section id="a"></section></main>after')
    assert "<li>&lt;dose&gt;: 4 values, on a logarithmic scale</li>" in page.read_text()
    assert '<th scope="row">&lt;b&gt;mine&lt;/b&gt;</th><td>1 of 2 trials</td>' in page.read_text()

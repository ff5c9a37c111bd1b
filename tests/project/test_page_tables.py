"""The tables that pages include, and pages that commands make, are those of the stored results."""

import re
import runpy
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from pages import DOCS, loaded, read, source, unsaid
from synthetic import result as synthetic_result

from bandit_envs.problems.real import tasks
from gpbandits.evaluation.result import Result
from gpbandits.report.board import over_tasks
from gpbandits.report.entrants import REFERENCE, unit_of_task
from gpbandits.report.page import write_table
from gpbandits.report.standings import Standings
from gpbandits.report.stored import read_cells, rounded
from gpbandits.reproductions import REPRODUCTIONS, powers, srinivas2010, study_figure
from gpbandits.reproductions.page import RESULTS, Condensed, page_tables, page_text

tool = loaded("tools/page_tables.py")
INCLUDED = re.compile(r"^:file: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("page", tool.PAGES)
def test_the_tables_of_a_page_are_those_of_its_results(page):
    found = dict(tool.PAGES[page]())
    for name, lines in found.items():
        file = tool.RESULTS / f"{name}.csv"
        assert tool.with_heading(lines, file) == read_cells(file), name
        assert f":file: results/{name}.csv\n" in source(f"{page}.md"), name
    assert found


def test_a_round_beside_a_bare_loop_is_a_range_over_the_machines():
    script = loaded("benchmarks/step.py")
    tables = script.stored_tables()
    assert read_cells(tool.RESULTS / "step.csv")[1:] == script.merged(tables)
    assert len(tables) == 2  # as the page says
    least, largest = (pick(float(rows[0][3]) for rows in tables) for pick in (min, max))
    assert script.ranged(*(rows[0][3] for rows in tables)) == f"{least:.2f} to {largest:.2f}"


def test_a_heading_is_that_of_the_file(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("agent,regret\nold,1\n")
    for lines in (["| new | 2 |"], ["| x | y |", "|---|---|", "| new | 2 |"]):
        assert tool.with_heading(lines, file) == [["agent", "regret"], ["new", "2"]]


def test_what_pages_include_is_stored_and_has_rows():
    pages = [page for page in DOCS.rglob("*.md") if "generated" not in page.parts]
    found = [
        page.parent / name for page in pages for name in INCLUDED.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(found) >= 12
    for table in found:
        header, *rows = read_cells(table)
        assert rows, table.name
        assert {len(row) for row in rows} == {len(header)}, table.name


@pytest.fixture
def _undrawn(monkeypatch):
    """Leave the figures out: drawing them takes longer than all the rest."""
    drawn = {study_figure: ("box_figure", "regret_figure"), powers: ("power_figure",)}
    for module, names in (drawn | {srinivas2010: ("draw_spectra", "draw_samples")}).items():
        for name in names:
            monkeypatch.setattr(module, name, lambda *arguments: None)


@pytest.mark.long
@pytest.mark.usefixtures("_undrawn")
def test_the_page_of_reproductions_says_what_the_stored_results_say():
    stored = Condensed(DOCS / RESULTS)
    found = [(each, each.run(Path("nowhere"), False, stored)) for each in REPRODUCTIONS.values()]
    assert page_text(found, quick=False) == source("reproductions.md")
    assert "not computed" not in read("reproductions.md")
    tables = page_tables(found)
    assert {file: read_cells(DOCS / file) for file in tables} == tables


def of_real_tasks(table: Path) -> bool:
    """The ids have a class "real", too, with a table over tasks."""
    return table.stem.startswith("leaderboard-real-") and table.stem != "leaderboard-real-tasks"


def test_every_table_of_a_leaderboard_is_on_its_page():
    pages = {real: source(f"leaderboard{'-real' * real}.md") for real in (False, True)}
    stored = list((DOCS / "tables").glob("*.csv"))
    assert len(stored) > 10
    for table in stored:
        assert f":file: tables/{table.name}\n" in pages[of_real_tasks(table)], table.name


def test_the_leaderboard_of_real_tasks_is_what_their_archived_trials_say(tmp_path):
    found = {path.stem: Result.load(path) for path in sorted((DOCS / RESULTS / "real").glob("*.parquet"))}
    families: dict[str, list[Result]] = {}
    for name in tasks():
        if name in found and len(found[name].agents) > 2:  # the others are named as not taking part
            families.setdefault(tasks()[name].family, []).append(found[name])
    ranked = [each for own in families.values() for each in own]
    tool = runpy.run_path(str(DOCS.parent / "tools" / "real_board.py"))
    five = {name: Result.load(tool["ARCHIVE_OF_FIVE"] / f"{name}.parquet") for name in tool["FIVE"]}
    families |= {"five": list(five.values()), "all": ranked}
    units = {f"Real/{name}": unit_of_task(f"Real/{name}") for name in found}
    for family, results in families.items():
        name = f"leaderboard-real-{family}"
        standings = Standings(results, REFERENCE)
        write_table(standings.overall(), tmp_path, name)
        if standings.wide:
            write_table(standings.by_environment(), tmp_path, f"{name}-each")
        if len(results) > 1:
            write_table(over_tasks(standings, units), tmp_path, f"{name}-tasks")
    shown = {path.stem: path.read_bytes() for path in tmp_path.glob("*.csv")}
    assert len(shown) >= 5
    stored = (DOCS / "tables").glob("leaderboard-real-*.csv")
    assert {path.stem: path.read_bytes() for path in stored if of_real_tasks(path)} == shown
    page = read("leaderboard-real.md")
    sections = [name for name in shown if not name.endswith(("-each", "-tasks"))]
    assert page.count("\n## ") == len(sections) + 1  # and who does not take part
    score = {row[0]: row[4] for row in rounded(read_cells(DOCS / "tables" / "leaderboard-real-five.csv"))}
    said = [score[name].split(" ")[0] for name in ("botorch-logei", "smac", "gp-agent")]
    assert not unsaid([" ".join(said)], "real.md")
    for name, result in five.items():  # in which the others play as they do in more trials
        few, whole = (each.curves("regret") for each in (result, found[name]))
        for label in whole.keys() & few.keys():
            np.testing.assert_array_equal(few[label], whole[label][: result.num_trials])
    for name, result in (*found.items(), *five.items()):
        assert any(f"{before}{name}" in page for before in ("`", "/", "\n| ")), name
        assert f"n = {result.num_trials} trials" in page


@pytest.fixture(scope="module")
def survives() -> ModuleType:
    return loaded("examples/papers/survives.py")


@pytest.mark.long
def test_what_survives_on_real_tasks_is_what_their_archived_trials_say(survives):
    found = survives.read()
    assert survives.page(found) == read("survives.md")
    lines = [line.strip("| ").split(" | ") for line in survives.over_tasks(survives.STATEMENTS[0], found)]
    less, more, _ = survives.counts(list(survives.signs_of(survives.STATEMENTS[0], found).values()))
    largest = max((line[-1] for line in lines), key=float)
    assert not unsaid([f"each of {len(lines)} others (p at most {largest})"], "agents.md")
    assert not unsaid([f"significantly better in {less}, worse in {more}"], "real.md")


def test_a_statement_is_judged_by_the_signs_of_significant_pairs(survives):
    board = synthetic_result(labels=("gp-bucb", "gp-ucb", "random"), num_trials=20)
    found = {"digits-repeat": board}
    statement = survives.STATEMENTS[1]
    assert survives.signs_of(statement, found) == {("gp-ucb", "digits-repeat"): -1}
    assert survives.summary(statement, found).endswith("| 1 | 0 | 0 | holds |")
    turned = synthetic_result(labels=("gp-ucb", "gp-bucb", "random"), num_trials=20)
    assert survives.summary(statement, {"digits-repeat": turned}).endswith("| 0 | 1 | 0 | is reversed |")
    assert survives.summary(statement, {"digits-late": board}).endswith("| 0 | 0 | 0 | does not come out |")

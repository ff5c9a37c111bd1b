"""What pages say of results is what the results say that are stored beside them."""

import csv
import json
import re
import runpy
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from pages import DOCS, loaded, missing, prose, read, source, told
from pages import table as stored_table
from synthetic import result as synthetic_result

from bandit_envs.problems.real import halves, tasks
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval, holm
from gpbandits.report.board import over_tasks
from gpbandits.report.entrants import REFERENCE, unit_of_task
from gpbandits.report.page import write_table
from gpbandits.report.standings import Standings
from gpbandits.report.stored import read_cells, tables_in
from gpbandits.reproductions import REPRODUCTIONS, powers, srinivas2010, study_figure
from gpbandits.reproductions.page import RESULTS, Condensed, page_tables, page_text

INCLUDED = re.compile(r"^:file: (\S+)$", re.MULTILINE)


@pytest.fixture
def _undrawn(monkeypatch):
    """Leave the figures out: drawing them takes longer than all the rest."""
    for drawn in ("box_figure", "regret_figure"):
        monkeypatch.setattr(study_figure, drawn, lambda *arguments: None)
    monkeypatch.setattr(powers, "power_figure", lambda *arguments: None)
    monkeypatch.setattr(srinivas2010, "draw_spectra", lambda *arguments: None)
    monkeypatch.setattr(srinivas2010, "draw_samples", lambda *arguments: None)


@pytest.mark.long
@pytest.mark.usefixtures("_undrawn")
def test_the_page_of_reproductions_says_what_the_stored_results_say():
    stored = Condensed(DOCS / RESULTS)
    found = [(each, each.run(Path("nowhere"), False, stored)) for each in REPRODUCTIONS.values()]
    assert page_text(found, quick=False) == source("reproductions.md")
    assert "not computed" not in read("reproductions.md")
    tables = page_tables(found)
    assert {file: read_cells(DOCS / file) for file in tables} == tables


def rows(table: Path) -> list[list[str]]:
    """The cells of a stored table as the page prints them."""
    with table.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    ends = {name.removesuffix("_low") for name in header if name.endswith("_low")}
    found = []
    for line in lines:
        values = dict(zip(header, line, strict=True))
        shown = [name for name in header if not name.endswith(("_low", "_high"))]
        found.append([cell(values, name, name in ends) for name in shown])
    return found


def cell(values: dict[str, str], name: str, is_interval: bool) -> str:
    if is_interval:
        return text(Interval(*(float(values[name + end]) for end in ("", "_low", "_high"))))
    value = values[name]
    if not value:
        return text(None)
    if name in ("agent", "environment"):
        return value
    return text(int(value) if value.isdigit() else float(value))


def test_the_page_on_reliability_says_what_isolation_cost():
    found = rows(DOCS / RESULTS / "isolation.csv")
    assert found
    for row in found:
        assert f"| {' | '.join(row)} |" in read("reliability.md")


def test_what_pages_include_is_stored_and_has_rows():
    pages = [page for page in DOCS.rglob("*.md") if "generated" not in page.parts]
    found = [
        page.parent / name for page in pages for name in INCLUDED.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(found) >= 12
    for table in found:
        with table.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert rows, table.name
        assert {len(row) for row in rows} == {len(header)}, table.name


SIMPLE = re.compile(r"`([\w, -]+)` \((\.\d+)\)")


def test_what_the_page_on_peers_names_of_simple_regret_is_in_its_table():
    stored = {(row["agent"], row["simple regret"].partition(" ")[0]) for row in stored_table("optimisers")}
    named = {(agent, f"0{value}") for agent, value in SIMPLE.findall(read("peers.md"))}
    assert named
    assert named <= stored


def test_the_page_on_clusters_says_how_fast_two_workers_are():
    found = {row["where"]: row for row in stored_table("dask")}
    one, two = found["one worker"], found["two workers"]
    by_clock = float(one["large (s)"]) / float(two["large (s)"])
    by_processors = 2.0 * float(one["large, CPU (s)"]) / float(two["large, CPU (s)"])
    page = read("cluster.md")
    assert f"{by_clock:.1f} times as fast by the clock" in page
    assert f"{by_processors:.1f} by the processors" in page


def of_real_tasks(table: Path) -> bool:
    """The ids have a class "real", too, with a table over tasks."""
    return table.stem.startswith("leaderboard-real-") and table.stem != "leaderboard-real-tasks"


@pytest.mark.parametrize("table", sorted((DOCS / "tables").glob("*.csv")), ids=lambda path: path.stem)
def test_the_leaderboard_says_what_its_tables_say(table):
    page = read("leaderboard-real.md" if of_real_tasks(table) else "leaderboard.md")
    for row in rows(table):
        assert f"| {' | '.join(row)} |" in page


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
    score = {row[0]: row[4].split(" ")[0] for row in rows(DOCS / "tables" / "leaderboard-real-five.csv")}
    said = "BoTorch's log EI has {} and SMAC {} where `gp-agent` has {},".format(
        *(score[name] for name in ("botorch-logei", "smac", "gp-agent"))
    )
    assert said in prose("real.md")
    for name, result in five.items():  # in which the others play as they do in more trials
        few, whole = (each.curves("regret") for each in (result, found[name]))
        for label in whole.keys() & few.keys():
            np.testing.assert_array_equal(few[label], whole[label][: result.num_trials])
    for name, result in (*found.items(), *five.items()):
        assert any(f"{before}{name}" in page for before in ("`", "/", "\n| ")), name
        assert f"n = {result.num_trials} trials" in page


def test_the_marks_on_the_page_of_real_tasks_are_those_of_the_archived_trials():
    script = runpy.run_path(str(DOCS.parent / "tools" / "real_marks.py"))
    every, page = script["scores"](), read("real.md")
    found = script["before"](script["scores"](script["MARKED"]))
    lines = script["as_markdown"](found)
    _, after = page.split("## Marks of the agents of today")
    shown = [line for line in after.split("\n## ")[0].splitlines() if line.startswith("| ")]
    _, today = page.split("## The agent for real problems")
    beside = [line for line in today.split("\n## ")[0].splitlines() if line.startswith("| ")]
    now = script["of_today"](every)
    assert beside[1:] == script["beside_marks"](found, now)
    assert f"{len(now)} of the {len(tasks())} tasks, " in " ".join(today.split())
    assert shown[1:] == lines
    assert [line for line in script["beside_sheet"]() if line not in page] == []
    assert shown[0].split(" | ")[4:] == [*script["OTHERS"][:-1], f"{script['OTHERS'][-1]} |"]
    assert f"on {len(found)} of the {len(tasks())} tasks" in " ".join(page.split())
    both = [
        line.strip("| ").split(" | ") for line in script["beside_marks"](found, now) if "| both |" in line
    ]
    met = {cells[0]: float(cells[6]) >= float(cells[5]) for cells in both if cells[5] != "-"}
    *first, final = (name for name, is_met in met.items() if is_met)
    words = f"{', '.join(first)} and {final}"
    *missed, last = (name for name, is_met in met.items() if not is_met)
    assert f"Marks of {words} are met on these tasks, those of {', '.join(missed)} and {last} are not." in (
        " ".join(page.split())
    )


def test_what_the_page_of_vain_attempts_found_in_the_package_is_what_is_stored():
    script = runpy.run_path(str(DOCS.parent / "tools" / "real_marks.py"))
    former = script["before"](script["scores"](script["MARKED"]))
    lines = script["beside_marks"](former, script["of_today"](script["scores"]()))
    found = [each.strip("| ").split(" | ") for each in lines]
    parts = {f"{family}, {half}": rest for family, half, *rest in found}
    section = read("did-not-help.md").partition("## Found in the package")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    held = [row for row in rows if row[1] in parts]
    assert len(held) == 3
    for _, where, before, after, why in held:
        _, former, best, mark, now, *_ = parts[where]
        assert before in (former, best.partition(" ")[0]), where
        assert after == now, where
        assert "mark" not in why or mark in why, where


def test_the_page_on_parts_says_what_leaving_them_out_costs(monkeypatch):
    found = [row for row in stored_table("real_ablation") if row["difference"]]
    monkeypatch.syspath_prepend(DOCS.parent / "benchmarks")
    script, page = loaded("benchmarks/real_ablation.py"), read("ablation.md")
    assert {row["task"] for row in found} == set(script.TASKS)
    assert {row["task"]: row["half"] for row in found}.items() <= halves().items()
    families = {tasks()[task].family for task in script.TASKS}
    assert f"of {len(families)} families" in page.replace("ten", "10")
    assert f"{found[0]['trials']} trials" in page.replace("Eight", "8")
    table = page.partition("| left out or replaced |")[2].partition("\n\n")[0].splitlines()[2:]
    assert table == script.findings(found)
    cells = {name: (less, more) for name, _, less, more in (line.strip("| ").split(" | ") for line in table)}
    assert (
        max(less.count("`") for less, _ in cells.values()) == cells["expected improvement"][0].count("`") > 10
    )
    assert cells["expected improvement"][1] == "-"
    assert cells["values as they are"][0].count("`") == 6
    assert cells["one noise for all arms"] == ("`lcbench-4-changes`", "-")
    widths = sorted(float(row["95 %"][1:]) for row in found)
    assert widths[len(widths) // 2] < 0.07


def test_the_page_on_parts_says_where_the_former_agent_was_better():
    found = {row["environment"].split("-")[1]: row for row in stored_table("published_models")}
    corrected = dict(zip(found, holm([float(row["p"]) for row in found.values()]), strict=True))
    sure = {name: float(found[name]["difference"]) for name, p in corrected.items() if p < 0.05}
    less, more = ([name for name in found if sign * sure.get(name, 0.0) > 0.0] for sign in (-1.0, 1.0))
    page = prose("ablation.md")
    said = f"less loss on five ids, {', '.join(less[:-1])} and {less[-1]}, "
    assert f"{said}and significantly more on none." in page
    assert (len(less), len(more)) == (5, 0)
    small = found["SmallFeasibleRegion"]
    assert f"In SmallFeasibleRegion (p = {small['p']}) it was stuck" in page
    assert f"regions in {small['stuck']} trial." in page
    assert "SVMTuning" not in found
    assert {row["trials"] for row in found.values()} == {"20"}


@pytest.fixture(scope="module")
def survives() -> ModuleType:
    return loaded("examples/papers/survives.py")


def test_what_survives_on_real_tasks_is_what_their_archived_trials_say(survives):
    found = survives.read()
    assert survives.page(found) == read("survives.md")
    lines = [line.strip("| ").split(" | ") for line in survives.over_tasks(survives.STATEMENTS[0], found)]
    assert all(float(one) < float(other) for _, _, one, other, _, _ in lines)
    largest = max((line[-1] for line in lines), key=float)
    said = f"its mean loss is less than that of each of {len(lines)} others (p at most {largest})"
    assert said in prose("agents.md")
    signs = survives.signs_of(survives.STATEMENTS[0], found)
    less, more, _ = survives.counts(list(signs.values()))
    page = prose("real.md")
    assert f"it is significantly better in {less}, worse in {more} (" in page
    board = read("leaderboard-real.md")
    families = {task.family for task in tasks().values()}
    own = [board.partition(f"\n## {each.capitalize()}\n")[2].partition("\n## ")[0] for each in families]
    alone = [each for each in own if "first place open to 1 of" in each and "\n| gp-agent | 1 |" in each]
    assert (len(alone), len(own)) == (8, 10)
    assert "in eight of the ten the trials leave the first place to it alone" in page
    behind = {other: name for (other, name), sign in signs.items() if sign > 0}
    assert not behind.keys() & {"local-search", "random"}
    assert behind["ui-tvbo"] == "temperature"
    losses = {
        name: own
        for name, own in survives.on_tasks(survives.STATEMENTS[0], found).items()
        if "local-search" in own
    }
    ahead = [name for name, own in losses.items() if own["local-search"].mean() < own["gp-agent"].mean()]
    assert {"car-late", "credit-g-late"} <= {*ahead}


def test_a_statement_is_judged_by_the_signs_of_significant_pairs(survives):
    board = synthetic_result(labels=("gp-bucb", "gp-ucb", "random"), num_trials=20)
    found = {"digits-repeat": board}
    statement = survives.STATEMENTS[1]
    assert survives.signs_of(statement, found) == {("gp-ucb", "digits-repeat"): -1}
    assert survives.summary(statement, found).endswith("| 1 | 0 | 0 | holds |")
    turned = synthetic_result(labels=("gp-ucb", "gp-bucb", "random"), num_trials=20)
    assert survives.summary(statement, {"digits-repeat": turned}).endswith("| 0 | 1 | 0 | is reversed |")
    assert survives.summary(statement, {"digits-late": board}).endswith("| 0 | 0 | 0 | does not come out |")


def test_the_page_on_calibration_says_what_its_table_says():
    script, findings, page = told("calibration")
    lines = {line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| width |")}
    assert len(lines) > 10
    assert lines < {script.as_markdown(finding) for finding in findings}
    assert script.summary(findings) in page


def test_the_page_on_elimination_says_what_its_table_says():
    script, runs, page = told("elimination")
    lines = script.as_markdown(runs)
    kernels = {run.kernel for run in runs}
    assert sum(page.count(f"| {script.KERNELS[kernel]} |") for kernel in kernels) == len(lines) >= 3
    assert not missing(lines, page)
    assert all(": no less regret up to T = " in verdict for verdict in script.verdicts(runs))
    assert "on neither kernel significantly less from any T on" in page


def test_the_page_on_elimination_says_what_attacked_agents_lost():
    script = loaded("examples/papers/attacked.py")
    _, page = read("elimination.md").split("## Under attack")
    lines = script.as_markdown(script.read(DOCS / RESULTS / "attacked.csv"))
    assert len(lines) == page.count("\n| ") - 1  # but for the head of the table
    assert not missing(lines, page)


def test_the_page_on_constraints_says_what_its_table_says():
    script, runs, page = told("constraints", by="constrained_bench")
    shown = ["data rates"]
    rows = [line for line in script.elsewhere_as_markdown(runs) if line.strip("| ").split(" | ")[0] in shown]
    single = [
        line
        for line in script.of_single_trials(runs)
        if line.removeprefix("- ").split(" without")[0].rpartition(", ")[0] in ("bench", *shown)
    ]
    lines = [*script.bench_as_markdown(runs), *rows]
    long_term, _ = page.split("## Few experiments")
    assert len(lines) == long_term.count("\n| ") - 3 - 3  # but for the families and the heads of tables
    assert not missing([*lines, *single, *script.verdicts(runs)], page)
    assert long_term.count(" without trial ") == len(single) == 2
    soft = {
        problem: {run.agent: run.soft.mean() for run in runs if run.problem == problem}
        for problem in script.PROBLEMS
    }
    least = [min(script.PARTS, key=lambda agent: means.get(agent, np.inf)) for means in soft.values()]
    assert f"on {least.count('pdcbo')} of the {len(least)} problems" in page
    assert page.count(" † |") == sum(line.count(" † |") for line in lines) > 0


def test_the_page_on_constraints_says_what_tuners_recommended():
    infeasible: dict[str, list[int]] = {}
    for row in stored_table("constrained_tuning"):
        _, agent, count, *_ = row.values()
        infeasible.setdefault(agent, []).append(int(count))
    assert not any(infeasible["constrained-ei, learnt"])
    said = [
        f"half of the runs or more on {sum(n >= 6 for n in infeasible['config'])} problems",
        f"a third or more on {sum(n >= 4 for n in infeasible['dual'])}",
    ]
    assert not missing(said, prose("constraints.md"))


def test_the_page_on_constraints_says_what_the_bench_of_safe_agents_says():
    script = loaded("examples/papers/safe_bench.py")
    runs, page = script.read(DOCS / RESULTS / "safe.csv"), prose("constraints.md")
    assert not missing([*script.as_markdown(runs), script.reach(runs)], page)


def test_the_page_on_the_tuner_says_which_intervals_of_its_table_lie_apart():
    bounds = {
        (row["agent"], column, row["problem"]): [float(end) for end in re.findall(r"[\d.]+", row[column])[1:]]
        for row in stored_table("tuning")
        for column in ("best", "recommended", "a round")
    }
    apart: dict[tuple[str, str, str], list[str]] = {}
    for (agent, column, problem), (low, high) in bounds.items():
        least, most = bounds["gp-agent", column, problem]
        word = "less" if high < least else "more" if low > most else ""
        if word:
            apart.setdefault((agent, column, word), []).append(problem)
    _, page = read("tuner.md").split("## Values with noise")
    said = [line for line in page.splitlines() if line.startswith("- ")]
    assert said == [
        f"- `{agent}`, {column}: {word} on {', '.join(problems)}"
        for (agent, column, word), problems in apart.items()
    ]


def test_the_page_on_changes_says_what_its_table_says():
    script, runs, page = told("changes")
    said = script.verdicts(runs, "evidence", script.rivals())
    everywhere = [line.split("`")[3] for line in said if line.count(": ") == 2 and ": less: " in line]
    assert f"against {', '.join(f'`{each}`' for each in everywhere)}: less on all seven" in page
    said = [line for line in said if line.split("`")[3] not in everywhere]
    assert not any("more: " in line for line in said)  # "No agent has significantly less regret"
    counts = script.read_counts(DOCS / RESULTS / "false_alarms.csv")
    left_out = ("| r-gp-ucb |", "| tv-gp-ucb |", "| w-gp-ucb |")
    lines = [line for line in script.as_markdown(runs) if not line.startswith(left_out)]
    assert not missing(lines + script.alarms_as_markdown(counts) + said, page)
    assert page.split("## ")[0].count("\n| ") == len(lines) + 1 + 6  # of restarts, with their heads


def test_the_page_on_changes_says_what_an_archive_was_worth():
    script, _, page = told("changes")
    runs = script.read(DOCS / RESULTS / "recurring.csv")
    tables = page.split("## ")[1]
    assert tables.startswith("Functions that come back")
    lines = script.as_markdown(runs)
    assert tables.count("\n| ") - 1 == len(lines)  # but for the head of the table
    assert not missing(lines, tables)
    (verdict,) = script.verdicts(runs, "evidence-archive", ["evidence"])
    less, same = verdict.partition(": less: ")[2].split("; no significant difference: ")
    assert (less.count(",") + 1, set(same.split(", "))) == (4, {"none returns", "none in more noise"})
    found = {run[:2]: run.regret for run in runs if run.environment.startswith("none")}
    names = {environment for environment, _ in found}
    mistaken = np.array([found[name, "evidence-archive"] != found[name, "evidence"] for name in names])
    assert f"{mistaken.sum()} of {mistaken.size} trials mistook" in tables


def test_the_page_on_the_field_says_what_its_table_says():
    script, runs, page = told("field")
    cells = [(line, *line.strip("| ").split(" | ")) for line in script.ranking(runs)]
    least = {constraint: line for line, constraint, *_ in reversed(cells)}
    least |= {restart: line for line, by, restart, *_ in reversed(cells) if by == "config"}
    (default,) = (line for line, *names in cells if names[:3] == ["config", "evidence", "delivered"])
    differing = [line for line in script.champions(runs) if not line.endswith("| the same |")]
    lines = {*least.values(), default, *differing, *script.matches(runs)}
    assert len(lines) == page.count("\n| ") - 3  # but for the heads of the tables
    assert not missing(sorted(lines), page)


def test_the_page_on_reinforcement_says_what_its_results_say():
    script = loaded("examples/reinforcement/one_table.py")
    results, page = DOCS / RESULTS / "rl-and-gp", read("reinforcement.md")
    scratch = script.kept(results / "from-scratch")
    left_out = {"GP-UCB, constraints", "A2C, library defaults", "random"}
    shown = [label for label in scratch[0].agents if label not in left_out]
    made = script.table(scratch, shown), script.table(script.kept(results / "pretrained"), script.TRAINED)
    assert [table for table in map(tables_in, made) if table[0] not in tables_in(page)] == []


def test_readings_say_how_hard_violation_compares_with_independent_runs():
    found = [row for row in stored_table("constraints") if row["problem"] == "bench"]
    ratios = {}
    # What runs in bare numpy found, which shared no code with this package and are not part of it.
    independent = json.loads((DOCS / RESULTS / "independent.json").read_text(encoding="utf-8"))
    for agent, theirs in independent["hard violation"].items():
        ours = [float(row["hard at 8/8"]) for row in found if row["agent"] == agent]
        ratios[agent] = sum(ours) / len(ours) / theirs
    unconstrained = ratios.pop("unconstrained")
    page = prose("readings.md")
    assert f"is {min(ratios.values()):.1f} to {max(ratios.values()):.1f} times that of the numpy runs" in page
    assert f"which is {unconstrained:.1f} times as large" in page

"""Tables and numbers of the pages on single subjects are those of the stored results."""

import re

import numpy as np
import pytest
from agent_cases import DUELLING
from pages import DOCS, blocks, loaded, missing, read, source, table, unsaid

from agents.agent.gp_agent import TIE
from agents.model.defaults import FIRST_NOISE_SPREAD
from agents.posteriors.weight_space import SEARCHED
from agents.stopping.by_name import RULES
from gpbandits.exam import PARTS, PlayedPart
from gpbandits.exam.played import RowFile
from gpbandits.exam.report import MARKS, part_table

RESULTS = DOCS / "results"
EVERYWHERE = ("gp-ei", "gp-ucb")  # players of all settings of stopping; others play where the model is right
PROMISES = ("regret bound 0.9", "regret bound 0.95")


def of(rows, **where):
    (found,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return found


def numbers(row, *columns):
    return tuple(float(row[name]) for name in columns)


def percent(values):
    return " and ".join(f"{each:.0%}" for each in values)


# --- stopping ---

stopping = loaded("benchmarks/stopping.py")
STOPS = stopping.read(RESULTS / "stopping.csv")


def stopped(setting, player, rule, *columns):
    return numbers(of(STOPS, setting=setting, player=player, rule=rule), *columns)


def broken(setting, player, rule):
    """The share of the stops that broke the promise of the rule."""
    lost, all_of_them = stopped(setting, player, rule, "broken", "stopped")
    return lost / all_of_them


def test_the_page_on_stopping_has_a_row_for_every_rule():
    assert not missing([f"| `{rule}` |" for rule in RULES], read("stopping.md"))


def test_numbers_on_stopping():
    own, theirs = (
        stopped("prior", player, "kg 0.01", "stop", "adjusted", "adjusted_se")
        for player in ("kg-per-cost", "gp-ei")
    )
    cheap = [stopped("prior", player, "kg 0.001", "stop")[0] for player in ("kg-per-cost", "gp-ei")]
    ratios = [
        stopped("prior", player, rule, "stop")[0] / stopped("prior", player, "kg 0.01", "stop")[0]
        for player, rule in (*((player, "ei 0.01") for player in stopping.PLAYERS), ("gp-ei", "plateau"))
    ]
    said = [
        *(f"{ratio:.1f} times" for ratio in ratios),
        f"after {own[0]:.1f} plays at {own[1]:.3f} ± {own[2]:.3f}",
        f"{theirs[0]:.1f} plays, {theirs[1]:.3f} ± {theirs[2]:.3f}",
        f"after {cheap[0]:.1f} plays where `gp-ei` takes {cheap[1]:.1f}",
        f"{max(int(row['stopped']) for row in STOPS if row['rule'] == 'gap')} of 400 runs",
        percent(broken("prior", player, PROMISES[0]) for player in stopping.PLAYERS),
    ]
    for setting, rules in {"double": (PROMISES[0], "gap, beta/5"), "learnt": PROMISES}.items():
        said += [percent(broken(setting, player, rule) for player in EVERYWHERE) for rule in rules]
    for rule in ("kg 0.01", "plateau"):
        found = [stopped("table", player, rule, "stop", "regret") for player in EVERYWHERE]
        said.append("{:.1f} and {:.1f}".format(*(plays for plays, _ in found)))
        said.append("{:.2f} and {:.2f}".format(*(regret + 0.01 * plays for plays, regret in found)))
    for player in stopping.UNDER_COSTS:
        said.append(percent(broken("constrained", player, rule) for rule in PROMISES))
    plays = (stopped("constrained", "constrained-ei", rule, "stop")[0] for rule in ("kg 0.01", "plateau"))
    said.append("after {:.1f} plays, `plateau` after {:.1f}".format(*plays))
    assert not unsaid(said, "stopping.md")


def test_rules_keep_promises_where_the_page_on_stopping_says_so():
    for delta, rule in zip((0.1, 0.05), PROMISES, strict=True):
        assert all(broken("prior", player, rule) <= delta + 0.01 for player in stopping.PLAYERS)
        assert all(broken("half", player, rule) <= delta for player in EVERYWHERE)
        assert all(stopped("table", player, rule, "broken") == (0.0,) for player in EVERYWHERE)
        assert stopped("constrained", "config", rule, "never")[0] == pytest.approx(0.2, abs=0.03)
    rules = ("plateau", "kg 0.01")
    (late, error), (soon, other) = (stopped("prior", "gp-ei", rule, "regret", "regret_se") for rule in rules)
    assert abs(late - soon) < 3 * (error**2 + other**2) ** 0.5  # "about the same regret"


# --- clicks and counts ---

clicks = loaded("benchmarks/clicks.py")
CLICKS, BANDS, OTHERS = clicks.read(RESULTS)
UCB = {w: f"Laplace-UCB, w = {w}" for w in (1, 2)}
DIFFERENCE = "difference", "low", "high"


def gap(agent, base):
    """Paired difference to the moment-matched UCB with its interval."""
    (row,) = [row for row in CLICKS if row["agent"] == agent and float(row["base"]) == base]
    return numbers(row, *DIFFERENCE)


def gap_of_others(problem, agent):
    return numbers(of(OTHERS, problem=problem, agent=agent), *DIFFERENCE)


def test_numbers_on_clicks():
    ahead, lost = gap(UCB[2], -3.0), gap_of_others("conversions", "no delay, all outcomes reported")
    interval = "{:.2f} [{:.2f}, {:.2f}]"
    said = [
        interval.format(*(-ahead[i] for i in (0, 2, 1))),
        interval.format(*gap("Gaussian naive, UCB w = 2", -3.0)),
        interval.format(*gap("mixture band (delta = .1)", 0.0)),
        interval.format(*gap_of_others("counts", UCB[1])),
        interval.format(*(-lost[i] for i in (0, 2, 1))),
    ]
    uniform = {
        float(row["base"]): numbers(row, "regret", "se") for row in CLICKS if row["agent"] == "uniform"
    }
    sheet = zip(clicks.BASES, clicks.SHEET["uniform"], strict=True)
    apart = [uniform[base][0] - float(independent) for base, independent in sheet]
    errors = [uniform[base][1] * 5**0.5 for base in clicks.BASES]
    said.append("{:.1f} and {:.1f}, by {:.1f} and {:.1f}".format(*errors, *apart))
    assert not unsaid(said, "clicks.md")


def test_laplaces_model_is_no_better_for_regret_where_the_page_on_clicks_says_so():
    same = [gap(UCB[1], 0.0), gap(UCB[1], -3.0), gap(UCB[2], 0.0)]
    same += [gap_of_others("box", UCB[w]) for w in (1, 2)]
    assert all(low < 0 < high for _, low, high in same)
    assert all(int(row["failed"]) <= 0.1 * int(row["runs"]) for row in BANDS)
    without, best = (float(row["regret"]) for row in OTHERS if row["problem"] == "clicks")
    assert without / best == pytest.approx(2.5, abs=0.1)


# --- duels ---

duels = loaded("benchmarks/duels.py")
DUELS = duels.read(RESULTS / "duels.csv")


def test_the_page_on_duels_has_every_agent_and_says_how_often_one_is_stuck():
    assert not missing([f"| `{name}` |" for name in (*DUELLING, "random")], read("duels.md"))
    stuck = (numbers(of(DUELS, bound=bound, rule="RUCB-like, w = 1"), "stuck")[0] for bound in duels.SIZES)
    said = [f"{100 * each:.0f} % (B = {bound})" for each, bound in zip(stuck, duels.SIZES, strict=True)]
    assert not unsaid(said, "duels.md")
    for bound in duels.SIZES:  # "ties in regret"
        (narrow, error), (wide, other) = (
            numbers(of(DUELS, bound=bound, rule=rule), "average", "average_se")
            for rule in ("RUCB-like, w = 1", "MaxMinLCB, w = 2")
        )
        assert abs(narrow - wide) < 2 * (error**2 + other**2) ** 0.5


def test_figures_of_readings_are_those_of_the_pages_on_stopping_clicks_and_duels():
    pages = "".join(map(read, ("stopping.md", "clicks.md", "duels.md")))
    _, claims = read("readings.md").split("| claim | independent | ours |")
    ours = re.findall(r"^\| .+ \| .+ \| ([\d.]+)(?: ± [\d.]+)? \|$", claims, re.MULTILINE)
    assert len(ours) > 8
    for each in ours:  # there with fewer digits
        assert any(digits in pages for digits in (each, f"{float(each):.3f}", f"{float(each):.1f}")), each


# --- costs of moves ---


@pytest.mark.long
def test_the_half_widths_are_those_of_the_bands_and_the_sheets_figures_are_met():
    rows = loaded("benchmarks/movement.py").bands()
    assert rows == table("drift_bands")
    assert [row["random order"] for row in rows] == ["0.085", "0.180", "0.525"]
    assert [row["linear"] for row in rows] == ["0.138", "0.288", "0.398"]
    assert rows[2]["any order"] == "0.612"
    assert not missing([row["error, sorted"] for row in rows[:2]], read("moves.md"))


# --- values from logs ---


def test_coverage_rests_on_a_thousand_logs_and_is_near_its_level_but_where_the_page_says():
    rows = table("log_coverage")
    assert {row["logs"] for row in rows} == {"1000"}
    for small, ends in ((False, (0.93, 0.97)), (True, (0.0, 1.0))):
        shares = [float(row["coverage"]) for row in rows if (row["case"] == "small propensities") == small]
        assert ends[0] <= min(shares) <= max(shares) <= ends[1]
        assert f"{100.0 * min(shares):.1f} to {100.0 * max(shares):.1f} %" in read("logs.md")


@pytest.mark.long
def test_the_coverage_of_a_few_logs_is_not_far_from_that_of_the_results():
    module = loaded("tools/log_coverage.py")
    rows = {(row["case"], row["method"]): float(row["coverage"]) for row in table("log_coverage")}
    for case in module.CASES[:2]:
        for row in module.coverage(case, 60):
            expected = rows[row["case"], row["method"]]
            assert abs(row["coverage"] - expected) < 4.0 * (expected * (1.0 - expected) / 60) ** 0.5 + 0.01


# --- boxes and speed ---

BOXES = {(row["function"], int(row["d"]), row["method"]): row for row in table("dimensions")}
MODE, ONE, DEFAULT, BOTORCH = "gp-ei", "gp-ei, 0.2 of a side", "the tuner's default", "BoTorch LogEI"


def test_numbers_on_boxes():
    functions = {(function, dim) for function, dim, _ in BOXES}

    def median(function, dim, method):
        return float(BOXES[function, dim, method]["median"])

    def times(method):
        return [float(BOXES[*each, BOTORCH]["ms"]) / float(BOXES[*each, method]["ms"]) for each in functions]

    one, mode = ([median("few count", dim, method) for dim in (50, 100)] for method in (ONE, MODE))
    ahead = sum(median(*each, DEFAULT) < median(*each, BOTORCH) for each in functions)
    behind = sum(median(*each, BOTORCH) > median(*each, MODE) for each in functions)
    farthest = min(median("bowl", dim, method) for _, dim, method in BOXES if dim >= 50)
    said = [
        "{:g} and {:g} standard deviations from the best".format(*one),
        "starts at the mode {:g} and {:g}.".format(*mode),
        f"a smaller median than BoTorch in {ahead} of {len(functions)} rows",
        f"takes {min(times(DEFAULT)):.0f} to {max(times(DEFAULT)):.0f} times less time a round",
        f"all are {farthest:.1f} standard deviations or more",
        f"in {behind} of {len(functions)} rows",
        f"takes {min(times(MODE)):.2g} to {max(times(MODE)):.2g} times as long",
        f"`fit_noise_spread` ({FIRST_NOISE_SPREAD:g} where the noise is neither given",
    ]
    assert not unsaid(said, "boxes.md")
    assert {row["seeds"] for row in BOXES.values()} == {"5"}


def test_pages_name_the_points_that_are_searched():
    assert f"From {SEARCHED:,} points of a product of kernels on" in read("performance.md")
    assert f"to {TIE:.0e} of a prior".replace("e-0", "e-") in read("performance.md")
    assert f"GP-UCB on {SEARCHED:,} points or more" in read("large.md")


# --- pending plays, sets of ranks ---


def test_the_table_of_pending_plays():
    cells: dict[str, list[str]] = {}
    for row in table("fantasies"):
        cells.setdefault(row["pending plays"], []).append(f"{row['regret']} ± {row['standard error']}")
    lines = [f"| {name} | {' | '.join(values)} |" for name, values in cells.items()]
    assert not missing(lines, read("guides/delays.md"))


def test_sets_of_ranks_cover_and_have_power_in_the_stored_simulation_which_its_script_repeats():
    for row in table("rank_sets"):
        assert float(row["coverage, graded means"]) >= 0.95
        skewed = row["law"] in ("lognormal", "15 % stuck") and row["spreads"] == "to 100"
        assert skewed or float(row["coverage, equal means"]) >= 0.95, row
        assert float(row["power"]) >= 0.8
    _, graded, power = loaded("benchmarks/rank_sets.py").measured("t, 3 degrees", "equal", 3)
    assert graded == 1.0
    assert power > 0.8


# --- the exam ---

STORED = RESULTS / "exam"
PLAYED = {name: part for name, part in PARTS.items() if isinstance(part, PlayedPart)}


def whole(part):
    """The stored rows of whole tasks, and the table of all tasks."""
    rows = RowFile(STORED / f"{part.name}.csv", part.kept).rows.values()
    shown = [row for row in rows if row.questions == part.questions(row.task)]
    return shown, part_table(part, shown, part.tasks)


@pytest.mark.parametrize("part", PLAYED.values(), ids=PLAYED)
def test_the_tables_of_the_exam_are_those_of_the_stored_rows_of_entrants_that_played_every_task(part):
    rows, shown = whole(part)
    assert {row.task for row in rows} == set(part.tasks)
    assert (STORED / "tables" / f"{part.name}.csv").read_text(encoding="utf-8") == shown.to_csv()
    links = [
        f":file: results/exam/tables/{part.name}.csv",
        f"(results/exam/{part.name}.png)",
        *(f"`{name}`" for name in PARTS),
    ]
    assert not missing(links, source("exam.md"))
    assert (STORED / f"{part.name}.png").is_file()
    entrants = {row.entrant for row in rows}
    for entrant in entrants:
        own = {task: {r.seed for r in rows if (r.entrant, r.task) == (entrant, task)} for task in part.tasks}
        assert len({frozenset(seeds) for seeds in own.values()}) == 1, entrant
    assert {"random", "tuner"} <= entrants
    (made,) = [each for each in blocks(DOCS / "exam.md", "bash") if "--out docs/results/exam" in each]
    assert not missing([f"--agent {name} " for name in entrants], made)


def test_the_page_says_what_one_table_of_hpo_b_takes_from_the_mean():
    part = PLAYED["hpo-b"]
    own = [row for row in whole(part)[0] if row.entrant == "tuner" and row.task != "6767-146065"]
    means = [np.mean([row.values[list(part.kept).index(n)] for row in own]) for n in (25, 50, 100)]
    assert not unsaid(["{:.4f}, {:.4f} and {:.4f}".format(*means)], "exam.md")


def test_the_page_says_where_searches_on_boxes_end():
    part = PLAYED["boxes"]

    def after(questions, task):
        at = part.kept.index(questions)
        return np.array(
            [row.values[at] for row in whole(part)[0] if (row.entrant, row.task) == ("tuner", task)]
        )

    second, early = np.isclose(after(120, "hartmann-6"), 0.1192, atol=1e-4), after(57, "hartmann-6") > 0.01
    found = after(100, "shekel-4") < 0.01
    said = [f"{each.sum()} of {len(each)} seeds" for each in (second, early, found)]
    assert not unsaid([" ".join(said)], "exam.md")


def test_marks_of_the_exam_are_reached_where_the_page_says_so():
    def mean(name, question):
        rows, at = whole(PLAYED[name])[0], list(PLAYED[name].kept).index(question)
        return np.mean([row.values[at] for row in rows if row.entrant == "tuner"])

    least = {n: MARKS["hpo-b"][f"{n} questions"] for n in (25, 50, 100)}
    assert [n for n, mark in least.items() if mean("hpo-b", n) <= mark] == [100]
    assert mean("crossed-barrel", 96) < MARKS["crossed-barrel"]["question 96"]

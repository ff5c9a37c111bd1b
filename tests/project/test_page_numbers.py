"""Tables and numbers of the pages on single subjects are those of the stored results."""

import numpy as np
import pytest
from agent_cases import DUELLING
from pages import DOCS, blocks, loaded, missing, read, table, unsaid

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
    """The one row with these values."""
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


def test_the_tables_on_stopping_have_a_row_for_every_rule():
    page = read("stopping.md")
    assert not missing([f"| `{rule}` |" for rule in RULES], page)
    assert not missing(["\n".join(lines) for lines in stopping.tables(STOPS).values()], page)


def test_numbers_on_stopping():
    plateau, gradient = (
        stopped("prior", "gp-ei", rule, "stop", "regret", "regret_se") for rule in ("plateau", "kg 0.01")
    )
    assert abs(plateau[1] - gradient[1]) < 3 * (plateau[2] ** 2 + gradient[2] ** 2) ** 0.5
    own, theirs = (
        stopped("prior", player, "kg 0.01", "stop", "adjusted", "adjusted_se")
        for player in ("kg-per-cost", "gp-ei")
    )
    assert theirs[1] - own[1] > 3.0 * (theirs[2] ** 2 + own[2] ** 2) ** 0.5
    cheap = [stopped("prior", player, "kg 0.001", "stop")[0] for player in ("kg-per-cost", "gp-ei")]
    shares = [f"{broken('prior', player, PROMISES[0]):.0%}" for player in stopping.PLAYERS]
    said = [
        f"{plateau[0] / gradient[0]:.1f} times the plays of `knowledge-gradient`",  # of gp-ei
        f"after {own[0]:.1f} plays at an adjusted regret of {own[1]:.3f} ± {own[2]:.3f}",
        f"(`gp-ei`: {theirs[0]:.1f} plays, {theirs[1]:.3f} ± {theirs[2]:.3f})",
        f"after {cheap[0]:.1f} plays where `gp-ei` takes {cheap[1]:.1f}",
        f"{', '.join(shares[:-1])} and {shares[-1]} of the runs broke it",
        f"stopped in at most {max(int(row['stopped']) for row in STOPS if row['rule'] == 'gap')} of 400 runs",
    ]
    for player in stopping.PLAYERS:
        plays = [stopped("prior", player, rule, "stop")[0] for rule in ("ei 0.01", "kg 0.01")]
        said.append(f"{plays[0] / plays[1]:.1f} times as many plays")
        for delta, rule in zip((0.1, 0.05), PROMISES, strict=True):
            assert broken("prior", player, rule) <= delta + 0.01
    for setting, rules in {"double": (PROMISES[0], "gap, beta/5"), "learnt": PROMISES}.items():
        said += [percent(broken(setting, player, rule) for player in EVERYWHERE) for rule in rules]
    for rule in ("kg 0.01", "plateau"):
        found = [stopped("table", player, rule, "stop", "regret") for player in EVERYWHERE]
        said.append("takes {:.1f} and {:.1f}".format(*(plays for plays, _ in found)))
        said.append("{:.2f} and {:.2f}".format(*(regret + 0.01 * plays for plays, regret in found)))
    for player in EVERYWHERE:
        for delta, rule in zip((0.1, 0.05), PROMISES, strict=True):
            assert broken("half", player, rule) <= delta
            assert stopped("table", player, rule, "broken") == (0.0,)
    for player in stopping.UNDER_COSTS:
        said.append(percent(broken("constrained", player, rule) for rule in PROMISES))
        stays = [stopped("constrained", player, rule, "never")[0] for rule in PROMISES]
        assert all(0.19 < each < 0.23 for each in stays) if player == "config" else stays == [0.0, 0.0]
    plays = (stopped("constrained", "constrained-ei", rule, "stop")[0] for rule in ("kg 0.01", "plateau"))
    said.append("stops `constrained-ei` after {:.1f} plays, `plateau` after {:.1f}".format(*plays))
    assert not unsaid(said, "stopping.md")


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


def test_the_tables_on_clicks():
    lines = clicks.tables(CLICKS, BANDS) | clicks.tables_of_others(OTHERS)
    assert not missing(["\n".join(each) for each in lines.values()], read("clicks.md"))


def test_numbers_on_clicks():
    ahead, high, low = (-each for each in gap(UCB[2], -3.0))
    assert high > ahead > low > 0
    said = [f"by {ahead:.2f} [{low:.2f}, {high:.2f}]"]
    for agent, base, verb in (
        ("Gaussian naive, UCB w = 2", -3.0, "loses"),
        ("mixture band (delta = .1)", 0.0, "costs"),
    ):
        said.append("{} {:.2f} [{:.2f}, {:.2f}]".format(verb, *gap(agent, base)))
        assert gap(agent, base)[1] > 0
    for w, base in ((1, 0.0), (1, -3.0), (2, 0.0)):  # "no significant difference"
        assert gap(UCB[w], base)[1] < 0 < gap(UCB[w], base)[2]
    assert all(int(row["failed"]) <= 0.1 * int(row["runs"]) for row in BANDS)
    uniform = {
        float(row["base"]): numbers(row, "regret", "se") for row in CLICKS if row["agent"] == "uniform"
    }
    sheet = zip(clicks.BASES, clicks.SHEET["uniform"], strict=True)
    apart = [uniform[base][0] - float(independent) for base, independent in sheet]
    errors = [uniform[base][1] * 5**0.5 for base in clicks.BASES]
    assert all(abs(each) < 2 * error for each, error in zip(apart, errors, strict=True))
    said.append(f"is {errors[0]:.1f} and {errors[1]:.1f} (of 100")
    said.append(f"differs by {apart[0]:.1f} and {apart[1]:.1f}.")
    said.append("loses {:.2f} [{:.2f}, {:.2f}]".format(*gap_of_others("counts", UCB[1])))
    lost, most, least = (-each for each in gap_of_others("conversions", "no delay, all outcomes reported"))
    said.append(f"loses {lost:.2f} [{least:.2f}, {most:.2f}]")
    assert not unsaid(said, "clicks.md")
    for w in (1, 2):
        assert gap_of_others("box", UCB[w])[1] < 0 < gap_of_others("box", UCB[w])[2]
    regrets = [float(row["regret"]) for row in OTHERS if row["problem"] == "clicks"]
    assert regrets[0] / regrets[1] == pytest.approx(2.5, abs=0.1)


# --- duels ---

duels = loaded("benchmarks/duels.py")
DUELS = duels.read(RESULTS / "duels.csv")


def test_the_tables_and_numbers_on_duels():
    page, tables = read("duels.md"), duels.tables(DUELS)
    assert not missing([f"| `{name}` |" for name in (*DUELLING, "random")], page)
    assert set(tables) == set(duels.SIZES)
    headed = ["\n".join([f"**B = {bound}**", "", *lines]) for bound, lines in tables.items()]
    assert not missing(headed, page)
    for bound in duels.SIZES:
        (narrow, se), (wide, other_se) = (
            numbers(of(DUELS, bound=bound, rule=rule), "average", "average_se")
            for rule in ("RUCB-like, w = 1", "MaxMinLCB, w = 2")
        )
        assert abs(narrow - wide) < 2 * (se**2 + other_se**2) ** 0.5  # "ties in regret"
        (stuck,) = numbers(of(DUELS, bound=bound, rule="RUCB-like, w = 1"), "stuck")
        assert not unsaid([f"{100 * stuck:.0f} % (B = {bound})"], "duels.md")


# --- readings of the three ---


def last_cell(claim):
    """Our figure in the line of a claim."""
    (line,) = [line for line in read("readings.md").splitlines() if line.startswith(f"| {claim} |")]
    return line.split(" | ")[-1].removesuffix(" |")


def rounded(row, column, digits, error=None):
    said = f"{float(row[column]):.{digits}f}"
    return said if error is None else f"{said} ± {float(row[error]):.{digits}f}"


def test_figures_of_readings():
    def stop(player, rule):
        return of(table("stopping"), setting="prior", player=player, rule=rule)

    def duel(rule, bound="3"):
        return of(table("duels"), bound=bound, rule=rule)

    own, theirs = (stop(player, "kg 0.01") for player in ("kg-per-cost", "gp-ei"))
    held = stop("gp-ei", "regret bound 0.9")
    moment_matched = of(table("clicks"), base="0", agent="Gaussian moment-matched, UCB w = 2")
    bands = [duel("MaxMinLCB, mixture band", bound) for bound in "36"]
    stuck = [float(duel("RUCB-like, w = 1", bound)["stuck"]) for bound in "36"]
    expected = {
        "`kg-per-cost`, stopped by `knowledge-gradient`: plays": rounded(own, "stop", 1),
        "`gp-ei`, stopped likewise: plays": rounded(theirs, "stop", 1),
        "`gp-ei`, stopped by `expected-improvement`: plays": rounded(stop("gp-ei", "ei 0.01"), "stop", 1),
        "`gap` with a fifth of beta: plays of `gp-ei`": rounded(stop("gp-ei", "gap, beta/5"), "stop", 1),
        "`regret-bound` breaks its promise of 90 %": f"{held['broken']} of {held['stopped']}",
        "Laplace-UCB, w = 1: regret at m0 = 0": rounded(
            of(table("clicks"), base="0", agent=UCB[1]), "regret", 2, "se"
        ),
        "the moment-matched UCB there": rounded(moment_matched, "regret", 2, "se"),
        "the mixture band of clicks fails, delta = 0.1": " and ".join(
            f"{each['failed']} of {each['runs']}" for each in table("clicks_bands")
        ),
        "MaxMinLCB, w = 2: average regret at B = 3": rounded(
            duel("MaxMinLCB, w = 2"), "average", 2, "average_se"
        ),
        "the RUCB-like rule, w = 1, there": rounded(duel("RUCB-like, w = 1"), "average", 2, "average_se"),
        "that rule gets stuck": " and ".join(f"{100 * each:.0f} %" for each in stuck),
        "the mixture band of pairs fails, delta = 0.1": " and ".join(
            f"{each['violated']} of {each['trials']}" for each in bands
        ),
    }
    assert {claim: last_cell(claim) for claim in expected} == expected
    for each in (own, theirs):
        assert f"| {rounded(each, 'adjusted', 4, 'adjusted_se')} |" in read("readings.md")


# --- costs of moves ---

MOVES = RESULTS / "movement.csv", RESULTS / "drift_bands.csv"


def test_the_tables_on_moves():
    tables = loaded("benchmarks/movement.py").tables(*MOVES)
    assert not missing(["\n".join(rows) for rows in tables], read("moves.md"))


@pytest.mark.long
def test_the_half_widths_are_those_of_the_bands_and_the_sheets_figures_are_met():
    rows = loaded("benchmarks/movement.py").bands()
    assert rows == table("drift_bands")
    assert [row["random order"] for row in rows] == ["0.085", "0.180", "0.525"]
    assert [row["linear"] for row in rows] == ["0.138", "0.288", "0.398"]
    assert rows[2]["any order"] == "0.612"
    assert not missing([row["error, sorted"] for row in rows[:2]], read("moves.md"))


# --- values from logs ---


@pytest.mark.parametrize(
    ("name", "results"), [("log_coverage", "log_coverage"), ("open_bandit_values", "open_bandit")]
)
def test_the_tables_on_logs(name, results):
    assert "\n".join(loaded(f"tools/{name}.py").lines(table(results))) in read("logs.md")


def test_coverage_rests_on_a_thousand_logs_and_is_near_its_level_but_where_the_page_says():
    rows = table("log_coverage")
    assert {row["logs"] for row in rows} == {"1000"}
    for small, ends in ((False, (0.93, 0.97)), (True, (0.0, 1.0))):
        shares = [float(row["coverage"]) for row in rows if (row["case"] == "small propensities") == small]
        assert ends[0] <= min(shares) <= max(shares) <= ends[1]
        assert not unsaid([f"{100.0 * min(shares):.1f} to {100.0 * max(shares):.1f} %"], "logs.md")


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
    methods = {method for *_, method in BOXES if method.startswith("gp-ei")}
    dims = {dim for function, dim in functions if function == "bowl"}
    least = {dim for dim in dims if median("bowl", dim, ONE) == min(median("bowl", dim, x) for x in methods)}
    assert {dim for _, dim in functions if dim > 2} - least == {10}
    ahead = sum(median(*each, DEFAULT) < median(*each, BOTORCH) for each in functions)
    behind = sum(median(*each, BOTORCH) > median(*each, MODE) for each in functions)
    farthest = min(median("bowl", dim, method) for _, dim, method in BOXES if dim >= 50)
    said = [
        "{:g} and {:g} standard deviations from the best".format(*one),
        "starts at the mode {:g} and {:g}.".format(*mode),
        "the least of `gp-ei` from d = 6 on, but at 10",
        f"a smaller median than BoTorch in {ahead} of {len(functions)} rows",
        f"takes {min(times(DEFAULT)):.0f} to {max(times(DEFAULT)):.0f} times less time a round",
        f"all are {farthest:.1f} standard deviations or more",
        f"in {behind} of {len(functions)} rows",
        f"takes {min(times(MODE)):.2g} to {max(times(MODE)):.2g} times as long",
        f"`fit_noise_spread` ({FIRST_NOISE_SPREAD:g} where the noise is neither given",
    ]
    assert not unsaid(said, "boxes.md")
    assert {row["seeds"] for row in BOXES.values()} == {"5"}


def test_the_prior_on_the_noise_does_best_and_worst_where_the_page_says():
    rows = table("noise_priors")
    spreads = [name for name in rows[0] if name.startswith("spread")]
    assert f"spread {FIRST_NOISE_SPREAD:g}" in spreads
    for row in rows:
        found = {name: float(row[name].split()[0]) for name in spreads}
        assert row["function"] != "ackley" or min(found, key=found.__getitem__) == "spread 1"
        assert row["function"] != "branin" or max(found, key=found.__getitem__) == "spread 1"


def test_pages_name_the_points_that_are_searched():
    assert not unsaid([f"{SEARCHED:,}", f"{TIE:.0e}".replace("e-0", "e-")], "performance.md")
    assert not unsaid([f"{SEARCHED:,}"], "large.md")


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
    assert not missing(links, read("exam.md"))
    assert (STORED / f"{part.name}.png").is_file()
    entrants = {row.entrant for row in rows}
    for entrant in entrants:
        own = {task: {r.seed for r in rows if (r.entrant, r.task) == (entrant, task)} for task in part.tasks}
        assert len({frozenset(seeds) for seeds in own.values()}) == 1, entrant
    assert {"random", "tuner"} <= entrants
    (made,) = [each for each in blocks(DOCS / "exam.md", "bash") if "--out docs/results/exam" in each]
    assert not missing([f"--agent {name} " for name in entrants], made)


def test_the_page_says_what_one_table_of_hpo_b_takes_from_the_mean():
    part, worst = PLAYED["hpo-b"], "6767-146065"
    own = [row for row in whole(part)[0] if row.entrant == "tuner"]
    at = {n: list(part.kept).index(n) for n in (25, 50, 100)}
    means = {n: np.mean([row.values[i] for row in own if row.task != worst]) for n, i in at.items()}
    assert not unsaid(["{:.4f}, {:.4f} and {:.4f}".format(*means.values())], "exam.md")
    every = {n: np.mean([row.values[i] for row in own]) for n, i in at.items()}
    assert [n for n, mean in every.items() if mean <= MARKS["hpo-b"][f"{n} questions"]] == [100]
    stuck = [row for row in own if row.task == worst and row.values[at[25]] > 0.5]
    assert (len(stuck), len({row.seed for row in own})) == (3, 5)


def test_the_mark_of_crossed_barrels_is_missed():
    part = PLAYED["crossed-barrel"]
    found = [row.values[list(part.kept).index(96)] for row in whole(part)[0] if row.entrant == "tuner"]
    assert np.mean(found) < MARKS["crossed-barrel"]["question 96"]

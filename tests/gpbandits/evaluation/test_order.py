"""One order of agents: in every table, legend, standing and default baseline."""

import dataclasses
import re
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from synthetic import result as synthetic_result

import agents
from bandit_envs import make
from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import data_files
from gpbandits.evaluation import Result, evaluate
from gpbandits.evaluation.plots import regret_figure
from gpbandits.evaluation.statistics import holm, ordered, rank_sets, sign_flip_test
from gpbandits.evaluation.tables import comparison, growth, safety, spending, summary, timing
from gpbandits.report.entrants import features_of
from gpbandits.report.standings import Standings, has_loss

PLAYABLE = [
    env_id for env_id, problem in IDS.items() if all(map(find, data_files(problem))) and problem != "duel"
]
AGENTS = ("gp-ucb", "gp-bucb", "config", "random")
MARKED = ("constraint", "delay", "context", "change", "outcome")


@cache
def played(env_id):
    return evaluate(env_id, AGENTS, trials=6, seed=5, env_kwargs={"horizon": 20})


def labels_in(texts):
    return [re.sub(r"[^a-z-]", "", str(text)) for text in texts]


@pytest.mark.long
@pytest.mark.parametrize("env_id", PLAYABLE)
def test_every_place_has_the_agents_in_one_order(env_id):
    result = played(env_id)
    order = result.ordered
    assert sorted(order) == sorted(AGENTS)
    grids = [summary(result), growth(result), timing(result)]
    grids += [safety(result), result.safety_table()] if result.num_constraints else []
    grids += [spending(result)] if result.spent else []
    for table in (result.table(), *grids):
        assert labels_in(row[0] for row in table.rows) == order
    assert labels_in(line.split(":")[0] for line in repr(result).splitlines()[1:]) == order
    legend = regret_figure(result).axes[0].get_legend()
    assert legend is not None
    assert labels_in(text.get_text() for text in legend.get_texts())[: len(order)] == order
    metrics = ["regret", *(["hard_violation"] if result.num_constraints else [])]
    for grid in (comparison(result, metric) for metric in metrics):
        assert labels_in(row[0] for row in grid.rows) == [
            label for label in order if label != result.baseline
        ]
        assert f"against {result.marked(result.baseline)}" in grid.title
    assert f"minus {result.baseline}" in result.table().header
    if has_loss(result, "random"):
        standings = Standings([result], "random")
        assert standings.agents == [label for label in order if label in standings.same]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("env_id", PLAYABLE)
def test_who_lacks_a_feature_of_the_environment_is_marked_and_no_baseline(env_id, tmp_path):
    result = played(env_id)
    env = make(env_id)
    wanted = features_of(env.get_wrapper_attr("problem")) & {*MARKED}
    lacking = {x for x in AGENTS if not all(getattr(agents.features(x), each) for each in wanted)}
    assert result.unfit == lacking
    assert result.baseline not in lacking
    result.save(tmp_path / "r.parquet")
    again = Result.load(tmp_path / "r.parquet")
    assert (again.unfit, again.long_term, again.ordered) == (lacking, result.long_term, result.ordered)
    assert all(("¶" in result.marked(label)) == (label in lacking) for label in AGENTS)


def test_an_agent_that_is_blind_to_costs_is_not_first_by_its_regret():
    result = evaluate(
        "GPBandit-Constrained-v0", ["gp-ucb", "config"], trials=8, seed=5, env_kwargs={"horizon": 150}
    )
    kinds = result.main, result.hard_violation
    regret, violation = ({x: curve[:, -1].mean() for x, curve in kind.items()} for kind in kinds)
    assert regret["gp-ucb"] < regret["config"]
    assert violation["gp-ucb"] > 2 * violation["config"]
    assert result.ordered == ["config", "gp-ucb"]
    assert result.baseline == "config"
    assert [row[0] for row in result.table().rows] == ["config", "gp-ucb¶"]
    assert "¶ unfit: does not handle a feature of the environment." in result.table().notes


def test_an_unfit_agent_is_the_baseline_only_where_nobody_else_is():
    res = synthetic_result(unfit=frozenset({"GP-UCB"}))
    assert res.ordered[0] == "GP-UCB"
    assert res.baseline == "GP-TS"
    assert dataclasses.replace(res, unfit=frozenset(res.agents)).baseline == "GP-UCB"
    assert (
        synthetic_result(unfit=frozenset({"GP-UCB", "random"}), privileged=frozenset({"GP-TS"})).baseline
        == "GP-TS"
    )


def test_regret_orders_those_whose_violations_do_not_differ_significantly():
    """By the definition, agent by agent; the case has groups of several agents and more than one group."""
    rng = np.random.default_rng(0)
    levels = {f"a{i}": level for i, level in enumerate((0.0, 0.1, 5.0, 5.1, 5.2, 30.0))}
    first = {label: level + rng.normal(size=20) for label, level in levels.items()}
    losses = {label: rng.normal(-i, 1.0, size=20) for i, label in enumerate(levels)}
    pairs = list(combinations(levels, 2))
    adjusted = holm([sign_flip_test(first[a], first[b]) for a, b in pairs])
    p_values = dict(zip(map(frozenset, pairs), adjusted, strict=True))
    expected, left, groups = [], dict(first), 0
    while left:
        least = min(left, key=lambda label: left[label].mean())
        group = [x for x in left if x == least or p_values[frozenset((x, least))] > 0.05]
        expected += sorted(group, key=lambda label: losses[label].mean())
        left = {label: values for label, values in left.items() if label not in group}
        groups += 1
    assert ordered(losses, first) == expected == ["a1", "a0", "a4", "a3", "a2", "a5"]
    assert groups == 3
    assert ordered(losses) == sorted(losses, key=lambda label: losses[label].mean())


@pytest.mark.long
def test_agents_that_do_the_same_are_seldom_taken_for_different():
    """By intervals instead of flips .85 of these tables are, by tests against the least mean alone .15."""
    rng, runs, labels = np.random.default_rng(1), 200, [*"abcdefghij"]
    losses = {label: np.full(20, i) for i, label in enumerate(labels)}
    wrong = sum(
        ordered(losses, {label: rng.lognormal(size=20) for label in labels}) != labels for _ in range(runs)
    )
    assert wrong / runs < 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


def test_few_trials_put_an_agent_of_more_violation_last_however_many_agents_there_are():
    """Of 6 trials a p-value is at least 1/32, which is never significant with Holm's correction for 15."""
    rng = np.random.default_rng(0)  # no two pairs are the same test
    first = {f"safe{i}": 0.01 * rng.random(6) for i in range(5)} | {"blind": np.arange(6.0) + 1}
    losses = {label: np.full(6, -i) for i, label in enumerate(first)}
    assert ordered(losses, first)[-1] == "blind"


def test_of_a_single_trial_the_difference_itself_decides():
    losses = {"blind": np.array([1.0]), "safe": np.array([2.0])}
    assert ordered(losses, {"blind": np.array([9.0]), "safe": np.array([0.0])}) == ["safe", "blind"]
    assert ordered(losses, {"blind": np.array([0.0]), "safe": np.array([0.0])}) == ["blind", "safe"]


def test_rank_sets_let_what_comes_first_decide_where_it_differs_significantly():
    rng = np.random.default_rng(1)
    losses = {label: rng.normal(level, 0.1, size=20) for label, level in zip("abc", (3, 2, 1), strict=True)}
    first = {label: rng.normal(level, 0.1, size=20) for label, level in zip("abc", (0, 0, 5), strict=True)}
    assert [tuple(rank) for rank in rank_sets(losses, first=first).values()] == [
        (2, 1, 2),  # loss decides the place; which of the two violates more is open
        (1, 1, 2),
        (3, 3, 3),
    ]
    same = dict.fromkeys("abc", np.zeros(20))
    assert rank_sets(losses, first=same) == rank_sets(losses)

"""The benchmarks for OptunaHub measure what the suite's environments of the same tasks do."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import optuna
import pytest
import yaml

import bandit_envs  # noqa: F401 (registers the ids)
from bandit_envs.problems.real import tasks

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "tools" / "integrations" / "optunahub" / "package"
PACKAGE = REGISTRY / "benchmarks" / "gpbandits_real"
OURS = [name for name, task in tasks().items() if task.tables == ("ours/digits",)]


def every_point(problem):
    """The parameters of each configuration of a grid, by its row."""
    sizes = [each.high + 1 for each in problem.search_space.values()]
    points = [dict(zip(problem.search_space, map(int, at), strict=True)) for at in np.ndindex(*sizes)]
    return {problem.arm(point): point for point in points}


def test_the_folder_has_the_layout_of_the_registry(hub):
    assert {path.name for path in PACKAGE.iterdir()} - {"__pycache__"} == {
        *("LICENSE", "README.md", "__init__.py", "example.py", "requirements.txt")
    }
    _, front, page = (PACKAGE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    said = yaml.safe_load(front)
    assert set(said) == {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert "benchmark" in said["tags"]  # which the registry demands
    assert re.findall("^## (.+)$", page, re.MULTILINE) == ["Abstract", "APIs", "Installation", "Example"]
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert [name for name in hub.__all__ if f"`{name}" not in page] == []


@pytest.mark.parametrize("name", OURS)
def test_rewards_delays_limits_and_budgets_are_those_of_the_environment(hub, name):
    problem = hub.RealTask(name)
    points = every_point(problem)
    assert sorted(points) == list(range(240))
    env = gym.make(f"GPBandit-Real/{name}-v2", horizon=240)
    env.reset(seed=0)
    for arm in range(0, 240, 7):
        *_, info = env.step(arm)
        truth = info["oracle"]
        assert problem.mean[arm] == pytest.approx(truth["mean"], abs=1e-12)
        assert problem.regret(points[arm]) == pytest.approx(truth["regret"], abs=1e-12)
        if problem.delay is not None:
            assert problem.delay[arm] == truth["delay"]
        costs = list(problem.evaluate_constraints(points[arm]).values())
        assert costs == pytest.approx(list(truth["cost_mean"]), abs=1e-12)
    assert problem.budget == pytest.approx(env.get_wrapper_attr("setting").budget)


def test_a_trial_returns_runs_of_its_configuration_and_the_seed_says_which(hub):
    problem, again, other = (hub.RealTask("digits-repeat", seed=seed) for seed in (0, 0, 1))
    point = every_point(problem)[77]
    values = [[each.evaluate(point) for _ in range(40)] for each in (problem, again, other)]
    assert values[0] == values[1] != values[2]
    measured = np.loadtxt(ROOT / "bandit_envs/data/tables/digits.csv", delimiter=",", skiprows=1)
    assert set(values[0]) == set(measured.reshape(240, 5, -1)[77, :, 5])  # the five runs of the configuration
    assert np.mean(values[0]) == pytest.approx(problem.mean[77], abs=0.02)


def test_a_late_trial_is_told_after_its_delay_and_the_budget_ends_the_study(hub):
    problem = hub.RealTask("digits-everything")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), directions=problem.directions)
    told = []
    tell = study.tell

    def noted(trial, *given, **options):
        told.append((trial.number, len(study.trials)))
        return tell(trial, *given, **options)

    study.tell = noted
    hub.play(study, problem, rounds=500)
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    spent = sum(trial.user_attrs["spent"] for trial in done)
    assert spent <= problem.budget < spent + study.trials[-1].user_attrs["spent"]
    last = len(study.trials)
    for number, started in told:
        delay = study.trials[number].user_attrs["delay"]
        assert started == min(number + delay + 1, last), "delay d: d further trials were started"
    assert all(set(trial.constraints) == {"model_size"} for trial in done)


@pytest.mark.needs_packages("olymp")
def test_a_table_that_is_no_grid_takes_the_nearest_configuration(hub):
    problem = hub.RealTask("green-mixture")
    assert not any(
        isinstance(each, optuna.distributions.IntDistribution) for each in problem.search_space.values()
    )
    points = gym.make("GPBandit-Real/green-mixture-v2").unwrapped.problem.decisions.arms
    for arm in (0, 5, len(points) - 1):
        assert problem.arm({f"x{i}": value for i, value in enumerate(points[arm])}) == arm

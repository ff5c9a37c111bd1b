"""The packages for OptunaHub have its layout, load as the hub loads them, and play our tasks."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import optuna
import pytest

import bandit_envs  # noqa: F401 (registers the ids)
from bandit_envs.problems.real import tasks

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "tools" / "integrations" / "optunahub" / "package"
SAMPLERS, BENCHMARKS = REGISTRY / "samplers" / "gpbandits", REGISTRY / "benchmarks" / "gpbandits_real"
# The front matter of the registry's template, all of it text or lists of text.
FIELDS = {
    "author": str,
    "title": str,
    "description": str,
    "tags": list,
    "optuna_versions": list,
    "license": str,
}
OF_A_KIND = ("GPUCBSampler", "GPTSSampler", "GPPISampler", "DelayAwareSampler")
OURS = [name for name, task in tasks().items() if task.tables == ("ours/digits",)]


def loaded(package: Path) -> Any:
    optunahub = pytest.importorskip("optunahub", reason="optunahub is not installed")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optunahub.load_local_module(package.relative_to(REGISTRY).as_posix(), registry_root=str(REGISTRY))


@pytest.fixture(scope="module")
def samplers() -> Any:
    return loaded(SAMPLERS)


@pytest.fixture(scope="module")
def benchmarks() -> Any:
    return loaded(BENCHMARKS)


@pytest.mark.parametrize(("package", "tag"), [(SAMPLERS, "sampler"), (BENCHMARKS, "benchmark")])
def test_the_folder_and_its_front_matter_have_the_layout_of_the_registry(package, tag):
    yaml = pytest.importorskip("yaml")
    files = {"LICENSE", "README.md", "__init__.py", "example.py", "requirements.txt"}
    assert {path.name for path in package.iterdir()} - {"__pycache__"} == files
    empty, front, page = (package / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    said = yaml.safe_load(front)
    assert empty == ""
    assert {name: type(value) for name, value in said.items()} == FIELDS
    assert tag in said["tags"]  # which the registry demands
    assert all(isinstance(each, str) for each in [*said["tags"], *map(str, said["optuna_versions"])])
    headings = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert headings == ["Abstract", "APIs", "Installation", "Example"]
    assert "<" not in page  # the registry removes HTML
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert [name for name in loaded(package).__all__ if f"`{name}" not in page] == []


def loss(trial):
    trial.set_user_attr("spent", 1.0)
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2


def played(sampler, objective=loss, n=8):
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=n)
    return study


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OF_A_KIND)
def test_each_sampler_proposes_by_its_agent(samplers, name):
    study, again = (played(getattr(samplers, name)(seed=0)) for _ in range(2))
    assert [trial.params for trial in study.trials] == [trial.params for trial in again.trials]
    assert study.best_value < 0.02


def test_the_constrained_sampler_finds_the_best_feasible_trial(samplers):
    def limited(trial):
        trial.set_constraint("left", 0.5 - trial.suggest_float("x", 0, 1))
        return loss(trial)

    study = played(samplers.ConstrainedSampler(seed=0), limited, 10)
    assert 0.5 <= study.best_params["x"] < 0.6


def test_the_budgeted_sampler_ends_the_study(samplers):
    assert len(played(samplers.BudgetedSampler(5.0, seed=0), n=9).trials) == 5


@pytest.mark.long
def test_the_example_runs(samplers, capsys):
    runpy.run_path(str(SAMPLERS / "example.py"), run_name="__main__")
    assert capsys.readouterr().out.count("best") == 6


def every_point(problem):
    sizes = [each.high + 1 for each in problem.search_space.values()]
    points = [dict(zip(problem.search_space, map(int, at), strict=True)) for at in np.ndindex(*sizes)]
    return {problem.arm(point): point for point in points}


@pytest.mark.parametrize("name", OURS)
def test_rewards_delays_limits_and_budgets_are_those_of_the_environment(benchmarks, name):
    problem = benchmarks.RealTask(name)
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


def test_a_trial_returns_runs_of_its_configuration_and_the_seed_says_which(benchmarks):
    problem, again, other = (benchmarks.RealTask("digits-repeat", seed=seed) for seed in (0, 0, 1))
    point = every_point(problem)[77]
    values = [[each.evaluate(point) for _ in range(40)] for each in (problem, again, other)]
    assert values[0] == values[1] != values[2]
    measured = np.loadtxt(ROOT / "bandit_envs/data/tables/digits.csv", delimiter=",", skiprows=1)
    assert set(values[0]) == set(measured.reshape(240, 5, -1)[77, :, 5])  # the five runs of the configuration
    assert np.mean(values[0]) == pytest.approx(problem.mean[77], abs=0.02)


def test_a_late_trial_is_told_after_its_delay_and_the_budget_ends_the_study(benchmarks):
    problem = benchmarks.RealTask("digits-everything")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), directions=problem.directions)
    told = []
    tell = study.tell

    def noted(trial, *given, **options):
        told.append((trial.number, len(study.trials)))
        return tell(trial, *given, **options)

    study.tell = noted
    benchmarks.play(study, problem, rounds=500)
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    spent = sum(trial.user_attrs["spent"] for trial in done)
    assert spent <= problem.budget < spent + study.trials[-1].user_attrs["spent"]
    last = len(study.trials)
    for number, started in told:
        delay = study.trials[number].user_attrs["delay"]
        assert started == min(number + delay + 1, last), "delay d: d further trials were started"
    assert all(set(trial.constraints) == {"model_size"} for trial in done)


@pytest.mark.needs_packages("olymp")
def test_a_table_that_is_no_grid_takes_the_nearest_configuration(benchmarks):
    problem = benchmarks.RealTask("green-mixture")
    assert not any(
        isinstance(each, optuna.distributions.IntDistribution) for each in problem.search_space.values()
    )
    points = gym.make("GPBandit-Real/green-mixture-v2").unwrapped.problem.decisions.arms
    for arm in (0, 5, len(points) - 1):
        assert problem.arm({f"x{i}": value for i, value in enumerate(points[arm])}) == arm

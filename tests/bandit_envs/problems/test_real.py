"""Real tasks: reference values stay, single runs are observed, and each family has what it names."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.resources import files

import gymnasium as gym
import numpy as np
import pytest

import agents
from bandit_envs.data.files import sha256_of
from bandit_envs.data.packages import find_wheel
from bandit_envs.data.runs import load_runs, package_of
from bandit_envs.laws.measured import MeasuredCosts, MeasuredTimes, Replicates
from bandit_envs.problems import real as module
from bandit_envs.problems.real import FAMILIES, FITTING, PLAYS, WORKERS, prior_of, priors, real, tasks

FROZEN = {
    "problems/real_priors.toml": "d9a8b5d1fb33739b9a7d4945eda224d7cdb5a5eefdf3e5ccfc84cfd7a556a2e1",
    "problems/tasks.toml": "928dd7462be8804b2bdb18de2d6e402d894403960ba5014ed2ad63a0ae9066cd",
    "data/tables/digits.csv": "4b32cca25f5127ba8fa6692d6577f7fee8ce38cbd1a50593c522477b2e2d693e",
}


def needs(name):
    package = package_of(tasks()[name].tables[0])
    if package is not None and find_wheel(package) is None:
        pytest.skip(f"the wheel of {package} is not on this machine; its first use downloads it")


@pytest.mark.parametrize("name", tasks())
def test_a_task_has_its_reference_values_and_measured_parts(name):
    needs(name)
    task, made = tasks()[name], real(task=name)
    values = made.draw(0).means[0, 0]
    assert len(values) == task.points
    assert values.max() == pytest.approx(task.best, rel=1e-9)
    assert isinstance(made.noise, Replicates)
    prior, setting = prior_of(task.tables), made.setting()
    assert (setting.kernel is None) == (prior is None)  # nobody knows one beforehand
    if prior is not None:
        assert setting.noise_std == prior.noise
        np.testing.assert_allclose(np.sqrt(setting.kernel.diag(made.decisions.points[:3])), prior.deviation)
    if task.family in ("late", "everything"):
        assert isinstance(made.delay, MeasuredTimes)
        rounds = made.delay.in_rounds(made.delay.times)
        assert np.median(rounds) == pytest.approx(WORKERS - 1, abs=1)
    if task.family in ("limit", "everything"):
        (cost,) = made.constraints
        assert FITTING <= np.mean(cost.values <= 0) <= 0.4 + 1e-9  # many have the same size
    if task.family in ("budget", "everything"):
        assert isinstance(made.play_costs, MeasuredCosts)
        assert made.play_costs.budget == pytest.approx(PLAYS * np.median(made.play_costs.values))
    if task.family == "datasets":
        assert made.decisions.num_contexts == len(task.tables) > 1


@pytest.mark.parametrize("name", [each for each in tasks() if package_of(tasks()[each].tables[0]) is None])
def test_a_reward_is_one_of_the_runs_of_its_configuration(name):
    task = tasks()[name]
    runs = load_runs(task.tables[0])
    env = gym.make("GPBandit-Real-v1", task=name, delay="immediate").unwrapped
    env.reset(seed=5)
    for action in np.random.default_rng(1).integers(task.points, size=30):
        _, reward, terminated, truncated, _ = env.step(int(action))
        if terminated or truncated:
            break
        own = runs.measured[task.reward][runs.first[action] : runs.first[action + 1]]
        assert np.isclose(own, reward).any()


@pytest.mark.parametrize("table", priors())
def test_a_prior_does_not_depend_on_the_tasks_own_table(table, monkeypatch):
    before = prior_of((table,))
    shifted = priors()[table]._replace(mean=1e6, noise=1e6, deviation=1e6)
    monkeypatch.setattr(module, "priors", lambda: {**priors(), table: shifted})
    assert prior_of((table,)) == before
    siblings = [name for name in priors() if name.split("/")[0] == table.split("/")[0] and name != table]
    assert prior_of((siblings[0],)) != before


def test_the_prior_of_a_task_adds_variances_within_and_between_its_siblings():
    prior = prior_of(("nasbench201/cifar10",))
    others = [priors()["nasbench201/cifar100"], priors()["nasbench201/imagenet"]]
    gap = others[0].mean - others[1].mean
    within = (others[0].deviation ** 2 + others[1].deviation ** 2) / 2
    assert prior.deviation**2 == pytest.approx(within + gap**2 / 4)
    assert prior.mean == pytest.approx((others[0].mean + others[1].mean) / 2)
    assert prior.noise**2 == pytest.approx((others[0].noise ** 2 + others[1].noise ** 2) / 2)
    assert prior.length_scales[0] ** 2 == pytest.approx(
        others[0].length_scales[0] * others[1].length_scales[0]
    )


def test_every_task_is_an_id_of_its_own():
    names = {spec.name for spec in gym.registry.values() if spec.namespace == "GPBandit-Real"}
    assert names == set(tasks())
    env = gym.make("GPBandit-Real/digits-repeat-v1", horizon=7)
    assert env.unwrapped.problem.name == "real: digits-repeat"


def test_no_measurement_of_an_arm_is_published():
    setting = real(task="digits-everything", publish_model=True).setting()
    assert setting.delay is None
    assert setting.play_costs is None
    assert setting.known_costs is None


def test_the_suite_is_frozen():
    """A task or run that changes is a new version of the suite: GPBandit-Real-v2."""
    for path, digest in FROZEN.items():
        assert sha256_of(files("bandit_envs").joinpath(path)) == digest, path


def test_every_family_has_a_task_and_every_task_measures_something():
    assert {task.family for task in tasks().values()} == set(FAMILIES)
    assert all(task.limited or task.family not in ("limit", "everything") for task in tasks().values())


def test_a_feature_of_the_users_replaces_what_was_measured():
    made = real(task="digits-late", delay=None, noise_std=0.5, publish_model=True)
    assert made.delay.window(200) == 0
    assert made.noise.stated_std == 0.5
    assert made.setting().kernel is not None


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"task": "digits-lat"}, "task must be a task of `gpbandits tasks`, got 'digits-lat'"),
        ({"task": 3}, "task must be a task"),
        ({"continuous": True}, "continuous must be False"),
    ],
)
def test_bad_keywords_are_named(keywords, said):
    with pytest.raises(ValueError, match=said):
        gym.make("GPBandit-Real-v1", **keywords)


def test_agents_that_sample_refuse_tables_of_30000_arms_as_the_page_says():
    needs("phoneme-late")
    env = gym.make("GPBandit-Real/phoneme-late-v1", horizon=5)
    observation, _ = env.reset(seed=0)
    for name, refuses in {"gp-ts": True, "gp-ei": False}.items():
        agent = agents.make(name, env)
        said = pytest.raises(ValueError, match="kernel must have covariances that decay")
        with said if refuses else nullcontext():
            agent.reset(0)
            agent.act(observation)

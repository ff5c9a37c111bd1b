"""Real tasks: reference values stay, single runs are observed, and each family has what it names."""

import re
from importlib.resources import files
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from cases import needs_of

from bandit_envs.data.files import sha256_of
from bandit_envs.data.runs import load_runs, package_of
from bandit_envs.laws.changes import change_points_of
from bandit_envs.laws.drift import Replay
from bandit_envs.laws.tabulated import MeasuredCosts, MeasuredTimes, Replicates
from bandit_envs.problems import real as module
from bandit_envs.problems.real import HELD, PLAYS, prior_of, priors, real, tasks

FROZEN = {
    "problems/real_priors.toml": "fb79174a1c8d986e994a6943e9cd94e5a100c704e754236a5603fdbc7c376730",
    "problems/tasks.toml": "61addeef35f8e94d6ce8ecd7d0789accf6a9a222bb8463af815ecc7065b02534",
    "data/tables/digits.csv": "4b32cca25f5127ba8fa6692d6577f7fee8ce38cbd1a50593c522477b2e2d693e",
}
PAGE = (Path(__file__).parents[3] / "docs" / "real.md").read_text(encoding="utf-8")
PUBLISHED = ("temperature",)  # of those without tables
TABLED = [name for name, task in tasks().items() if task.tables]


def cases(names):
    return [pytest.param(name, marks=needs_of(tasks()[name])) for name in names]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", cases(tasks()))
def test_a_task_has_its_reference_values(name):
    task, made = tasks()[name], real(task=name)
    values = made.reward.among(made.decisions.points)
    assert values.shape[1] == task.points
    assert values.max() == pytest.approx(task.best, rel=1e-9)
    assert made.name == f"real: {name}"


# Weight decay, batch size, depth, step size and width: what HPOBench names, and in which range.
NAMED = np.array([1e-3, 32.0, 3.0, 1e-3, 64.0])
LOW, HIGH = np.array([1e-8, 4.0, 1.0, 1e-5, 16.0]), np.array([1.0, 256.0, 3.0, 1.0, 1024.0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", cases(name for name, task in tasks().items() if task.default is not None))
def test_the_default_of_a_task_is_the_configuration_nearest_to_what_its_source_names(name):
    task = tasks()[name]
    runs = load_runs(task.tables[0])
    named = np.log(NAMED / LOW) / np.log(HIGH / LOW)
    named[2] = (NAMED[2] - LOW[2]) / (HIGH[2] - LOW[2])
    distance = np.abs(runs.unit - named).max(axis=1)
    near = runs.mean("val_acc")[distance <= distance.min() + 1e-9]
    # 25 and 40 are equally far from 32 on an exact grid; rounded to integers, as they were run, 40 is nearer.
    assert task.default == pytest.approx(near[-1], rel=1e-9)
    assert len(near) <= 2


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", cases(TABLED))
def test_a_task_of_tables_has_the_measured_parts_of_its_family(name):
    task, made = tasks()[name], real(task=name)
    assert isinstance(made.noise, Replicates)
    prior, setting = prior_of(task), made.setting()
    assert (setting.kernel is None) == (prior is None)  # nobody knows one beforehand
    if prior is None:
        assert setting.prior_mean == 0.0
    else:
        assert setting.noise_std == prior.noise
        np.testing.assert_allclose(np.sqrt(setting.kernel.diag(made.decisions.points[:3])), prior.deviation)
    runs = load_runs(task.tables[0])
    measures = {
        "late": isinstance(made.delay, MeasuredTimes),
        "budget": isinstance(made.play_costs, MeasuredCosts),
        "limit": len(made.constraints) == 1,
        "datasets": made.decisions.num_contexts == len(task.tables) > 1,
        "changes": made.drift == Replay(HELD) and made.horizon == HELD * len(task.tables),
        "tuning": made.horizon == module.TUNING and made.noise.std < 0.01 * made.reward.values.std(),
    }
    expected = {task.family} & set(measures)
    if task.family == "everything":
        times = runs.mean("train_time")
        paid = times.max() <= PLAYS * np.median(times)
        expected = {"late", "limit", "budget"} if paid else {"late", "limit"}
    assert {key for key, has in measures.items() if has} == expected
    if task.family == "changes":  # one noise for all: each configuration was run once
        assert all((np.diff(load_runs(table).first) == 1).all() for table in task.tables)
    if measures["late"]:
        rounds = made.delay.in_rounds(made.delay.times)
        assert np.median(rounds) == pytest.approx(module.WORKERS - 1, abs=1)
    if measures["limit"]:
        (cost,) = made.constraints
        assert module.FITTING - 1e-4 <= np.mean(cost.values <= 0) <= 0.4 + 1e-9  # many have the same size
        assert cost.values.std() == pytest.approx(1.0)
        np.testing.assert_allclose(np.corrcoef(np.log(runs.mean(task.limited)), cost.values[0])[0, 1], 1.0)
        slack = -cost.values[cost.values < 0]
        assert np.median(slack) > 0.3  # what keeps the limit has slack that one can see
    if measures["budget"]:
        assert made.play_costs.budget == pytest.approx(PLAYS * np.median(made.play_costs.values))


@pytest.mark.needs_packages("bocode")
def test_the_function_of_a_changing_task_is_the_next_data_set_every_40_rounds():
    env = gym.make("GPBandit-Real/lcbench-2-changes-v2").unwrapped
    env.reset(seed=3)
    seen = [env.step(17)[1] for _ in range(HELD * 6)]
    own = [load_runs(table).measured["val_acc"][17] for table in tasks()["lcbench-2-changes"].tables]
    np.testing.assert_allclose(seen, np.repeat(own, HELD))
    at = change_points_of(env.simulator.trials[0].segment)  # which evaluators score, and nobody publishes
    np.testing.assert_array_equal(at, HELD * np.arange(1, 6))


@pytest.mark.parametrize("name", [each for each in TABLED if package_of(tasks()[each].tables[0]) is None])
def test_a_reward_is_one_of_the_runs_of_its_configuration(name):
    task = tasks()[name]
    runs = load_runs(task.tables[0])
    env = gym.make("GPBandit-Real-v2", task=name, delay="immediate").unwrapped
    env.reset(seed=5)
    for action in np.random.default_rng(1).integers(task.points, size=30):
        _, reward, terminated, truncated, _ = env.step(int(action))
        if terminated or truncated:
            break
        own = runs.measured[task.reward][runs.first[action] : runs.first[action + 1]]
        assert np.isclose(own, reward).any()


@pytest.mark.parametrize("table", priors())
def test_a_prior_does_not_depend_on_the_tasks_own_table(table, monkeypatch):
    task = module.Task("repeat", 1, 1.0, (table,))
    before = prior_of(task)
    shifted = priors()[table]._replace(mean=1e6, noise=1e6, deviation=1e6)
    monkeypatch.setattr(module, "priors", lambda: {**priors(), table: shifted})
    assert prior_of(task) == before
    siblings = [name for name in priors() if name.split("/")[0] == table.split("/")[0] and name != table]
    assert prior_of(task._replace(tables=(siblings[0],))) != before


def test_the_prior_of_a_task_adds_variances_within_and_between_its_siblings():
    prior = prior_of(module.Task("late", 1, 1.0, ("nasbench201/cifar10",)))
    others = [priors()["nasbench201/cifar100"], priors()["nasbench201/imagenet"]]
    gap = others[0].mean - others[1].mean
    within = (others[0].deviation ** 2 + others[1].deviation ** 2) / 2
    assert prior.deviation**2 == pytest.approx(within + gap**2 / 4)
    assert prior.mean == pytest.approx((others[0].mean + others[1].mean) / 2)
    assert prior.noise**2 == pytest.approx((others[0].noise ** 2 + others[1].noise ** 2) / 2)
    first, second = (each.length_scales[0] for each in others)
    assert prior.length_scales[0] ** 2 == pytest.approx(first * second)


@pytest.mark.parametrize("name", cases(name for name, task in tasks().items() if task.problem))
def test_a_task_of_recorded_problems_publishes_the_model_that_the_page_names(name):
    setting = real(task=name).setting()
    assert (setting.kernel is not None) == (name in PUBLISHED)
    assert name in PUBLISHED or setting.prior_mean == 0.0
    assert f"`{name}`" in PAGE or name in ("temperature", "light")


@pytest.mark.parametrize("name", cases(["svm-datasets", "growing-datasets"]))
def test_the_data_set_of_svms_changes_as_often_as_the_page_says(name):
    (held,) = re.findall(r"every 40 rounds \((\d+) on `svm-datasets` and `growing-datasets`\)", PAGE)
    made = real(task=name)
    ends = np.flatnonzero(np.diff(made.draw(0).context[: made.horizon]))
    assert made.horizon == int(held) * made.decisions.num_contexts
    assert ends.tolist() == [*range(int(held) - 1, made.horizon - 1, int(held))]


def test_every_task_is_an_id_of_its_own():
    names = {spec.name for spec in gym.registry.values() if spec.namespace == "GPBandit-Real"}
    assert names == set(tasks())
    env = gym.make("GPBandit-Real/digits-repeat-v2", horizon=7)
    assert env.unwrapped.problem.name == "real: digits-repeat"


def test_no_measurement_of_an_arm_is_published():
    setting = real(task="digits-everything", publish_model=True).setting()
    assert setting.delay is None
    assert setting.play_costs is None
    assert setting.known_costs is None


def test_the_suite_is_frozen():
    """A task or run that changes is a new version of the suite: GPBandit-Real-v3."""
    for path, digest in FROZEN.items():
        assert sha256_of(files("bandit_envs").joinpath(path)) == digest, path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", cases(name for name, task in tasks().items() if task.gain))
def test_a_gain_counts_from_the_median_configuration_which_no_model_tells(name):
    task, made = tasks()[name], real(task=name)
    plain = real(task=name, publish_model=True)
    values = made.reward.values
    assert np.median(values) == pytest.approx(0.0, abs=1e-9)
    own = module.rewards_of(task.reward, load_runs(task.tables[0])).mean("reward")
    np.testing.assert_allclose(values.ravel(), own - np.median(own))
    for setting in (made.setting(), plain.setting()):
        assert np.allclose(setting.prior_mean, 0.0)  # that of the siblings would tell the median


def test_every_task_is_played_to_its_own_horizon():
    """No leaderboard cuts it, so that what comes late in a task counts."""
    offline = [name for name in TABLED if not package_of(tasks()[name].tables[0])]
    assert all(real(task=name).horizon == module.HORIZON for name in offline)


def test_a_feature_of_the_users_replaces_what_was_measured():
    made = real(task="digits-late", delay=None, noise_std=0.5, publish_model=True)
    assert made.delay.window(200) == 0
    assert made.noise.stated_std == 0.5
    assert made.setting().kernel is not None

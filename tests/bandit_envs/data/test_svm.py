"""Tuning support vector machines: shipped tables are what training gives, contexts name their tasks."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from pages import loaded

from bandit_envs import BanditEnv, data
from bandit_envs.data import training
from bandit_envs.data.training import SHAPES, ResultGrid, accuracy_of, count_correct, svm_values
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws import contexts, delays
from bandit_envs.problems import build, data_files

PIMA = "pima_diabetes.csv"
needs_tasks = pytest.mark.needs_data(*data_files("multi-task-svm"))
SHIPPED = [(data, ResultGrid(*shape)) for data, shapes in SHAPES.items() for shape in shapes.items()]


@pytest.mark.needs_data(PIMA)
def test_the_diabetes_data_are_768_patients_of_whom_a_third_are_ill():
    x, y = data.pima_diabetes()
    assert (x.shape, y.shape) == ((768, 8), (768,))
    np.testing.assert_array_equal(x[0], [6, 148, 72, 35, 0, 33.6, 0.627, 50])
    assert (y[:3].tolist(), int(y.sum())) == ([1, 0, 1], 268)


@pytest.mark.needs_data(PIMA)
def test_the_diabetes_data_grow_by_the_next_patients_of_one_order():
    parts = training.growing_diabetes()
    assert [len(part.y) for part in parts] == [768 * i // 20 for i in range(1, 21)]
    for smaller, larger in pairwise(parts):
        np.testing.assert_array_equal(larger.x[: len(smaller.y)], smaller.x)
    assert sorted(map(tuple, parts[-1].x)) == sorted(map(tuple, data.pima_diabetes().x))


@needs_tasks
def test_fifty_tasks_share_288_configurations():
    tasks = data.tst_svm()
    shapes = tasks.features.shape, tasks.configurations.shape, tasks.accuracy.shape
    assert shapes == ((50, 22), (288, 6), (50, 288))
    assert tasks.names[:3] == ("A9A", "W8A", "abalone")
    assert tasks.accuracy[0, :2].tolist() == [0.757908, 0.781759]
    assert (tasks.configurations[:, :3].sum(axis=1) == 1).all()
    assert (tasks.accuracy.min(), tasks.accuracy.max()) == (0.0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        tasks.accuracy[0, 0] = 0.5


def test_the_uniform_grid_is_even_and_has_the_edge_and_three_values_beside_it():
    points = ResultGrid("uniform", (11, 251)).points
    first, second = map(np.unique, points.T)
    np.testing.assert_allclose(first, np.arange(11) / 10)
    np.testing.assert_allclose(second[:6], [0.0, 0.001, 0.002, 0.003, 0.004, 0.008])
    np.testing.assert_allclose(np.diff(second[4:]), 0.004)
    assert len(points) == 11 * 254
    assert (points.min(), points.max()) == (0.0, 1.0)


def test_the_log_grid_is_log_spaced_and_reaches_both_edges_exactly():
    points = ResultGrid("log", (30, 30)).points
    assert points.shape == (900, 2)
    assert (points.min(), points.max()) == (0.0, 1.0)
    for values in svm_values(points).T:
        steps = np.diff(np.log(np.unique(values)))
        np.testing.assert_allclose(steps, steps.mean(), rtol=1e-9)
    assert (points[:, 1] < 0.004).mean() > 0.5  # where the accuracy changes


@pytest.mark.parametrize(("name", "grid"), SHIPPED)
def test_a_shipped_table_has_a_plateau_and_something_better(name, grid):
    accuracy = data.svm_accuracy(name, grid)
    assert accuracy.shape == (20 if name == "growing-diabetes" else 1, len(grid.points))
    assert accuracy.min() > 0.3
    better = accuracy.max(axis=1) > np.median(accuracy, axis=1)
    assert better.sum() >= len(better) - 1  # from 26 patients, the smallest data set, nothing is learnt
    assert better[-1]


def test_on_the_uniform_grid_forty_random_configurations_seldom_learn_and_on_the_log_grid_nearly_always():
    error = {}
    for spacing, shape in SHAPES["diabetes"].items():
        accuracy = data.svm_accuracy("diabetes", ResultGrid(spacing, shape))[0]
        drawn = np.random.default_rng(0).choice(accuracy, size=(2000, 40))
        error[spacing] = 1 - drawn.max(axis=1)
    assert np.median(error["uniform"]) == pytest.approx(0.35, abs=0.005)  # every third patient is ill
    assert error["uniform"].mean() == pytest.approx(0.335, abs=0.01)
    assert error["log"].mean() == pytest.approx(0.235, abs=0.005)


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        pytest.param(name, grid, marks=pytest.mark.needs_data(PIMA) if "diabetes" in name else ())
        for name, grid in SHIPPED
    ],
)
def test_training_again_gives_the_shipped_accuracies(name, grid):
    edge = np.flatnonzero(grid.points[:, 1] == 0.0)
    some = np.array([edge[1], edge[-1] + 1, len(grid.points) - 1])
    again = accuracy_of(count_correct(training.DATA_SETS[name](), grid.points[some]))
    np.testing.assert_array_equal(again, data.svm_accuracy(name, grid)[:, some])


def test_training_at_once_is_done_once_and_gives_the_table(monkeypatch):
    calls: list[int] = []

    def small() -> list[data.Classification]:
        calls.append(1)
        return [data.breast_cancer().prefix(80)]

    monkeypatch.setitem(training.DATA_SETS, "breast-cancer", small)
    training.train_svm.cache_clear()
    keywords = {"data": "breast-cancer", "grid": "log", "shape": (4, 4), "train": True, "noise_std": 0.0}
    tables = [build("svm-tuning", keywords).draw(0).means for _ in range(2)]
    training.train_svm.cache_clear()
    assert len(calls) == 1
    expected = accuracy_of(count_correct(small(), ResultGrid("log", (4, 4)).points))
    np.testing.assert_array_equal(tables[0].ravel(), expected[0])
    np.testing.assert_array_equal(*tables)


def test_a_table_that_the_script_computed_is_found_in_the_cache(tmp_path, monkeypatch):
    grid = ResultGrid("log", (3, 2))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ValueError, match=r"got \(3, 2\); compute .*svm_tables.py breast-cancer log 3 2`"):
        data.svm_accuracy("breast-cancer", grid)
    loaded("tools/svm_tables.py").main(["breast-cancer", "log", "3", "2"])
    expected = accuracy_of(count_correct([data.breast_cancer()], grid.points))
    np.testing.assert_array_equal(data.svm_accuracy("breast-cancer", grid), expected)
    keywords = {"data": "breast-cancer", "grid": "log", "shape": [3, 2]}
    assert build("svm-tuning", keywords).decisions.num_arms == 6


def test_the_defaults_are_the_settings_of_the_paper():
    tuning, growing = build("svm-tuning", {}), build("growing-data-svm", {})
    assert (tuning.horizon, tuning.delay, tuning.decisions.num_arms) == (100, delays.PoissonDelay(10), 2794)
    assert (growing.horizon, growing.delay, growing.decisions.num_arms) == (600, delays.PoissonDelay(3), 774)
    assert growing.context == contexts.Blocks(30)
    np.testing.assert_allclose(growing.decisions.contexts[:, 0], np.arange(20) / 19)


@pytest.mark.parametrize("grid", SHAPES["diabetes"])
def test_both_scales_show_the_same_accuracies(grid):
    linear, log = (build("svm-tuning", {"grid": grid, "scale": scale}) for scale in ("linear", "log"))
    np.testing.assert_array_equal(linear.draw(0).means, log.draw(0).means)
    machines = svm_values(linear.decisions.arms)
    span = np.ptp(np.log(machines), axis=0)
    np.testing.assert_allclose(np.log(machines / machines[0]) / span, log.decisions.arms, atol=1e-9)


def test_regret_is_against_the_best_configuration_of_the_current_data_set():
    grid = ResultGrid("uniform", SHAPES["growing-diabetes"]["uniform"])
    table = data.svm_accuracy("growing-diabetes", grid)
    env = BanditEnv("growing-data-svm", noise_std=0.0)
    env.reset(seed=0)
    for t in range(600):
        info = env.step(7 * t % 774)[4]
        best = table[t // 30].max()
        assert info["oracle"]["optimum"] == best
        assert info["oracle"]["regret"] == best - table[t // 30, 7 * t % 774]


@needs_tasks
def test_tasks_of_equal_features_are_told_apart_by_the_observation_and_have_their_own_accuracies():
    tasks = data.tst_svm()
    env = BanditEnv("multi-task-svm", noise_std=0.0)
    observation, _ = env.reset(seed=0)
    assert (env.problem.horizon, env.problem.delay) == (1500, delays.PoissonDelay(3))
    for t in range(1500):
        task = t // 30
        assert env.setting.context_index(observation[None])[0] == task
        observation, _, _, _, info = env.step(t % 288)
        assert info["oracle"]["mean"] == tasks.accuracy[task, t % 288]
    for pair in (("breast-cancer", "saheart"), ("diabetes", "pima")):
        one, other = (tasks.names.index(name) for name in pair)
        np.testing.assert_array_equal(tasks.features[one, :6], tasks.features[other, :6])
        assert np.abs(tasks.accuracy[one] - tasks.accuracy[other]).max() > 0.1


@needs_tasks
def test_the_kernel_over_tasks_does_not_see_their_numbers():
    problem = build("multi-task-svm", {})
    tasks = data.tst_svm()
    one, other = (tasks.names.index(name) for name in ("diabetes", "pima"))
    arms = problem.decisions.arms[:9]
    pairs = [problem.decisions.with_context(task, arms) for task in (one, other)]
    np.testing.assert_allclose(problem.kernel(*pairs), problem.kernel(pairs[0], pairs[0]), rtol=1e-12)
    assert problem.kernel(pairs[0])[0, 0] == pytest.approx(tasks.accuracy.var())


@pytest.mark.parametrize(
    "name", [pytest.param("multi-task-svm", marks=needs_tasks), "growing-data-svm", "svm-tuning"]
)
def test_making_resetting_and_playing_need_no_matrix_over_all_pairs(name, monkeypatch):
    build(name, {})  # what is kept for the process
    monkeypatch.setattr(Gram, "column", None)
    tracemalloc.start()
    env = BanditEnv(name)
    env.reset(seed=0)
    env.step(0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not {"dense", "root", "low_rank_root"} & vars(env.problem.gram).keys()
    assert peak < 16 * 2**20  # 900^2 numbers alone would be 6.5 MB, 14,400^2 1.7 GB


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        ("svm-tuning", {"data": "iris"}, "data must be \"diabetes\" or \"breast-cancer\", got 'iris'"),
        ("svm-tuning", {"grid": "sqrt"}, "grid must be \"uniform\" or \"log\", got 'sqrt'"),
        ("svm-tuning", {"shape": 30}, "shape must be two integers from 2 on .*, got 30"),
        ("svm-tuning", {"shape": (1, 9)}, r"shape must be two integers from 2 on .*, got \(1, 9\)"),
        ("svm-tuning", {"shape": (101, 101)}, r"product of at most 10000, got \(101, 101\)"),
        ("svm-tuning", {"shape": (7, 7)}, r"computed table.* got \(7, 7\); compute it by .* 7 7"),
        ("growing-data-svm", {"shape": [9, 9]}, "compute it by .* or train at once with train=True"),
        ("svm-tuning", {"scale": "sqrt"}, "scale must be \"linear\" or \"log\", got 'sqrt'"),
        ("growing-data-svm", {"context_kernel": {"combine": 1}}, "must be \"product\" or \"sum\", got 1"),
    ],
)  # fmt: skip
def test_bad_keywords_are_one_clear_error(name, keywords, message, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ValueError, match=message):
        build(name, keywords)

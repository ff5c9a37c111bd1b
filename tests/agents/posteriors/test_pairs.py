"""The posterior that looks at one context at a time equals the ones that keep tables over all pairs."""

import numpy as np
import pytest
from agent_cases import EXACT, in_turn

from agents.posteriors import TABLES, posterior
from agents.posteriors import pairs as pairs_module
from agents.posteriors.pairs import PairPosterior
from agents.posteriors.table import TablePosterior
from agents.registry import resolve_agent
from bandit_envs import Problem, Setting
from bandit_envs.kernels.gram import DENSE_LIMIT, Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample, delays
from bandit_envs.problem.decisions import Decisions
from gpbandits import evaluate

ARMS, CONTEXTS = 15, 4
DECISIONS = Decisions(np.linspace(0.0, 1.0, ARMS)[:, None], np.linspace(0.0, 1.0, CONTEXTS)[:, None])
NOISE = np.array([0.02, 0.5, 1e-4])  # (B,) differs from trial to trial
KERNELS = {
    "rbf": make_kernel("rbf", [0.5, 0.2]),
    "matern52": make_kernel("matern52", [0.5, 0.2]),
    "sum": make_kernel("matern12", 0.3) + make_kernel("diagonal"),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS)


def cells_of(context):
    return DECISIONS.point_index(np.asarray(context)[:, None], np.arange(ARMS))


def both(kernel: str, noise=NOISE) -> tuple[PairPosterior, TablePosterior]:
    gram = Gram(KERNELS[kernel], DECISIONS.points)
    return PairPosterior(gram, noise, len(noise)), TABLES["factor"](gram, noise, len(noise))


def play(models, rng, steps: int, context=None) -> None:
    """Observe in some trials, mostly a few arms of a context that stays ten rounds, and correct values."""
    for step in range(steps):
        if step % 10 == 0 and context is None:
            here = rng.integers(CONTEXTS, size=len(NOISE))
        trial = np.flatnonzero(rng.random(len(NOISE)) < 0.8)
        arm = rng.integers(5 if rng.random() < 0.8 else ARMS, size=len(trial))
        point = DECISIONS.point_index((here if context is None else context)[trial], arm)
        value = np.sin(0.3 * point) + np.sqrt(NOISE[trial]) * rng.normal(size=len(trial))
        late = rng.integers(len(trial), size=2) if len(trial) and step % 3 == 0 else np.zeros(0, dtype=int)
        change = np.sqrt(NOISE[trial[late]]) * rng.normal(size=len(late))
        for model in models:
            model.observe(trial, point, value)
            model.correct(trial[late], point[late], change)


def assert_equal(pair: PairPosterior, table: TablePosterior, context, atol: float = 1e-8) -> None:
    cells = cells_of(context)
    np.testing.assert_allclose(pair.mean_at(cells), table.mean_at(cells), atol=atol, rtol=0)
    np.testing.assert_allclose(pair.variance_at(cells), table.variance_at(cells), atol=atol, rtol=0)
    np.testing.assert_array_equal(pair.count_at(cells), table.count_at(cells))
    np.testing.assert_allclose(pair.gain, table.gain, atol=atol, rtol=1e-10)
    trial, point = np.array([0, 2, 1, 2, 0]), np.array([3, 59, 20, 0, 31])
    np.testing.assert_allclose(pair.mean_of(trial, point), table.mean_of(trial, point), atol=atol)
    np.testing.assert_allclose(pair.variance_of(trial, point), table.variance_of(trial, point), atol=atol)
    for i in range(len(NOISE)):
        np.testing.assert_array_equal(pair.played(i), table.played(i))
        for mine, its in zip(pair.statistics(i), table.statistics(i), strict=True):
            np.testing.assert_allclose(mine, its, atol=1e-10)


@pytest.mark.sampled(4)
@every_kernel
@pytest.mark.parametrize("seed", range(3))
def test_pairs_equal_the_tables_after_any_sequence(kernel, seed):
    rng, models = np.random.default_rng(seed), both(kernel)
    for block in range(12):
        play(models, rng, 20)
        if block == 5:
            for model in models:
                model.reset(np.array([1]))
        if block == 8:
            for model in models:
                model.condition_on(2, model.statistics(2))
        assert_equal(*models, rng.integers(CONTEXTS, size=3))
    np.testing.assert_allclose(models[0].mean_at(None), models[1].mean_at(None), atol=1e-8)


def linear_map(pair: PairPosterior, cells) -> np.ndarray:
    """The matrix M with deviation = M' z, by giving it unit vectors for standard normal numbers."""

    class Unit:
        def __init__(self, index):
            self.index, self.drawn = index, 0

        def standard_normal(self, size):
            self.drawn += size
            return (np.arange(self.drawn - size, self.drawn) == self.index).astype(float)

    probe = Unit(-1)
    pair.centred_sample_at(cells, [probe])
    return np.array([pair.centred_sample_at(cells, [Unit(k)])[0] for k in range(probe.drawn)])


@every_kernel
@pytest.mark.parametrize(("noise", "rooted"), [(1e-1, 45), (1e-4, 45), (1e-6, 45), (1e-2, 30)])
def test_deviations_are_exact(kernel, noise, rooted):
    """Also where some of the plays since the root was taken were in another context."""
    gram = Gram(KERNELS[kernel], DECISIONS.points)
    pair, table = (form(gram, noise, 1) for form in (PairPosterior, TABLES["factor"]))
    rng, zero, cells = np.random.default_rng(0), np.zeros(1, dtype=int), cells_of([2])
    for step in range(60):
        point = DECISIONS.point_index(zero + (step // 20), rng.integers(6, size=1))
        for model in (pair, table):
            model.observe(zero, point, rng.normal(size=1))
        if step == rooted:
            pair.centred_sample_at(cells, [np.random.default_rng(0)])  # takes the root
    covariance = table.columns(np.zeros(ARMS, dtype=int), cells[0])[:, cells[0]]
    matrix = linear_map(pair, cells)
    assert rooted == 30 or len(matrix) > 14  # normal numbers for the root and for the plays since
    np.testing.assert_allclose(matrix.T @ matrix, covariance, atol=1e-8)


def test_contexts_that_are_dropped_from_memory_come_back_the_same(monkeypatch):
    models, forgetful = both("matern52"), both("matern52")[0]
    rng = np.random.default_rng(4)
    for _ in range(10):
        play((*models, forgetful), rng, 10)
        cells = cells_of(rng.integers(CONTEXTS, size=3))
        monkeypatch.setattr(pairs_module, "CACHE_BYTES", 0)
        dropped = forgetful.mean_at(cells)
        monkeypatch.undo()
        np.testing.assert_allclose(dropped, models[0].mean_at(cells), atol=1e-10)


def test_large_sets_of_pairs_do_without_anything_of_their_size():
    arms, contexts = np.linspace(0, 1, 100)[:, None], np.linspace(0, 1, 50)[:, None]
    decisions = Decisions(arms, contexts)
    gram = Gram(make_kernel("matern52", [0.5, 0.2]), decisions.points)
    assert gram.size > DENSE_LIMIT
    model = posterior(gram, 0.01, 2, 100, num_contexts=50)
    assert isinstance(model, PairPosterior)
    for step in range(60):
        cells = decisions.point_index(np.array([[step % 7], [step % 5]]), np.arange(100))
        model.observe(np.arange(2), cells[:, step], np.ones(2))
        assert np.isfinite(model.mean_at(cells)).all()
        model.centred_sample_at(cells, [np.random.default_rng(i) for i in range(2)])
    assert not {"dense", "root", "low_rank_root"} & vars(gram).keys()
    reference = posterior(gram, 0.01, 2, 100, "factor")
    for i in range(2):
        reference.condition_on(i, model.statistics(i))
    np.testing.assert_allclose(model.mean_at(cells), reference.mean_at(cells), atol=1e-8)
    np.testing.assert_allclose(model.variance_at(cells), reference.variance_at(cells), atol=1e-8)


def actions(agent, kernel="rbf", horizon=30):
    problem = Problem(
        DECISIONS, GPSample(), KERNELS[kernel], delay=delays.PoissonDelay(3.0), max_delay=9, horizon=horizon
    )
    return evaluate(problem, {"it": agent}, trials=2).actions["it"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "kernel"), in_turn(EXACT, ["rbf", "matern52"]))
def test_agents_play_the_same_on_pairs_and_on_tables(name, kernel):
    pairs, *tables = (actions((name, {"form": form}), kernel) for form in ("pairs", "factor", "kronecker"))
    for table in tables:
        np.testing.assert_array_equal(pairs, table)


@pytest.mark.parametrize("refit_every", [None, 10])
def test_a_kernel_that_is_learnt_has_one_form_whatever_its_rank(refit_every):
    arms, contexts = np.linspace(0.0, 1.0, 100)[:, None], np.linspace(0.0, 1.0, 50)[:, None]
    kernel = make_kernel("rbf", [0.5, 0.2])
    setting = Setting(arms=arms, contexts=contexts, horizon=20, kernel=kernel, noise_std=0.1)
    agent = resolve_agent(("gp-ucb", {"refit_every": refit_every}))(setting)
    agent.reset(0)
    assert isinstance(agent.belief.mean_posterior, PairPosterior) == (refit_every is not None)


@pytest.mark.parametrize(
    ("kernel", "num_contexts", "num_trials", "horizon", "pairs"),
    [
        ("matern52", 50, 1, 10, True),
        ("rbf", 50, 1, 10, False),
        ("matern52", 30, 100, 1000, True),
        ("rbf", 30, 100, 1000, False),
    ],
)
def test_pairs_are_chosen_for_many_points_of_many_weights(kernel, num_contexts, num_trials, horizon, pairs):
    contexts = np.linspace(0.0, 1.0, num_contexts)[:, None]
    points = Decisions(np.linspace(0.0, 1.0, 100)[:, None], contexts).points
    gram = Gram(make_kernel(kernel, [0.5, 0.2]), points)
    model = posterior(gram, 0.1, num_trials, horizon, num_contexts=num_contexts)
    assert isinstance(model, PairPosterior) == pairs

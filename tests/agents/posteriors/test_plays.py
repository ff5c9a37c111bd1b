"""Posteriors of which only the plays are kept, on grids whose whole covariance nobody makes."""

import numpy as np
import pytest
import references
from sklearn.gaussian_process.kernels import RBF, Matern

from agents.posteriors import posterior
from agents.posteriors.factor import FactorPosterior, PlayPosterior
from agents.posteriors.table import TablePosterior
from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kronecker import Kronecker
from bandit_envs.problem.decisions import uniform_points, unit_grid

NOISE = np.array([1e-2, 1e-6])  # (B,)
TRIALS = np.arange(2)
CASES = {  # kernel, points, what combines columns
    "factors": (2.0 * RBF([0.3, 0.5]), unit_grid(49, 2), Kronecker),
    "torus": (Matern(0.4, nu=1.5), unit_grid(49, 2), Circulant),
    "torus-of-a-line": (Matern(0.2, nu=2.5), unit_grid(50), Circulant),
    "scattered": (Matern(0.4), uniform_points(49, 3, 0), type(None)),
}
each_case = pytest.mark.parametrize(("kernel", "points", "structure"), CASES.values(), ids=CASES)


@pytest.fixture
def many(monkeypatch):
    """More than 10 points are many."""
    monkeypatch.setattr("bandit_envs.kernels.definite.SLOW", 10)
    for name, few in {"DENSE_LIMIT": 10, "TRIED": 10, "QUICK": 0.0}.items():
        monkeypatch.setattr(f"bandit_envs.kernels.gram.{name}", few)


def play(models: list[TablePosterior], rounds: int) -> None:
    """The same plays in all posteriors, most of them of a few points."""
    points, rng = models[0].gram.points, np.random.default_rng(0)
    truth = np.sin(7.0 * points.sum(axis=1))
    for _ in range(rounds):
        point = (len(points) * rng.random(2) ** 3).astype(np.int64)
        value = truth[point] + np.sqrt(NOISE) * rng.standard_normal(2)
        for model in models:
            model.observe(TRIALS, point, value)


def rounding(prior: np.ndarray, plays: float, noise: float) -> float:
    """T N eps |K| / sqrt(lambda): each play adds a row K w, where |w| = 1 / L_kk <= 1 / sqrt(lambda / n)."""
    return plays * len(prior) * np.finfo(float).eps * float(np.linalg.norm(prior, 2)) / np.sqrt(noise)


@pytest.mark.sampled(2)
@each_case
def test_plays_on_a_grid_are_as_exact_as_a_whole_covariance(kernel, points, structure, many):
    model = PlayPosterior(Gram(kernel, points), NOISE, 2)
    play([model], 400)
    model.observe_sums(TRIALS, np.array([3, 30]), np.array([7.0, 2.0]), np.array([1.0, 0.5]))
    assert type(model.gram.structure) is structure
    assert not {"dense", "root"} & vars(model.gram).keys()
    for i in TRIALS:
        mean, variance = references.exact_posterior(kernel(points), NOISE[i], model.count[i], model.total[i])
        error = rounding(kernel(points), model.count[i].sum(), NOISE[i])
        np.testing.assert_allclose(model.mean[i], mean, atol=error, rtol=0)
        np.testing.assert_allclose(model.variance[i], variance, atol=error, rtol=0)


@each_case
def test_plays_and_rows_over_all_points_are_one_posterior(kernel, points, structure, many):
    gram = Gram(kernel, points)
    models = [PlayPosterior(gram, NOISE, 2), FactorPosterior(gram, NOISE, 2)]
    play(models, 60)
    late = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0.1, -0.2, 0.001])
    for model in models:
        model.correct(*late)
    asked = [
        (
            model.mean,
            model.gain,
            model.columns(TRIALS, np.array([2, 40])),
            model.weight_norm_at(None) * np.sqrt(NOISE)[:, None],
        )
        for model in models
    ]
    for ours, theirs in zip(*asked, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    if structure is not type(None):
        draws = [model.centred_sample([np.random.default_rng(i) for i in TRIALS]) for model in models]
        np.testing.assert_allclose(*draws, atol=1e-8)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("horizon", [1000, 100_000])
def test_a_kernel_of_full_rank_on_a_large_grid_is_played_by_its_plays(horizon):
    gram = Gram(Matern(0.2, nu=2.5), unit_grid(400**2, 2))
    model = posterior(gram, 0.01, 1, horizon)
    assert isinstance(model, PlayPosterior)
    model.observe(np.zeros(1, dtype=np.int64), np.array([7]), np.ones(1))
    np.testing.assert_allclose(model.mean[0], gram.column(7) / 1.01, atol=1e-12)


def test_what_fits_in_no_form_is_refused_before_it_is_allocated(monkeypatch):
    monkeypatch.setattr("agents.posteriors.select.MOST_BYTES", 2**30)
    gram = Gram(Matern(0.2), uniform_points(30_000, 3, 0))
    message = (
        r"num_arms must be .* into 1 GB, got 30000 .* 1000 trials take 2 GB .* batch of trials, .* form="
    )
    with pytest.raises(ValueError, match=message):
        posterior(gram, 0.01, 1000, 1000)
    assert isinstance(posterior(gram, 0.01, 2, 1000, "plays"), PlayPosterior)

"""Functions have the law, the norm and the box form that they state."""

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from bandit_envs.kernels.gram import Gram
from bandit_envs.laws import GPSample, KnownFunction, Normalized, RecordedValues, RKHSFunction
from bandit_envs.problem.decisions import unit_grid

KERNELS = {"rbf": RBF(0.2), "matern52": Matern(0.2, nu=2.5), "matern12": Matern(0.3, nu=0.5)}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@each_kernel
def test_gp_samples_have_the_kernels_covariance(kernel):
    gram, count = Gram(kernel, unit_grid(12)), 4000
    draws = np.array([GPSample().draw(gram, rng(i)).values for i in range(count)])
    # The standard error of a product of two Gaussians of covariance (v, c; c, v) is sqrt((v v + c c) / n).
    error = np.sqrt((1.0 + gram.dense**2) / count)
    assert (np.abs(draws.T @ draws / count - gram.dense) < 4.5 * error).all()
    assert (np.abs(draws.mean(axis=0)) < 4 / np.sqrt(count)).all()


def test_a_draw_needs_no_dense_matrix_where_the_kernel_is_low_rank():
    gram = Gram(RBF(0.2), unit_grid(3000))
    GPSample().draw(gram, rng())
    RKHSFunction().draw(gram, rng())
    assert "dense" not in vars(gram)


@each_kernel
@pytest.mark.parametrize("norm", [None, 1.0, 3.5])
def test_an_rkhs_function_has_exactly_the_stated_norm(kernel, norm):
    gram = Gram(kernel, unit_grid(40))
    for seed in range(5):
        drawn = RKHSFunction(norm=norm).draw(gram, rng(seed))
        assert drawn.norm is not None
        assert drawn.between is not None
        between: Any = drawn.between
        alpha = between.link(between.function.alpha) if norm else between.alpha
        assert np.sqrt(alpha @ gram.dense @ alpha) == pytest.approx(drawn.norm, rel=1e-8)
        if norm:
            assert drawn.norm == pytest.approx(norm, rel=1e-14)


@pytest.mark.parametrize(("size", "kernel"), [(1, RBF(0.2)), (5, ConstantKernel(4.0))])
def test_an_rkhs_function_of_no_range_has_a_norm_and_a_box_form(size, kernel):
    points = unit_grid(size)
    drawn = RKHSFunction(norm=2.0).draw(Gram(kernel, points), rng())
    assert drawn.between is not None
    np.testing.assert_allclose(drawn.between(points), drawn.values, rtol=1e-8)
    np.testing.assert_allclose(drawn.values**2, 4.0 * kernel.diag(points))  # f^2 = ||f||^2 k(x, x)


@each_kernel
def test_an_rkhs_function_is_the_posterior_mean_of_a_gp_draw(kernel):
    """Chowdhury & Gopalan (2017), Section 6: K (K + rho I)^-1 y with rho = 1 % of the range of y."""
    gram = Gram(kernel, unit_grid(40))
    for seed in range(5):
        y = gram.white(rng(seed)) @ gram.root
        ridge = 0.01 * np.ptp(y)
        expected = gram.dense @ np.linalg.solve(gram.dense + ridge * np.eye(40), y)
        np.testing.assert_allclose(RKHSFunction().draw(gram, rng(seed)).values, expected, atol=1e-10)


@pytest.mark.parametrize(
    "law", [RKHSFunction(), RKHSFunction(norm=2.0), KnownFunction(lambda x: np.sin(x[:, 0]))]
)
@pytest.mark.parametrize("normalized", [False, True])
def test_between_the_points_it_is_the_same_function(law, normalized):
    gram = Gram(RBF(0.2), unit_grid(30))
    drawn = (Normalized(law) if normalized else law).draw(gram, rng())
    assert drawn.between is not None
    np.testing.assert_allclose(drawn.between(gram.points), drawn.values, atol=1e-9)


@pytest.mark.parametrize("law", [GPSample(), RKHSFunction(), RecordedValues(rng().normal(size=(3, 30)))])
def test_a_normalised_function_runs_from_zero_to_one_in_the_same_order(law):
    gram = Gram(RBF(0.2), unit_grid(30))
    plain, normalized = law.draw(gram, rng(1)).values, Normalized(law).draw(gram, rng(1)).values
    assert normalized.min() == pytest.approx(0.0, abs=1e-12)
    assert normalized.max() == pytest.approx(1.0)
    np.testing.assert_array_equal(plain.argsort(), normalized.argsort())


def test_a_shift_leaves_the_rkhs_and_a_factor_scales_the_norm():
    drawn = RKHSFunction(norm=2.0).draw(Gram(RBF(0.2), unit_grid(30)), rng())
    assert drawn.rescaled(-3.0).norm == pytest.approx(6.0)
    assert drawn.rescaled(1.0, 0.5).norm is None
    assert drawn.between is not None
    between = drawn.rescaled(-3.0, 0.5).between
    assert between is not None
    x = np.array([[0.123]])
    np.testing.assert_allclose(between(x), -3.0 * drawn.between(x) + 0.5)


def test_recorded_objectives_are_drawn_evenly():
    values = np.arange(4.0)[:, None] * np.ones(5)
    gram = Gram(RBF(0.2), unit_grid(5))
    drawn = np.array([RecordedValues(values).draw(gram, rng(i)).values[0] for i in range(2000)])
    shares = np.bincount(drawn.astype(int), minlength=4) / 2000
    assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)).all()


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (KnownFunction(lambda x: x), r"known function must be \(9,\) values, got \(9, 1\)"),
        (KnownFunction(lambda x: x[:, 0] / 0.0), "known function must be finite at every point, got"),
        (RecordedValues(np.zeros((2, 5))), r"recorded values must be \(M, 9\), got \(2, 5\)"),
        (Normalized(KnownFunction(lambda x: 0 * x[:, 0])), "normalize must be off for a constant function"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_a_function_that_does_not_fit_its_points_is_one_clear_error(law, message):
    with pytest.raises(ValueError, match=message):
        law.draw(Gram(RBF(0.2), unit_grid(9)), rng())

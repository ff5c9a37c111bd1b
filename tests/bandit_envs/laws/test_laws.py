"""Every law draws what it states."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from bandit_envs.kernels.gram import Gram
from bandit_envs.laws import (
    Gaussian,
    GPSample,
    KnownFunction,
    NoNoise,
    Normalized,
    Recorded,
    RKHSFunction,
    StudentT,
    Uniform,
    changes,
    contexts,
    delays,
    functions,
    noise,
)
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.delays import TAIL
from bandit_envs.problem.decisions import unit_grid

KERNELS = {"rbf": RBF(0.2), "matern52": Matern(0.2, nu=2.5), "matern12": Matern(0.3, nu=0.5)}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
LAWS = {"delay": delays, "changes": changes, "context": contexts, "noise": noise, "function": functions}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- functions ---


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
        alpha = drawn.between.factor * drawn.between.function.alpha if norm else drawn.between.alpha  # type: ignore[attr-defined]
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
    _, basis = gram.eigen_root
    for seed in range(5):
        y = rng(seed).standard_normal(len(basis)) @ basis
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


@pytest.mark.parametrize("law", [GPSample(), RKHSFunction(), Recorded(rng().normal(size=(3, 30)))])
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
    drawn = np.array([Recorded(values).draw(gram, rng(i)).values[0] for i in range(2000)])
    shares = np.bincount(drawn.astype(int), minlength=4) / 2000
    assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)).all()


# --- noise ---

NOISES = {"gaussian": Gaussian(0.3), "uniform": Uniform(0.3), "student-t": StudentT(0.3, degrees=5.0)}


@pytest.mark.parametrize("law", NOISES.values(), ids=NOISES)
def test_noise_has_the_stated_standard_deviation(law):
    count = 40_000
    draws = law.scale(np.zeros(2)) * law.draw(count, rng())
    squares = (draws / 0.3) ** 2
    assert abs(draws.mean()) < 4 * 0.3 / np.sqrt(count)
    assert abs(squares.mean() - 1.0) < 4 * squares.std() / np.sqrt(count)


def test_noise_has_the_stated_law():
    laws = {"gaussian": stats.norm(), "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
            "student-t": stats.t(5, scale=np.sqrt(3 / 5))}  # fmt: skip
    for name, law in NOISES.items():
        assert stats.kstest(law.draw(5000, rng()), laws[name].cdf).pvalue > 1e-3


def test_uniform_noise_stays_in_the_bound_it_states_and_comes_near():
    law = Uniform(0.3)
    draws = np.abs(0.3 * law.draw(10_000, rng()))
    bound = law.relative_bound * 0.3
    assert bound == pytest.approx(0.3 * np.sqrt(3))
    assert 0.999 * bound < draws.max() <= bound


def test_only_bounded_noise_states_a_bound():
    assert NoNoise().relative_bound == 0.0
    assert Gaussian().relative_bound is None
    assert StudentT().relative_bound is None


def test_no_noise_is_zero():
    assert not NoNoise().draw(10, rng()).any()
    assert NoNoise().scale(np.arange(3.0)) == 0.0


@pytest.mark.parametrize("law", [Gaussian, Uniform, StudentT])
def test_a_share_is_the_variance_in_units_of_the_functions_range(law):
    values = np.array([-1.0, 0.5, 3.0])
    assert law(share=0.01).scale(values) == pytest.approx(np.sqrt(0.01 * 4.0))


# --- delays, changes, contexts ---


def test_poisson_delays_have_the_stated_mean_and_variance():
    delay = delays.Poisson(7.0).draw(20_000, rng())
    assert (delay == np.floor(delay)).all()
    assert abs(delay.mean() - 7.0) < 4 * np.sqrt(7.0 / 20_000)
    assert abs(delay.var() - 7.0) < 4 * np.sqrt((7.0 + 2 * 49.0) / 20_000)


@pytest.mark.parametrize("mean", [0.0, 0.3, 3.0, 10.0, 200.0])
def test_the_quantile_of_a_poisson_delay_is_the_smallest_that_loses_less_than_a_millionth(mean):
    k = int(delays.Poisson(mean).quantile())
    assert stats.poisson.sf(k, mean) < TAIL
    assert k == 0 or stats.poisson.sf(k - 1, mean) >= TAIL


def test_fixed_delays_are_fixed():
    assert (delays.Constant(4).draw(9, rng()) == 4).all()
    assert delays.Constant(4).quantile() == 4
    assert (delays.Immediate().draw(9, rng()) == 0).all()
    assert delays.Immediate().quantile() == 0


def test_change_points_are_the_first_rounds_of_new_segments():
    np.testing.assert_array_equal(changes.AtRounds((2, 5)).draw(7, rng()), [0, 0, 1, 1, 1, 2, 2])
    np.testing.assert_array_equal(changes.AtRounds((2, 50)).draw(4, rng()), [0, 0, 1, 1])
    assert not changes.AtRounds().draw(4, rng()).any()
    assert not changes.Stationary().draw(4, rng()).any()


@pytest.mark.parametrize(("horizon", "count"), [(1200, 4), (2700, 7), (5, 2), (9, 9), (11, 1)])
def test_period_i_of_even_segments_ends_after_the_rounded_share_of_the_rounds(horizon, count):
    segment = changes.Evenly(count).draw(horizon, rng())
    ends = [int(np.floor(i * horizon / count + 0.5)) for i in range(1, count + 1)]
    np.testing.assert_array_equal(np.cumsum(np.bincount(segment)), ends)
    np.testing.assert_array_equal(changes.change_points_of(segment), ends[:-1])
    np.testing.assert_array_equal(changes.segments_of(np.array(ends[:-1], dtype=int), horizon), segment)


def test_geometric_segments_have_the_stated_hazard_and_no_shorter_gap():
    law, horizon = changes.Geometric(hazard=0.05, min_gap=8), 200_000
    segment = law.draw(horizon, rng())
    lengths = np.diff(changes.change_points_of(segment), prepend=0)
    assert segment[0] == 0
    assert lengths.min() == 8
    # A geometric number of hazard p has mean 1 / p and variance (1 - p) / p^2.
    error = np.sqrt(0.95) / 0.05 / np.sqrt(len(lengths))
    assert abs(lengths.mean() - (7 + 20)) < 4 * error
    assert abs((lengths == 8).mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / len(lengths))


def test_a_certain_change_comes_as_soon_as_the_gap_allows():
    np.testing.assert_array_equal(changes.Geometric(1.0, 3).draw(7, rng()), [0, 0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(changes.Geometric(1.0).draw(4, rng()), [0, 1, 2, 3])
    assert not changes.Geometric(1e-18).draw(50, rng()).any()


def test_more_even_segments_than_rounds_are_refused():
    with pytest.raises(ValueError, match="num_segments must be at most the horizon 3, got 4"):
        changes.Evenly(4).draw(3, rng())


def test_contexts_are_uniform():
    context = contexts.Uniform().draw(8000, 5, rng())
    shares = np.bincount(context, minlength=5) / 8000
    assert (np.abs(shares - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 8000)).all()
    assert not contexts.Uniform().draw(10, 1, rng()).any()


# --- laws as keyword arguments ---

ALL = [(argument, name) for argument, module in LAWS.items() for name in module.LAWS]


@pytest.mark.parametrize(("argument", "name"), ALL)
def test_every_law_is_made_by_its_name_and_from_its_own_parameters(argument, name):
    laws = LAWS[argument].LAWS
    law = parse(argument, name, laws)
    assert type(law) is laws[name]
    parameters = {field.name: getattr(law, field.name) for field in dataclasses.fields(law)}
    assert parse(argument, {"law": name, **parameters}, laws) == law
    assert parse(argument, law, laws) is law


@pytest.mark.parametrize(("argument", "name"), ALL)
def test_every_law_is_frozen_and_draws_the_same_from_the_same_generator(argument, name):
    law = parse(argument, name, LAWS[argument].LAWS)
    if dataclasses.fields(law):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(law, dataclasses.fields(law)[0].name, 1)
    arguments = {"context": (20, 3), "function": (Gram(RBF(0.2), unit_grid(9)),)}.get(argument, (20,))
    first, second = (law.draw(*arguments, rng(3)) for _ in range(2))
    values = (first.values, second.values) if argument == "function" else (first, second)
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    ("argument", "spec", "message"),
    [
        ("delay", {"law": "gamma"}, r"delay.* must be one of immediate, constant, .*, got 'gamma'"),
        ("delay", {"mean": 3}, r'delay\["law"\] must be one of immediate, constant, .*, got None'),
        ("delay", 7, r'delay must be a dict such as \{"law": "immediate"\}, got 7'),
        ("delay", {"law": "poisson", "rate": 3}, "delay 'poisson' has no 'rate'; it takes lost, mean"),
        ("delay", {"law": "immediate", "mean": 3}, "delay 'immediate' has no 'mean'; it takes lost"),
        ("delay", {"law": "poisson", "mean": -1}, "delay mean must be 0 or positive, got -1"),
        ("delay", {"law": "poisson", "mean": float("nan")}, "delay mean must be 0 or positive, got nan"),
        ("delay", {"law": "poisson", "mean": "3"}, "delay mean must be 0 or positive, got '3'"),
        ("delay", {"law": "constant", "rounds": -1}, "rounds must be 0 or a positive integer, got -1"),
        ("delay", {"law": "constant", "rounds": 2.5}, "rounds must be 0 or a positive integer, got 2.5"),
        ("changes", {"law": "at", "rounds": [0, 5]}, r"change_points must be ascending .* got \(0, 5\)"),
        ("changes", {"law": "at", "rounds": [5, 5]}, r"change_points must be ascending .* got \(5, 5\)"),
        ("changes", {"law": "at", "rounds": [2.5]}, r"change_points must be ascending .* got \(2.5,\)"),
        ("changes", {"law": "at", "rounds": 5}, "change_points must be ascending rounds above 0, got 5"),
        ("changes", {"law": "evenly", "num_segments": 0}, "num_segments must be a positive integer, got 0"),
        ("changes", {"law": "geometric", "hazard": 0}, r'changes\["hazard"\] must be a prob.*, got 0'),
        ("changes", {"law": "geometric", "min_gap": 0}, r'changes\["min_gap"\] must be a positive .*, got 0'),
        ("noise", {"law": "cauchy"}, r'\["law"\] must be one of gaussian, uniform, student-t, none, got'),
        ("noise", {"law": "gaussian", "std": -0.1}, "noise std must be 0 or a positive number, got -0.1"),
        ("noise", {"law": "gaussian", "std": "much"}, "noise std must be 0 or a positive number, got 'much'"),
        ("noise", {"law": "gaussian", "share": 0}, "noise share must be None or positive, got 0"),
        ("noise", {"law": "student-t", "degrees": 2}, "noise degrees must be above 2, .* got 2"),
        ("noise", {"law": "none", "std": 0.1}, "noise std must be 0 for the law 'none', got 0.1"),
        ("function", {"law": "rkhs", "ridge": 0}, "ridge must be positive, got 0"),
        ("function", {"law": "rkhs", "norm": -1}, "rkhs_norm must be None or positive, got -1"),
    ],
)  # fmt: skip
def test_bad_parameters_are_one_clear_error(argument, spec, message):
    with pytest.raises(ValueError, match=message):
        parse(argument, spec, LAWS[argument].LAWS)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (KnownFunction(lambda x: x), r"known function must be \(9,\) values, got \(9, 1\)"),
        (KnownFunction(lambda x: x[:, 0] / 0.0), "known function must be finite at every point, got"),
        (Recorded(np.zeros((2, 5))), r"recorded values must be \(M, 9\), got \(2, 5\)"),
        (Normalized(KnownFunction(lambda x: 0 * x[:, 0])), "normalize must be off for a constant function"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_a_function_that_does_not_fit_its_points_is_one_clear_error(law, message):
    with pytest.raises(ValueError, match=message):
        law.draw(Gram(RBF(0.2), unit_grid(9)), rng())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(5), r"recorded values must be an \(M, N\) array, got \(5,\)"),
        (np.full((2, 5), np.nan), "recorded values must be finite, got"),
        (np.zeros((0, 5)), r"recorded values must be an \(M, N\) array, got \(0, 5\)"),
    ],
)
def test_bad_records_are_one_clear_error(values, message):
    with pytest.raises(ValueError, match=message):
        Recorded(values)

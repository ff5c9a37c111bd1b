"""The information gain that stands in for gamma_t: rates, and tables that bound it."""

import numpy as np
import pytest
from references import information_gain, largest_gain, spectral_optimum
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from agents.widths.information_gain import (
    ConstantGain,
    Realised,
    greedy_bound,
    rate_for,
    spectral_bound,
    upper_bound,
    water_filling,
)
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kronecker import Kronecker
from bandit_envs.problem.decisions import unit_grid

KERNELS = {
    "rbf": RBF(0.2),
    "matern12": Matern(0.2, nu=0.5),
    "matern52": 2.5 * Matern(0.2, nu=2.5),
    "linear": DotProduct(sigma_0=0.0, sigma_0_bounds="fixed"),
    "diagonal": WhiteKernel(1.0),
}
ROUNDS = np.array([0, 1, 2, 10, 1000])
NOTHING = np.zeros(5)
SHARE = 1.0 - np.exp(-1.0)  # of the largest gain, which the greedy design has at least


@pytest.fixture(params=sorted(KERNELS))
def gram(request):
    points = np.random.default_rng(0).uniform(size=(30, 2))
    return Gram(KERNELS[request.param], points)


def test_realised_gain_is_the_gain_and_constant_is_constant():
    gain = np.array([0.3, 0.7])
    np.testing.assert_array_equal(Realised()(np.array([4, 5]), gain), gain)
    np.testing.assert_array_equal(ConstantGain(2.0)(np.array([4, 5]), gain), [2.0, 2.0])
    np.testing.assert_array_equal(ConstantGain(np.array([1.0, 3.0]))(np.array([4, 5]), gain), [1.0, 3.0])


@pytest.mark.parametrize(
    ("kernel", "vakili", "expected"),
    [
        (RBF(0.2), False, lambda t: np.log(t) ** 3),
        (Matern(0.2, nu=np.inf), False, lambda t: np.log(t) ** 3),
        (Matern(0.2, nu=2.5), False, lambda t: t ** (6 / 11) * np.log(t)),
        (Matern(0.2, nu=2.5), True, lambda t: t ** (2 / 7) * np.log(t) ** (5 / 7)),
        (DotProduct(), False, lambda t: 2 * np.log(t)),
        (ConstantKernel(0.05) * RBF(0.2), False, lambda t: np.log(t) ** 3),
        (Matern(0.2, nu=1.5) * ConstantKernel(3.0), False, lambda t: t ** (6 / 9) * np.log(t)),
    ],
)
def test_the_rate_of_a_kernel_in_two_dimensions_is_the_papers(kernel, vakili, expected):
    gamma = rate_for(kernel, dim=2, vakili=vakili)(ROUNDS, NOTHING)
    np.testing.assert_allclose(gamma, expected(np.maximum(ROUNDS, 1.0)), rtol=1e-13)
    assert gamma[0] == 0.0


def test_water_filling_is_the_optimum_at_fractional_budgets():
    rng = np.random.default_rng(1)
    for _ in range(10):
        eigenvalues = np.sort(rng.gamma(0.3, size=5))[::-1] + 1e-3
        budget = rng.uniform(0.0, 30.0, size=3)
        expected = [spectral_optimum(eigenvalues, one) for one in budget]
        np.testing.assert_allclose(
            water_filling(eigenvalues, budget), expected, rtol=1e-6
        )  # SLSQP's accuracy


def test_the_bounds_hold_for_every_random_design(gram):
    rng, horizon, noise = np.random.default_rng(2), 60, 0.1
    bound = upper_bound(gram, noise, horizon)
    for concentration in (0.05, 0.5, 50.0):  # designs from repetitive to uniform
        weight = rng.dirichlet(np.full(gram.size, concentration))
        design = rng.choice(gram.size, size=horizon, p=weight)
        for rounds in (1, 2, 7, 20, horizon):
            gain = information_gain(gram.dense, noise, design[:rounds])
            assert gain <= bound(np.array([rounds]), np.zeros(1))[0] + 1e-9


def test_the_bounds_hold_for_the_best_of_all_designs(gram):
    for rounds in (1, 2, 3):
        few = Gram(gram.kernel, gram.points[:5])
        best = largest_gain(few.dense, 0.1, rounds)
        greedy, spectral, upper = (
            table(few, 0.1, rounds).values[0, rounds] for table in (greedy_bound, spectral_bound, upper_bound)
        )
        assert greedy * SHARE <= best + 1e-12
        assert best <= min(greedy, spectral) + 1e-9
        assert upper == pytest.approx(min(greedy, spectral), rel=1e-12)


def test_the_greedy_bound_is_the_gain_of_the_largest_variance_over_its_share(gram):
    horizon, noise, design = 40, 0.1, []
    gram = Gram(gram.kernel * DotProduct(), gram.points)  # no two points tie
    for rounds in range(1, horizon + 1):
        gains = [information_gain(gram.dense, noise, np.array([*design, x])) for x in range(gram.size)]
        design.append(int(np.argmax(gains)))
        bound = greedy_bound(gram, noise, rounds).values[0, rounds]
        assert bound * SHARE == pytest.approx(max(gains), rel=1e-9)


@pytest.mark.parametrize("table", [spectral_bound, greedy_bound, upper_bound])
def test_bounds_do_not_depend_on_the_unit_of_values_also_where_points_tie(table):
    points = np.arange(12.0)[:, None]  # evenly spread: a point and its mirror image tie
    plain = table(Gram(RBF(), points), 0.1, 40).values
    for unit in (1e-3, 1e3):
        scaled = table(Gram(ConstantKernel(unit**2) * RBF(), points), 0.1 * unit**2, 40).values
        np.testing.assert_allclose(scaled, plain, rtol=1e-6, atol=1e-9)


def test_spectral_bound_is_the_gain_itself_for_independent_arms():
    gram = Gram(WhiteKernel(1.0), np.arange(4.0)[:, None])
    table = spectral_bound(gram, 0.5, 12)
    np.testing.assert_allclose(
        table.values[0, [4, 8, 12]], [largest_gain(np.eye(4), 0.5, t) for t in (4, 8, 12)]
    )


def test_every_trial_reads_the_table_of_its_own_noise(gram):
    noise = np.array([0.3, 0.1, 0.3])
    rounds = np.array([5, 9, 17])
    for table in (spectral_bound, greedy_bound, upper_bound):
        batch = table(gram, noise, 20)
        assert batch.values.shape == (2, 21)
        singles = [
            table(gram, one, 20)(np.array([t]), np.zeros(1))[0] for one, t in zip(noise, rounds, strict=True)
        ]
        np.testing.assert_allclose(batch(rounds, np.zeros(3)), singles, rtol=1e-11)


LARGE = {  # kernel, points
    "factors": (2.0 * RBF([0.3, 0.5]), unit_grid(49, 2)),
    "torus": (Matern(0.4, nu=1.5), unit_grid(49, 2)),
    "torus-of-a-line": (Matern(0.2, nu=2.5), unit_grid(40)),
}


@pytest.mark.parametrize(("kernel", "points"), LARGE.values(), ids=LARGE)
def test_tables_of_a_large_grid_are_those_of_its_root_or_bounds_on_them(kernel, points, monkeypatch):
    noise, whole = np.array([0.3, 1e-3]), Gram(kernel, points)
    expected = [table(whole, noise, 60).values for table in (spectral_bound, greedy_bound, upper_bound)]
    monkeypatch.setattr("bandit_envs.kernels.definite.SLOW", 10)
    for name in ("DENSE_LIMIT", "TRIED"):
        monkeypatch.setattr(f"bandit_envs.kernels.gram.{name}", 10)
    monkeypatch.setattr("bandit_envs.kernels.gram.QUICK", 0.0)
    monkeypatch.setattr("agents.posteriors.select.DENSE_BYTES", 0)
    gram = Gram(kernel, points)
    spectral, greedy, upper = (
        table(gram, noise, 60).values for table in (spectral_bound, greedy_bound, upper_bound)
    )
    np.testing.assert_allclose(greedy, expected[1], rtol=1e-9, atol=1e-12)
    assert (spectral >= expected[0] * (1 - 1e-9) - 1e-12).all()
    assert (upper >= SHARE * expected[1] * (1 - 1e-9) - 1e-12).all()
    if isinstance(gram.structure, Kronecker):
        # Before the first play they are sums of logarithms of 1, or of nearly that.
        np.testing.assert_allclose(spectral, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(upper, expected[2], rtol=1e-9, atol=1e-12)
    assert not {"dense", "root"} & vars(gram).keys()


def test_an_unknown_rate_names_the_remedy():
    with pytest.raises(ValueError, match="upper_bound"):
        rate_for(RationalQuadratic(), dim=1)

"""On a box a problem is the same functions as on its points, known everywhere, with their true optima."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import NAMED, make_kernel
from bandit_envs.laws import GPSample
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.truth import maximise
from bandit_envs.problems import build


def are_neighbours_alike(name):
    return make_kernel(name, 0.2)(np.array([[0.5]]), np.array([[0.5 + 1e-9]]))[0, 0] > 0.99


PROBLEMS = {"gp": {}, "delayed": {"num_arms": 200}, "contextual": {}, "rkhs": {"dim": 2}}
PROBLEMS["constrained"] = {"num_constraints": 2}
# Those of processes that go on between their points: neighbours are alike, and so are all places.
KERNELS = [name for name in NAMED if make_kernel(name).is_stationary() and are_neighbours_alike(name)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_sample_goes_on_between_its_points_as_their_posterior_mean(kernel):
    points = unit_grid(30)
    gram = Gram(make_kernel(kernel, 0.2), points)
    drawn = GPSample().draw(gram, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.between(points), drawn.values, atol=1e-4)  # without the least pivots
    raw = GaussianProcessRegressor(gram.kernel, alpha=1e-10, optimizer=None).fit(points, drawn.values)
    between = np.linspace(0.0, 1.0, 201)[:, None]
    np.testing.assert_allclose(drawn.between(between), raw.predict(between), atol=1e-3)


def test_pivots_are_where_the_root_is_triangular():
    for kernel, size in ((RBF(0.2), 60), (make_kernel("matern12", 0.2), 25)):
        gram = Gram(kernel, unit_grid(size))
        triangle = gram.root[:, gram.pivots]
        np.testing.assert_allclose(np.tril(triangle, -1), 0.0, atol=1e-6)
        dense = gram.dense[np.ix_(gram.pivots, gram.pivots)]
        np.testing.assert_allclose(triangle.T @ triangle, dense, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "keywords"), PROBLEMS.items(), ids=PROBLEMS.keys())
def test_the_box_has_the_functions_of_the_finite_set(name, keywords):
    box = build(name, keywords | {"continuous": True, "horizon": 30})
    finite = build(name, keywords | {"horizon": 30})
    of_box, of_finite = box.draw(3), finite.draw(3)
    np.testing.assert_array_equal(of_box.means, of_finite.means)
    points = box.decisions.points
    for function, values in zip(of_box.between[0], of_finite.means[0], strict=True):
        np.testing.assert_allclose(function(points), values, atol=1e-4 * np.ptp(values))
    if "constrained" not in name:  # the table calls points feasible that miss the box's bound by rounding
        assert (of_box.optimum >= of_finite.optimum - 1e-4).all()


@pytest.mark.long
@pytest.mark.parametrize(("name", "keywords"), PROBLEMS.items(), ids=PROBLEMS.keys())
def test_no_point_of_a_box_is_better_than_its_optimum(name, keywords):
    problem = build(name, keywords | {"continuous": True, "horizon": 30})
    rng = np.random.default_rng(0)
    for entropy in range(3):
        trial = problem.draw(entropy)
        for t in range(0, 30, 7):
            unit = rng.random((4000, len(problem.decisions.low)))
            values = values_at(problem, trial, t, unit)
            for width in (1e-2, 1e-3, 1e-4, 1e-5):  # ever closer around the best one
                best = unit[values.argmax()]
                near = np.clip(best + width * rng.standard_normal((500, unit.shape[1])), 0.0, 1.0)
                unit = np.vstack([best, near])
                values = values_at(problem, trial, t, unit)
            assert trial.optimum[t] >= values.max() - 1e-9
            assert trial.optimum[t] <= values.max() + 1e-2


def values_at(problem, trial, t, unit):
    pairs = problem.decisions.with_context(int(trial.context[t]), unit)
    reward, *costs = (function(pairs) for function in trial.between[trial.segment[t]])
    return np.where([cost <= 0 for cost in costs], reward, -np.inf).min(axis=0) if costs else reward


def test_the_optimum_is_on_the_highest_hill_even_if_the_best_candidates_are_on_another():
    def hills(x):
        broad = np.exp(-50 * ((x - [0.3, 0.3]) ** 2).sum(axis=1))
        return broad + 1.001 * np.exp(-20_000 * ((x - [0.75, 0.71]) ** 2).sum(axis=1))

    assert maximise(hills, np.zeros(2), np.ones(2), np.empty((0, 2))) == pytest.approx(1.001, abs=1e-7)


def test_a_side_of_length_0_does_not_disturb_the_search():
    low, high = np.array([0.0, 2.0]), np.array([1.0, 2.0])
    found = maximise(lambda x: x[:, 1] - (x[:, 0] - 0.3) ** 2, low, high, np.empty((0, 2)))
    assert found == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("cost", [1.0, 1e300, 1e-300])
def test_a_constant_cost_above_0_leaves_no_feasible_point(cost):
    def hill(x):
        return -((x - 0.3) ** 2).sum(axis=1)

    found = [
        maximise(hill, np.zeros(2), np.ones(2), np.empty((0, 2)), [lambda x, c=c: np.full(len(x), c)])
        for c in (cost, -cost)
    ]
    assert found == [-np.inf, pytest.approx(0.0, abs=1e-12)]


def test_the_extremes_of_a_trial_are_sought_once(monkeypatch):
    problem = build("constrained", {"continuous": True, "num_arms": 30, "horizon": 5})
    first = [problem.draw(entropy).optimum for entropy in (1, 2)]
    assert not np.array_equal(*first)

    def search(*arguments):
        raise AssertionError("sought again")

    monkeypatch.setattr("bandit_envs.problem.truth.maximise", search)
    np.testing.assert_array_equal([problem.draw(entropy).optimum for entropy in (1, 2)], first)
    with pytest.raises(AssertionError, match="sought again"):
        problem.draw(3)


def test_a_search_in_many_dimensions_looks_at_few_points_and_finds_a_corner():
    """A box has 2^d corners: a million at d = 20."""
    corner = np.random.default_rng(1).integers(0, 2, 20).astype(float)
    seen = []

    def nearer(x):
        seen.append(len(x))
        return -((x - corner) ** 2).sum(axis=1)

    low, high = np.zeros(20), np.ones(20)
    assert maximise(nearer, low, high, np.full((1, 20), 0.5)) == pytest.approx(0.0, abs=1e-12)
    assert max(seen) < 10_000

"""Hard functions have the heights and norms of their lemma, bumps the norm of their integral."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import gpbandits
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.hard import TOLERANCE, Bump, Bumps, HardFunctions, Shape, Spectrum, design_of
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build
from bandit_envs.problems.hard import HARD_FOR

SE, MATERN = RBF(0.2), Matern(0.2, nu=2.5)
KERNELS = {"rbf": SE, "matern52": MATERN}
B, R, T = 2.0, 0.1, 1000
POINTS = np.linspace(0.0, 1.0, 100)[:, None]
each_kernel = pytest.mark.parametrize("name", KERNELS)
LAW = HardFunctions(B, R, T)


@pytest.fixture(scope="module")
def grams() -> dict[str, Gram]:
    return {name: Gram(kernel, POINTS) for name, kernel in KERNELS.items()}


@pytest.mark.parametrize(("name", "dimension", "least"), [("rbf", 10.4, 0.64), ("matern52", 29.4, 1.07)])
def test_a_design_is_optimal_up_to_its_tolerance_with_the_dimension_and_bound_of_the_sheet(
    grams, name, dimension, least
):
    design = design_of(grams[name], LAW.rho)
    assert design.weight.sum() == pytest.approx(1.0)
    assert (design.weight >= 0).all()
    assert design.leverage.max() <= TOLERANCE * design.dimension  # of the optimum, and only of it, <= d_T
    assert design.dimension == pytest.approx(dimension, abs=0.06)  # 29.35, which the sheet rounds up
    assert LAW.least_regret(grams[name]) == pytest.approx(least, abs=0.005)


@each_kernel
def test_a_hard_function_is_the_column_of_a_posterior_covariance_of_norm_at_most_a_quarter_of_b(grams, name):
    gram, design = grams[name], design_of(grams[name], LAW.rho)
    root, scale = np.sqrt(design.weight), B / (4 * np.sqrt(LAW.rho * design.dimension))
    inner = root[:, None] * gram.dense * root + LAW.rho * np.eye(gram.size)
    z = int(design.weight.argmax())
    alpha = scale * (np.eye(gram.size)[z] - root * np.linalg.solve(inner, root * gram.dense[z]))
    drawn = LAW.function(gram, z)
    assert drawn.values == pytest.approx(gram.dense @ alpha, rel=1e-6, abs=1e-12)
    assert drawn.norm == pytest.approx(np.sqrt(alpha @ gram.dense @ alpha), rel=1e-6)
    assert drawn.norm <= B / 4 * np.sqrt(TOLERANCE)


@each_kernel
def test_a_hard_function_is_highest_at_its_own_point_and_as_high_as_the_lemma_says(grams, name):
    gram, design = grams[name], design_of(grams[name], LAW.rho)
    played, at_optimum = np.flatnonzero(design.weight > 1e-4), B * np.sqrt(LAW.rho * design.dimension) / 4
    for z in played.tolist():
        values = LAW.function(gram, z).values
        assert values.argmax() == z
        assert values[z] == pytest.approx(at_optimum * design.leverage[z] / design.dimension, rel=1e-6)
        assert values[z] == pytest.approx(at_optimum, rel=0.02)
    heaviest = LAW.function(gram, int(design.weight.argmax())).values
    assert heaviest.max() == pytest.approx(at_optimum, rel=1e-3)


@each_kernel
def test_rescaled_hard_functions_have_the_whole_norm_and_no_bound(grams, name):
    law = HardFunctions(B, R, T, rescaled=True)
    plain, scaled = (each.draw(grams[name], np.random.default_rng(3)) for each in (LAW, law))
    assert scaled.norm == B
    assert plain.norm is not None
    assert scaled.values == pytest.approx(plain.values * B / plain.norm)
    assert 8 < B / plain.norm < 50
    assert law.least_regret(grams[name]) is None  # as where the effective dimension is small
    assert HardFunctions(horizon=2).least_regret(Gram(RBF(10.0), POINTS[:5])) is None


@pytest.mark.sampled(1)
@each_kernel
def test_no_bound_is_above_the_regret_of_an_agent(name):
    keywords = {"kernel": name, "horizon": T, "hard_for": T}
    problem = build("hard", keywords)
    assert isinstance(problem.reward, HardFunctions)
    least = problem.reward.least_regret(problem.gram)
    assert least is not None
    regret = gpbandits.evaluate(problem, {"amm": ("gp-ucb", {"width": "amm"})}, trials=4).regret["amm"]
    assert 2 * least < regret[:, -1].mean() < 6 * least


@pytest.mark.long
def test_the_default_tells_agents_apart_and_the_bound_bites_where_it_holds():
    problem, trials = build("hard", {}), 8
    assert isinstance(problem.reward, HardFunctions)
    entrants = {"random": "random", "gp-ei": "gp-ei"}
    regret = gpbandits.evaluate(problem, entrants, trials=trials, checkpoints=[HARD_FOR, T]).regret
    saved = regret["random"][:, -1] - regret["gp-ei"][:, -1]
    assert saved.mean() > 3.5 * saved.std(ddof=1) / np.sqrt(trials)  # t of 7 degrees: p < .01 two-sided
    least = problem.reward.least_regret(problem.gram)
    assert least is not None
    assert least > 0.2 * regret["random"][:, 0].mean()


def test_what_is_published_of_hard_functions_is_their_class():
    setting = build("hard", {}).draw(0).setting
    assert setting.rkhs_bound == 2.0
    assert build("hard", {}).trial_facts == ()


@pytest.mark.parametrize(("width", "norm"), [(0.3, 1.2643), (0.15, 3.3353)])
def test_the_norm_of_a_bump_is_that_of_its_interpolation_on_a_fine_grid(width, norm):
    log_norm = Shape(1).log_norm(np.array([width]), Spectrum.of(MATERN, 1))
    assert np.exp(log_norm)[0] == pytest.approx(norm, abs=1e-4)
    grid = np.linspace(-2.0, 3.0, 400)[:, None]
    values = Bump(np.array([0.5]), width, 1.0)(grid)
    interpolated = np.sqrt(values @ np.linalg.solve(MATERN(grid) + 1e-12 * np.eye(400), values))
    assert interpolated == pytest.approx(norm, rel=1e-3)


@pytest.mark.parametrize("dim", [1, 2])
def test_the_norm_of_a_bump_is_that_of_the_kernels_own_integral(dim):
    # |g|^2 <= |g interpolated on ever finer grids|^2 from below: in two dimensions, coarsely
    kernel = Matern(0.5, nu=1.5)
    norm = np.exp(Shape(dim).log_norm(np.array([1.0]), Spectrum.of(kernel, dim)))[0]
    axis = np.linspace(-2.5, 2.5, 25 if dim == 2 else 400)
    grid = np.stack(np.meshgrid(*[axis] * dim), axis=-1).reshape(-1, dim)
    values = Bump(np.zeros(dim), 1.0, 1.0)(grid)
    interpolated = np.sqrt(values @ np.linalg.solve(kernel(grid), values))
    assert interpolated <= norm * (1 + 1e-6)
    assert interpolated == pytest.approx(norm, rel=0.02)


@pytest.mark.parametrize(
    ("kernel", "widths", "counts"),
    [(MATERN, (0.090, 0.067, 0.046), (12, 16, 24)), (SE, (0.22, 0.21, 0.19), (5, 5, 5))],
)
def test_widths_and_numbers_of_bumps_are_those_of_the_sheet(kernel, widths, counts):
    digits = 3 if kernel is MATERN else 2
    for eps, width, count in zip((0.1, 0.05, 0.02), widths, counts, strict=True):
        law = Bumps(B, eps)
        assert round(law.width(kernel, 1), digits) == pytest.approx(width)
        assert len(law.centres(Gram(kernel, POINTS))[0]) == count
    assert Shape(1).half == pytest.approx(0.4465, abs=5e-5)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dim", [1, 2])
def test_each_point_is_near_the_maximum_of_one_bump_at_most(dim):
    law, kernel = Bumps(B, 0.1), Matern(0.5, nu=2.5)
    gram = Gram(kernel, unit_grid(900, dim))
    along = law.centres(gram)
    centres = np.stack(np.meshgrid(*along), axis=-1).reshape(-1, dim)
    assert len(centres) > 1
    width = law.width(kernel, dim)
    heights = np.array([Bump(centre, width, 2 * law.eps)(gram.points) for centre in centres])
    assert ((heights > law.eps).sum(axis=0) <= 1).all()


def test_bumps_are_drawn_with_their_norm_and_between_the_points():
    problem = build("hard", {"function": "bumps", "kernel": "matern52", "num_arms": 400})
    drawn = problem.reward.draw(problem.gram, np.random.default_rng(0))
    assert drawn.norm == B
    assert drawn.between is not None
    assert drawn.values.max() == pytest.approx(0.2, rel=1e-3)
    assert drawn.between(problem.gram.points) == pytest.approx(drawn.values)

"""Define known functions: tests of optimisation on [0, 1]^d, and two problems of Shi & Eryilmaz (2022)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.laws.functions import KnownFunction, Moments
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults
from bandit_envs.problems.synthetic import unit_box

HARTMANN3_A = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
HARTMANN3_P = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
HARTMANN6_A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
HARTMANN6_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
HARTMANN3_C = np.array([1.0, 1.2, 3.0, 3.2])


def rosenbrock_values(x: Floats) -> Floats:
    """Return 10 - 100 (y - x^2)^2 - (1 - x)^2, largest (10) at (1, 1); (n, 2) -> (n,)."""
    return 10.0 - 100.0 * (x[:, 1] - x[:, 0] ** 2) ** 2 - (1.0 - x[:, 0]) ** 2


def hartmann3_values(x: Floats) -> Floats:
    """Return sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2), largest (3.86278) near (0.1146, 0.5556, 0.8525)."""
    exponent = (HARTMANN3_A * (x[:, None] - HARTMANN3_P) ** 2).sum(axis=2)
    return np.exp(-exponent) @ HARTMANN3_C


def hartmann6_values(x: Floats) -> Floats:
    """Return the sum of `hartmann3_values` in 6-D, largest (3.32237) near (.20, .15, .48, .28, .31, .66)."""
    exponent = (HARTMANN6_A * (x[:, None] - HARTMANN6_P) ** 2).sum(axis=2)
    return np.exp(-exponent) @ HARTMANN3_C


def branin_values(x: Floats) -> Floats:
    """Return -(v - 5.1 u^2 / (4 pi^2) + 5 u / pi - 6)^2 - 10 (1 - 1 / (8 pi)) cos u - 10.

    (u, v) = (15 x_1 - 5, 15 x_2); (n, 2) -> (n,). The maximum is -0.397887, at three points.
    """
    u, v = 15.0 * x[:, 0] - 5.0, 15.0 * x[:, 1]
    valley = v - 5.1 * u**2 / (4.0 * np.pi**2) + 5.0 * u / np.pi - 6.0
    return -(valley**2) - 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(u) - 10.0


def ackley_values(x: Floats) -> Floats:
    """Return 20 exp(-0.2 |u| / sqrt d) + exp(mean cos(2 pi u)) - 20 - e, u = 15 x - 5, at most 0 at u = 0."""
    u = 15.0 * x - 5.0
    distance = np.sqrt((u**2).mean(axis=1))
    return 20.0 * np.exp(-0.2 * distance) + np.exp(np.cos(2.0 * np.pi * u).mean(axis=1)) - 20.0 - np.e


PRICES = np.array([0.2, 0.4, 0.8, 1.2])  # of a unit of data rate, by server
BUDGET = 2.0
LARGEST_RATE = 2.0


def two_discs_reward(x: Floats) -> Floats:
    """Return -sin x1 - x2, (n, 2) -> (n,)."""
    return -np.sin(x[:, 0]) - x[:, 1]


def two_discs_cost(x: Floats) -> Floats:
    """Return the cost sin x1 sin x2 + 0.95, (n, 2) -> (n,); <= 0 in two discs, 1.8 % of [0, 6]^2."""
    return np.sin(x[:, 0]) * np.sin(x[:, 1]) + 0.95


def utility(x: Floats) -> Floats:
    """Return sum_i U_i(x_i), (n, 4) -> (n,); each U_i rises from U_i(0) = 0 to U_i(2) = 1.

    Servers 1 and 3 are sigmoidal, c (1 / (1 + exp(-a (x - b))) + d), 2 and 4 logarithmic,
    c (log(a x + b) + d), with (a, b) = (6, 0.8), (2, 1), (8, 1.2), (6, 1).
    """
    rates = [_sigmoidal(6.0, 0.8), _logarithmic(2.0, 1.0), _sigmoidal(8.0, 1.2), _logarithmic(6.0, 1.0)]
    none, full = np.array([rate(np.array([0.0, LARGEST_RATE])) for rate in rates]).T
    shares = ((rate(x[:, i]) - none[i]) / (full[i] - none[i]) for i, rate in enumerate(rates))
    return sum(shares, np.zeros(len(x)))


def spending(x: Floats) -> Floats:
    """Return 0.2 x1 + 0.4 x2 + 0.8 x3 + 1.2 x4 - 2, (n, 4) -> (n,)."""
    return x @ PRICES - BUDGET


class Benchmark(NamedTuple):
    """Hold a reward on [0, side]^dim, and a cost if there is one."""

    reward: Callable[[Floats], Floats]
    dim: int
    moments: Moments  # of the reward over the box
    side: float = 1.0
    cost: Callable[[Floats], Floats] | None = None


FUNCTIONS = {
    "rosenbrock": Benchmark(rosenbrock_values, 2, Moments(-10.3, 22.9)),
    "hartmann3": Benchmark(hartmann3_values, 3, Moments(0.944, 0.956)),
    "hartmann6": Benchmark(hartmann6_values, 6, Moments(0.259, 0.385)),
    "branin": Benchmark(branin_values, 2, Moments(-54.3, 51.3)),
    "ackley": Benchmark(ackley_values, 2, Moments(-12.9, 3.53)),
    "small-feasible-region": Benchmark(two_discs_reward, 2, Moments(-3.01, 1.88), 6.0, two_discs_cost),
    "data-rate-allocation": Benchmark(utility, 4, Moments(2.32, 0.688), LARGEST_RATE, spending),
}


def benchmark(
    *,
    name: str,
    kernel: Any = "rbf",
    length_scale: LengthScale = 0.2,
    num_arms: int,
    points: str = "uniform",
    points_seed: int = 0,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Maximise a known reward, under a known cost if there is one, on points of [0, side]^d or on the box.

    Args:
        name: in `FUNCTIONS`.
        kernel, length_scale: the model's, in units of the box; no kernel is the right one. The published
            prior has the reward's mean and std over the box, as a user would know its scale.
        num_arms, points, points_seed, continuous, **features: as for `synthetic`; `constraints` replaces
            the problem's own.
    """
    known = FUNCTIONS[name]
    decisions = unit_box(points, num_arms, known.dim, points_seed, continuous).scaled(known.side)
    if known.cost is not None:
        # Of one prior std, the reward's: the paper's multipliers weigh both in one unit.
        features = with_defaults(features, constraints=(KnownFunction(known.cost, Moments(0.0)),))
    law = KnownFunction(known.reward, known.moments)
    problem = compose(decisions, law, make_kernel(kernel, length_scale), name=name, **features)
    return problem if known.cost is None else replace(problem, long_term=True)


SHARE = {"law": "gaussian", "share": 0.01}  # noise of variance 1 % of the range
ON_A_GRID = {"kernel": "matern52", "points": "grid"}


def rosenbrock(**keywords: Any) -> Problem:
    """Maximise Rosenbrock's function on 200 uniform points of [0, 1]^2 (Chowdhury & Gopalan 2017, Fig. 3).

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise of variance 1 % of the range. Info: see docs/environments.md. Regret: max f -
    f(arm), noiseless. The paper plays 30,000 rounds; the default is 1000. Rewards span about 100 units; the
    published kernel has their std, 22.9, and `signal_variance=1, prior_mean=False` is the paper's.
    Keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-Rosenbrock-v0", normalize=True)
    """
    return benchmark(**with_defaults(keywords, name="rosenbrock", num_arms=200, noise=SHARE))


def hartmann3(**keywords: Any) -> Problem:
    """Maximise Hartmann's 3-dimensional function on 300 uniform points (Chowdhury & Gopalan 2017, Fig. 3).

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise of variance 1 % of the range. Info: see docs/environments.md. Regret: max f -
    f(arm), noiseless. The paper plays 30,000 rounds; the default is 1000. Keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-Hartmann3-v0", continuous=True)
    """
    return benchmark(**with_defaults(keywords, name="hartmann3", num_arms=300, noise=SHARE))


def hartmann6(**keywords: Any) -> Problem:
    """Maximise Hartmann's 6-dimensional function on 600 uniform points, or on a box (`continuous=True`).
    Keywords: see `benchmark`.
    """
    return benchmark(**with_defaults(keywords, name="hartmann6", num_arms=600, noise_std=0.1))


def branin(**keywords: Any) -> Problem:
    """Maximise Branin's function, negated, on 200 uniform points, or on a box with `continuous=True`.

    Args:
        **keywords: see `benchmark`; values span about 300, `normalize=True` rescales them to [0, 1].
    """
    return benchmark(**with_defaults(keywords, name="branin", num_arms=200, noise_std=1.0))


def ackley(**keywords: Any) -> Problem:
    """Maximise Ackley's function of [-5, 10]^2, negated, on 200 uniform points, or on a box.

    Args:
        **keywords: see `benchmark`; values span about 20, `normalize=True` rescales them to [0, 1].
    """
    return benchmark(**with_defaults(keywords, name="ackley", num_arms=200, noise_std=0.1))


def small_feasible_region(**keywords: Any) -> Problem:
    """Find the better of two small feasible discs in [0, 6]^2 (Shi & Eryilmaz 2022, Appendix E).

    f(x) = -sin x1 - x2, and g(x) = sin x1 sin x2 + 0.95 <= 0 in two equal discs, 1.8 % of the box: around
    (3 pi / 2, pi / 2), where the best feasible point (3 pi / 2, asin 0.95) is, with f* = 1 - asin 0.95 =
    -0.25324; and around (pi / 2, 3 pi / 2), where every point is worse than f* by at least 5.14. Action:
    `Discrete(num_arms)`, a 101 x 101 grid whose own best feasible point, -0.2604, counts; or the box with
    `continuous=True`. Observation: a constant 0. Reward: f + noise of variance 0.01. Info:
    see docs/environments.md, with "cost" and "feedback_cost"; costs are observed exactly, as Algorithm 2
    assumes, or with `constraint_noise_std=0.1` as in the paper's experiment with Algorithm 3. Regret: f* -
    f(x), noiseless, negative while violating; read it with the violation. T = 350 = 17.5 epochs of 20. The
    paper's kernel is Matern 5/2; the length-scale of 1.5 is our reading, for it states none.
    Keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-SmallFeasibleRegion-v0", continuous=True, constraint_noise_std=0.1)
    """
    defaults = {"length_scale": 1.5, "num_arms": 101**2, "horizon": 350, "noise_std": 0.1}
    return benchmark(**with_defaults(keywords, name="small-feasible-region", **ON_A_GRID, **defaults))


def data_rate_allocation(**keywords: Any) -> Problem:
    """Allocate data rates to four servers under a budget on average (Shi & Eryilmaz 2022, Appendix E).

    f(x) = sum_i U_i(x_i) of rates in [0, 2]^4, two utilities sigmoidal and two logarithmic, and g(x) =
    0.2 x1 + 0.4 x2 + 0.8 x3 + 1.2 x4 - 2 <= 0. Action: `Discrete(num_arms)`, 7 rates a server; or the box
    with `continuous=True`, where a solver finds f* = 2.7696 (a mixture of points could have 2.8202).
    Observation: a constant 0. Reward: f + noise of std 0.2, the sum of four of variance 0.01. Info:
    see docs/environments.md, with "cost" and "feedback_cost" under noise uniform on [-0.2, 0.2].
    Regret: f* - f(x), noiseless, negative while overspending. The constants of the utilities are not
    public: those of `utility` are ours, as are the length-scale, 1, of the Matern 5/2 kernel and T = 350.
    Keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-DataRateAllocation-v0", points="uniform", num_arms=2000)
    """
    defaults: dict[str, Any] = {"length_scale": 1.0, "num_arms": 7**4, "horizon": 350, "noise_std": 0.2}
    if "constraint_noise_std" not in keywords:
        defaults["constraint_noise"] = {"law": "uniform", "std": 0.2 / 3**0.5}
    return benchmark(**with_defaults(keywords, name="data-rate-allocation", **ON_A_GRID, **defaults))


def _sigmoidal(a: float, b: float) -> Callable[[Floats], Floats]:
    return lambda x: 1.0 / (1.0 + np.exp(-a * (x - b)))


def _logarithmic(a: float, b: float) -> Callable[[Floats], Floats]:
    return lambda x: np.log(a * x + b)

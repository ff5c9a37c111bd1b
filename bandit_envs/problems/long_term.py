"""Define the two problems of Shi & Eryilmaz (2022), Appendix E: a reward, and a cost <= 0 on average."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.laws.functions import KnownFunction, Moments
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults
from bandit_envs.problems.synthetic import unit_box

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
    return (
        _scaled(_sigmoidal(6.0, 0.8), x[:, 0])
        + _scaled(_logarithmic(2.0, 1.0), x[:, 1])
        + _scaled(_sigmoidal(8.0, 1.2), x[:, 2])
        + _scaled(_logarithmic(6.0, 1.0), x[:, 3])
    )


def spending(x: Floats) -> Floats:
    """Return 0.2 x1 + 0.4 x2 + 0.8 x3 + 1.2 x4 - 2, (n, 4) -> (n,)."""
    return x @ PRICES - BUDGET


class Parts(NamedTuple):
    """Hold a reward and a cost on [0, side]^dim."""

    reward: Callable[[Floats], Floats]
    cost: Callable[[Floats], Floats]
    dim: int
    side: float
    moments: Moments  # of the reward over the box


PROBLEMS = {
    "small-feasible-region": Parts(two_discs_reward, two_discs_cost, 2, 6.0, Moments(-3.01, 1.88)),
    "data-rate-allocation": Parts(utility, spending, 4, LARGEST_RATE, Moments(2.32, 0.688)),
}


def long_term(
    *,
    name: str,
    kernel: Any = "matern52",
    length_scale: LengthScale,
    num_arms: int,
    points: str = "grid",
    points_seed: int = 0,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Maximise a known reward under a known cost on points of [0, side]^d, or on the box.

    Args:
        name: in `PROBLEMS`.
        kernel, length_scale: the model's, in units of the box; no kernel is the right one. The published
            prior has the mean and the std of the reward over the box.
        num_arms, points, points_seed, continuous, **features: as for `synthetic`; `constraints` replaces
            the problem's own.
    """
    reward, cost, dim, side, moments = PROBLEMS[name]
    unit = unit_box(points, num_arms, dim, points_seed, continuous)
    decisions = Decisions(side * unit.arms, low=np.zeros(dim), high=np.full(dim, side), continuous=continuous)
    # One prior std, the reward's: the paper's multipliers weigh f and g in one unit.
    keywords = with_defaults(features, constraints=(KnownFunction(cost, Moments(0.0)),))
    law = KnownFunction(reward, moments)
    problem = compose(decisions, law, make_kernel(kernel, length_scale), name=name, **keywords)
    return replace(problem, long_term=True)


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
    Keywords: see `long_term`.

    Example:
        >>> env = gym.make("GPBandit-SmallFeasibleRegion-v0", continuous=True, constraint_noise_std=0.1)
    """
    defaults = {"length_scale": 1.5, "num_arms": 101**2, "horizon": 350, "noise_std": 0.1}
    return long_term(**with_defaults(keywords, name="small-feasible-region", **defaults))


def data_rate_allocation(**keywords: Any) -> Problem:
    """Allocate data rates to four servers under a budget on average (Shi & Eryilmaz 2022, Appendix E).

    f(x) = sum_i U_i(x_i) of rates in [0, 2]^4, two utilities sigmoidal and two logarithmic, and g(x) =
    0.2 x1 + 0.4 x2 + 0.8 x3 + 1.2 x4 - 2 <= 0. Action: `Discrete(num_arms)`, 7 rates a server; or the box
    with `continuous=True`, where a solver finds f* = 2.7696 (a mixture of points could have 2.8202).
    Observation: a constant 0. Reward: f + noise of std 0.2, the sum of four of variance 0.01. Info:
    see docs/environments.md, with "cost" and "feedback_cost" under noise uniform on [-0.2, 0.2].
    Regret: f* - f(x), noiseless, negative while overspending. The constants of the utilities are not
    public: those of `utility` are ours, as are the length-scale, 1, of the Matern 5/2 kernel and T = 350.
    Keywords: see `long_term`.

    Example:
        >>> env = gym.make("GPBandit-DataRateAllocation-v0", points="uniform", num_arms=2000)
    """
    defaults: dict[str, Any] = {"length_scale": 1.0, "num_arms": 7**4, "horizon": 350, "noise_std": 0.2}
    if "constraint_noise_std" not in keywords:
        defaults["constraint_noise"] = {"law": "uniform", "std": 0.2 / 3**0.5}
    return long_term(**with_defaults(keywords, name="data-rate-allocation", **defaults))


def _sigmoidal(a: float, b: float) -> Callable[[Floats], Floats]:
    return lambda x: 1.0 / (1.0 + np.exp(-a * (x - b)))


def _logarithmic(a: float, b: float) -> Callable[[Floats], Floats]:
    return lambda x: np.log(a * x + b)


def _scaled(shape: Callable[[Floats], Floats], x: Floats) -> Floats:
    """Shift and scale so that rate 0 has utility 0 and the largest rate 1."""
    none, full = shape(np.array([0.0, LARGEST_RATE]))
    return (shape(x) - none) / (full - none)

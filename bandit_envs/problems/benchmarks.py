"""Define test functions of optimisation on [0, 1]^d, to be maximised."""

from collections.abc import Callable
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


class Benchmark(NamedTuple):
    """Hold a test function on [0, 1]^dim."""

    values: Callable[[Floats], Floats]
    dim: int
    moments: Moments  # of its values over the box


FUNCTIONS = {
    "rosenbrock": Benchmark(rosenbrock_values, 2, Moments(-10.3, 22.9)),
    "hartmann3": Benchmark(hartmann3_values, 3, Moments(0.944, 0.956)),
    "hartmann6": Benchmark(hartmann6_values, 6, Moments(0.259, 0.385)),
    "branin": Benchmark(branin_values, 2, Moments(-54.3, 51.3)),
    "ackley": Benchmark(ackley_values, 2, Moments(-12.9, 3.53)),
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
    """Maximise a test function on points of [0, 1]^d.

    Args:
        name: in `FUNCTIONS`.
        kernel, length_scale: the model's; no kernel is the right one. The published prior has the function's
            mean and std over the box, as a user would know its scale.
        num_arms, points, points_seed, continuous, **features: as for `synthetic`.
    """
    values, dim, moments = FUNCTIONS[name]
    decisions = unit_box(points, num_arms, dim, points_seed, continuous)
    law = KnownFunction(values, moments)
    return compose(decisions, law, make_kernel(kernel, length_scale), name=name, **features)


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
    noise = {"law": "gaussian", "share": 0.01}
    return benchmark(**with_defaults(keywords, name="rosenbrock", num_arms=200, noise=noise))


def hartmann3(**keywords: Any) -> Problem:
    """Maximise Hartmann's 3-dimensional function on 300 uniform points (Chowdhury & Gopalan 2017, Fig. 3).

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise of variance 1 % of the range. Info: see docs/environments.md. Regret: max f -
    f(arm), noiseless. The paper plays 30,000 rounds; the default is 1000. Keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-Hartmann3-v0", continuous=True)
    """
    noise = {"law": "gaussian", "share": 0.01}
    return benchmark(**with_defaults(keywords, name="hartmann3", num_arms=300, noise=noise))


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

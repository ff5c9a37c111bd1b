"""Test functions of optimisation on [0, 1]^d, to be maximised."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.kernels import LengthScale, make_kernel
from bandit_envs.laws.functions import KnownFunction
from bandit_envs.problem import Problem
from bandit_envs.problems.features import compose, with_defaults
from bandit_envs.problems.synthetic import unit_box
from bandit_envs.types import Floats

HARTMANN3_A = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
HARTMANN3_P = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
HARTMANN3_C = np.array([1.0, 1.2, 3.0, 3.2])


def rosenbrock_values(x: Floats) -> Floats:
    """10 - 100 (y - x^2)^2 - (1 - x)^2, largest (10) at (1, 1); (n, 2) -> (n,)."""
    return 10.0 - 100.0 * (x[:, 1] - x[:, 0] ** 2) ** 2 - (1.0 - x[:, 0]) ** 2


def hartmann3_values(x: Floats) -> Floats:
    """sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2), largest (3.86278) near (0.1146, 0.5556, 0.8525)."""
    exponent = (HARTMANN3_A * (x[:, None] - HARTMANN3_P) ** 2).sum(axis=2)
    return np.exp(-exponent) @ HARTMANN3_C


FUNCTIONS = {"rosenbrock": (rosenbrock_values, 2), "hartmann3": (hartmann3_values, 3)}


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
    """A test function on points of [0, 1]^d.

    Args:
        name: of `FUNCTIONS`.
        kernel, length_scale: the model's; no kernel is the right one.
        num_arms, points, points_seed, continuous, **features: as for `synthetic`.
    """
    values, dim = FUNCTIONS[name]
    decisions = unit_box(points, num_arms, dim, points_seed, continuous)
    return compose(decisions, KnownFunction(values), make_kernel(kernel, length_scale), name=name, **features)


def rosenbrock(**keywords: Any) -> Problem:
    """Rosenbrock's function on 200 uniform points of [0, 1]^2 (Chowdhury & Gopalan 2017, Figure 3).

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise of variance 1 % of the range. Info: as everywhere, see the README. Regret: max f -
    f(arm), noiseless. The paper states no horizon; 1000 is our choice. Rewards span about 100 units,
    which the unit kernel of the paper does not expect; `normalize=True` rescales them to [0, 1].

    Args:
        **keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-Rosenbrock-v0", normalize=True)
    """
    noise = {"law": "gaussian", "share": 0.01}
    return benchmark(**with_defaults(keywords, name="rosenbrock", num_arms=200, noise=noise))


def hartmann3(**keywords: Any) -> Problem:
    """Hartmann's 3-dimensional function on 300 uniform points (Chowdhury & Gopalan 2017, Figure 3).

    Action: `Discrete(num_arms)`, or a box with `continuous=True`. Observation: a constant 0. Reward:
    f(arm) + noise of variance 1 % of the range. Info: as everywhere, see the README. Regret: max f -
    f(arm), noiseless. The paper states no horizon; 1000 is our choice.

    Args:
        **keywords: see `benchmark`.

    Example:
        >>> env = gym.make("GPBandit-Hartmann3-v0", continuous=True)
    """
    noise = {"law": "gaussian", "share": 0.01}
    return benchmark(**with_defaults(keywords, name="hartmann3", num_arms=300, noise=noise))

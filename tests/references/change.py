"""Change-points: GP-UCB-CPD, its oracle and its form without a detector (Avanesov 2020)."""

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import change_statistics
from .seen import Given, Seen


def gp_ucb_cpd(
    given: Given,
    seen: Seen,
    detector: bool,
    changes: tuple[int, ...] = (),
    alpha: float = 2.5,
    volume: float = 5.0,
    ridge: float = 5.0,
    xi_squared: float = 3.0,
) -> Floats:
    """mu + sqrt(beta_t') sigma on the history, beta_t' = D t'^(d(d+1) / (2 alpha + d(d+1))) log^4 T (3.7).

    A round with |uniform|^2 <= xi^2 |history| is uniform: all scores are 0. After it, an alarm empties both:
    int (mu_1 - mu_2)^2 > theta_n on the last 2n uniform samples, theta_n = 2.6 n^-e, n rho_n = c n^(1-e),
    e = (2 alpha + d) / (2 alpha + d + 1).

    Args:
        detector: whether alarms are heeded.
        changes: rounds, from 0, before which an oracle empties both.
        alpha, volume: nu of the Matern kernel, and the measure of X.
        ridge, xi_squared: c and xi^2.
    """
    f, d, T = given.reward, given.setting.dim, given.horizon
    e = (2 * alpha + d) / (2 * alpha + d + 1)
    history: list[int] = []
    uniform: list[int] = []
    for t in range(seen.t):
        if t in changes:
            history, uniform = [], []
        explore = len(uniform) ** 2 <= xi_squared * len(history)
        if t == seen.t - 1:
            break
        history.append(t)
        if explore:
            uniform.append(t)
            if detector and _alarm(given, seen, uniform, volume, ridge, e):
                history, uniform = [], []
    if explore:
        return np.zeros(len(f.gram))
    mean, std = f.of(seen.played[history], seen.value[history])
    beta = 0.02 * len(history) ** (d * (d + 1) / (2 * alpha + d * (d + 1))) * math.log(T) ** 4
    return mean + math.sqrt(beta) * std


def _alarm(given: Given, seen: Seen, uniform: list[int], volume: float, ridge: float, e: float) -> bool:
    gram = given.reward.gram

    def kernel(a, b=None):
        return gram[np.ix_(a, a if b is None else b)]

    x, y = seen.played[uniform], seen.value[uniform]
    found = change_statistics(kernel, x, y, np.arange(len(gram)), volume, ridge, e)
    return any(statistic > 2.6 * n**-e for n, statistic in enumerate(found, start=1))

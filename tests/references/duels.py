"""Rules of duels from the textbook: the mode by a general optimiser, bands from all pairs one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from bandit_envs.basics.types import Floats

Duels = list[tuple[int, int, float]]  # first arm, second arm, 1 where the first won


def belief(gram: Floats, duels: Duels) -> tuple[Floats, Floats]:
    """The mode of f ~ GP(0, K) given duels, (N,), and Laplace's covariance (K^-1 + A'WA)^-1, (N, N)."""
    precision = np.linalg.inv(gram)
    design = np.zeros((len(duels), len(gram)))
    for row, (i, j, _) in zip(design, duels, strict=True):
        row[i] += 1.0
        row[j] -= 1.0
    won = np.array([w for *_, w in duels])

    def loss(f: Floats) -> tuple[float, Floats]:
        z = design @ f
        value = np.logaddexp(0.0, z).sum() - won @ z + f @ precision @ f / 2
        return float(value), design.T @ (1 / (1 + np.exp(-z)) - won) + precision @ f

    f = minimize(loss, np.zeros(len(gram)), jac=True, options={"gtol": 1e-10}).x
    p = 1 / (1 + np.exp(-design @ f))
    return f, np.linalg.inv(precision + (design.T * (p * (1 - p))) @ design)


def bands(gram: Floats, duels: Duels, width: float) -> tuple[Floats, Floats]:
    """Lower and upper ends of f_i - f_j, (N, N) each."""
    f, covariance = belief(gram, duels)
    variance = np.diag(covariance)
    half = width * np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))
    return f[:, None] - f - half, f[:, None] - f + half


def contenders(upper: Floats) -> list[int]:
    """M, the arms that may be the best."""
    return [i for i in range(len(upper)) if upper[i].min() >= -1e-7]


def maxminlcb(lower: Floats, upper: Floats, f: Floats, last: int) -> dict[tuple[int, int], float]:
    """Scores of pairs: min over M of the first's lower ends where the second attains it (Pasztor 2024)."""
    among = contenders(upper)
    if len(among) == 1:
        return {(among[0], among[0]): 0.0}
    least = {i: min(lower[i, j] for j in among if j != i) for i in among}
    return {(i, j): least[i] for i in among for j in among if j != i and lower[i, j] <= least[i] + 1e-6}


def rucb(lower: Floats, upper: Floats, f: Floats, last: int) -> dict[tuple[int, int], float]:
    """Any of M against argmax_j of upper ends of f_j - f_i (after Zoghi 2014)."""
    return {(i, j): upper[j, i] - upper[:, i].max() for i in contenders(upper) for j in range(len(f))}


def max_info(lower: Floats, upper: Floats, f: Floats, last: int) -> dict[tuple[int, int], float]:
    """The widest band in M x M."""
    among = contenders(upper)
    return {(i, j): upper[i, j] - lower[i, j] for i in among for j in among}


def map_challenger(lower: Floats, upper: Floats, f: Floats, last: int) -> dict[tuple[int, int], float]:
    """The mode's best arm against its strongest challenger."""
    best = [i for i in range(len(f)) if f[i] >= f.max() - 1e-6]
    return {(i, j): upper[j, i] - upper[:, i].max() for i in best for j in range(len(f))}


def multisbm(lower: Floats, upper: Floats, f: Floats, last: int) -> dict[tuple[int, int], float]:
    """The last second arm against its strongest challenger (after Ailon 2014)."""
    firsts = range(len(f)) if last < 0 else [last]
    return {(i, j): upper[j, i] - upper[:, i].max() for i in firsts for j in range(len(f))}


def pop_bo(gram: Floats, duels: Duels, bound: float, slack: float, last: int) -> dict[tuple[int, int], float]:
    """Most that an arm may be ahead of the last first one, |f| <= B and likely enough (Xu 2024)."""
    precision = np.linalg.inv(gram)

    def likelihood(f: Floats) -> float:
        z = np.array([f[i] - f[j] for i, j, _ in duels])
        won = np.array([w for *_, w in duels])
        return float(won @ z - np.logaddexp(0.0, z).sum())

    def most(score: Callable[[Floats], float], floor: float) -> float:
        inside = [{"type": "ineq", "fun": lambda f: bound**2 - f @ precision @ f}]
        inside += [{"type": "ineq", "fun": lambda f: likelihood(f) - floor}]
        options = {"ftol": 1e-12, "maxiter": 1000}
        return -minimize(lambda f: -score(f), start, constraints=inside, method="SLSQP", options=options).fun

    start = np.zeros(len(gram))
    floor = most(likelihood, -1e9) - slack
    found = {}
    for x in range(len(gram)):
        found[x, last] = most(lambda f, x=x: f[x] - f[last], floor)
    return found


def std_of_pairs(gram: Floats, pairs: list[tuple[int, int]], noise: float) -> Floats:
    """Std of f_i - f_j given values of differences with Gaussian noise, by the whole design, (N, N)."""
    design = np.zeros((len(pairs), len(gram)))
    for row, (i, j) in zip(design, pairs, strict=True):
        row[i] += 1.0
        row[j] -= 1.0
    inverse = np.linalg.inv(design @ gram @ design.T + noise * np.eye(len(pairs)))
    left = gram - gram @ design.T @ inverse @ design @ gram
    own = np.diag(left)
    return np.sqrt(np.maximum(own[:, None] + own - 2 * left, 0.0))


def mr_lpf_left(
    gram: Floats, duels: Duels, among: list[int], lam: float, noise: float, beta: float
) -> list[int]:
    """The arms that stay after a phase of these duels (Kayal 2025)."""
    f, _ = belief(gram / lam, duels)
    std = std_of_pairs(gram, [(i, j) for i, j, _ in duels], noise)
    chance = 1 / (1 + np.exp(-(f[:, None] - f)))
    return [x for x in among if all(chance[x, y] + beta * std[x, y] >= 0.5 for y in among)]


def double_ts(gram: Floats, duels: Duels, count: int, rng: np.random.Generator) -> Floats:
    """The law of two samples' best arms, of which the second is drawn again up to 20 times, (N, N)."""
    f, covariance = belief(gram, duels)
    best = rng.multivariate_normal(f, covariance, (count, 22)).argmax(axis=2)
    counts = np.zeros((len(f), len(f)))
    for first, *others in best:
        counts[first, next((j for j in others if j != first), first)] += 1
    return counts


RULES = {
    "maxminlcb": maxminlcb,
    "rucb": rucb,
    "max-info-duel": max_info,
    "map-challenger": map_challenger,
    "multisbm": multisbm,
}

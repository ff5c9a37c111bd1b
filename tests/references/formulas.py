"""Slow textbook formulas, each written once from its definition, that fast code is compared with."""

import itertools
import math

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.stats

from bandit_envs.basics.types import Floats, Ints


def posterior(gram: Floats, noise: float, played: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Posterior mean (N,) and covariance (N, N) of a zero-mean GP, one row of K_t a play.

    mu = k_t' (K_t + lambda I)^-1 y,  Sigma = K - k_t' (K_t + lambda I)^-1 k_t.
    """
    cross = gram[played]
    noisy = gram[np.ix_(played, played)] + noise * np.eye(len(played))
    return cross.T @ np.linalg.solve(noisy, values), gram - cross.T @ np.linalg.solve(noisy, cross)


def information_gain(gram: Floats, noise: float, played: Ints) -> float:
    """1/2 logdet(I + K_t / lambda) of the plays."""
    return 0.5 * np.linalg.slogdet(np.eye(len(played)) + gram[np.ix_(played, played)] / noise)[1]


def largest_gain(gram: Floats, noise: float, rounds: int) -> float:
    """gamma_t by trying every multiset of t points."""
    designs = itertools.combinations_with_replacement(range(len(gram)), rounds)
    return max(information_gain(gram, noise, np.array(design)) for design in designs)


def spectral_optimum(eigenvalues: Floats, budget: float) -> float:
    """Max over m >= 0, sum m = budget, of 1/2 sum_i log(1 + m_i e_i), by a general-purpose optimiser."""
    size = len(eigenvalues)
    found = scipy.optimize.minimize(
        lambda share: -0.5 * np.sum(np.log1p(budget * share * eigenvalues)),
        np.full(size, 1.0 / size),
        bounds=[(0.0, 1.0)] * size,
        constraints={"type": "eq", "fun": lambda share: share.sum() - 1.0},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -float(found.fun)


def finite_set_width(size: int, t: float, delta: float) -> float:
    """sqrt(beta_t) of Srinivas et al. (2010), Theorem 1."""
    return math.sqrt(2 * math.log(size * t**2 * math.pi**2 / (6 * delta)))


def compact_width(dim: int, r: float, a: float, b: float, t: float, delta: float) -> float:
    """sqrt(beta_t) of Srinivas et al. (2010), Theorem 2."""
    first = 2 * math.log(t**2 * 2 * math.pi**2 / (3 * delta))
    return math.sqrt(
        first + 2 * dim * math.log(t**2 * dim * b * r * math.sqrt(math.log(4 * dim * a / delta)))
    )


def rkhs_width(bound: float, gamma: float, t: float, delta: float) -> float:
    """sqrt(beta_t) of Srinivas et al. (2010), Theorem 3."""
    return math.sqrt(2 * bound**2 + 300 * gamma * math.log(t / delta) ** 3)


def improved_width(bound: float, noise_std: float, gamma: float, delta: float) -> float:
    """beta_t of IGP-UCB (Chowdhury & Gopalan 2017); GP-TS halves delta."""
    return bound + noise_std * math.sqrt(2 * (gamma + 1 + math.log(1 / delta)))


def self_normalised_width(
    bound: float, noise_std: float, noise_variance: float, gain: float, delta: float
) -> float:
    """B + R lambda^(-1/2) sqrt(2 log(det(I + K_t / lambda)^(1/2) / delta)) (Abbasi-Yadkori 2011)."""
    return bound + noise_std / math.sqrt(noise_variance) * math.sqrt(2 * math.log(math.exp(gain) / delta))


def amm_width(bound: float, noise_std: float, noise_variance: float, gain: float, delta: float) -> float:
    """sqrt(B^2 + (2 R^2 / lambda) log(det(I + K_t / lambda)^(1/2) / delta)) (Flynn & Reeb 2024)."""
    return math.sqrt(bound**2 + 2 * noise_std**2 / noise_variance * math.log(math.exp(gain) / delta))


def half_width(
    gram: Floats, noise: float, played: Ints, *, bound: float, noise_std: float, level: float, split: bool
) -> Floats:
    """How far f may be from the mean of plays that look at no value, with probability 1 - level each, (N,).

    (B + R / sqrt(lambda) q) sigma, or split B sqrt(sigma^2 - lambda |a_x|^2) + R |a_x| q, q the root of
    2 log(2 / level).
    """
    cross = gram[played]
    weights = np.linalg.solve(gram[np.ix_(played, played)] + noise * np.eye(len(played)), cross)
    variance = np.diag(gram) - (cross * weights).sum(axis=0)
    quantile, norm = noise_std * math.sqrt(2.0 * math.log(2.0 / level)), np.linalg.norm(weights, axis=0)
    if split:
        return bound * np.sqrt(np.maximum(variance - noise * norm**2, 0.0)) + quantile * norm
    return (bound + quantile / math.sqrt(noise)) * np.sqrt(variance)


def expected_improvement(mean: Floats, std: Floats, incumbent: Floats | float) -> Floats:
    """E[max(f - incumbent, 0)] = std (z Phi(z) + phi(z)) (Jones et al. 1998)."""
    z = (mean - incumbent) / std
    return std * (z * scipy.stats.norm.cdf(z) + scipy.stats.norm.pdf(z))


def log_improvement(z: float) -> float:
    """Log E[max(z + Z, 0)] by quadrature, with phi at the threshold taken out so that nothing underflows.

    With x = max(-z, 0): E = exp(-x^2 / 2) / sqrt(2 pi) * int_0^inf u exp((x^2 - (u - z)^2) / 2) du.
    """
    x = max(-z, 0.0)
    knots = [0.0, max(z, 0.0), max(z, 0.0) + 10.0 / (1.0 + x), max(z, 0.0) + 60.0 / (1.0 + x)]
    pieces = [
        scipy.integrate.quad(
            lambda u: u * math.exp((x**2 - (u - z) ** 2) / 2), low, high, epsabs=0.0, epsrel=1e-12
        )[0]
        for low, high in itertools.pairwise(knots)
        if high > low
    ]
    return math.log(sum(pieces)) - x**2 / 2 - math.log(2 * math.pi) / 2


def change_statistics(
    kernel,
    x: Floats,
    y: Floats,
    nodes: Floats,
    volume: float,
    ridge: float,
    exponent: float,
    centred: bool = False,
) -> list[float]:
    """The volume * mean over the nodes of (mu_1 - mu_2)^2, of each tail of 2n samples (Avanesov 2020).

    mu_1 and mu_2 are the ridge regressions, K + n rho_n I with rho_n = c n^-e, of a tail's two halves, where
    `centred` of values less the mean of the tail's 2n.
    """
    statistics, given = [], np.asarray(y)
    for n in range(1, len(x) // 2 + 1):
        means = []
        y = given - given[len(x) - 2 * n :].mean() if centred else given
        for half in (slice(len(x) - 2 * n, len(x) - n), slice(len(x) - n, len(x))):
            noisy = kernel(x[half]) + n * ridge * n**-exponent * np.eye(n)
            means.append(kernel(nodes, x[half]) @ np.linalg.solve(noisy, y[half]))
        statistics.append(volume * float(np.mean((means[0] - means[1]) ** 2)))
    return statistics


def aged_posterior(
    gram: Floats, played: Ints, age: Ints, values: Floats, noise: Floats, decay: float
) -> tuple[Floats, Floats]:
    """Mean (N,) and covariance (N, N), for the next round, of a GP over rounds and points.

    Covariance decay^|s - s'| k(x, x') of rounds s and s', noise (n,) of each observation, ages (n,) in rounds
    before the latest one.
    """
    cross = decay ** (age[:, None] + 1.0) * gram[played]
    noisy = decay ** np.abs(np.subtract.outer(age, age)) * gram[np.ix_(played, played)] + np.diag(noise)
    return cross.T @ np.linalg.solve(noisy, values), gram - cross.T @ np.linalg.solve(noisy, cross)


def wandering_posterior(
    gram: Floats, played: Ints, t: Ints, values: Floats, noise: float, rate: float, now: int
) -> tuple[Floats, Floats]:
    """Mean (N,) and covariance (N, N) in round now of a GP of covariance (1 + rate min(t, t')) k(x, x')."""
    cross = (1.0 + rate * np.minimum(t, now))[:, None] * gram[played]
    shared = 1.0 + rate * np.minimum.outer(t, t)
    noisy = shared * gram[np.ix_(played, played)] + noise * np.eye(len(played))
    prior = (1.0 + rate * now) * gram
    return cross.T @ np.linalg.solve(noisy, values), prior - cross.T @ np.linalg.solve(noisy, cross)


def exact_posterior(
    covariance: np.ndarray, noise: float, count: np.ndarray, total: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance, (N,) each, from plays and value sums, (N,) each, by elimination in long doubles."""
    point = count.nonzero()[0]
    prior = covariance.astype(np.longdouble)
    system = prior[np.ix_(point, point)] + np.diag(np.longdouble(noise) / count[point])
    sides = np.column_stack([total[point].astype(np.longdouble) / count[point], prior[point]])
    for k in range(len(point)):  # K + D is positive definite: pivots may stay on the diagonal
        sides[k], system[k] = sides[k] / system[k, k], system[k] / system[k, k]
        others = np.arange(len(point)) != k
        sides[others] -= system[others, k : k + 1] * sides[k]
        system[others] -= system[others, k : k + 1] * system[k]
    mean, solved = prior[:, point] @ sides[:, 0], sides[:, 1:]
    return mean, prior.diagonal() - np.einsum("nu,un->n", prior[:, point], solved)

"""Constraints: Algorithms 2 and 3 of Shi & Eryilmaz, rectified, primal-dual, and constrained EI."""

import math

import numpy as np
import scipy.stats

from bandit_envs.basics.types import Floats

from .formulas import expected_improvement, improved_width, information_gain, posterior
from .seen import Given, Seen


def shi(given: Given, seen: Seen, epoch: int = 20, step: float | None = None, delta: float = 0.1) -> Floats:
    """IGP-UCB anew in each of L = ceil(T / S) epochs, on a penalised objective (Shi & Eryilmaz 2022).

    Without a step, Algorithm 2: f - sum_j kappa_j (psi(g_j) - 1), psi(x) = exp([x]^+), kappa^1 = 1 and
    kappa_j *= psi(mean of g_j), at delta / L. With one, Algorithm 3: f - sum_j kappa_j g_j, kappa^1 = 0 and
    kappa_j = [kappa_j + step mean of g_j]^+, at delta / (2 L) and noise sqrt(1 + sum kappa_j^2) R.
    """
    f, L = given.reward, math.ceil(given.horizon / epoch)
    start = (seen.t - 1) // epoch * epoch
    kappa = np.full(len(given.costs), 1.0 if step is None else 0.0)
    for first in range(0, start, epoch):
        mean = seen.cost[first : first + epoch].mean(axis=0)
        kappa = kappa * np.exp(np.maximum(mean, 0)) if step is None else np.maximum(kappa + step * mean, 0)
    x, g = seen.played[start:], seen.cost[start:]
    penalty = np.exp(np.maximum(g, 0)) - 1 if step is None else g
    mean, covariance = posterior(f.gram, f.noise, x, seen.value[start:] - penalty @ kappa)
    R = f.noise_std if step is None else f.noise_std * math.sqrt(1 + kappa @ kappa)
    level = delta / L if step is None else delta / (2 * L)
    width = improved_width(f.bound, R / f.scale, information_gain(f.gram, f.noise, x), level)
    return mean + width * np.sqrt(np.diag(covariance))


def bands(given: Given, seen: Seen, width: float, cost_width: float) -> tuple[Floats, Floats]:
    """uf, (N,), and lg, (C, N), from what has arrived."""
    here = seen.here
    x, y, c = seen.played[here], seen.value[here], seen.cost[here].T
    mean, std = given.reward.of(x, y)
    each = [prior.of(x, values) for prior, values in zip(given.costs, c, strict=True)]
    return mean + width * std, np.array([m - cost_width * s for m, s in each])


def rectified(given: Given, seen: Seen, name: str, rho: float = 10.0, width: float = 3.0) -> Floats:
    """uf - sum_j Q_j [lg_j]^+: "epbo" Q = rho, "config" infinite (Lu & Paulson 2022; Xu et al. 2023).

    "rpol" Q_1 = 1, Q_{t+1} = max(Q_t + [c_t]^+, sqrt t) (Guo et al. 2023). Where config has no arm with all
    lg_j <= 0 it plays the least sum of [lg_j]^+.
    """
    upper, lower = bands(given, seen, width, width)
    excess = np.maximum(lower, 0.0)
    if name == "config":
        feasible = (lower <= 0).all(axis=0)
        return np.where(feasible, upper, -np.inf) if feasible.any() else -excess.sum(axis=0)
    Q = np.full(len(given.costs), rho if name == "epbo" else 1.0)
    for t, c in enumerate(seen.cost if name == "rpol" else [], start=1):
        Q = np.maximum(Q + np.maximum(c, 0.0), math.sqrt(t))
    return upper - Q @ excess


def pdcbo(given: Given, seen: Seen, step: float = 1.0, width: float = 1.0) -> Floats:
    """uf - lam' lg, lam <- [lam + eta c_t]^+ from 0 (Xu et al. 2023)."""
    upper, lower = bands(given, seen, width, width)
    lam = np.zeros(len(given.costs))
    for c in seen.cost:
        lam = np.maximum(lam + step * c, 0.0)
    return upper - lam @ lower


def ckb(given: Given, seen: Seen, width: float, step: float, cap: float) -> Floats:
    """uf - phi' lg, phi <- clip(phi + eta lg(x_t), 0, rho) from 0, lg of before the play (Zhou & Ji 2022)."""
    phi = np.zeros(len(given.costs))
    for t in range(1, seen.t):
        _, lower = bands(given, seen.before(t), width, width)
        phi = np.clip(phi + step * lower[:, seen.played[t - 1]], 0.0, cap)
    upper, lower = bands(given, seen, width, width)
    return upper - phi @ lower


def constrained_ei(given: Given, seen: Seen, initial: int = 5) -> Floats:
    """Log EI(x) + sum_j log Phi(-mu_j / sigma_j) over the largest mu among plays with all mu_j <= 0.

    Where no play has, the sum alone (Gardner et al. 2014). The first plays are uniform, and their mean and
    deviation are those of each function's prior.
    """
    if seen.t <= initial:
        return np.zeros(len(given.reward.gram))
    x, believed = seen.played, []
    for f, y in zip([given.reward, *given.costs], [seen.value, *seen.cost.T], strict=True):
        scale = y[:initial].std(ddof=1)
        prior = f._replace(gram=scale**2 * f.gram / f.scale**2, mean=y[:initial].mean())
        believed.append(prior.of(x, y))
    (mean, std), *costs = believed
    chance = sum(scipy.stats.norm.logcdf(-m / s) for m, s in costs)
    kept = np.all([m[x] <= 0 for m, _ in costs], axis=0)
    if not kept.any():
        return chance
    with np.errstate(divide="ignore"):
        return np.log(expected_improvement(mean, std, mean[x][kept].max())) + chance

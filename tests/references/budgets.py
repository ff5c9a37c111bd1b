"""Plays that cost: the ratio of bands, expected improvement per cost, and Gittins indices."""

import numpy as np
import scipy.optimize.elementwise

from bandit_envs.basics.types import Floats

from .formulas import expected_improvement, posterior
from .seen import Given, Seen


def ratio_ucb(given: Given, seen: Seen, width: float = 2.0) -> Floats:
    """[uf]^+ / max(lk, k_min), lk = k where that is known, else mu_k - w sigma_k."""
    mean, std = given.reward.of(seen.played, seen.value)
    upper = np.maximum(mean + width * std, 0.0)
    if given.setting.known_costs is not None:
        return upper / given.setting.known_costs
    mean, std = given.play_cost.of(seen.played, seen.spent)
    return upper / np.maximum(mean - width * std, given.setting.cost_min)


def ei_per_cost(given: Given, seen: Seen, cooling: bool = True) -> Floats:
    """Log EI(x) - a log k(x), a = (B - spent) / B with cooling, else 1 (Snoek 2012; Lee et al. 2020)."""
    mean, std = given.reward.of(seen.played, seen.value)
    best = mean[seen.played].max() if len(seen.played) else np.max(given.reward.mean)
    k, B = given.setting.known_costs, given.setting.budget
    a = (B - k[seen.played].sum()) / B if cooling else 1.0
    with np.errstate(divide="ignore"):
        return np.log(expected_improvement(mean, std, best)) - a * np.log(k)


def kg_per_cost(given: Given, seen: Seen) -> Floats:
    """Log (E[max(mu'(x), mu'(j))] - mu(j)) - log k(x), j the best play, mu' the mean after a play of x.

    The value of that play is mu(x) + sd Z, sd = sqrt(S_xx + lambda), and moves mu(i) by S_ix Z / sd.
    """
    y = seen.value - given.reward.at(seen.played)
    residual, S = posterior(given.reward.gram, given.reward.noise, seen.played, y)
    mean, sd = given.reward.mean + residual, np.sqrt(np.diag(S) + given.reward.noise)
    if len(seen.played):
        j = seen.played[mean[seen.played].argmax()]
        best, move = mean[j], np.abs(np.diag(S) - S[j]) / sd
        move[j] = 0.0
    else:
        best, move = np.max(given.reward.mean), np.diag(S) / sd
    with np.errstate(divide="ignore"):
        return np.log(expected_improvement(mean, np.maximum(move, 1e-300), best)) - np.log(
            given.setting.known_costs
        )


def pbgi(given: Given, seen: Seen, lam: float = 1e-4) -> Floats:
    """The root v of E[(f(x) - v)^+] = lam k(x) (Xie et al. 2024), lam in prior deviations."""
    mean, std = given.reward.of(seen.played, seen.value)
    typical = given.play_cost.mean  # costs count in units of their prior mean
    price = lam * given.reward.scale * given.setting.known_costs / typical
    std = np.maximum(std, 1e-12)

    def excess(v: Floats, mu: Floats, sd: Floats, p: Floats) -> Floats:
        return expected_improvement(mu, sd, v) - p

    bracket, of_arms = (mean - price - std, mean + 10.0 * std), (mean, std, price)  # EI >= mu - v
    return scipy.optimize.elementwise.find_root(excess, bracket, args=of_arms, tolerances={"xatol": 1e-14}).x

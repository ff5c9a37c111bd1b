"""Small problems on which parts of the agent for real problems are compared with textbook formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agents
from agents.real.priors import HyperPrior, Parameters, usual_prior, with_line
from agents.real.surrogate import PointValues, Surrogate
from bandit_envs import Setting
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import delivery

SEEN = np.zeros(1)
WEIGHT = 4.0  # plays that the common noise counts as


def parameters(data_sets: int = 1, points: int = 18, seed: int = 0) -> Parameters:
    """Points of two parameters, of which the first has two columns."""
    columns = np.random.default_rng(seed).uniform(size=(points, 3))
    of_choices = np.array([True, True, False])
    return Parameters(columns, np.array([0, 0, 1]), np.arange(points) % data_sets, data_sets, of_choices)


def surrogate(
    shape: str = "matern52", data_sets: int = 1, linear: bool = False, earlier: bool = False
) -> Surrogate:
    """A surrogate under the usual prior, perhaps with data sets, a linear part and what two tasks told."""
    found = parameters(data_sets)
    prior = with_line(usual_prior(found)) if linear else usual_prior(found)
    means = np.random.default_rng(5).standard_normal((len(found.columns), 2)) if earlier else None
    return Surrogate(found, HyperPrior(prior.centre, prior.spread, 0.7, shape, linear), earlier=means)


def values(count: int = 10, seed: int = 1, weighted: bool = False) -> PointValues:
    """Values at the first points, of which some were played again, or had a noise of their own."""
    rng = np.random.default_rng(seed)
    plays = rng.integers(1, 4, size=count).astype(float)
    squares = np.where(plays > 1.0, rng.uniform(0.0, 0.5, size=count), 0.0)
    mean, weight = rng.standard_normal(count), plays * rng.uniform(0.2, 5.0, size=count)
    return PointValues(np.arange(count), plays, mean, squares, weight if weighted else plays)


def hyperparameters(of: Surrogate, seed: int = 2) -> Floats:
    return of.prior.centre + 0.4 * np.random.default_rng(seed).standard_normal(len(of.prior.centre))


def textbook_covariance(of: Surrogate, theta: Floats) -> Floats:
    """k between all points by the formula at the top of `surrogate`, pair by pair, (N, N)."""
    x, owner, label = of.parameters.columns, of.parameters.owner, of.parameters.data_set
    count, several = of.parameters.number, of.parameters.num_data_sets > 1
    length, amplitude = np.exp(theta[:count]), np.exp(theta[count])
    own, rho = (np.exp(theta[count + 2]), 1.0 / (1.0 + np.exp(-theta[count + 3]))) if several else (0.0, 1.0)
    found = np.empty((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            r = np.sqrt(sum((x[i, d] - x[j, d]) ** 2 / length[owner[d]] ** 2 for d in range(x.shape[1])))
            each = {
                "rbf": np.exp(-0.5 * r**2),
                "matern32": (1.0 + 3.0**0.5 * r) * np.exp(-(3.0**0.5) * r),
                "matern52": (1.0 + 5.0**0.5 * r + 5.0 / 3.0 * r**2) * np.exp(-(5.0**0.5) * r),
            }[of.prior.shape]
            if of.prior.linear:
                each += np.exp(theta[-1]) * 4.0 / x.shape[1] * (x[i] - 0.5) @ (x[j] - 0.5)
            same = float(label[i] == label[j])
            found[i, j] = amplitude * each * (rho + (1.0 - rho) * same) + own * same * several
            if of.earlier is not None:
                found[i, j] += of.earlier[i] @ of.earlier[j]
    return found


def noises(of: Surrogate, theta: Floats, seen: PointValues) -> Floats:
    return (WEIGHT * of.noise(theta) + seen.squares) / (WEIGHT - 1.0 + seen.plays)


def line(num_arms: int = 12, horizon: int = 30, **published: Any) -> Setting:
    """Arms on a line; no model is published by default."""
    return Setting(arms=np.linspace(0, 1, num_arms)[:, None], horizon=horizon, **published)


def played(
    setting: Setting,
    reward: Callable[[int, int], float],
    cost: Callable[[int, int], list[float]] | None = None,
    spent: Callable[[int, int], float] | None = None,
    rounds: int | None = None,
    seed: int = 0,
) -> tuple[Any, list[int]]:
    """An agent and what it played, where all feedback is immediate; each law is asked of arm and round."""
    agent, plays = agents.make("gp-agent", setting), []
    agent.reset(seed)
    for t in range(setting.horizon if rounds is None else rounds):
        arm = agent.act(SEEN)
        found = np.empty((1, 0)) if cost is None else np.array([cost(arm, t)], dtype=float)
        paid = None if spent is None else np.array([spent(arm, t)], dtype=float)
        info = delivery(t, np.array([t]), np.array([reward(arm, t)], dtype=float), found, 0, spent=paid)
        agent.update(SEEN, arm, 0.0, info)
        plays.append(arm)
    return agent, plays

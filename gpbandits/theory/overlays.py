"""Bounds by name are drawn over measured regret: `result.plot(path, bounds=[bound("hard", problem)])`.

Each states its assumptions, and raises if the problem or the agent does not meet them. MVR's bound is not
among them, since it bounds the regret of the recommended arm, and results have that of the played arms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from agents.acquisition.robust import DMM
from agents.algorithms.classic import gp_ts, gp_ucb, igp_ucb
from agents.algorithms.randomised import irgp_ucb, pims
from agents.algorithms.regularised import dmm_ucb
from agents.kernels.amplitude import smoothness, split_amplitude
from agents.registry import AgentSpec
from agents.widths.bounded_norm import AMMWidth, ImprovedWidth, SelfNormalisedWidth
from agents.widths.prior_draws import FiniteSetWidth
from agents.widths.tuned import FixedWidth
from bandit_envs.basics.types import Ints
from bandit_envs.environment.registration import IDS
from bandit_envs.laws.hard import HardFunctions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import build
from gpbandits.evaluation.overlay import Overlay
from gpbandits.theory.assumptions import Player, need, player_of, require_sample, require_stationary
from gpbandits.theory.regret import bayesian_bound, gp_ucb_bound, igp_ucb_bound

POINTS = 200  # points of a curve


class Theorem(NamedTuple):
    """A theorem gives a bound that can be drawn."""

    assumes: str  # the assumptions that `make` checks, and the bound
    make: Callable[[Problem, AgentSpec | None], Overlay]


def bound(
    name: str,
    environment: Problem | str,
    agent: AgentSpec | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Overlay:
    """Return a bound for the runs of an agent on a problem.

    Args:
        name: one of `BOUNDS`: bounded-norm, igp-ucb and the like; each says what it assumes.
        environment: the id or the problem given to `evaluate`.
        agent: the agent given to `evaluate`, for upper bounds; lower bounds and rates hold for all agents.
        env_kwargs: the keyword arguments given to `evaluate` with an id.
    """
    if name not in BOUNDS:
        raise ValueError(f"unknown bound {name!r}; choose one of {', '.join(BOUNDS)}")
    if isinstance(environment, str) and environment not in IDS:
        raise ValueError(f"environment must be a Problem or one of {', '.join(IDS)}, got {environment!r}")
    problem = IDS[environment] if isinstance(environment, str) else environment
    return BOUNDS[name].make(build(problem, dict(env_kwargs or {})), agent)


def _bounded_norm(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("bounded-norm", problem, agent, (gp_ucb, dmm_ucb))
    width = _widest(player)
    player.require_norm()
    rounds = _rounds(problem.horizon)
    gamma = player.gamma(rounds)
    values = gp_ucb_bound(rounds, width(rounds, gamma), gamma, player.noise_variance)
    return Overlay(player.says(width.delta), "upper", rounds, values)


def _widest(player: Player) -> AMMWidth | SelfNormalisedWidth:
    """Return the width of the rule; for DMM that of AMM, since lambda is always among its regularisations."""
    rule = player.agent.rule
    if isinstance(rule, DMM):
        return AMMWidth(rule.bound, rule.noise_std, player.noise_variance, delta=rule.delta)
    return player.width(AMMWidth, SelfNormalisedWidth)


def _improved(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("igp-ucb", problem, agent, (igp_ucb,))
    width, proved = player.width(ImprovedWidth), 1.0 + 2.0 / problem.horizon
    given = player.noise_variance
    need(math.isclose(given, proved), "igp-ucb", f"noise_variance = 1 + 2 / T = {proved:g}, got {given:g}")
    player.require_norm()
    rounds = _rounds(problem.horizon)
    gamma = player.gamma(rounds)
    values = igp_ucb_bound(rounds, width(rounds, gamma), gamma)
    return Overlay(player.says(width.delta), "upper", rounds, values)


def _gp_sample(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("gp-sample", problem, agent, (gp_ucb,))
    width = player.width(FiniteSetWidth)
    need(width.scale == 1.0, "gp-sample", f"beta_scale = 1, got {width.scale}")
    require_sample("gp-sample", problem, player)
    rounds = _rounds(problem.horizon)
    gamma = player.gamma(rounds)
    values = gp_ucb_bound(rounds, width(rounds, gamma), gamma, player.noise_variance)
    return Overlay(player.says(width.delta), "upper", rounds, values)


def _randomised(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("randomised", problem, agent, (irgp_ucb, pims, gp_ts))
    if player.makes(gp_ts):
        value = player.width(FixedWidth).value
        need(value == 1.0, "randomised", f"Thompson sampling of width 1, got {value}")
    require_sample("randomised", problem, player)
    need(problem.decisions.num_contexts == 1, "randomised", "no contexts, got some")
    rounds = _rounds(problem.horizon)
    values = bayesian_bound(rounds, problem.decisions.num_arms, player.gamma(rounds), player.noise_variance)
    return Overlay(f"{player.name}: expectation at most", "upper", rounds, values)


def _hard(problem: Problem, agent: AgentSpec | None) -> Overlay:
    law = problem.reward
    need(isinstance(law, HardFunctions), "hard", 'GPBandit-Hard-v0 with function="hard"')
    assert isinstance(law, HardFunctions)
    require_stationary("hard", problem)
    made_for = problem.noise.is_gaussian and problem.noise.stated_std == law.noise_std
    need(made_for, "hard", f"Gaussian noise of std {law.noise_std:g}, got {problem.noise}")
    need(problem.rkhs_bound not in ("true", "paper"), "hard", "that no function's own norm is published")
    least = law.least_regret(problem.gram)
    if least is None:
        raise ValueError(
            'the bound "hard" assumes functions that are not rescaled and d_T >= 4, which these do not meet'
        )
    at = np.unique([law.horizon, problem.horizon])  # regret never falls, so the bound at T holds after T
    return Overlay("every algorithm: mean at least", "lower", at, np.full(len(at), least))


def _rate(problem: Problem, agent: AgentSpec | None) -> Overlay:
    """Return T^((nu + d) / (2 nu + d)) for Matern, sqrt(T) log(T)^(d/4) for SE (Scarlett et al. 2017)."""
    require_stationary("rate", problem)
    _, shape = split_amplitude(problem.kernel)
    nu, dim, rounds = smoothness(shape), problem.decisions.points.shape[1], _rounds(problem.horizon)
    need(nu is not None, "rate", f"an SE or Matern kernel, got {problem.kernel}")
    assert nu is not None
    if math.isinf(nu):
        values = np.sqrt(rounds) * np.log(1.0 + rounds) ** (dim / 4)
        return Overlay("slope of SE (no level)", "slope", rounds, values)
    power = (nu + dim) / (2 * nu + dim)
    return Overlay(f"slope $T^{{{power:.2f}}}$ (no level)", "slope", rounds, rounds**power)


def _rounds(horizon: int) -> Ints:
    """Return rounds of 1..T that are dense enough on linear and on logarithmic axes, (n,)."""
    ends = 1, horizon
    some = np.concatenate([np.linspace(*ends, POINTS), np.geomspace(*ends, POINTS)])
    return np.unique(np.rint(some).astype(np.int64))


_BAND = "a finite set, one function throughout, feedback at once, sub-Gaussian noise, k(x, x) <= 1 and"
BOUNDS: dict[str, Theorem] = {
    "bounded-norm": Theorem(
        f"{_BAND} |f| <= B: 2 w_T sqrt(C_1 T gamma_T) with probability 1 - delta, of gp-ucb of width amm or "
        "self-normalised, and of dmm-ucb (Flynn & Reeb 2024; Abbasi-Yadkori 2011)",
        _bounded_norm,
    ),
    "igp-ucb": Theorem(
        f"{_BAND} |f| <= B, lambda = 1 + 2 / T: 2 w_T sqrt(4 (T + 2) gamma_T) with probability 1 - delta, of "
        "igp-ucb (Chowdhury & Gopalan 2017, Theorem 3)",
        _improved,
    ),
    "gp-sample": Theorem(
        f"{_BAND} f ~ GP(0, k), Gaussian noise of variance lambda: sqrt(C_1 T beta_T gamma_T) with "
        "probability 1 - delta, of gp-ucb of width finite-set (Srinivas et al. 2010, Theorem 1)",
        _gp_sample,
    ),
    "randomised": Theorem(
        f"{_BAND} f ~ GP(0, k), Gaussian noise of variance lambda: sqrt(C_1 (2 + 2 log(N / 2)) T gamma_T) in "
        "expectation, of irgp-ucb, pims and gp-ts of width 1 (Takeno et al. 2023, 2024)",
        _randomised,
    ),
    "hard": Theorem(
        "GPBandit-Hard-v0, one function throughout, Gaussian noise: (R / 16) sqrt(T d_T) from round "
        "T = hard_for on, on average over the functions, for every algorithm (Ma & Scarlett, Theorem 1)",
        _hard,
    ),
    "rate": Theorem(
        "an SE or Matern kernel on [0, 1]^d, one function throughout: the order in T of every algorithm's "
        "worst case at least, as a slope without a level (Scarlett et al. 2017)",
        _rate,
    ),
}

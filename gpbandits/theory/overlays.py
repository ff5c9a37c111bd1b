"""Bounds by name are drawn over measured regret: `result.plot(path, bounds=[bound("hard", problem)])`.

Each states its assumptions, and raises if the problem or the agent does not meet them. MVR's bound is not
among them, since it bounds the regret of the recommended arm, and results have that of the played arms.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agents.acquisition.robust import DMM
from agents.acquisition.rules import UCB, Thompson
from agents.agent.gp_agent import GPAgent
from agents.algorithms.classic import dmm_ucb, gp_ts, gp_ucb, igp_ucb, irgp_ucb, pims
from agents.kernels.amplitude import smoothness, split_amplitude
from agents.registry import AgentFactory, AgentSpec, resolve_agent
from agents.widths.base import FiniteSetWidth, FixedWidth
from agents.widths.bounded_norm import AMMWidth, ImprovedWidth, SelfNormalisedWidth
from agents.widths.information_gain import GainTable, Realised, upper_bound
from bandit_envs.basics.arguments import require_known
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.environment.registration import IDS
from bandit_envs.laws.hard import HardFunctions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import build
from gpbandits.evaluation.measures import Overlay
from gpbandits.theory.regret import bayesian_bound, gp_ucb_bound, igp_ucb_bound

__all__ = ["BOUNDS", "bound"]

ROUNDING = 1e-9
POINTS = 200  # points of a curve


def need(met: bool, name: str, assumed: str) -> None:
    """Raise unless an assumption of the bound is met."""
    if not met:
        raise ValueError(f"the bound {name!r} assumes {assumed}")


def require_stationary(name: str, problem: Problem) -> None:
    """Raise unless the problem has one function, no constraints, and all arms in every round."""
    setting = problem.setting()
    need(not setting.may_change, name, "one function throughout, got changes or drift")
    need(not problem.constraints, name, "no constraints, got some")
    need(not setting.volatile, name, "all arms in every round, got volatile ones")


def require_sample(name: str, problem: Problem, player: "Player") -> None:
    """Raise unless functions are samples of a GP and the noise is Gaussian with the model's variance."""
    need(problem.reward.is_gaussian, name, f"f ~ GP(0, k), got {problem.reward}")
    need(problem.noise.is_gaussian, name, f"Gaussian noise, got {problem.noise}")
    true, given = (problem.noise.stated_std or 0.0) ** 2, player.noise_variance
    need(abs(given - true) <= ROUNDING * true, name, f"noise_variance = R^2 = {true:g}, got {given:g}")


@dataclass(frozen=True)
class Player:
    """A player is an agent on a problem, to whose width and model the bound of this name applies."""

    bound: str
    factory: AgentFactory
    agent: GPAgent
    problem: Problem

    @property
    def name(self) -> str:
        """Return the registered name of the agent, or its factory's name."""
        return self.factory.name or self.factory.make.__name__

    @property
    def noise_variance(self) -> float:
        """Return lambda, the model's noise variance."""
        return float(np.max(self.agent.model.noise_variance))

    def says(self, delta: Any) -> str:
        """Return the legend of an upper bound."""
        return f"{self.name}: at most, with probability {1 - float(np.max(delta)):g}"

    def width(self, *kinds: type) -> Any:
        """Return the rule's width, which must be of one of these kinds with a gain that is an upper bound."""
        rule = self.agent.rule
        width = rule.width if isinstance(rule, UCB | Thompson) else None
        names = " or ".join(kind.__name__ for kind in kinds)
        need(isinstance(width, kinds), self.bound, f"a width {names}, got {width or rule}")
        gamma = getattr(width, "gamma", Realised())
        need(isinstance(gamma, Realised | GainTable), self.bound, f"a gain that is a bound, got {gamma}")
        return width

    def gamma(self, rounds: Ints) -> Floats:
        """Bound the information gain after each number of rounds, (n,) -> (n,)."""
        table = upper_bound(self.agent.model.gram, self.noise_variance, self.problem.horizon)
        return table(rounds, np.zeros(len(rounds)))

    def require_norm(self) -> None:
        """Raise unless every function has RKHS norm at most the model's B."""
        law, most = self.problem.reward, float(np.max(self.agent.model.rkhs_bound))
        norm = law.norm_bound
        need(norm is not None, self.bound, f"functions of a stated norm, rkhs_norm=..., got {law}")
        assert norm is not None
        need(
            norm <= most * (1 + ROUNDING), self.bound, f"|f| <= B = {most:g}, got functions of norm {norm:g}"
        )


def player_of(
    name: str, problem: Problem, spec: AgentSpec | None, factories: tuple[Callable[..., Any], ...]
) -> Player:
    """Return the agent of a bound; raises unless the assumptions common to all upper bounds are met."""
    require_stationary(name, problem)
    need(not problem.decisions.continuous, name, "a finite set, got a box")
    need(problem.setting().max_delay == 0, name, f"feedback at once, got {problem.delay}")
    need(problem.noise.sub_gaussian is not None, name, f"sub-Gaussian noise, got {problem.noise}")
    need(problem.noise.stated_std is not None, name, "noise of a stated std, got a share of each range")
    allowed = " or ".join(factory.__name__.replace("_", "-") for factory in factories)
    need(spec is not None, name, f"an agent; give the one that was evaluated, {allowed}")
    factory = resolve_agent(spec)  # type: ignore[arg-type]
    need(factory.make in factories, name, f"{allowed}, got {factory.name or factory.make}")
    setting = problem.draw(0).setting  # of a trial, since it publishes a norm that all functions share
    player = Player(name, factory, factory(setting), problem)
    _require_model(player)
    return player


def _require_model(player: Player) -> None:
    """Raise unless the model is the problem's, is not learnt, and the rule chooses in every round."""
    model, problem, name = player.agent.model, player.problem, player.bound
    plain = model.initial == 0 and model.learning is None and model.repeat == 1
    need(plain, name, "an agent without initial, refit_every and repeat")
    need(model.kernel == problem.kernel, name, f"the problem's kernel {problem.kernel}, got {model.kernel}")
    same = np.array_equal(model.prior_mean, problem.prior_mean)
    need(same and not np.any(problem.prior_mean), name, f"the prior mean 0, got {model.prior_mean}")
    need(bool((model.gram.diagonal <= 1 + ROUNDING).all()), name, "k(x, x) <= 1; take signal_variance=1")
    true = (problem.noise.stated_std or 0.0) * (problem.noise.sub_gaussian or 0.0)  # R
    given = float(np.min(model.noise_std))
    need(given >= true, name, f"noise_std >= R = {true:g}, got {given:g}")


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
        name: "bounded-norm", "igp-ucb", "gp-sample" or "randomised", upper bounds for the agents of their
            theorems; "hard" or "rate", lower bounds for all agents. `BOUNDS[name].assumes` says what each
            assumes.
        environment: the id or the problem given to `evaluate`.
        agent: the agent given to `evaluate`, for upper bounds; lower bounds and rates hold for all agents.
        env_kwargs: the keyword arguments given to `evaluate` with an id.
    """
    require_known("bound", name, BOUNDS)
    if isinstance(environment, str) and environment not in IDS:
        raise ValueError(f"environment must be a Problem or one of {', '.join(IDS)}, got {environment!r}")
    problem = IDS[environment] if isinstance(environment, str) else environment
    return BOUNDS[name].make(build(problem, dict(env_kwargs or {})), agent)


def _bounded_norm(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("bounded-norm", problem, agent, (gp_ucb, dmm_ucb))
    rule = player.agent.rule
    if isinstance(rule, DMM):  # since the model's lambda is always among its regularisations
        width: Any = AMMWidth(rule.bound, rule.noise_std, player.noise_variance, delta=rule.delta)
    else:
        width = player.width(AMMWidth, SelfNormalisedWidth)
    player.require_norm()
    return _of_width(player, width, partial(gp_ucb_bound, noise_variance=player.noise_variance))


def _of_width(player: Player, width: Any, proved: Callable[..., Floats]) -> Overlay:
    rounds = _rounds(player.problem.horizon)
    gamma = player.gamma(rounds)
    values = proved(rounds, width(rounds, gamma), gamma)
    return Overlay(player.says(width.delta), "upper", rounds, values)


def _improved(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("igp-ucb", problem, agent, (igp_ucb,))
    width, proved = player.width(ImprovedWidth), 1.0 + 2.0 / problem.horizon
    given = player.noise_variance
    need(math.isclose(given, proved), "igp-ucb", f"noise_variance = 1 + 2 / T = {proved:g}, got {given:g}")
    player.require_norm()
    return _of_width(player, width, igp_ucb_bound)


def _gp_sample(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("gp-sample", problem, agent, (gp_ucb,))
    width = player.width(FiniteSetWidth)
    need(width.scale == 1.0, "gp-sample", f"beta_scale = 1, got {width.scale}")
    require_sample("gp-sample", problem, player)
    return _of_width(player, width, partial(gp_ucb_bound, noise_variance=player.noise_variance))


def _randomised(problem: Problem, agent: AgentSpec | None) -> Overlay:
    player = player_of("randomised", problem, agent, (irgp_ucb, pims, gp_ts))
    if player.factory.make is gp_ts:
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

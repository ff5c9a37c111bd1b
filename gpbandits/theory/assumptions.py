"""The assumptions of a theorem are checked on a problem and on an agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.acquisition.rules import UCB, Thompson
from agents.agent.gp_agent import GPAgent
from agents.registry import AgentFactory, AgentSpec, resolve_agent
from agents.widths.information_gain import GainTable, Realised, upper_bound
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.problem import Problem

ROUNDING = 1e-9


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


def require_sample(name: str, problem: Problem, player: Player) -> None:
    """Raise unless functions are samples of a GP and the noise is Gaussian with the model's variance."""
    need(problem.reward.is_gaussian, name, f"f ~ GP(0, k), got {problem.reward}")
    need(problem.noise.is_gaussian, name, f"Gaussian noise, got {problem.noise}")
    true, given = (problem.noise.stated_std or 0.0) ** 2, player.noise_variance
    need(abs(given - true) <= ROUNDING * true, name, f"noise_variance = R^2 = {true:g}, got {given:g}")


@dataclass(frozen=True)
class Player:
    """A player is an agent on a problem, to whose width and model a bound applies.

    Args:
        bound: name of the bound, for messages.
        factory: factory of the agent.
        agent: the agent made for the problem's setting.
        problem: the problem.
    """

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

    def makes(self, factory: Callable[..., Any]) -> bool:
        """Return True if this factory makes the agent."""
        return self.factory.make is factory

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

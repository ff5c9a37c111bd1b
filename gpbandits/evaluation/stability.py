"""Robust regret compares the worst rewards near the chosen arm, for arms that are not realised exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.objectives.worst_nearby import neighbours, worst_nearby
from agents.registry import AgentSpec, resolve_agent
from bandit_envs.basics.arguments import require, require_not_negative
from bandit_envs.basics.types import Floats
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.loop import trial_seeds


def robust_regret(problem: Problem, agent: AgentSpec, eps: float, trials: int = 10, seed: int = 0) -> Floats:
    """Return the cumulative robust regret of an agent's choices, (trials, T) (Bogunovic et al. 2018).

    A round costs max_x min f near x minus min f near the chosen arm, |x' - x| <= eps. The chosen arm is the
    agent's attribute `centre` if it has one, else the played arm.

    Args:
        problem: on a finite set in one context, whose functions do not change, without a budget.
        agent: an agent that runs in batches.
        eps: radius, in ranges of the features over the arms.
        trials: number of trials.
        seed: seed of the trials and the agent, as in `evaluate`.
    """
    require_not_negative("eps", eps, "it is a distance")
    plain = not problem.decisions.continuous and problem.decisions.num_contexts == 1
    still = plain and not problem.setting().may_change and problem.play_costs.is_free
    require(still, "problem", "on a finite set in one context, without changes or a budget", problem.name)
    factory = resolve_agent(agent)
    require(factory.batched, "agent", "one that plays in batches, its factory taking num_trials", agent)
    of_environment, of_agent = zip(*(trial_seeds(seed, i) for i in range(trials)), strict=True)
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled", oracle=False)
    observation, _ = env.reset(seed=list(of_environment))
    means = np.array([np.asarray(trial.means[0, 0]) for trial in env.simulator.trials])  # type: ignore[union-attr]
    worth = worst_nearby(means, neighbours(problem.decisions.unit_arms, eps))
    player: Any = factory(env.setting, num_trials=trials)
    player.reset(list(of_agent))
    chosen = []
    for _ in range(problem.horizon):
        action = player.act(observation)
        chosen.append(np.array(getattr(player, "centre", action)))
        following, reward, _, _, info = env.step(action)
        player.update(observation, action, reward, info)
        observation = following
    earned = np.take_along_axis(worth, np.array(chosen).T, axis=1)
    return np.cumsum(worth.max(axis=1, keepdims=True) - earned, axis=1)

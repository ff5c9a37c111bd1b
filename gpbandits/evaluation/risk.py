"""Other criteria than regret of the mean: risk-averse, stable, and against the best feasible mixture."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from agents.algorithms.robust import neighbours, worst_nearby
from agents.protocol import adapted
from agents.registry import AgentSpec, resolve_agent
from bandit_envs.basics.arguments import require, require_not_negative
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.loop import trial_seeds


def risk_averse_regret(
    problem: Problem, actions: Ints, alpha: float, seed: int = 0, entropy: int | None = None
) -> Floats:
    """Return the cumulative regret of plays under f - alpha rho^2, (B, T) (Makarova et al. 2021).

    rho(x) is the noise std at x: `noise={"law": "by-arm"}`.

    Args:
        problem: on a finite set in one context, whose functions do not change.
        actions: `result.actions[label]` of every round of the problem, (B, T).
        alpha: cost of noise variance, for rewards in their own unit; an agent's alpha is for prior stds.
    """
    require_not_negative("alpha", alpha, "it is the cost of noise variance")
    words = "on a finite set in one context, without changes"
    require(_is_static(problem), "problem", words, problem.name)
    whole = f"of all {problem.horizon} rounds, (trials, rounds); checkpoints drop rounds, evaluate without"
    require(np.ndim(actions) == 2 and np.shape(actions)[1] == problem.horizon, "actions", whole, actions)
    env = BanditVectorEnv(problem, len(actions), autoreset_mode="Disabled")
    env.reset(seed=[trial_seeds(seed, i, entropy)[0] for i in range(len(actions))])
    means = np.array([np.asarray(trial.means[0, 0]) for trial in env.simulator.trials if trial is not None])
    shape = problem.noise.shape(problem.decisions.unit_arms)
    rho = np.array([problem.noise.scale(mean.min(), mean.max()) * shape for mean in means])
    return _regret(means - alpha * rho**2, np.asarray(actions, dtype=np.int64))


def _is_static(problem: Problem) -> bool:
    """Return whether a trial has one function on arms, from its first round to its last."""
    decisions = problem.decisions
    return not decisions.continuous and decisions.num_contexts == 1 and not problem.setting().may_change


def _regret(worth: Floats, arms: Ints) -> Floats:
    earned = np.take_along_axis(worth, arms, axis=1)
    return np.cumsum(worth.max(axis=1, keepdims=True) - earned, axis=1)


def robust_regret(problem: Problem, agent: AgentSpec, eps: float, trials: int = 10, seed: int = 0) -> Floats:
    """Return the cumulative robust regret of an agent's choices, (trials, T) (Bogunovic et al. 2018).

    A round costs max_x min f near x minus min f near the chosen arm, |x' - x| <= eps. The chosen arm is the
    agent's attribute `centre` if it has one, else the played arm.

    Args:
        problem: on a finite set in one context, whose functions do not change, without a budget.
        agent, seed: as for `evaluate`, of an agent that runs in batches.
        eps: radius, in ranges of the features over the arms.
    """
    require_not_negative("eps", eps, "it is a distance")
    still, words = _is_static(problem), "on a finite set in one context, without changes or a budget"
    require(still and problem.play_costs.is_free, "problem", words, problem.name)
    factory = resolve_agent(agent)
    require(factory.batched, "agent", "one that plays in batches, its factory taking num_trials", agent)
    of_environment, of_agent = zip(*(trial_seeds(seed, i) for i in range(trials)), strict=True)
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled", oracle=False)
    observation, _ = env.reset(seed=list(of_environment))
    means = np.array([np.asarray(trial.means[0, 0]) for trial in env.simulator.trials])  # type: ignore[union-attr]
    worth = worst_nearby(means, neighbours(problem.decisions.unit_arms, eps))
    player = adapted(factory(env.setting, num_trials=trials))
    player.reset(list(of_agent))
    chosen = []
    for _ in range(problem.horizon):
        action = player.act(observation)
        chosen.append(np.array(action if player.centre is None else player.centre))
        following, reward, _, _, info = env.step(action)
        player.update(observation, action, reward, info)
        observation = following
    return _regret(worth, np.array(chosen).T)


class Mixture(NamedTuple):
    """A mixture is a distribution over points, of which at most 1 + C have a positive share."""

    value: float  # mean reward
    shares: Floats  # (N,)


def best_mixture(means: Floats) -> Mixture:
    r"""Solve max_p sum_i p_i f(x_i) subject to sum_i p_i g_j(x_i) <= 0 for all j, a linear programme.

    Its value is at least that of the best feasible fixed point, the comparator of regret (Shi & Eryilmaz
    2022): violation may cancel over time, so a mixture can gain from points that are infeasible.

    Args:
        means: reward, then costs, of each point of one segment and context, (1 + C, N); for a trial
            `env.unwrapped.problem.draw(entropy).means[segment]`, on a box values on a fine grid.
    """
    means = np.asarray(means, dtype=np.float64)
    if means.ndim != 2 or not means.size or not np.isfinite(means).all():
        raise ValueError(f"means must be finite numbers of shape (1 + C, N), got shape {means.shape}")
    costs, ones = means[1:], np.ones((1, means.shape[1]))
    limits = {"A_ub": costs, "b_ub": np.zeros(len(costs))} if len(costs) else {}
    solution = linprog(-means[0], **limits, A_eq=ones, b_eq=[1.0])
    if solution.status == 2:
        raise ValueError("means must have costs that some mixture keeps <= 0, got none; lower the costs")
    if not solution.success:
        raise RuntimeError(f"the linear programme was not solved: {solution.message}")
    return Mixture(-float(solution.fun), solution.x)

"""What tests of agents that charge violations share: GP samples with a cost, and runs with their bands."""

from typing import NamedTuple

import numpy as np

import agents
from bandit_envs import BanditVectorEnv, Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, KnownFunction
from bandit_envs.laws.functions import Moments

NOISE = 0.1
LINE = np.linspace(0.0, 1.0, 40)[:, None]
KERNEL = make_kernel("rbf", 0.2)


def wave(x):
    return 1.2 * np.sin(7.0 * x[:, 0] + 1.0)


def cost(x):
    return np.cos(5.0 * x[:, 0]) + 0.3


def problem(costs=(cost,), horizon=60, reward=wave, **laws):
    """A reward and costs of bounded norm on a line."""
    return Problem(
        Decisions(LINE),
        KnownFunction(reward),
        KERNEL,
        noise=Gaussian(NOISE),
        constraints=[KnownFunction(each, Moments(0.0)) for each in costs],
        constraint_noise=Gaussian(NOISE),
        horizon=horizon,
        **laws,
    )


class Played(NamedTuple):
    """A run of B trials: what was played, and bands before each play, (T, B, N) or (T, B, C, N)."""

    arm: np.ndarray  # (T, B)
    mean: np.ndarray
    std: np.ndarray
    cost_mean: np.ndarray
    cost_std: np.ndarray
    charge: np.ndarray  # (T, B, C) of rectified objectives
    phi: np.ndarray  # (T, B, C) of primal-dual ones
    infeasible: np.ndarray  # (T, B)
    arrived: np.ndarray  # (T, B, C) sums of the positive parts of the costs that came after the play
    seen: np.ndarray  # (T, B, C) sums of these costs
    agent: object


def play(problem, name, trials=2, lift=0.0, asks=False, **options):
    """Play with costs that are told larger by `lift`: environments have none that cannot be kept."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(1, trials + 1)))
    agent = agents.make(name, env.setting, num_trials=trials, **options)
    agent.reset(list(range(trials)))
    rows, here = [], np.zeros(trials, dtype=int)
    for _ in range(problem.horizon):
        if asks:
            agent.recommend()
        objective, belief = agent.objective, agent.belief
        bands = [(each.mean(here), each.std(here)) for each in objective.costs]
        before = belief.mean(here).copy(), belief.std(here).copy(), *np.swapaxes(np.array(bands), 0, 1).copy()
        weights = [getattr(objective, name, np.zeros(0)).copy() for name in ("charge", "phi")]
        action = agent.act(observation)
        told = *weights, agent.infeasible
        if asks:
            agent.recommend()
        following, reward, _, _, info = env.step(action)
        info |= {"feedback_cost": info["feedback_cost"] + lift * info["feedback_mask"][..., None]}
        agent.update(observation, action, reward, info)
        came = info["feedback_cost"] * info["feedback_mask"][..., None]
        rows.append((action, *before, *told, np.maximum(came, 0.0).sum(axis=1), came.sum(axis=1)))
        observation = following
    arm, mean, std, cost_mean, cost_std, *others = (np.array(each) for each in zip(*rows, strict=True))
    return Played(arm, mean, std, np.swapaxes(cost_mean, 1, 2), np.swapaxes(cost_std, 1, 2), *others, agent)

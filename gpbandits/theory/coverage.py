"""Whether an agent's confidence band contains the function, and by what factor it is too narrow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.acquisition.dmm import DMM
from agents.acquisition.rules import UCB, Thompson
from agents.agent.gp_agent import GPAgent
from agents.registry import AgentSpec, resolve_agent
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation import trial_seeds

ROUNDING = 1e-9  # prior deviations by which a band may miss: sigma vanishes where a point is known


class Bands(NamedTuple):
    """The bands |mu_{t-1}(x) - f(x)| <= w_t sigma_{t-1}(x) of B trials, and the regret of their plays."""

    ratio: Floats  # (B, T) max_x |mu_{t-1} - f| / (w_t sigma_{t-1}); the band fails where it exceeds 1
    width: Floats  # (B, T) w_t, of the first band where there are several
    gain: Floats  # (B, T) realised information gain of the first t plays
    regret: Floats  # (B, T) cumulative regret of the noiseless means
    noise_variance: Floats  # (B, 1) lambda

    @property
    def failed(self) -> Bools:
        """Whether a trial's band misses the function at any point in any round, (B,)."""
        return np.asarray((self.ratio > 1.0).any(axis=1))

    @property
    def factor(self) -> Floats:
        """What the width would have to be multiplied by to contain the function throughout, (B,)."""
        return self.ratio.max(axis=1)


class Band(NamedTuple):
    """|mu - f| <= w sigma at the arms of each trial's context."""

    mean: Floats  # (B, A)
    std: Floats  # (B, A)
    width: Floats  # (B,)


def play_bands(
    problem: Problem, agent: AgentSpec, trials: int = 100, seed: int = 0, arriving: float = 1.0
) -> Bands:
    """Play the trials of `evaluate(problem, ..., seed=seed)` and look at the band before every play.

    Args:
        problem: on a finite set.
        agent: whose rule has a width, UCB or Thompson sampling, or several: DMM, of which all must hold.
        trials: B, all played at once.
        seed: of the evaluation.
        arriving: rho_m = P(delay <= m); the band of censored feedback is one for rho_m f, not for f.
    """
    seeds = np.array([trial_seeds(seed, i) for i in range(trials)])
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=seeds[:, 0].tolist())
    player: GPAgent = resolve_agent(agent)(env.setting, num_trials=trials)
    player.reset(seeds[:, 1].tolist())
    rounds: list[tuple[Floats, ...]] = []
    for _ in range(problem.horizon):
        bands = _bands(player, observation)
        width, ratio = bands[0].width, _ratio(player, env, observation, bands, arriving)
        action = player.act(observation)
        following, reward, _, _, info = env.step(action)
        player.update(observation, action, reward, info)
        rounds.append((ratio, width, player.belief.gain.copy(), info["oracle"]["regret"]))
        observation = following
    ratio, width, gain, regret = (np.stack(column, axis=1) for column in zip(*rounds, strict=True))
    noise = np.broadcast_to(np.asarray(player.model.noise_variance, dtype=np.float64), trials)[:, None]
    return Bands(ratio, width, gain, np.cumsum(regret, axis=1), noise)


def _bands(agent: GPAgent, observation: Floats) -> list[Band]:
    """What must contain the function in the coming round, at the arms of each trial's context."""
    belief, rule, context = agent.belief, agent.rule, agent.setting.context_index(observation)
    if isinstance(rule, DMM):
        each = belief.ridges(context)
        return [Band(mean, std, rule.width(fit, belief.gain) + belief.bias) for fit, mean, std in each]
    if not isinstance(rule, UCB | Thompson):
        raise ValueError(f"agent must have a confidence band, by UCB or Thompson sampling; got {rule}")
    width = rule.width(np.full(belief.gain.shape, agent.round + 1), belief.gain) + belief.bias
    return [Band(belief.mean(context), belief.std(context), width)]


def _ratio(
    agent: GPAgent, env: BanditVectorEnv, observation: Floats, bands: list[Band], arriving: float
) -> Floats:
    """max_x |mu_{t-1} - rho_m f| / (w_t sigma_{t-1}) over the arms and the bands, (B,)."""
    truth, least = arriving * _truth(env, agent.round), np.finfo(np.float64).tiny
    ratios = []
    for mean, std, width in bands:
        excess = np.maximum(np.abs(mean - truth) - ROUNDING * agent.model.deviation, 0.0)
        ratios.append((excess / np.maximum(std, least)).max(axis=1) / np.maximum(width, least))
    return np.max(ratios, axis=0)


def _truth(env: BanditVectorEnv, t: int) -> Floats:
    """Mean rewards of the arms in round t, counted from 0, (B, A)."""
    shape = env.problem.decisions.num_contexts, -1
    trials = (trial for trial in env.simulator.trials if trial is not None)
    return np.array([trial.means[trial.segment[t], 0].reshape(shape)[trial.context[t]] for trial in trials])

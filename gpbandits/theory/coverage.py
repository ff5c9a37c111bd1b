"""The coverage of a confidence band is measured: does it contain the function, and which factor would?"""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from agents.acquisition.candidates import ConfidenceBand
from agents.agent.gp_agent import GPAgent
from agents.beliefs.base import Belief
from agents.beliefs.eliminating import Eliminating
from agents.beliefs.points import Points
from agents.protocol import defines
from agents.registry import AgentSpec, resolve_agent
from agents.restarts.base import Never
from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation import trial_seeds

ROUNDING = 1e-9  # prior std by which a band may miss, since sigma is 0 at a point without noise


class Bands(NamedTuple):
    """The bands |mu_{t-1}(x) - f(x)| <= W_t(x) of B trials, usually W_t = w_t sigma_{t-1}, with regret."""

    ratio: Floats  # (B, T) max_x |mu_{t-1} - f| / W_t; the band fails where it exceeds 1; 0 without a band
    width: Floats  # (B, T) w_t, of the first band where there are several; NaN if W_t is no multiple of sigma
    gain: Floats  # (B, T) realised information gain of the first t plays
    regret: Floats  # (B, T) cumulative regret of the noiseless means
    noise_variance: Floats  # (B, 1) lambda

    @property
    def failed(self) -> Bools:
        """Return True for trials whose band misses the function at any point in any round, (B,)."""
        return np.asarray((self.ratio > 1.0).any(axis=1))

    @property
    def factor(self) -> Floats:
        """Return the least factor of the width at which the band contains the function throughout, (B,)."""
        return self.ratio.max(axis=1)


def play_bands(
    problem: Problem, agent: AgentSpec, trials: int = 100, seed: int = 0, arriving: float = 1.0
) -> Bands:
    """Run the trials of `evaluate(problem, ..., seed=seed)` as a batch; record the band before each action.

    Args:
        problem: on a finite set, without a budget, which would end trials in different rounds.
        agent: an agent whose rule has a width (UCB, Thompson sampling, robust rules with their extra term) or
            several widths (DMM), all of which must hold; or one that eliminates, whose band is that at the
            ends of its batches. Bands of log-odds or log-rates, or of the reward less a penalty, are refused.
        arriving: rho_m = P(delay <= m); the band of censored feedback is for rho_m f instead of f.
    """
    require(problem.play_costs.is_free, "problem", "without a budget", problem.name)
    seeds = np.array([trial_seeds(seed, i) for i in range(trials)])
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=seeds[:, 0].tolist())
    player: GPAgent = resolve_agent(agent)(env.setting, num_trials=trials)
    player.reset(seeds[:, 1].tolist())
    _require_band_of_reward(player)
    rounds: list[tuple[Floats, ...]] = []
    shape = problem.decisions.num_contexts, -1
    drawn = [trial for trial in env.simulator.trials if trial is not None]
    for t in range(problem.horizon):
        truth = arriving * np.array([x.means[x.version[t], 0].reshape(shape)[x.context[t]] for x in drawn])
        points = player.arms(player.setting.context_index(observation))
        ratio, width = _measured(player, truth, bands(player, points, np.full(trials, t + 1)))
        action = player.act(observation)
        following, reward, _, _, info = env.step(action)
        if t + 1 in player.restart.ends:
            batch = _bands_of_batch(player, observation, action, reward, info)
            ratio, width = _measured(player, truth, batch)
        player.update(observation, action, reward, info)
        rounds.append((ratio, width, player.belief.gain.copy(), info["oracle"]["regret"]))
        observation = following
    ratio, width, gain, regret = (np.stack(column, axis=1) for column in zip(*rounds, strict=True))
    noise = np.broadcast_to(np.asarray(player.model.noise_variance, dtype=np.float64), trials)[:, None]
    return Bands(ratio, width, gain, np.cumsum(regret, axis=1), noise)


def bands(agent: GPAgent, points: Points, t: Ints) -> list[ConfidenceBand]:
    """Return the bands of round t, (B,), at points, in the reward's unit."""
    found = agent.rule.bands(agent.belief, points, t)
    shift, unit = agent.objective.in_reward_units(np.zeros(len(t)), np.ones(len(t)))
    shift, unit = shift[:, None], unit[:, None]
    return [ConfidenceBand(shift + unit * each.mean, unit * each.half, each.width) for each in found]


def _require_band_of_reward(agent: GPAgent) -> None:
    points = agent.arms(agent.belief.rows * 0)
    known = agent.objective.beliefs(*points.known(agent.belief), points)
    words = "one whose band is of the mean reward, not of log-odds, log-rates or a penalised sum"
    require(known is not None and agent.objective.linear, "agent", words, type(agent.objective).__name__)
    eliminates = defines(agent.belief, Belief, "active")  # by bands at the ends of batches
    banded = eliminates or len(agent.rule.bands(agent.belief, points, agent.t)) > 0
    require(banded, "agent", "one with a confidence band, by UCB or Thompson sampling", agent.rule)


def _bands_of_batch(agent: GPAgent, observation: Floats, *feedback: Any) -> list[ConfidenceBand]:
    """Return the band of an agent that eliminates, after the last value of a batch and before it restarts."""
    ended = deepcopy(agent)
    ended.take(restart=Never(ended.model, len(ended.belief.rows)))
    ended.update(observation, *feedback)
    assert isinstance(ended.belief, Eliminating)
    return [ConfidenceBand(*ended.belief.band, np.full(len(ended.belief.rows), np.nan))]


def _measured(agent: GPAgent, truth: Floats, bands: list[ConfidenceBand]) -> tuple[Floats, Floats]:
    """Return max_x |mu - rho_m f| / W over the arms and the bands, and w of the first band, (B,) each."""
    ratios, nothing = [np.zeros(len(truth))], np.full(len(truth), np.nan)
    for mean, half, _ in bands:
        excess = np.maximum(np.abs(mean - truth) - ROUNDING * agent.model.prior_std, 0.0)
        ratios.append((excess / np.maximum(half, np.finfo(np.float64).tiny)).max(axis=1))
    return np.max(ratios, axis=0), bands[0].width if bands else nothing

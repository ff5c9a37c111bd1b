"""The same loop on a finite set by this package, and what other libraries would play in its rounds.

A run plays `FIRST` given arms and then argmax(mean + WIDTH std), or the best arm of one posterior draw.
Others compute the posterior from scratch in each round and would need hours for such a run: they are asked
at some rounds of ours, given the same plays. At the middles of equal parts of the run these rounds cost on
average what all of them do.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from peer_models import LENGTH_SCALE, NOISE, Peer
from sklearn.gaussian_process.kernels import RBF

import agents
from bandit_envs import Setting

WIDTH = 2.0
FIRST = 3  # arms, drawn at random, which leave no ties
NO_CONTEXT = np.zeros(1)


class Loop(NamedTuple):
    """What is played."""

    points: np.ndarray  # (N, d)
    rounds: int  # T
    trials: int = 1  # B
    thompson: bool = False

    def agent(self) -> Any:
        """Ours, with everything fixed as in the other libraries."""
        setting = Setting(
            arms=self.points, horizon=self.rounds, kernel=RBF(LENGTH_SCALE), noise_std=NOISE**0.5
        )
        make, width = (agents.gp_ts, 1.0) if self.thompson else (agents.gp_ucb, WIDTH)
        return make(setting, width=width, num_trials=self.trials if self.trials > 1 else None)


class Played(NamedTuple):
    """A run of ours."""

    arms: np.ndarray  # (T, B)
    values: np.ndarray  # (T, B)
    microseconds: float  # a trial's round


class Choice(NamedTuple):
    """What another library would do in one round of ours."""

    arm: int
    gap: float  # by which its score of this arm exceeds that of ours
    microseconds: float


def grid(count: int, dim: int = 1) -> np.ndarray:
    """Points of a regular grid in the unit box, (count, dim)."""
    axis = np.linspace(0.0, 1.0, round(count ** (1.0 / dim)))
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


def truth(points: np.ndarray) -> np.ndarray:
    """A fixed function, (N, d) -> (N,)."""
    return (np.sin(9.0 * points) * np.cos(23.0 * points)).sum(axis=1) / points.shape[1]


def play(loop: Loop) -> Played:
    """Play a run by act and update; the time is that of these two."""
    rng, mean, shape = np.random.default_rng(0), truth(loop.points), (loop.rounds, loop.trials)
    noise, arms = NOISE**0.5 * rng.standard_normal(shape), rng.integers(len(mean), size=shape)
    agent, single = loop.agent(), loop.trials == 1
    agent.reset(0 if single else list(range(loop.trials)))
    seen = NO_CONTEXT if single else np.zeros((loop.trials, 1))
    values, spent = np.empty(shape), 0.0
    for t in range(loop.rounds):
        start = time.process_time()
        if t >= FIRST:
            arms[t] = agent.act(seen)
        spent += time.process_time() - start
        values[t] = mean[arms[t]] + noise[t]
        action, reward, info = _single(arms, values, t) if single else (arms[t], values[t], told(values, t))
        start = time.process_time()
        agent.update(seen, action, reward, info)
        spent += time.process_time() - start
    return Played(arms, values, 1e6 * spent / arms.size)


def told(values: np.ndarray, t: int) -> dict[str, Any]:
    """The `info` of a round whose values come at once, in one slot a trial."""
    shape = (values.shape[1], 1)
    step, mask = np.full(shape, t), np.ones(shape, dtype=np.bool_)
    return {"t": t, "feedback_mask": mask, "feedback_step": step, "feedback_reward": values[t][:, None]}


def ask(peer: Peer, loop: Loop, played: Played, t: int) -> Choice:
    """What a library would play in round t of our trial 0, and its time for that."""
    x, y, ours = loop.points[played.arms[:t, 0]], played.values[:t, 0], played.arms[t, 0]
    start = time.process_time()
    peer.fit(x, y)
    if loop.thompson:
        score = peer.sample(loop.points)
    else:
        mean, std = peer.believed(loop.points)
        score = mean + WIDTH * std
    arm = int(score.argmax())
    spent = time.process_time() - start
    return Choice(arm, float(score[arm] - score[ours]), 1e6 * spent)


def distance(peer: Peer, loop: Loop, played: Played, t: int) -> float:
    """Between our mean and deviation after t rounds of trial 0 and a library's, the largest."""
    agent = loop._replace(trials=1).agent()
    agent.reset(0)
    for s in range(t):
        agent.update(NO_CONTEXT, *_single(played.arms, played.values, s))
    peer.fit(loop.points[played.arms[:t, 0]], played.values[:t, 0])
    return float(np.abs(np.subtract(agent.posterior(NO_CONTEXT), peer.believed(loop.points))).max())


def middles(rounds: int, count: int) -> list[int]:
    """Rounds at the middles of equal parts of a run."""
    return [int(each) for each in (np.arange(count) + 0.5) * rounds / count]


def _single(arms: np.ndarray, values: np.ndarray, t: int) -> tuple[int, float, dict[str, Any]]:
    info = {key: each if key == "t" else each[0] for key, each in told(values[:, :1], t).items()}
    return int(arms[t, 0]), float(values[t, 0]), info

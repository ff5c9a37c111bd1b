"""Functions that change, what watches are told of them, and agents that play them."""

from __future__ import annotations

import numpy as np

import agents
from agents.restarts.outcomes import ValueModel
from bandit_envs import Setting
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.feedback import delivery

ARMS = np.linspace(0.0, 1.0, 40)[:, None]
SMOOTH, NOISE = make_kernel("rbf", 0.2), 0.1


DENSE = {}  # by kernel


def dense(kernel):
    if repr(kernel) not in DENSE:
        DENSE[repr(kernel)] = Gram(kernel, ARMS).dense
    return DENSE[repr(kernel)]


def functions(kernel, rng, count=1):
    root = np.linalg.cholesky(dense(kernel) + 1e-10 * np.eye(len(ARMS)))
    return (root @ rng.standard_normal((len(ARMS), count))).T


def told(kernel=SMOOTH, noise=NOISE, costs=0, levels=(0.0, 0.0)):
    def between(rows, columns):
        return dense(kernel)[np.ix_(rows, columns)]

    return ValueModel(between, noise**2, noise**2, levels, costs)


def watched(watch, point, value):
    """The ages of alarms of a watch that goes on after each."""
    value = value.reshape(len(point), -1)
    found = [watch.observe(t, x, y, 1.0) for t, (x, y) in enumerate(zip(point.tolist(), value, strict=True))]
    return [t for t, kept in enumerate(found) if kept is not None]


def setting(**keywords):
    return Setting(**{"arms": ARMS, "horizon": 120, "kernel": SMOOTH, "noise_std": NOISE, **keywords})


def alarms(restart, lengths, seed, noise=NOISE, options=None, **keywords):
    """Of an agent that plays one function after another."""
    rng = np.random.default_rng(seed)
    horizon = sum(lengths)
    agent = agents.make(
        "gp-agent",
        setting(horizon=horizon, may_change=True, **keywords),
        width=2.5,
        belief="delivered",
        restart=restart,
        restart_options=options,
    )
    agent.reset(seed)
    each = np.repeat([functions(SMOOTH, rng)[0] for _ in lengths], lengths, axis=0)
    late = keywords.get("max_delay", 0)
    due = np.arange(horizon) + (rng.integers(late + 1, size=horizon) if late else 0)
    value, noises = np.empty(horizon), noise * rng.standard_normal(horizon)
    for t in range(horizon):
        arm = agent.act(np.zeros(1))
        value[t] = each[t, arm] + noises[t]
        (come,) = (due[: t + 1] == t).nonzero()
        info = delivery(t, come, value[come], np.empty((len(come), 0)), late)
        agent.update(np.zeros(1), arm, 0.0, info)
    return agent.alarms

"""What an agent keeps of a round is a few numbers, so that long runs fit into memory."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest
from agent_cases import LISTENING

from agents.posteriors.fading import Drifting, Wandering
from agents.registry import resolve_agent
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import delivery

ARMS, LATE = np.linspace(0, 1, 5)[:, None], 2
BEGIN, ROUNDS = 200, 500
MOST_BYTES = 90  # a round and process: an array of one number takes 120
ONCE = 1000  # bytes of what is kept once, however many rounds there are


def setting(num_constraints: int) -> Setting:
    noise = 0.1 if num_constraints else 0.0
    return Setting(
        arms=ARMS,
        kernel=make_kernel("rbf"),
        horizon=BEGIN + ROUNDS,
        noise_std=0.1,
        max_delay=LATE,
        delay=PoissonDelay(mean=1.0),
        num_constraints=num_constraints,
        constraint_noise_std=noise,
    )


def play(agent: Any, costs: int, rounds: range) -> None:
    """Feedback comes two rounds late."""
    for t in rounds:
        arm = agent.act(np.zeros(1))
        value = float(np.sin(3.0 * arm) + 0.1 * np.cos(7.0 * t))
        late = np.arange(t - LATE, t - LATE + (t >= LATE))
        info = delivery(t, late, np.full(len(late), value), np.full((len(late), costs), 0.1), LATE)
        agent.update(np.zeros(1), arm, value, info)


def made(name: str) -> tuple[Any, int]:
    """An agent, of a problem with a constraint if it needs one."""
    try:
        return resolve_agent(name)(setting(0), None), 0
    except ValueError:
        return resolve_agent(name)(setting(1), None), 1


def processes(agent: Any) -> int:
    """How many Gaussian processes it keeps, each of which records its plays: of candidates or subproblems."""
    return len(getattr(agent, "agents", [agent])) + len(getattr(agent, "processes", ()))


def covaries_over_time(agent: Any) -> bool:
    """Whether its posterior has a row of a factor for each play: two plays of one arm are not alike."""
    memories = getattr(getattr(agent, "belief", None), "std_posterior", None)
    return any(isinstance(each, Drifting | Wandering) for each in getattr(memories, "_trial", ()))


@pytest.mark.long
@pytest.mark.parametrize("name", LISTENING)
def test_an_agent_keeps_a_few_numbers_of_a_round(name):
    agent, costs = made(name)
    agent.reset(0)
    if covaries_over_time(agent):
        pytest.skip("values of one arm cannot be summed: its plays covary over time")
    play(agent, costs, range(BEGIN))
    gc.collect()
    tracemalloc.start()
    try:
        play(agent, costs, range(BEGIN, BEGIN + ROUNDS))
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < ONCE + MOST_BYTES * ROUNDS * processes(agent)

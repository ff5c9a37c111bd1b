"""SupKernelUCB keeps plays in stages whose designs depend on no value of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from agent_cases import on_a_line
from players import play

import agents
from bandit_envs import BanditEnv
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems.synthetic import synthetic

HORIZON, LAMBDA = 120, 0.02
SETTING = on_a_line(15, horizon=HORIZON, rkhs_bound=1.0, max_delay=HORIZON)
ONE, HERE = np.zeros(1), np.zeros(1, dtype=np.int64)
CONTEXTUAL = synthetic(
    function="gp", num_arms=12, num_contexts=3, horizon=60, noise_std=0.1, delay={"law": "poisson", "mean": 4}
)


def feedback(t: int, value: float) -> dict[str, Any]:
    return delivery(t, np.array([t]), np.array([value]), np.empty((1, 0)), HORIZON)


def test_the_default_width_is_that_of_the_theorem():
    agent: Any = agents.make("sup-kernel-ucb", SETTING, noise_variance=LAMBDA, delta=0.05)
    width = 1.0 + 0.1 / np.sqrt(LAMBDA) * np.sqrt(2.0 * np.log(2.0 * HORIZON * 15 / 0.05))
    np.testing.assert_allclose(agent.band(np.ones((1, 1)), np.ones((1, 1))), width, rtol=1e-12)


def test_a_play_counts_in_its_stage_before_its_value_comes_and_until_it_never_will():
    agent: Any = agents.make("sup-kernel-ucb", SETTING, band=1.0)
    agent.reset(0)
    before = agent.processes[0].std(HERE)
    arm = agent.act(ONE)
    agent.update(ONE, arm, 0.0, delivery(0, np.empty(0, int), np.empty(0), np.empty((0, 0)), HORIZON))
    assert agent.stage_of == [0]
    assert agent.processes[0].std(HERE)[0, arm] < 0.2 * before[0, arm]
    agent.drop(np.zeros(1, dtype=int))
    np.testing.assert_allclose(agent.processes[0].std(HERE), before, atol=1e-9)


def test_contexts_have_arms_of_their_own_and_late_values_are_learnt():
    env = BanditEnv(CONTEXTUAL)
    observation, _ = env.reset(seed=0)
    agent: Any = agents.make("sup-kernel-ucb", env.setting, band=1.0)
    agent.reset(0)
    truth: Any = env.simulator.trials[0]
    play(env, agent, observation, CONTEXTUAL.horizon)
    best = truth.means[0, 0].reshape(3, 12)
    found = [agent.recommend(view).action for view in env.setting.scaled_contexts]
    loss = best.max(axis=1) - best[np.arange(3), found]
    assert (loss < 0.3 * np.ptp(best, axis=1)).all()

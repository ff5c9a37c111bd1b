"""What is asked at points has one answer, whether the points are the arms of a set or lie in a box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from agent_cases import GAUSSIAN, WITH_ALL, takes, told_for

import agents
from agents.agent.gp_agent import GPAgent
from agents.registry import resolve_agent
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.feedback import delivery

ARMS, LAG = 9, 2  # the last two plays are pending
WINDOW = 5
X = np.linspace(0.0, 1.0, ARMS)[:, None]
PLAYS = np.array([4, 0, 8, 2, 6, 4, 1, 7, 4, 3, 4, 5])  # the last arm has no value yet
SEEN = np.zeros(1)
COMMON: dict[str, Any] = {
    "horizon": len(PLAYS),
    "kernel": make_kernel("matern52", 0.4),
    "noise_std": 0.1,
    "max_delay": LAG,
    "delay": WITH_ALL.delay,
}
COSTS = {"num_constraints": 1, "constraint_prior_std": 1.0, "constraint_noise_std": 0.0}
TABLES = {"values": COMMON, "costs": {**COMMON, **COSTS}}
# Both factorise K + lambda I of twelve plays, by other routes: its condition number is at most 12 / 0.01.
CLOSE = 1e-7


def made(name: str, table: str, continuous: bool) -> Any:
    """Return an agent of a set or of a box."""
    place = {"low": np.zeros(1), "high": np.ones(1)} if continuous else {"arms": X}
    window = {"window": WINDOW} if takes(name, window=WINDOW) else {}  # the default depends on the points
    return resolve_agent((name, told_for(name) | window))(Setting(**place, **TABLES[table]))


def told(name: str, table: str, continuous: bool) -> GPAgent:
    """Return an agent that was given the same plays with the same feedback, on a set or on a box."""
    agent = made(name, table, continuous)
    setting = agent.setting
    agent.reset(0)
    reward, cost = np.sin(6.0 * X[PLAYS, 0]), X[PLAYS] - 0.6
    for t, arm in enumerate(PLAYS.tolist()):
        rounds = np.arange(t, t + 1) - LAG
        rounds = rounds[rounds >= 0]
        info = delivery(t, rounds, reward[rounds], cost[rounds][:, : setting.num_constraints], LAG)
        action = setting.to_action(X[arm]) if continuous else arm
        agent.update(SEEN, action, 0.0, info)
    return agent


def answers(agent: GPAgent) -> Iterator[tuple[str, Any]]:
    """Yield what a belief, and an objective, answer at the arms, by the question."""
    if agent.setting.continuous:
        points: Any = agent.domain.at(agent, SEEN, X)  # type: ignore[attr-defined]
    else:
        points = agent.arms(np.zeros(1, dtype=np.int64))
    belief, objective = agent.belief, agent.objective
    yield "band", points.band(belief)
    yield "known", points.known(belief)
    yield "pending", points.pending(belief)
    yield "played", points.played(belief)
    yield "largest prior mean", points.prior_mean(belief)
    joint = points.joint(belief)
    yield "joint std", joint.std
    if not belief.fills_in:  # on a set the mean leaves made-up values out
        yield "joint mean", joint.mean
    yield "covariance", joint.covariance(0, np.arange(3), np.arange(2, ARMS))
    yield "weights", [(each.share.sum(axis=0), each.own) for each in points.observation_weights(belief)]
    scores = np.linspace(0.0, 1.0, ARMS)[None]
    for ask in (objective.penalised, objective.worth):
        yield ask.__name__, ask(scores.copy(), points, agent.t)
    yield "prices", objective.prices(points)
    mean, std = points.known(belief)
    yield "beliefs", objective.beliefs(mean, std, points)


def of_each_kind(table: str) -> list[str]:
    """Return the first agent of each objective and belief that plays sets, boxes and the table's costs."""
    first: dict[Any, str] = {}
    for name in GAUSSIAN:
        handled = agents.features(name)
        if handled.box and not handled.privileged and (table == "values" or handled.constraint):
            agent = made(name, table, False)
            agent.reset(0)
            if isinstance(agent, GPAgent):
                first.setdefault((type(agent.objective), type(agent.belief)), name)
    return list(first.values())


CASES = [(name, table) for table in TABLES for name in of_each_kind(table)]


@pytest.mark.parametrize(("name", "table"), CASES)
def test_beliefs_and_objectives_answer_at_points_of_a_box_as_at_arms(name, table):
    on_set, on_box = (dict(answers(told(name, table, continuous))) for continuous in (False, True))
    for question, answer in on_set.items():
        if answer is None:
            assert on_box[question] is None
            continue
        found, never = np.array(on_box[question]), np.isneginf(answer)  # a search needs finite scores
        assert not never.any() or found[never].max() < np.min(answer, where=~never, initial=np.inf)
        np.testing.assert_allclose(found[~never], np.array(answer)[~never], CLOSE, CLOSE, err_msg=question)

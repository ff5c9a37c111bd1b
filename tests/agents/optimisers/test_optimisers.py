"""Optimisers of other libraries as agents: what they are asked and told, and that they keep the rules."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import ClassVar

import agent_cases
import numpy as np
import pytest
from players import at_once

import agents
from agents.optimisers.factories import OptimiserAgent
from agents.registry import resolve_agent
from bandit_envs import Setting
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems import build
from gpbandits import check_agent

NAMES = [name for name in agents.names() if hasattr(resolve_agent(name).make, "requires")]
EACH = pytest.mark.parametrize("name", [agent_cases.installed(name) for name in NAMES])
ARMS = np.array([[0.0, 10.0], [4.0, 10.0], [4.0, 30.0]])  # scaled to the unit square: 3 of its corners
SEEN = np.zeros(1)


class Spy:
    """An engine that asks for one point and keeps what it hears."""

    made: ClassVar[list[Spy]] = []

    def __init__(self, task, point=(0.9, 0.2)):
        self.task, self.point, self.heard = task, np.array(point), []
        Spy.made.append(self)

    def ask(self):
        return self.point

    def start(self, round, point):
        self.heard.append((round, tuple(point)))

    def tell(self, round, reward):
        self.heard.append((round, reward))


def spied(setting, **options):
    agent = OptimiserAgent(setting, partial(Spy, **options))
    agent.reset(2**40)
    return agent, Spy.made[-1]


def test_the_nearest_arm_is_played_and_told_where_it_is():
    agent, engine = spied(Setting(arms=ARMS, horizon=5))
    assert agent.act(SEEN) == agent.act(SEEN) == 1
    agent.update(SEEN, 1, 2.5, at_once(0, 2.5))
    assert engine.heard == [(0, (1.0, 0.0)), (0, 2.5)]
    np.testing.assert_array_equal(engine.task.arms, [[0, 0], [1, 0], [1, 1]])


def test_a_box_is_played_as_it_is_and_a_play_of_somebody_else_is_told_too():
    agent, engine = spied(Setting(low=np.zeros(2), high=np.array([1.0, 50.0]), horizon=5))
    np.testing.assert_allclose(agent.act(SEEN), [0.8, -0.6], rtol=1e-6)
    agent.update(SEEN, np.array([0.0, 1.0]), 1.0, at_once(0, 1.0))
    assert engine.heard == [(0, (0.5, 1.0)), (0, 1.0)]
    assert engine.task.arms is None


def test_feedback_is_told_when_it_arrives():
    agent, engine = spied(Setting(arms=ARMS, horizon=5, max_delay=2))
    none = np.array([], dtype=np.int64), np.array([]), np.empty((0, 0))
    agent.update(SEEN, 1, 0.0, delivery(0, *none, 2))
    assert engine.heard == [(0, (1.0, 0.0))]
    agent.update(SEEN, 2, 3.0, delivery(1, np.array([1, 0]), np.array([1.0, 2.0]), np.empty((2, 0)), 2))
    assert engine.heard[1] == (1, (1.0, 1.0))
    assert sorted(engine.heard[2:]) == [(0, 2.0), (1, 1.0)]


def test_libraries_are_given_seeds_of_31_bits_that_differ():
    setting = Setting(arms=ARMS, horizon=5)
    words = set()
    for seed in range(20):
        agent, _ = spied(setting)
        agent.reset(seed)
        words.add(Spy.made[-1].task.seed)
    assert len(words) == 20
    assert all(0 <= word < 2**31 for word in words)


@EACH
@pytest.mark.long
def test_an_optimiser_keeps_the_rules(name):
    late = {"delay": {"law": "poisson", "mean": 1}, "num_arms": 9, "horizon": 7}
    early = {"n_startup_trials": 3} if name.startswith("optuna") else {}
    check_agent((name, early), {"late": build("delayed", late)}, time_limit=300)


ABSENT = """
import sys
extra, hidden, entrants = sys.argv[1], sys.argv[2].split(), sys.argv[3:]
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
import agents
from gpbandits import evaluate
from gpbandits.catalogue import agent_rows
evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=1, env_kwargs={"horizon": 3})
assert not any("cannot be loaded" in cell for row in agent_rows() for cell in row)
assert agents.features("sb3-dqn").box is False
for name in entrants:
    try:
        evaluate("GPBandit-GP-v0", [name], trials=1)
    except ModuleNotFoundError as error:
        assert f"pip install 'gpbandits[{extra}]'" in str(error), error
    else:
        raise AssertionError(name)
print("fine")
"""
PEERS = "optuna botorch smac bayes_opt skopt ConfigSpace"
LEARNERS = [name for name in agents.names() if name.startswith("sb3-")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("extra", "hidden", "names"),
    [("peers", PEERS, NAMES), ("rl", "torch stable_baselines3 sb3_contrib", LEARNERS)],
)
def test_without_an_extra_the_rest_works_and_the_error_names_it(extra, hidden, names):
    command = [sys.executable, "-W", "error", "-c", ABSENT, extra, hidden, *names]
    root = str(Path(__file__).parents[3])
    env = os.environ | {"PYTHONPATH": root}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "fine", done.stderr


def test_what_an_optimiser_requires_is_said_by_the_registry():
    assert len(NAMES) >= 7
    for name in NAMES:
        factory = resolve_agent(name)
        assert set(factory.missing) <= set(vars(factory.make)["requires"])
    assert resolve_agent("gp-ucb").missing == []

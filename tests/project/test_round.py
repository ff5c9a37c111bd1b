"""A round of the plainest agents, and a question, stay short enough to be read in one sitting."""

import subprocess
import sys
from functools import partial
from typing import Any

import pytest
from pages import ROOT, loaded

import agents
from bandit_envs import make
from gpbandits import Integer, Log, Tuner, evaluate

CHECKS = (
    *("bandit_envs.basics.arguments", "bandit_envs.problem.setting_checks"),
    *("agents.options", "agents.named"),
)
BOX = {"continuous": True, "horizon": 20}


@pytest.fixture(scope="module")
def one_round() -> Any:
    return loaded("benchmarks/one_round.py")


def test_a_round_of_gp_ucb_is_50_calls_in_15_files_and_one_object(one_round):
    calls, deep = one_round.count("gp-ucb", "GPBandit-GP-v0")
    assert calls.total() <= 50
    assert len({name for name, _ in calls}) <= 15
    assert deep == 1


@pytest.mark.parametrize(
    ("agent", "environment", "keywords", "most"),
    [
        ("gp-ucb-sdf", "GPBandit-GP-v0", {}, 70),
        ("gp-ucb-sdf", "GPBandit-Delayed-v0", {}, 80),
        ("config", "GPBandit-GP-v0", {}, 80),
        ("config", "GPBandit-Constrained-v0", {}, 105),
        ("gp-ucb", "GPBandit-GP-v0", BOX, 450),
    ],
)
def test_a_round_of_other_agents_is_so_many_calls_at_most(one_round, agent, environment, keywords, most):
    calls, deep = one_round.count(agent, environment, **keywords)
    assert calls.total() <= most
    assert deep == 1


def test_an_environment_is_made_in_400_calls_at_most(one_round):
    make("GPBandit-GP-v0")
    _, calls = one_round.counted(lambda: make("GPBandit-GP-v0"))
    assert calls.total() <= 400


def test_an_agent_of_costs_is_made_in_400_calls_at_most(one_round):
    setting = make("GPBandit-Constrained-v0").get_wrapper_attr("setting")
    agents.make("config", setting)
    _, calls = one_round.counted(lambda: agents.make("config", setting))
    assert calls.total() <= 400


def test_the_first_agent_of_a_process_is_made_in_800_calls_at_most():
    script = """
import one_round, agents
from bandit_envs import make
setting = make("GPBandit-Constrained-v0").get_wrapper_attr("setting")
agents.features("config")  # imports the factory: bodies of modules are no calls
print(one_round.counted(lambda: agents.make("config", setting))[1].total())
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 800


def test_a_small_evaluation_checks_arguments_and_settings_once_at_the_edge(one_round):
    place = {"num_arms": 30, "horizon": 20}
    play = partial(evaluate, "GPBandit-GP-v0", ["gp-ucb", "random"], trials=2, env_kwargs=place)
    play()
    _, calls = one_round.counted(play)
    assert sum(number for (module, _), number in calls.items() if module in CHECKS) <= 620


def test_the_30th_question_of_a_tuner_is_1100_calls_at_most(one_round):
    tuner = Tuner({"rate": Log(1e-4, 1.0), "depth": Integer(1, 8)}, seed=0)
    for _ in range(29):
        ticket, parameters = tuner.ask()
        tuner.tell(ticket, -sum(((value - 1.0) / 3.0) ** 2 for value in parameters.values()))
    _, calls = one_round.counted(tuner.ask)
    assert calls.total() <= 1100

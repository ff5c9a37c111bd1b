"""BPE-Delay is BPE with batches that wait."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from agent_cases import on_a_line

import agents
from agents.algorithms.elimination import WAITS
from bandit_envs import Setting
from bandit_envs.laws.delays import Constant, PoissonDelay
from gpbandits import evaluate

SETTING = on_a_line(15, horizon=200, rkhs_bound=1.0, delay=PoissonDelay(5.0))


LATE = {"law": "poisson", "mean": 10}


def ends(setting: Setting, **options) -> set[int]:
    agent = agents.make("bpe-delay", setting, **options)
    agent.reset(0)
    return agent.restart.ends


def regret(agent: Any, delay: Any = LATE) -> np.ndarray:
    problem = {"num_arms": 20, "horizon": 120, "delay": delay}
    return evaluate("GPBandit-RKHS-v0", {"it": agent}, trials=2, seed=3, env_kwargs=problem).regret["it"]


@pytest.mark.long
def test_without_extra_rounds_it_is_bpe():
    np.testing.assert_array_equal(regret(("bpe-delay", {"wait": 0})), regret("bpe"))
    assert (regret("bpe-delay") != regret("bpe")).any()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("wait", [None, *WAITS])
def test_without_delays_nothing_is_waited_for(wait):
    np.testing.assert_array_equal(regret(("bpe-delay", {"wait": wait}), None), regret("bpe", None))


def test_where_no_law_is_published_the_longest_delay_is_waited_for():
    withheld = replace(SETTING, delay=None, max_delay=12)
    assert ends(withheld) == ends(SETTING, wait=12) == ends(replace(SETTING, max_delay=12), wait="max_delay")
    assert ends(withheld) != ends(SETTING)


def test_nothing_is_waited_for_that_never_arrives():
    assert ends(replace(SETTING, max_delay=3), wait="sub-exponential") == ends(SETTING, wait=3)


def test_what_all_comes_in_time_is_learnt_before_arms_are_struck_off():
    constant = replace(SETTING, delay=Constant(8), max_delay=8)
    assert ends(constant) == ends(constant, wait=8)

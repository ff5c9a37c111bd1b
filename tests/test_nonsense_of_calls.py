"""What is asked of environments, agents and evaluations once they are made: nonsense is refused by its name.

`tests/test_nonsense.py` is about what they are made of.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from test_nonsense import Odd, agent, by_hand, problem, setting

import agents
from agents.registry import resolve_agent
from agents.tuning import PreferenceTuner
from bandit_envs import BanditEnv
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.laws import KnownFunction
from gpbandits import Tuner, evaluate
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.result import Result
from gpbandits.logs.reading import read_log
from gpbandits.text.dialogue import read_transcript

HUGE = 10**12  # 8 TB as an array
TINY = [1e-320, 5e-324]  # whose squares are 0
NO_SEEDS = ["3", 2.5, True, -1, [1], Odd()]
NO_DICTS = [2.5, 0, False, "", "function_seed", [], [1], Odd()]
HERE = np.zeros(1, dtype=np.float32)
SMALL = {"num_arms": 6, "horizon": 5}


def env_reset(**given: Any) -> Any:
    return BanditEnv("gp", **SMALL).reset(**given)


def vector_reset(**given: Any) -> Any:
    return BanditVectorEnv("gp", 2, **SMALL).reset(**given)


def vector(num_envs: Any) -> Any:
    return BanditVectorEnv("gp", num_envs, **SMALL)


def evaluated(**given: Any) -> Any:
    return evaluate("GPBandit-GP-v0", ["random"], **{"trials": 1, "env_kwargs": SMALL, **given})


def table(baseline: Any) -> Any:
    return evaluated().table(baseline=baseline)


def valued(function: Callable[..., Any]) -> Any:
    return BanditEnv(by_hand(reward=KnownFunction(function))).reset(seed=0)


def many_trials(num_trials: Any) -> Any:
    return agents.make("gp-ucb", setting(), num_trials=num_trials)


def updated(name: str, info: Any) -> None:
    made = agents.make(name, setting())
    made.reset(0)
    made.update(HERE, made.act(HERE), 0.0, info)


def of(call: Callable[..., Any], argument: str, *values: Any, **others: Any) -> list[Any]:
    """A case a value."""
    return [(partial(call, **others, **{argument: value}), argument, value) for value in values]


TABLE = [
    # Sizes, before memory and time.
    *(case for key in ("dim", "horizon", "num_arms", "num_contexts") for case in of(problem, key, HUGE)),
    *of(problem, "context_dim", HUGE, num_contexts=2),
    *of(problem, "random_features", HUGE),
    *of(problem, "replicates", HUGE, name="cnn-tuning", train=True),
    *of(problem, "shape", (HUGE, HUGE, HUGE), name="cnn-tuning", train=True),
    *of(setting, "horizon", HUGE),
    *of(vector, "num_envs", HUGE),
    *of(many_trials, "num_trials", HUGE),
    *of(evaluated, "trials", HUGE),
    # What is divided by, or squared.
    *of(problem, "length_scale", *TINY, [[1], [2, 3]]),
    *of(problem, "kernel", RBF(1e-320)),
    *of(problem, "rkhs_norm", *TINY, 1e200, function="rkhs"),
    *(
        case
        for function in ("hard", "bumps")
        for case in of(problem, "rkhs_norm", *TINY, name="hard", function=function)
    ),
    *of(agent, "zeta", *TINY, name="bandit-oco"),
    *of(agent, "cost_width", float("nan"), -1.0, name="ratio-ucb"),
    # Seeds and options of a reset.
    *of(env_reset, "seed", *NO_SEEDS),
    *of(vector_reset, "seed", *NO_SEEDS, [1, 2.5], [1, "x"], [1, 2, 3]),
    *(case for reset in (env_reset, vector_reset) for case in of(reset, "options", *NO_DICTS, seed=0)),
    # Evaluations.
    *of(evaluated, "env_kwargs", *NO_DICTS, {1: 2}),
    *of(evaluated, "checkpoints", [True, 5], [np.True_, 5], [1.0, 5], "x", 0),
    *of(evaluated, "label", "\ud800", 0),
    *of(table, "baseline", [], "", 0, "nobody", ["random"]),
    *of(trial_seeds, "seed", [1, 2], None, 2.5, True, -1, trial=0),
    *of(trial_seeds, "trial", [1], None, "0", -1, seed=0),
    *of(trial_seeds, "entropy", "x", -1, seed=0, trial=0),
]


def _id(case: Any) -> str:
    called, argument, value = case
    return f"{called.func.__name__}-{argument}-{value!r}"[:60].replace("\ud800", "surrogate")


@pytest.mark.parametrize(("called", "argument", "value"), TABLE, ids=map(_id, TABLE))
def test_a_call_that_makes_no_sense_is_refused_by_its_argument(called, argument, value):
    with pytest.raises(ValueError, match=argument) as raised:
        called()
    assert "got" in str(raised.value)
    assert type(raised.value).__module__ != "gymnasium.error"


@pytest.mark.parametrize(
    "values",
    [
        lambda x: 1j * x[:, 0],
        lambda x: np.full(len(x), "1"),
        lambda x: np.full(len(x), 1e200),
        lambda x: [[1.0], [1.0, 2.0]],
        lambda x: None,
    ],
)
def test_a_function_of_ones_own_has_real_values_of_which_there_are_variances(values):
    with pytest.raises(ValueError, match=r"known function must be .*got"):
        valued(values)


@pytest.mark.parametrize("name", [name for name in agents.names() if not resolve_agent(name).missing])
def test_every_agent_is_reset_with_an_integer(name):
    made = agent(name)
    for seed in ("3", 2.5, None, True, -1, [1], Odd()):
        with pytest.raises(ValueError, match="seed must be an integer >= 0, got"):
            made.reset(seed)


@pytest.mark.parametrize("name", ["gp-ucb", "random", "bandit-oco", "rgp-pe", "gp-ei"])
@pytest.mark.parametrize("info", [0, None, [], "x"])
def test_an_agent_is_told_a_dict(name, info):
    with pytest.raises(ValueError, match=r"info must be the dict .*got"):
        updated(name, info)


class Paying(BanditEnv):
    """Pays what it is told, in its reward or in what it tells of it."""

    def __init__(self, paid: float, told: bool):
        super().__init__("gp", **SMALL)
        self.paid, self.told = paid, told

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        if self.told:
            info["feedback_reward"] = np.full_like(info["feedback_reward"], self.paid)
        return observation, reward if self.told else self.paid, terminated, truncated, info


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("paid", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["random", "gp-ucb", "bandit-oco"])
def test_rewards_that_are_no_numbers_end_an_evaluation_whoever_plays(name, paid, told):
    with pytest.raises(ValueError, match=r"reward.* must be finite, got"):
        evaluate(lambda: Paying(paid, told), [name], trials=1)


def test_a_label_that_no_file_can_hold_is_refused_before_anything_is_played():
    with pytest.raises(ValueError, match="label of an agent must be text in one line, got"):
        evaluate(lambda: pytest.fail("it was made"), {"\ud800": "random"})


def test_elimination_plans_no_more_plays_than_are_left_where_hardly_anything_is_uncertain():
    made = agents.make("rgp-pe", problem(**SMALL, signal_variance=1e-16).setting())
    made.reset(0)
    assert made.act(HERE) in range(SMALL["num_arms"])


@pytest.mark.parametrize("num_trials", [None, 2])
def test_an_agent_without_a_model_recommends_without_mean_and_deviation(num_trials):
    made = agents.make("bandit-oco", setting(), num_trials=num_trials)
    made.reset(0 if num_trials is None else [0, 1])
    found = made.recommend()
    assert found.mean is None
    assert found.std is None


READERS = {
    "an agent": agents.load,
    "a tuner": Tuner.load,
    "preferences": PreferenceTuner.load,
    "a result": Result.load,
    "a transcript": read_transcript,
    "a log": read_log,
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in its file system")
@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_a_pipe_is_refused_where_a_file_is_read_and_nobody_waits_for_its_writer(read, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Timer(0.5, lambda: os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK)))
    writer.start()  # for a reader that waits
    with pytest.raises(ValueError, match="path must be the path of a file, not of a pipe or device, got"):
        read(path)
    writer.cancel()

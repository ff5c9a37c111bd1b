"""What an agent changes in its process is put back before the next one plays."""

from __future__ import annotations

import os
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from players import FirstArm

from gpbandits import evaluate
from gpbandits.evaluation.process_state import ProcessState, preserved_process

CHANGES = {
    "numpy's error handling": lambda folder: np.seterr(divide="raise"),
    "the filters of warnings": lambda folder: warnings.simplefilter("ignore", FutureWarning),
    "the environment variables": lambda folder: os.environ.update(A_NAME="x", HOME="nowhere"),
    "the working directory": os.chdir,
    "the recursion limit": lambda folder: sys.setrecursionlimit(3456),
}


class Changing(FirstArm):
    def __init__(self, setting, what, folder):
        super().__init__(setting)
        self.what, self.folder = what, folder

    def act(self, observation):
        CHANGES[self.what](self.folder)
        return 0


class Raising(Changing):
    def act(self, observation):
        super().act(observation)
        raise RuntimeError("not today")


class Retuning(FirstArm):
    """Sets the parameters of every kernel that its setting publishes."""

    def reset(self, seed):
        for kernel in (self.setting.kernel, self.setting.latent_kernel):
            if kernel is not None:
                kernel.set_params(**{name: 7.0 for name in kernel.get_params() if "length_scale" in name})


class Looking(FirstArm):
    """Keeps the state in which it begins."""

    seen: ProcessState

    def reset(self, seed):
        type(self).seen = ProcessState.now()


@pytest.mark.parametrize("what", CHANGES)
def test_the_next_agent_finds_the_process_as_the_first_one_did(what, tmp_path):
    before = ProcessState.now()
    options = {"what": what, "folder": str(tmp_path)}
    few = {"num_arms": 5, "horizon": 3}
    evaluate("GPBandit-GP-v0", {"a": (Changing, options), "b": Looking}, trials=1, env_kwargs=few)
    assert before.changed(Looking.seen) == before.changed(ProcessState.now()) == []
    with pytest.raises(RuntimeError, match="not today"):
        evaluate("GPBandit-GP-v0", {"a": (Raising, options)}, trials=1, env_kwargs=few)
    assert before.changed(ProcessState.now()) == []


def test_a_folder_that_was_removed_does_not_keep_the_rest_from_being_restored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    os.chdir("gone")
    with preserved_process():
        os.chdir(tmp_path)
        (tmp_path / "gone").rmdir()
        np.seterr(divide="raise")
    assert np.geterr()["divide"] != "raise"


def test_warnings_that_an_agent_hushed_are_given_again():
    with pytest.warns(FutureWarning, match="later"):  # noqa: PT031
        with preserved_process():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.warn("later", FutureWarning, stacklevel=1)
        warnings.warn("later", FutureWarning, stacklevel=1)


class OneSetting(gym.Wrapper):
    """Publishes the same setting in every trial, as an environment of another package may."""

    def __init__(self, env):
        super().__init__(env)
        self.setting = env.get_wrapper_attr("setting")


def foreign(**keywords):
    return OneSetting(gym.make("GPBandit-GP-v0", **keywords))


@pytest.mark.parametrize(
    ("environment", "agent"),
    [("GPBandit-GP-v0", "gp-ucb"), ("GPBandit-Clicks-v0", "laplace-ucb"), (foreign, "gp-ucb")],
    ids=["kernel", "latent kernel", "foreign environment"],
)
@pytest.mark.parametrize("trials", [1, 3])
def test_an_agent_that_changes_the_published_kernel_changes_no_play_of_the_next(environment, agent, trials):
    given = {"trials": trials, "env_kwargs": {"num_arms": 30, "horizon": 15}}
    alone = evaluate(environment, {"next": agent}, **given)
    after = evaluate(environment, {"first": Retuning, "next": agent}, **given)
    np.testing.assert_array_equal(after.actions["next"], alone.actions["next"])

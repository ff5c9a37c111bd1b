"""The vector environments of Gymnasium and stable-baselines3 run every id, in this process and in others."""

import multiprocessing
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import bandit_envs  # noqa: F401 (registers the ids)
from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import data_files

PLAYABLE = [env_id for env_id, problem in IDS.items() if all(map(find, data_files(problem)))]
HORIZON, STEPS = 6, 9  # an episode ends, and another begins


def make(env_id: str) -> gym.Env:
    """As other programs do: nothing of ours is imported before."""
    return gym.make(f"bandit_envs:{env_id}", horizon=HORIZON)


def makers(env_id: str) -> list[Any]:
    return [partial(make, env_id)] * 2


def outputs(envs: gym.vector.VectorEnv) -> list[Any]:
    envs.action_space.seed(0)
    seen: list[Any] = [envs.reset(seed=5)]
    seen += [envs.step(envs.action_space.sample()) for _ in range(STEPS)]
    envs.close()
    return seen


def outputs_in_sb3(envs: Any) -> list[Any]:
    envs.seed(5)
    envs.action_space.seed(0)
    seen: list[Any] = [envs.reset()]
    for _ in range(STEPS):
        seen.append(envs.step(np.array([envs.action_space.sample() for _ in range(2)])))
        seen[-1] = (seen[-1][0], seen[-1][1].astype(np.float32), *seen[-1][2:])  # as `DummyVecEnv` rounds
    envs.close()
    return seen


@pytest.fixture(scope="module", autouse=True)
def warm_forkserver() -> None:
    """Processes of the fork server start with the packages imported: milliseconds instead of seconds."""
    multiprocessing.set_forkserver_preload(
        ["bandit_envs.environment.vector", "stable_baselines3.common.vec_env"]
    )


@pytest.fixture(scope="module", autouse=True)
def sent_by_value() -> Iterator[None]:
    """What is sent takes its code along: a spawned process imports no tests, nor torch with them."""
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


@pytest.mark.long
@pytest.mark.parametrize("env_id", PLAYABLE)
def test_gymnasium_runs_every_id_in_other_processes_as_in_this_one(env_id):
    here = outputs(SyncVectorEnv(makers(env_id)))
    there = outputs(AsyncVectorEnv(makers(env_id), context="forkserver"))
    np.testing.assert_equal(there, here)
    assert here[HORIZON][3].all()


@pytest.mark.long
@pytest.mark.parametrize("env_id", PLAYABLE)
def test_stable_baselines3_runs_every_id_in_other_processes_as_in_this_one(env_id):
    here = outputs_in_sb3(DummyVecEnv(makers(env_id)))
    there = outputs_in_sb3(SubprocVecEnv(makers(env_id), start_method="forkserver"))
    np.testing.assert_equal(there, here)
    assert here[HORIZON][2].all()


@pytest.mark.long
def test_spawned_processes_return_what_this_one_does():
    here = outputs(SyncVectorEnv(makers("GPBandit-Contextual-v0")))
    there = outputs(AsyncVectorEnv(makers("GPBandit-Contextual-v0"), context="spawn"))
    np.testing.assert_equal(there, here)

"""The thread in which a learner learns: it takes turns, its errors surface, and it ends with its agent."""

from __future__ import annotations

import gc
import signal
import threading
import time

import gymnasium as gym
import numpy as np
import pytest
import torch
from learner_cases import SMALL, actions, play
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.vec_env import DummyVecEnv

import agents
from agents.agent.generators import preserved_generators
from agents.rl.bridge import Rendezvous
from agents.rl.learner import SB3Agent
from bandit_envs import BanditEnv, Setting


def learners() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "stable-baselines3"]


@pytest.mark.long
def test_the_learner_plays_what_it_would_play_against_the_environment_itself():
    class Recorded(gym.Wrapper):
        def __init__(self, env):
            super().__init__(env)
            self.plays = []

        def step(self, action):
            self.plays.append(int(action))
            return super().step(action)

    volatile = {"availability": {"law": "bernoulli", "p": 0.4}}
    kinds = ("sb3-a2c", A2C, {}), ("sb3-dqn", DQN, {}), ("sb3-maskable-ppo", MaskablePPO, volatile)
    for name, learner, laws in kinds:
        env = BanditEnv("gp", **SMALL, **laws)
        observation, info = env.reset(seed=5)
        agent = agents.make(name, env)
        with preserved_generators():
            agent.reset(3)
            agent.start(info)
            through = play(env, agent, observation)
        recorded = Recorded(BanditEnv("gp", **SMALL, **laws))
        with preserved_generators():
            seed = int(np.random.SeedSequence(3).generate_state(1)[0])
            np.random.seed(seed)  # noqa: NPY002 (what stable-baselines3 does)
            torch.manual_seed(seed)
            options = dict(agent.recipe.options)
            vector = DummyVecEnv([lambda recorded=recorded: recorded])
            vector.seed(5)
            model = learner("MlpPolicy", vector, device="cpu", **options)
            model.action_space.seed(seed)
            model.learn(SMALL["horizon"])
        assert through == recorded.plays[: SMALL["horizon"]]


class Broken(A2C):
    def train(self):
        if self.num_timesteps > 10:
            raise ArithmeticError("the learner has diverged")
        super().train()


class Interrupted(SB3Agent):
    """A learner that is interrupted in its eighth round."""

    def act(self, observation):
        if self._round == 7:
            raise KeyboardInterrupt
        return super().act(observation)


def test_an_error_in_the_learner_surfaces_in_the_loop_with_its_traceback():
    with pytest.raises(ArithmeticError, match="the learner has diverged") as caught:
        actions(("agents.rl:sb3", {"algorithm": Broken}))
    assert "while agent 'it' played" in caught.value.__notes__
    assert any(entry.name == "train" for entry in caught.traceback)
    assert learners() == []


def test_no_thread_outlives_an_evaluation_that_ends_or_is_cut_short_or_interrupted():
    actions("sb3-a2c")
    assert learners() == []
    actions("sb3-dqn", max_episode_steps=9)
    assert learners() == []
    with pytest.raises(KeyboardInterrupt):
        actions(lambda setting: Interrupted(setting, agents.sb3(setting).recipe))
    assert learners() == []


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the interval timer of POSIX")
def test_ctrl_c_while_the_learner_computes_ends_its_thread():
    class Slow(A2C):
        def train(self):
            time.sleep(0.05)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(KeyboardInterrupt):
            actions(("agents.rl:sb3", {"algorithm": Slow, "n_steps": 1}), horizon=10_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert learners() == []


@pytest.mark.long
def test_an_agent_that_is_forgotten_or_reset_ends_its_thread():
    agent = agents.make("sb3-a2c", Setting(arms=np.eye(3), horizon=10))
    with preserved_generators():
        agent.reset(0)
        agent.act(np.zeros(1, dtype=np.float32))
        agent.reset(1)
    assert len(learners()) == 1
    del agent
    gc.collect()
    assert learners() == []


def test_a_rendezvous_takes_turns():
    def double(ask):
        value = ask("first")
        while True:
            value = ask(2 * value)

    rendezvous = Rendezvous(double)
    assert rendezvous.question() == "first"
    for value in range(100):
        rendezvous.answer(value)
        assert rendezvous.question() == 2 * value
    rendezvous.close()
    rendezvous.close()  # again: nothing happens


def test_an_error_of_the_constructor_surfaces_in_reset():
    agent = agents.make("sb3-ppo", Setting(arms=np.eye(3)), batch_size=0)
    with preserved_generators(), pytest.raises(Exception, match=r".") as caught:
        agent.reset(0)
    assert any(entry.name == "__init__" for entry in caught.traceback)


def test_a_callback_that_stops_the_learner_is_an_error_that_says_so():
    class Short(A2C):
        def learn(self, total_timesteps, *arguments, **keywords):
            return super().learn(5)

    with pytest.raises(RuntimeError, match="the learner stopped before the last round"):
        actions(("agents.rl:sb3", {"algorithm": Short}))


def test_a_learner_that_learns_in_pieces_goes_on_in_the_same_trial():
    """Each piece resets the environment, which is the bridge: no round is lost, none is played twice."""

    class Pieces(A2C):
        def learn(self, total_timesteps, *arguments, **keywords):
            for _ in range(total_timesteps // 10):
                super().learn(10)

    whole, pieces = (actions(("agents.rl:sb3", {"algorithm": algorithm})) for algorithm in (A2C, Pieces))
    np.testing.assert_array_equal(whole, pieces)

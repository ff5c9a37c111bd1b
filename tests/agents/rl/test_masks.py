"""Learners where arms come and go: `MaskablePPO` plays, against the environment and in the comparison."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.agent.generators import preserved_generators
from agents.rl.recipe import ALGORITHMS
from bandit_envs import BanditEnv
from bandit_envs.problems import build

torch = pytest.importorskip("torch", reason="MaskablePPO needs torch")
contrib = pytest.importorskip("sb3_contrib", reason="MaskablePPO is of sb3-contrib")
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402 (after the skip)

SMALL = {"num_arms": 12, "horizon": 24, "availability": {"law": "bernoulli", "p": 0.4}}


class Noting(gym.Wrapper):
    """Keeps what is played."""

    def __init__(self, env: gym.Env):
        super().__init__(env)
        self.plays: list[int] = []

    def step(self, action):
        self.plays.append(int(action))
        return super().step(action)


@pytest.mark.long
def test_a_learner_in_the_loop_plays_what_it_plays_on_the_environment_itself():
    env = BanditEnv("gp", **SMALL)
    seen, info = env.reset(seed=5)
    agent, through = agents.make("sb3-maskable-ppo", env), []
    with preserved_generators():
        agent.reset(3)
        agent.start(info)
        for _ in range(SMALL["horizon"]):
            through.append(agent.act(seen))
            following, reward, *_, info = env.step(through[-1])
            agent.update(seen, through[-1], reward, info)
            seen = following
    noting = Noting(BanditEnv("gp", **SMALL))
    with preserved_generators():
        seed = int(np.random.SeedSequence(3).generate_state(1)[0])
        np.random.seed(seed)  # noqa: NPY002 (what stable-baselines3 does)
        torch.manual_seed(seed)
        vector = DummyVecEnv([lambda: noting])
        vector.seed(5)
        model = contrib.MaskablePPO("MlpPolicy", vector, device="cpu", **agent.recipe.options)
        model.action_space.seed(seed)
        model.learn(SMALL["horizon"])
    assert through == noting.plays[: SMALL["horizon"]]


BLIND = [name for name, algorithm in ALGORITHMS.items() if not algorithm.masks]


@pytest.mark.parametrize("name", BLIND)
def test_a_learner_that_sees_no_masks_is_refused_by_name(name):
    with pytest.raises(ValueError, match='algorithm must be "maskable-ppo" where arms may be missing'):
        agents.sb3(build("gp", SMALL).setting(), name)

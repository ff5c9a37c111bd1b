"""What plays is what was registered: a class of one's own, wrappers and time limits hold for every agent."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import WrapperSpec
from players import UniformArms

from agents.rl.training import plain_problem
from bandit_envs.environment.envs import BanditEnv, make
from gpbandits import evaluate
from gpbandits.evaluation.play import Stage

SMALL = {"num_arms": 20, "horizon": 12}


class Quantised(BanditEnv):
    """Plays even arms alone."""

    def step(self, action):
        return super().step(int(action) // 2 * 2)


class Halved(gym.Wrapper):
    """Tells half of the regret."""

    def step(self, action):
        *others, info = self.env.step(action)
        info["oracle"]["regret"] = info["oracle"]["regret"] / 2
        return *others, info


@pytest.fixture
def registered():
    """Ids of an environment of one's own, of a wrapped one and of a shorter one."""
    own = {
        "Quantised-v0": {"entry_point": Quantised},
        "Halved-v0": {
            "entry_point": BanditEnv,
            "additional_wrappers": (WrapperSpec("Halved", f"{__name__}:Halved", {}),),
        },
        "Shorter-v0": {"entry_point": BanditEnv, "max_episode_steps": 5},
    }
    for name, how in own.items():
        gym.register(name, kwargs={"problem": "gp"}, **how)
    yield list(own)
    for name in own:
        gym.registry.pop(name)


@pytest.mark.parametrize("agent", ["gp-ucb", "random"])
def test_a_trial_does_not_depend_on_how_many_there_are(registered, agent):
    for name in registered:
        alone, among = (evaluate(name, [agent], trials=n, env_kwargs=SMALL) for n in (1, 4))
        np.testing.assert_allclose(among.regret[agent][:1], alone.regret[agent], atol=1e-9)


def test_all_agents_play_the_same_environment(registered):
    agents = {"ours": "gp-ucb", "one by one": UniformArms}
    plain, halved = (
        evaluate(name, agents, trials=3, env_kwargs=SMALL) for name in ("GPBandit-GP-v0", "Halved-v0")
    )
    for label in agents:
        np.testing.assert_allclose(halved.regret[label], plain.regret[label] / 2, atol=1e-9)


def test_a_limit_that_was_registered_holds(registered):
    stage = Stage("Shorter-v0", SMALL)
    assert (stage.horizon, stage.limit) == (5, 5)
    assert evaluate("Shorter-v0", ["random"], trials=3, env_kwargs=SMALL).horizon == 5
    unlimited = Stage("Shorter-v0", SMALL | {"max_episode_steps": -1})
    assert (unlimited.horizon, unlimited.limit) == (12, None)
    keywords = SMALL | {"max_episode_steps": -1}
    assert evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=2, env_kwargs=keywords).horizon == 12


def test_only_what_is_nothing_more_than_a_problem_is_played_side_by_side(registered):
    for name in ("Quantised-v0", "Halved-v0"):
        assert plain_problem(name, make(name, **SMALL)) is None
    for name in ("Shorter-v0", "GPBandit-GP-v0"):
        assert plain_problem(name, made := make(name, **SMALL)) is made.unwrapped.problem
    problem = BanditEnv("gp", **SMALL).problem
    assert plain_problem(problem, make(problem)) is problem
    assert plain_problem(lambda: BanditEnv(problem), BanditEnv(problem)) is None

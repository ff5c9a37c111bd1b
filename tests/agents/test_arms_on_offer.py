"""What an environment marks as available, and what a user allows, restrict an agent's next choice alike."""

from typing import Any

import numpy as np
import pytest
from agent_cases import OF_ARMS, of_each_shape

import agents
from agents.protocol import adapted
from bandit_envs import BanditEnv
from bandit_envs.problems import build

SMALL = {"num_arms": 12, "horizon": 20}
EVERY = {"law": "bernoulli", "p": 1.0}
PLAYING = [name for name in OF_ARMS if agents.features(name).availability]
SOME = np.arange(12) % 5 == 2  # arms 2 and 7


def played(env, name, rounds=3, at_last=None):
    """Return an agent after some rounds, the last of which left it a mask, and its next observation."""
    seen, info = env.reset(seed=3)
    agent: Any = adapted(agents.make(name, env))
    agent.reset(7)
    last: Any = ()
    for t in range(rounds + 1):
        if at_last is not None and t == rounds:
            info = info | {"action_mask": at_last.astype(np.int8)}
        if t > 0:
            agent.update(*last, info)
        elif "action_mask" in info:
            agent.start(info)
        if t < rounds:
            arm = agent.act(seen)
            following, reward, *_, info = env.step(arm)
            last, seen = (seen, arm, reward), following
    return agent, seen


@pytest.mark.parametrize("name", of_each_shape(OF_ARMS))
def test_an_agent_plays_what_a_user_allows_or_says_that_it_cannot(name):
    agent, seen = played(BanditEnv(build("gp", SMALL)), name)
    for arms in (SOME, ~SOME, SOME):  # asked anew before the round is played
        if agent.offer(arms):
            assert arms[agent.act(seen)]
        else:
            assert name not in PLAYING or agent.holds_choice


@pytest.mark.parametrize("name", of_each_shape(PLAYING))
@pytest.mark.parametrize("rounds", [0, 3])
def test_an_offer_and_a_mask_of_the_environment_give_the_same_play(name, rounds):
    env = BanditEnv(build("gp", SMALL | {"availability": EVERY}))
    masked, seen = played(env, name, rounds, at_last=SOME)
    wanted = masked.act(seen)
    masked.close()  # learners of two agents at a time would share the library's generator
    allowed, _ = played(env, name, rounds)
    assert allowed.offer(SOME)
    assert allowed.act(seen) == wanted
    allowed.close()


def test_trials_of_a_batch_are_offered_the_same_arms_or_a_row_each():
    setting = build("gp", SMALL).setting()
    for options in ({}, {"refit_every": 5}):  # one agent of all trials, and a list of agents
        batch = agents.make("gp-ucb", setting, num_trials=2, **options)
        batch.reset([0, 1])
        assert batch.offer(SOME)
        assert SOME[batch.act(np.zeros((2, 1)))].all()
        assert batch.offer(np.stack([SOME, ~SOME]))
        first, second = batch.act(np.zeros((2, 1)))
        assert SOME[first]
        assert not SOME[second]


@pytest.mark.parametrize("name", ["gp-ucb", "random", "lb-gp-ucb"])
def test_a_saved_agent_remembers_what_was_allowed(name, tmp_path):
    agent, seen = played(BanditEnv(build("gp", SMALL)), name)
    agent.offer(SOME)
    agent.act(seen)
    agent.save(tmp_path / "agent.json")
    assert SOME[agents.load(tmp_path / "agent.json").act(seen)]


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ts", "epsilon-greedy"])
def test_first_plays_without_a_model_keep_to_what_is_allowed(name):
    agent, seen = played(BanditEnv(build("gp", {**SMALL, "publish_model": False})), name, 1)
    for _ in range(20):
        assert agent.offer(SOME)
        assert SOME[agent.act(seen)]


def test_a_box_cannot_be_restricted_to_arms():
    agent, _ = played(BanditEnv(build("gp", {"continuous": True, "horizon": 20})), "gp-ucb", 1)
    assert not agent.offer(SOME)

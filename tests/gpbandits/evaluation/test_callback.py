"""Who is told of every round: what the result has, of every agent, and nothing comes of it."""

from __future__ import annotations

import numpy as np
import pytest
from players import FirstArm

import agents
from bandit_envs import BanditEnv
from bandit_envs.environment.info import Round
from gpbandits import evaluate

SMALL = {"num_arms": 8, "horizon": 6, "num_constraints": 1}


class OneByOne(FirstArm):
    """An agent without a trial axis."""

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)

    def act(self, observation):
        return int(self.rng.integers(8))

    def update(self, observation, action, reward, info):
        assert "oracle" not in info


def played(callback=None, **options):
    entrants = {"GP-UCB": "gp-ucb", "mine": OneByOne}
    keywords = {"trials": 3, "first_trial": 2, "seed": 4, "env_kwargs": SMALL} | options
    return evaluate("GPBandit-GP-v0", entrants, callback=callback, **keywords)


@pytest.mark.parametrize("options", [{}, {"checkpoints": [2, 6]}], ids=["all rounds", "some recorded"])
def test_a_callback_hears_of_every_round_what_the_result_says(options):
    rounds = []
    result = played(rounds.append, **options)
    whole = played()
    assert np.array_equal(result.actions["mine"][:, -1], whole.actions["mine"][:, -1])
    for name in result.records:
        for key in ("regret", "violation"):
            told = np.full((3, SMALL["horizon"]), np.nan)
            for seen in rounds:
                if seen.agent == name:
                    told[seen.trial - 2, seen.round - 1] = getattr(seen, key)
            np.testing.assert_allclose(told, getattr(whole.records[name], key), rtol=1e-12)


def test_a_callback_cannot_change_what_an_agent_sees():
    def scribble(seen):
        seen.regret[:] = np.nan
        seen.violation[:] = np.nan

    for name, record in played(scribble).records.items():
        assert np.array_equal(record.action, played().records[name].action)
        assert np.array_equal(record.regret, played().records[name].regret)


def test_rounds_after_a_spent_budget_are_not_told():
    rounds = []
    keywords = {"num_arms": 8, "horizon": 20, "budget": 3.0}
    result = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=keywords, callback=rounds.append)
    assert len(rounds) == result.played["random"][0] < 20


def test_a_loop_of_ones_own_tells_in_the_same_form():
    env = BanditEnv("gp", **SMALL)
    observation, info = env.reset(seed=0)
    with pytest.raises(ValueError, match="info must be of a step"):
        Round.of(info)
    agent = agents.make("gp-ucb", env)
    agent.reset(0)
    action = agent.act(observation)
    *_, info = env.step(action)
    seen = Round.of(info, "mine", 3)
    assert (seen.agent, seen.round, seen.trial.tolist()) == ("mine", 1, [3])
    assert seen.regret.tolist() == [info["oracle"]["regret"]]
    assert seen.violation.tolist() == [info["oracle"]["violation"]]


def test_errors_of_a_callback_say_who_played():
    def broken(seen):
        raise OSError("the tracker is down")

    with pytest.raises(OSError, match="the tracker is down") as caught:
        played(broken)
    assert "while agent 'GP-UCB' played" in caught.value.__notes__


@pytest.mark.parametrize(
    ("options", "message"),
    [({"callback": 3}, "callback must be None or a callable"), ({"workers": 2}, "workers must be 1")],
)
def test_callbacks_that_cannot_be_called_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        played(**{"callback": print} | options)

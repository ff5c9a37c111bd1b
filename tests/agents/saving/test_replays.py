"""What is loaded plays as it played, or is refused with the round in which it does not."""

import pytest
from players import play

import agents
from agents import Linear, Tuner
from agents.saving import decode, encode, read, write
from bandit_envs import make

FORM = "gpbandits agent"


@pytest.fixture
def played(tmp_path):
    """The file of an agent that has played six rounds of an environment."""
    env = make("GPBandit-GP-v0", num_arms=5, horizon=10)
    agent = agents.make("gp-ucb", env.unwrapped.setting)
    observation, _ = env.reset(seed=1)
    agent.reset(3)
    play(env, agent, observation, 6)
    agent.save(tmp_path / "a.json")
    return tmp_path / "a.json"


def changed_actions(path, t):
    """Write a file as code that plays otherwise in round t would have."""
    content = read(path, FORM)
    ((names, columns),) = content["calls"]
    columns = decode(columns)
    for name in ("act", "update"):
        actions = columns[name]["action"]
        actions[t] = (actions[t] + 1) % 5
    write(path, FORM, {**content, "calls": [[names, encode(columns)]]})


@pytest.mark.parametrize("t", [0, 3])
def test_an_agent_that_plays_otherwise_is_refused_with_the_first_such_round(played, t):
    assert agents.load(played) is not None
    changed_actions(played, t)
    with pytest.raises(ValueError, match=rf"in round {t} it plays \d where \d was played.*; load it with"):
        agents.load(played)


def test_an_agent_whose_advice_was_not_followed_is_loaded(tmp_path):
    env = make("GPBandit-GP-v0", num_arms=5, horizon=10)
    agent = agents.make("gp-ucb", env.unwrapped.setting)
    observation, info = env.reset(seed=1)
    agent.reset(3)
    for _ in range(3):
        action = (agent.act(observation) + 1) % 5
        observation, reward, *_, info = env.step(action)
        agent.update(observation, action, reward, info)
    agent.save(tmp_path / "a.json")
    assert agents.load(tmp_path / "a.json").act(observation) == agent.act(observation)


def test_a_tuner_that_asks_otherwise_is_refused_with_the_first_such_question(tmp_path):
    path, form = tmp_path / "t.json", "gpbandits tuner"
    tuner = Tuner({"x": Linear(0, 1)}, agent="random", seed=1)
    tuner.ask(4)
    tuner.save(path)
    content = read(path, form)
    content["rounds"][2]["parameters"]["x"] = 0.123
    path.unlink()  # the changed file is none that continues it
    write(path, form, {**content, "notes": None})
    with pytest.raises(
        ValueError, match=r"with ticket 2 it asks for .* where .*0\.123.* was asked for.*; load"
    ):
        Tuner.load(path)

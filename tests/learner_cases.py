"""What tests of learners share: a small problem, and how they play it."""

from __future__ import annotations

from gpbandits.evaluation import evaluate

SMALL = {"num_arms": 12, "horizon": 40}


def actions(agent, trials=2, environment="GPBandit-RKHS-v0", **keywords):
    result = evaluate(environment, {"it": agent}, trials=trials, env_kwargs={**SMALL, **keywords})
    return result.actions["it"]


def play(env, agent, observation):
    plays, done = [], False
    while not done:
        plays.append(agent.act(observation))
        assert agent.act(observation) == plays[-1]  # asked again in the same round
        following, reward, _, done, info = env.step(plays[-1])
        agent.update(observation, plays[-1], reward, info)
        observation = following
    return plays

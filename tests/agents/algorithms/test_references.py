"""Each algorithm plays what its readable form plays, given the same history."""

import numpy as np
import pytest
from references.by_name import REFERENCES, Case
from references.seen import Given, Seen

import agents
from bandit_envs import make
from bandit_envs.problem.feedback import Feedback, spendings

# The agent breaks ties within 1e-9 prior deviations; dense solves of 60 plays at lambda >= 1e-4 err by 1e-12
# of mu, and by 1e-10 where the root of a variance is taken.
TOLERANCE = 1e-8


def rounds_of(name, case: Case, seed):
    """Yield what the agent is given, what it has seen before each round, and what it plays."""
    environment = make(case.env, **case.facts)
    observation, info = environment.reset(seed=seed)
    setting = environment.get_wrapper_attr("setting")
    agent = agents.make(name, environment, **case.options)
    agent.reset(seed)
    T = setting.horizon
    given = Given.of(setting, **case.prior)
    played, value, delay = np.zeros(T, dtype=int), np.full(T, np.nan), np.full(T, np.inf)
    cost, spent = np.full((T, setting.num_constraints), np.nan), np.full(T, np.nan)
    for t in range(T):
        action = agent.act(observation)
        yield given, Seen(*(column[:t].copy() for column in (played, value, delay, cost, spent))), action
        observation, reward, terminated, truncated, info = environment.step(action)
        agent.update(observation, action, reward, info)
        played[t] = action
        feedback = Feedback.arrived(info)
        value[feedback.round], delay[feedback.round] = feedback.reward, t - feedback.round
        cost[feedback.round] = feedback.cost
        if spendings(info) is not None:
            spent[feedback.round] = spendings(info)
        if terminated or truncated:
            return


CASES = [(name, case) for name, cases in REFERENCES.items() for case in cases]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CASES)])
def test_plays_are_those_of_the_readable_form(name, case):
    for seed in range(2):
        for given, seen, action in rounds_of(name, case, seed):
            scores = case.scores(given, seen)
            short = scores.max() - scores[action]
            scale = given.reward.scale + np.abs(scores[np.isfinite(scores)]).max()
            assert short <= TOLERANCE * scale, (seed, seen.t, short, action, scores.argmax())

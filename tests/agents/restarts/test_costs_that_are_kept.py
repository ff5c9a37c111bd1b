"""Where plays are kept after a restart, what is known of their costs is kept too."""

from functools import partial

import numpy as np
import pytest
from rectified_cases import problem
from restart_cases import EVERY, FIRST, ROUNDS, KeepingSome, shown_to, without_feedback_before

import agents
from agents.algorithms import separate_models
from agents.registry import resolve_agent
from bandit_envs import BanditEnv
from bandit_envs.laws import delays

NAMES = [name for name in agents.names() if resolve_agent(name).make.__module__ == separate_models.__name__]
LATE, LIFT = problem(delay=delays.PoissonDelay(4)), 0.9


PENDING = {
    "delivered": {},
    "hallucinated": {"cost_belief": "hallucinated"},
    "censored": {"belief": "censored", "belief_options": {"window": 6}, "cost_belief": "censored"},
}


def restarted(name, rounds=ROUNDS, **options):
    """An agent that starts over, and its actions and what it was told; costs violate more than they do."""
    env = BanditEnv(LATE)
    agent = agents.make(name, env.setting, restart=partial(KeepingSome, every=EVERY), **options)
    return agent, shown_to(agent, env, rounds, feedback_cost=LIFT)


def come(told):
    """Costs that came of kept plays, (n,)."""
    each = [without_feedback_before(FIRST, info) for *_, info in told]
    return np.concatenate([info["feedback_cost"][info["feedback_mask"], 0] for info in each])


@pytest.mark.parametrize("options", PENDING.values(), ids=PENDING)
@pytest.mark.parametrize("name", NAMES)
def test_the_models_are_those_of_an_agent_that_saw_the_kept_plays_alone(name, options):
    agent, told = restarted(name, **options)
    fresh = agents.make(name, BanditEnv(LATE).setting, **options)
    fresh.reset(3)
    for observation, action, info in told[FIRST:]:
        fresh.act(observation)
        fresh.update(observation, action, 0.0, without_feedback_before(FIRST, info))
    here = np.zeros(1, dtype=int)
    for ours, theirs in zip(
        (agent.belief, *agent.objective.costs), (fresh.belief, *fresh.objective.costs), strict=True
    ):
        np.testing.assert_allclose(ours.mean(here), theirs.mean(here), atol=1e-9)
        np.testing.assert_allclose(ours.std(here), theirs.std(here), atol=1e-9)
        np.testing.assert_allclose(ours.gain, theirs.gain, atol=1e-9)
        np.testing.assert_allclose(ours.bias, theirs.bias, atol=1e-9)
    np.testing.assert_array_equal(agent.t, fresh.t)


@pytest.mark.parametrize("rounds", [EVERY + 1, ROUNDS])
def test_the_multiplier_still_pays_for_all_costs_that_came_of_kept_plays(rounds):
    agent, told = restarted("pdcbo", rounds)
    paid = come(told).sum()
    assert paid > 0
    assert agent.objective.phi[0, 0] >= paid - 1e-9


@pytest.mark.parametrize("rounds", [EVERY + 1, ROUNDS])
def test_the_charge_still_counts_all_violations_of_kept_plays_and_rounds_since_the_first(rounds):
    agent, told = restarted("rpol", rounds)
    charge = agent.objective.charge[0, 0]
    assert charge >= max(1.0 + np.maximum(come(told), 0.0).sum(), np.sqrt(rounds - FIRST)) - 1e-9

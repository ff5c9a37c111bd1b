"""Starting over: what is known afterwards is what a fresh agent would know."""

from functools import partial

import numpy as np
import pytest
from restart_cases import EVERY, FIRST, ROUNDS, KeepingSome, shown_to, without_feedback_before

from agents.acquisition.by_name import Always
from agents.acquisition.improvement import BestValue
from agents.acquisition.rules import UCB, ExpectedImprovement
from agents.agent.assembly import assemble
from agents.beliefs.censored import Censored
from agents.beliefs.delivered import Delivered, sliding_window, time_varying, wandering
from agents.beliefs.imputed import FILL_INS, Hallucinated, Imputed
from agents.model.model import Model
from agents.posteriors import FORMS
from agents.restarts.base import Oracle, Periodic
from agents.widths.base import FixedWidth
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample, changes, delays

BELIEFS = {
    "delivered": Delivered,
    "hallucinated": Hallucinated,
    "censored": partial(Censored, window=6),
    "imputed": partial(Imputed, window=6, fill=FILL_INS["mean"]),
}
RULES = {"ucb": UCB(FixedWidth(2.0)), "ei": ExpectedImprovement()}
KEEPING_BELIEFS = {
    **BELIEFS,
    "sliding": partial(sliding_window, window=8),
    "drifting": partial(time_varying, eps=0.05),
    "wandering": partial(wandering, rate=0.05),
}


def problem(**laws):
    arms, contexts = np.linspace(0, 1, 30)[:, None], np.linspace(0, 1, 3)[:, None]
    laws = {"changes": changes.AtRounds((EVERY,)), "delay": delays.PoissonDelay(4.0), **laws}
    return Problem(
        Decisions(arms, contexts), GPSample(), make_kernel("matern52", [0.5, 0.2]), horizon=60, **laws
    )


def assert_equals_a_fresh_agent(agent, fresh, shown, first):
    """It knows what another one knows that saw only the rounds from the first one on."""
    fresh.reset(3)
    for observation, action, info in shown[first:]:
        fresh.act(observation)
        fresh.update(observation, action, 0.0, without_feedback_before(first, info))
    context, close = np.array([1]), partial(np.testing.assert_allclose, atol=1e-9)  # of prior deviations
    close(agent.belief.mean(context), fresh.belief.mean(context))
    close(agent.belief.std(context), fresh.belief.std(context))
    close(agent.belief.gain, fresh.belief.gain)
    close(agent.belief.bias, fresh.belief.bias)
    mean = agent.belief.mean(context)
    points = agent.arms(context)
    close(agent.incumbent(agent.belief, points, mean), fresh.incumbent(fresh.belief, points, mean))
    np.testing.assert_array_equal(agent.t, fresh.t)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("belief", BELIEFS)
def test_after_a_restart_everything_equals_a_fresh_agent_that_saw_only_what_came_since(belief, rule, form):
    env = BanditEnv(problem())
    model = Model.of(env.setting, form=form)
    make = partial(assemble, model, Always(RULES[rule]), belief=BELIEFS[belief], incumbent=BestValue)
    agent = make(restart=partial(Periodic, every=EVERY))
    shown = shown_to(agent, env)
    assert_equals_a_fresh_agent(agent, make(), shown, EVERY)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("belief", BELIEFS)
def test_plays_that_are_kept_are_all_that_is_known(belief, form):
    env = BanditEnv(problem())
    model = Model.of(env.setting, form=form)
    make = partial(assemble, model, Always(RULES["ucb"]), belief=KEEPING_BELIEFS[belief], incumbent=BestValue)
    agent = make(restart=partial(KeepingSome, every=EVERY))
    shown = shown_to(agent, env)
    assert_equals_a_fresh_agent(agent, make(), shown, FIRST)


@pytest.mark.parametrize(("restart", "first"), [(KeepingSome, FIRST), (Periodic, EVERY)])
def test_fits_look_at_the_plays_that_are_kept(restart, first):
    env = BanditEnv(problem(delay=delays.Immediate()))
    agent = assemble(
        Model.of(env.setting, refit_every=10), Always(RULES["ucb"]), restart=partial(restart, every=EVERY)
    )
    shown_to(agent, env)
    point, value, _ = agent.assumptions.sample(agent)
    assert len(point) == len(value) == ROUNDS - first


def test_the_oracle_starts_over_after_the_first_round_of_a_new_segment():
    env = BanditVectorEnv(problem(), 2)
    agent = assemble(Model.of(env.setting), Always(RULES["ucb"]), 2, restart=Oracle)
    shown_to(agent, env, EVERY + 1, [1, 2])
    np.testing.assert_array_equal(agent.t, [1, 1])
    np.testing.assert_array_equal(agent.book.since, [EVERY + 1, EVERY + 1])
    assert agent.privileged
    assert agent.alarms is None


def test_the_oracle_says_that_it_needs_the_truth():
    env = BanditEnv(problem(), oracle=False)
    agent = assemble(Model.of(env.setting), Always(RULES["ucb"]), restart=Oracle)
    with pytest.raises(ValueError, match="oracle=True"):
        shown_to(agent, env, 1)

"""Agents say that they rest on a bound that was neither given nor published."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, GAUSSIAN, SETTING, of_each_shape, seed_for, takes, told_for
from players import FirstArm
from sklearn.gaussian_process.kernels import RBF

import agents
import agents.model.model
import agents.objectives.parts
import agents.objectives.penalised
from agents.acquisition.rules import UCB
from agents.model.defaults import DefaultBound
from agents.objectives.by_name import APART
from agents.widths.bounded_norm import ImprovedWidth
from agents.widths.by_name import WIDTHS
from agents.widths.information_gain import Realised
from gpbandits import Result, evaluate

WITHOUT = {"num_arms": 9, "horizon": 10, "publish_model": False}
LAW = {"kernel": RBF(0.2), "constraint_prior_std": 1.0}
OTHER = DefaultBound(30.0)
BOUNDED = [name for name in GAUSSIAN if takes(name, rkhs_bound=1.0)]


def played(specs: Any, env_id: str = "GPBandit-GP-v0", trials: int = 1, **more: bool) -> Result:
    return evaluate(env_id, specs, trials=trials, env_kwargs={**WITHOUT, **more})


def says(agent: Any, seed: Any = 0) -> bool:
    agent.reset(seed)
    return getattr(agent, "assumes_bound", False)


def home(name: str) -> str:
    """An id that has what the agent is for."""
    return "GPBandit-Constrained-v0" if agents.features(name).constraint else "GPBandit-GP-v0"


def told(name: str) -> dict[str, Any]:
    """What an agent is told of the model, but for bounds: safe ones need to know how far costs may vary."""
    return told_for(name) | (LAW if agents.features(name).seed else {})


@pytest.mark.parametrize("name", of_each_shape(BATCHED))
def test_an_agent_whose_plays_depend_on_a_default_bound_says_so(name, monkeypatch):
    before = played({name: (name, told(name))}, home(name), **seed_for(name))
    monkeypatch.setattr(agents.model.model, "DEFAULT_BOUND", OTHER)
    monkeypatch.setattr(agents.objectives.parts, "BOUND", OTHER)
    monkeypatch.setattr(agents.objectives.penalised, "BOUND", OTHER)
    after = played({name: (name, told(name))}, home(name), **seed_for(name))
    depends = not np.array_equal(before.actions[name], after.actions[name])
    assert name in before.assuming or not depends


@pytest.mark.parametrize("name", of_each_shape(BOUNDED))
def test_an_agent_that_is_given_its_bounds_does_not(name):
    given = {"reward_bound": 1.0} if takes(name, reward_bound=1.0) else {}
    assert not says(agents.make(name, SETTING, rkhs_bound=1.0, **given))


@pytest.mark.parametrize("name", of_each_shape(BOUNDED))
def test_one_trial_and_a_batch_say_the_same(name):
    alone, batch = agents.make(name, SETTING), agents.make(name, SETTING, num_trials=2)
    assert says(alone) == says(batch, [0, 1])


@pytest.mark.parametrize("width", [*WIDTHS, "improved", 1.0])
def test_a_band_says_so_if_and_only_if_it_takes_the_default(width, monkeypatch):
    agent = agents.make("gp-agent", SETTING, width=width)
    monkeypatch.setattr(agents.model.model, "DEFAULT_BOUND", OTHER)
    other = agents.make("gp-agent", SETTING, width=width)
    t, gain = np.array([3]), np.array([0.5])
    assert says(agent) == bool(agent.rule.width(t, gain) != other.rule.width(t, gain))


@pytest.mark.parametrize("constraint", APART)
def test_a_band_of_the_costs_counts_as_one_of_the_reward_does(constraint):
    setting = replace(SETTING, num_constraints=1, constraint_noise_std=0.1)
    make = partial(agents.make, "gp-agent", setting, constraint=constraint, width=1.0)
    assert says(make(constraint_options={"cost_width": "improved"}))
    assert not says(make(constraint_options={"cost_width": "improved"}, rkhs_bound=2.0))
    assert not says(make(constraint_options={"cost_width": 1.0}))


def test_learning_and_shrinking_pass_it_on():
    assert says(agents.make("igp-ucb", SETTING, refit_every=4))
    assert not says(agents.make("igp-ucb", SETTING, refit_every=4, rkhs_bound=2.0))
    shrinking = agents.make("a-gp-ucb", SETTING, start=2.0)
    assert shrinking.reset(0) is None
    assert shrinking.model.rkhs_bound > 1.0
    assert says(shrinking)


def test_results_name_those_that_say_so_and_no_plug_in_that_is_silent():
    specs = {"igp": "igp-ucb", "given": ("igp-ucb", {"rkhs_bound": 1.0}), "other": FirstArm}
    assert played(specs, trials=2).assuming == {"igp"}


def test_a_width_that_the_user_made_rests_on_what_the_user_knows():
    width = ImprovedWidth(1.0, 0.1, Realised())
    assert not says(agents.make("gp-agent", SETTING, rule=UCB(width)))


def test_what_a_bias_or_a_penalised_objective_takes_by_default_counts():
    assert says(agents.make("gp-ucb-sdf", SETTING, width=1.0))
    assert not says(agents.make("gp-ucb-sdf", SETTING, width=1.0, reward_bound=0.0))


def test_a_published_bound_is_not_the_default():
    published = {**WITHOUT, "publish_model": True}
    assert evaluate("GPBandit-RKHS-v0", ["igp-ucb"], trials=1, env_kwargs=published).assuming == frozenset()

"""An agent plays the same arms whether it searches for the best score or computes all."""

from __future__ import annotations

import numpy as np
import pytest
from agent_cases import GAUSSIAN, of_each_shape, seed_for, told_for
from players import started

import agents
from agents.model.rounds import Delivery
from agents.posteriors import weight_space
from agents.posteriors.band_search import BandSearch
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.decisions import unit_grid
from gpbandits import evaluate

GRID = {"num_arms": 400, "dim": 2, "length_scale": 0.3, "horizon": 40}
ALWAYS, NEVER = 1, 10**9
SQUARE = Setting(arms=unit_grid(400, 2), horizon=10, kernel=make_kernel("rbf", 0.3), noise_std=0.1)


def played(monkeypatch, least, agent, env_id="GPBandit-GP-v0", **keywords):
    """The actions of a trial in which so many points are searched, and the number of searches."""
    searches, largest = [], BandSearch.largest
    with monkeypatch.context() as patch:
        patch.setattr(weight_space, "SEARCHED", least)
        patch.setattr(BandSearch, "largest", lambda self, *a: searches.append(1) or largest(self, *a))
        result = evaluate(env_id, {"it": agent}, trials=1, env_kwargs={**GRID, **keywords})
    return result.actions["it"], len(searches)


@pytest.mark.parametrize("name", of_each_shape(GAUSSIAN))
def test_every_agent_plays_the_same_arms(monkeypatch, name):
    features = agents.features(name)
    costs = {"num_constraints": 1, **seed_for(name)} if features.constraint else {}
    env_id = "GPBandit-Constrained-v0" if costs else "GPBandit-GP-v0"
    agent = (name, {"form": "kronecker", **told_for(name)})
    searched, _ = played(monkeypatch, ALWAYS, agent, env_id, **costs)
    np.testing.assert_array_equal(searched, played(monkeypatch, NEVER, agent, env_id, **costs)[0])


@pytest.mark.parametrize(
    ("options", "keywords", "searches"),
    [
        ({}, {}, 40),
        ({"width": 1.0}, {"delay": {"law": "poisson", "mean": 3}}, 40),
        ({"initial": 5}, {}, 0),
        ({"repeat": 2.0}, {}, 1),  # until plays come as sums
        ({"refit_every": 10}, {}, 40),
        ({"prior_mean": 0.7}, {}, 40),
        ({"prior_mean": np.linspace(0.0, 2.0, 400)}, {}, 0),
        ({}, {"availability": {"law": "bernoulli"}}, 0),
    ],
)
def test_and_with_these_options_and_laws(monkeypatch, options, keywords, searches):
    agent = ("gp-ucb", {"form": "kronecker", **options})
    found, number = played(monkeypatch, ALWAYS, agent, **keywords)
    expected, none = played(monkeypatch, NEVER, agent, **keywords)
    np.testing.assert_array_equal(found, expected)
    assert (number, none) == (searches, 0)


def test_a_choice_among_some_arms_scores_all(monkeypatch):
    monkeypatch.setattr(weight_space, "SEARCHED", ALWAYS)
    agent = started(agents.make("gp-ucb", SQUARE, form="kronecker"))
    agent.act(np.zeros(1))
    assert agent.scores is None  # not of all arms
    agent.offer(np.arange(400) == 7)
    assert agent.act(np.zeros(1)) == 7
    assert agent.scores.shape == (1, 400)
    agent.offered = None
    agent.act(np.zeros(1))
    assert agent.scores is None


def test_a_value_that_is_no_number_is_told_as_by_all_scores(monkeypatch):
    monkeypatch.setattr(weight_space, "SEARCHED", ALWAYS)
    agent = started(agents.make("gp-ucb", SQUARE, form="kronecker"))
    agent.act(np.zeros(1))
    agent.belief.receive(Delivery.of_values(np.array([0]), np.array([3]), np.array([np.nan])))
    with pytest.raises(ValueError, match="computed NaN"):
        agent.act(np.zeros(1))

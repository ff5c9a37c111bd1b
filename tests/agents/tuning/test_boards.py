"""Tuning a continuum: the tuner is the box agent in its loop, and only looks at what can be used."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from players import at_once

import agents
from agents import Categorical, Integer, Linear, Log, Tuner
from agents.box.search import Pool
from agents.registry import resolve_agent
from agents.tuning.decision_sets import (
    BoxDecisionSet,
    FiniteDecisionSet,
    RoundedSearch,
    RoundedSurface,
    make_decision_set,
    takes_search,
)
from agents.tuning.scale import Scale
from agents.tuning.space import Space

SPACE = {
    "rate": Log(1e-5, 1e-1),
    "depth": Integer(1, 6),
    "kernel": Categorical(["rbf", "poly", "linear"]),
    "momentum": Linear(0, 1),
}


def loss(p):
    other = 0.5 * (p["kernel"] != "poly")
    return (
        (math.log10(p["rate"]) + 3.3) ** 2 + 0.1 * (p["depth"] - 5) ** 2 + other + (p["momentum"] - 0.37) ** 2
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["gp-bucb", "gp-ei", "gp-ts", "random"])
def test_on_a_box_the_tuner_is_the_agent_in_its_loop(name):
    tuner = Tuner(SPACE, agent=name, goal="minimise", seed=4, standardise=False, budget=12)
    space, place = tuner.plan.parameters, BoxDecisionSet(tuner.plan, Scale(-1.0))
    options = {} if name == "random" else {"search": RoundedSearch(space)}
    agent = agents.make(name, place.setting, **options)
    agent.reset(4)
    observation = np.zeros(1)
    for t in range(12):
        features = place.setting.to_point(agent.act(observation))
        ticket, parameters = tuner.ask()
        assert parameters == space.values(features)
        reward = np.array([-loss(parameters)])
        info = at_once(t, reward)
        agent.update(observation, place.setting.to_action(space.features(parameters)), reward[0], info)
        tuner.tell(ticket, loss(parameters))


class Hill:
    """A landscape with slopes, which says where it was asked."""

    def __init__(self):
        self.asked = []

    def survey(self, unit):
        self.asked.append(unit)
        return Pool(unit, unit, -((unit - 0.6) ** 2).sum(axis=1))

    def climb(self, unit):
        return -((unit - 0.6) ** 2).sum(axis=1), -2 * (unit - 0.6)

    acquisition, low, span = SimpleNamespace(unit=1.0, rows=0), np.zeros(6), np.ones(6)
    anchors = np.array([[0.2, 0.4, 0.0, math.sqrt(0.5), 0.0, 0.9]])


def test_a_search_scores_possible_points_alone_and_climbs_between_them():
    space, hill = Space("parameters", SPACE), Hill()
    pool = RoundedSearch(space)(hill, np.random.default_rng(0))  # type: ignore[arg-type]
    asked = np.vstack(hill.asked)
    np.testing.assert_allclose(space.snap(asked), asked, rtol=0, atol=1e-9)
    best = pool.unit[pool.scores.argmax()]
    assert best[[0, 5]] == pytest.approx([0.6, 0.6], abs=1e-4)
    assert best[1] == pytest.approx(0.6)  # depth 4 of 1..6
    np.testing.assert_allclose(np.sort(best[2:5]), [0.0, 0.0, math.sqrt(0.5)])


def test_slopes_are_flat_along_discrete_coordinates():
    _, slopes = RoundedSurface(Hill(), Space("parameters", SPACE)).climb(np.full((2, 6), 0.5))  # type: ignore[arg-type, misc]
    np.testing.assert_allclose(slopes, 0.2 * np.array([[1, 0, 0, 0, 0, 1]] * 2))


def test_a_set_is_played_where_it_is_small_or_the_agent_plays_no_boxes():
    def chosen(space, **options):
        return type(make_decision_set(Tuner(space, **options).plan, Scale(1.0), [], [{}]))

    discrete = {"depth": Integer(1, 32), "width": Integer(1, 32)}
    assert chosen(discrete) is FiniteDecisionSet
    assert chosen(discrete, num_arms=1000) is BoxDecisionSet
    assert chosen(SPACE) is BoxDecisionSet
    assert chosen(SPACE, agent="constrained-ei") is BoxDecisionSet
    assert chosen(SPACE, agent="admmbo") is FiniteDecisionSet


def test_contexts_are_seen_on_a_box_as_they_are():
    contexts = {"size": Log(10, 1000)}
    tuner = Tuner({"rate": Linear(0, 1)}, contexts=contexts, agent=("gp-bucb", {"width": 1.0, "initial": 5}))
    rng = np.random.default_rng(0)
    for _ in range(30):
        size = float(10 ** rng.uniform(1, 3))
        ticket, parameters = tuner.ask({"size": size})
        tuner.tell(ticket, -10 * (parameters["rate"] - math.log10(size / 10) / 2) ** 2)
    for size in (20.0, 100.0, 500.0):
        wanted = math.log10(size / 10) / 2
        assert tuner.recommend({"size": size}).parameters["rate"] == pytest.approx(wanted, abs=0.1)


PEERS = [name for name in agents.names() if hasattr(resolve_agent(name).make, "requires")]


@pytest.mark.parametrize("name", PEERS)
def test_optimisers_of_other_libraries_search_a_box_in_their_own_way(name):
    assert not takes_search(resolve_agent(name))

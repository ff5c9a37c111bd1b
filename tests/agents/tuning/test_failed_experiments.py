"""The tuner learns where experiments fail, and is what it was where none does."""

import numpy as np
import pytest
from players import FirstArm
from sklearn.gaussian_process.kernels import Matern
from tuner_cases import rounds_of

from agents import Categorical, Integer, Linear, Tuner
from agents.tuning.feasibility import (
    BOLD,
    CAUTIOUS,
    FeasibilityFilter,
    SuccessProbability,
    feasibility_of,
    wanted_in,
)
from agents.tuning.space import Space

SQUARE = {"x": Linear(0, 1), "y": Linear(0, 1)}
ROUNDS = 30
BRIEF = {"initial": 2}
LEARNS = {"refit_every": 5}
FREEZES = "the melt froze"


def played(tuner, fails, value, rounds=ROUNDS, say=lambda tuner, ticket: tuner.fail(ticket, FREEZES)):
    """Ask and tell; what was asked, and in which rounds it failed."""
    asked, failed = [], []
    for t in range(rounds):
        ticket, parameters = tuner.ask()
        asked.append(parameters)
        if fails(parameters):
            failed.append(t)
            say(tuner, ticket)
        else:
            costs = dict.fromkeys(tuner.plan.constraints, -1.0)
            tuner.tell(ticket, value(parameters), costs)
    return asked, failed


def total(parameters):
    return parameters["x"] + parameters["y"]


MIXED = {"depth": Integer(1, 9), "kernel": Categorical(["a", "b", "c"])}
SPACES = {  # space, what fails in it, and how often at least a point fails in a uniform draw
    "continuous": (SQUARE, lambda p: p["x"] > 0.6),
    "integer": ({"n": Integer(1, 5000), "m": Integer(1, 5000, log=True)}, lambda p: p["n"] > 3000),
    "categorical": (MIXED, lambda p: p["kernel"] == "a"),
    "both": ({**SQUARE, **MIXED}, lambda p: p["kernel"] == "a"),
}
AGENTS = {
    "default": None,
    "learning": ("gp-bucb", BRIEF | LEARNS),
    "samples": ("gp-ts", BRIEF),
    "constrained": ("constrained-ei", {"hallucinate": True, **BRIEF}),
    "random": "random",
    "eliminates": "bpe",  # cannot choose among some arms, and plays no box
}


def wanted(p):
    """A reward that calls for what fails."""
    return p.get("x", 0) + p.get("n", 0) / 5000 + 2 * (p.get("kernel") == "a") - 0.01 * p.get("depth", 0)


def tuner_of(agent, space, **more):
    constraints = ["heat"] if agent == "constrained" else []
    return Tuner(SPACES[space][0], agent=AGENTS[agent], constraints=constraints, num_arms=64, **more)


def in_turn():
    """Every agent in every space; the default in all of them quickly, the others in one space each."""
    for i, agent in enumerate(AGENTS):
        for j, space in enumerate(SPACES):
            quick = agent == "default" or i % len(SPACES) == j
            yield pytest.param(agent, space, marks=() if quick else pytest.mark.further)


@pytest.mark.long
@pytest.mark.parametrize(("agent", "space"), [*in_turn()])
def test_all_agents_stay_away_from_failures_in_all_spaces(agent, space):
    _, fails = SPACES[space]
    _, learnt = played(tuner_of(agent, space), fails, wanted, 24)
    _, forgotten = played(tuner_of(agent, space), fails, wanted, 24, Tuner.drop)
    late = [t for t in learnt if t >= 12]
    assert len(late) <= 8  # of 12: a third of the questions wants a success to be likelier than 0.7
    assert len(learnt) <= len(forgotten)


class DrawsForEachArm(FirstArm):
    """Draws a number for each arm among which it is to choose: what it draws later depends on how many."""

    def reset(self, seed):
        self.rng, self.open = np.random.default_rng(seed), np.ones(len(self.setting.arms), dtype=bool)

    def offer(self, arms):
        self.open = arms

    def act(self, observation):
        (arms,) = self.open.nonzero()
        self.open = np.ones_like(self.open)
        return int(arms[self.rng.random(len(arms)).argmax()])


def test_an_agent_that_is_asked_again_is_offered_the_same_again(tmp_path):
    tuner = Tuner(MIXED, agent=f"{__name__}:DrawsForEachArm", standardise=False)
    _, failed = played(tuner, lambda p: p["depth"] > 5, wanted, 9)
    assert failed
    tuner.save(tmp_path / "tuner.json")
    loaded = Tuner.load(tmp_path / "tuner.json", trust=True)
    assert [loaded.ask() for _ in range(5)] == [tuner.ask() for _ in range(5)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_is_judged_where_nothing_failed(agent, space, monkeypatch):
    """So all is as it was without the belief: not a number is looked at, nor one drawn."""

    def never(*_):
        raise AssertionError("judged")

    for judge, name in [(SuccessProbability, "probability"), (FeasibilityFilter, "closed")]:
        monkeypatch.setattr(judge, name, never)
    monkeypatch.setattr(FeasibilityFilter, "nearest", never)
    tuner = tuner_of(agent, space)
    _, dropped = played(tuner, SPACES[space][1], wanted, 8, Tuner.drop)
    assert dropped or agent != "random"
    if agent not in ("random", "eliminates"):
        tuner.recommend(anywhere=True)


def test_where_all_fail_it_goes_on_elsewhere():
    asked, failed = played(Tuner(SQUARE), lambda p: True, total, 12)
    assert len(failed) == 12
    points = np.array([[p["x"], p["y"]] for p in asked])
    distances = np.abs(points[:, None] - points).max(axis=2) + np.eye(12)
    assert distances.min() > 0.05  # the box is 1 wide


def test_before_any_success_the_farthest_is_the_likeliest():
    points = np.array([[0.2, 0.2], [0.3, 0.9]])
    believed = SuccessProbability(points, np.array([False, False]))
    where = np.array([[0.2, 0.2], [0.2, 0.4], [1.0, 0.0]])
    scale = 0.3 * 2**0.5
    nearest = Matern(scale, nu=2.5)(where, points).max(axis=1)
    np.testing.assert_allclose(believed.probability(where), 0.5 * (1 - nearest), rtol=0, atol=1e-12)


def test_the_bar_is_spread_evenly_over_any_stretch_of_questions():
    """Multiples of the golden ratio: of any 10 in a row, each fifth of the range has one to three."""
    bars = (np.array([wanted_in(t) for t in range(200)]) - BOLD) / (CAUTIOUS - BOLD)
    for start in range(190):
        counts = np.bincount((bars[start : start + 10] * 5).astype(int), minlength=5)
        assert counts.min() >= 1
        assert counts.max() <= 3


def test_a_point_that_is_closed_is_replaced_by_the_nearest_open_one():
    feasibility = FeasibilityFilter(
        Space("parameters", {"n": Integer(1, 11), "kind": Categorical(["a", "b"])})
    )
    points = np.array(
        [feasibility.space.features({"n": n, "kind": kind}) for kind in "ab" for n in range(1, 12)]
    )
    succeeded = points[:, 0] < 0.5
    feasibility.set(SuccessProbability(points, succeeded), np.zeros(0), 0.5)
    arm = feasibility.space.features({"n": 11, "kind": "b"})
    chosen = feasibility.space.values(feasibility.nearest(arm))
    assert chosen["kind"] == "b"
    assert chosen["n"] in (5, 6)
    assert feasibility.admits(points)[feasibility.nearest(arm, points)]


def test_a_failure_is_kept_with_its_reason_and_what_it_cost(tmp_path):
    tuner = Tuner(SQUARE, cost_budget=10.0)
    tuner.fail(tuner.ask()[0], "it melted", spent=4.0)
    tuner.fail(tuner.ask()[0])
    assert tuner.left == 6.0
    tuner.save(tmp_path / "t.json")
    loaded = Tuner.load(tmp_path / "t.json")
    for each in (tuner, loaded):
        first, second = each.experiments
        assert (first.state, first.reason, first.spent) == ("failed", "it melted", 4.0)
        assert (second.state, second.reason, second.spent) == ("failed", "", None)
        assert each.left == 6.0
    assert "2 failed" in repr(tuner)
    tuner.fail(tuner.ask()[0], spent=6.0)
    with pytest.raises(RuntimeError, match="spent"):
        tuner.ask()


def test_a_failure_in_one_context_says_little_of_another():
    tuner = Tuner({"x": Linear(0, 1)}, contexts={"oven": Categorical(["old", "new"])})
    for x in np.linspace(0, 1, 6):
        tuner.add({"x": x}, x, context={"oven": "new"})
        tuner.fail(tuner.start({"x": x}, {"oven": "old"}))
    believed = feasibility_of(tuner.plan, rounds_of(tuner))
    x = np.full((2, 1), 0.5)
    ovens = np.array([tuner.plan.contexts.features({"oven": each}) for each in ("old", "new")])
    old, new = believed.probability(np.hstack([ovens, x]))
    assert old < 0.3 < 0.7 < new
    tuner.ask({"oven": "old"})

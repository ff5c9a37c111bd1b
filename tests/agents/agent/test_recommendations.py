"""What agents and tuners recommend: of what was played, of some actions, or of all there is."""

import math

import numpy as np
import pytest
from players import FirstArm, ask_and_tell, at_once, started
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF

import agents
from agents import Categorical, Integer, Linear, Log, Tuner
from agents.algorithms.constrained import constrained_ei
from agents.model.choice import Recommendation
from agents.tuning import Advice
from bandit_envs import Setting
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.feedback import delivery

HERE = np.zeros(1)
GRID = unit_grid(40)
FINITE = Setting(arms=GRID, horizon=20, kernel=RBF(0.2), noise_std=0.05)
BOX = Setting(low=np.zeros(2), high=np.ones(2), horizon=20, noise_std=0.05)


def played(agent, rounds=8, cost=None):
    agent.reset(0)
    actions = []
    for t in range(rounds):
        action = agent.act(HERE)
        point = agent.setting.to_point(action)
        costs = np.empty((1, 0)) if cost is None else np.array([[cost(point)]])
        info = delivery(t, np.array([t]), np.array([-((point - 0.3) ** 2).sum()]), costs, 19)
        agent.update(HERE, action, 0.0, info)
        actions.append(action)
    return agent, np.array(actions)


@pytest.mark.parametrize("options", [{}, {"refit_every": 4}])
def test_of_some_arms_the_one_of_the_largest_mean_is_recommended(options):
    agent, _ = played(agents.make("gp-ucb", FINITE, **options))
    some = np.array([31, 2, 17, 5])
    mean, std = agent.posterior(HERE)
    best = some[mean[some].argmax()]
    found = agent.recommend(among=some)
    assert found.action == best
    assert (found.mean, found.std) == (mean[best], std[best])
    assert agent.recommend(among=np.arange(40)).action == agent.recommend().action


def test_of_some_arms_each_trial_of_a_batch_recommends_its_own():
    agent = started(agents.make("gp-ucb", FINITE, num_trials=2), [0, 1])
    shown = np.zeros((2, 1))
    for t in range(3):
        single = [at_once(t, y) for y in (1.0, -1.0)]
        info = {key: np.stack([each[key] for each in single]) for key in single[0]}
        agent.update(shown, np.array([7, 7]), np.array([1.0, -1.0]), info)
    np.testing.assert_array_equal(agent.recommend(among=[39, 7]).action, [7, 39])


@pytest.mark.parametrize("options", [{}, {"refit_every": 4}])
def test_of_some_actions_on_a_box_the_one_of_the_largest_mean_is_recommended(options):
    agent, actions = played(agents.make("gp-ei", BOX, **options))
    found = agent.recommend(among=actions)
    each = [agent.recommend(among=action[None]) for action in actions]
    assert found.mean == pytest.approx(max(one.mean for one in each), abs=1e-9)
    assert found.mean <= agent.recommend().mean + 1e-9
    assert (actions == found.action).all(axis=1).any()
    np.testing.assert_array_equal(found.point, BOX.to_point(found.action))


def test_without_a_model_the_given_action_nearest_to_the_iterate_is_recommended():
    agent = started(agents.make("bandit-oco", BOX))
    agent.y = np.array([0.5, -0.5])
    assert agent.recommend(among=np.array([[0.9, 0.9], [0.4, -0.2], [-1.0, -0.5]])).action.tolist() == [
        0.4,
        -0.2,
    ]


@pytest.mark.parametrize("name", ["constrained-ei", "admmbo"])
def test_of_some_arms_a_feasible_one_is_recommended(name):
    setting = Setting(arms=GRID, horizon=30, noise_std=0.01, num_constraints=1, constraint_noise_std=0.0)
    agent, arms = played(agents.make(name, setting), 25, cost=lambda x: x[0] - 0.2)
    found = agent.recommend(among=arms)
    assert found.action in arms
    assert GRID[found.action, 0] <= 0.21  # ADMMBO lets costs of 0.01 pass
    most = arms[GRID[arms, 0] > 0.5]
    assert agent.recommend(among=most).action in most
    assert agent.recommend(among=[25, 39, 30]).action in (25, 39, 30)  # of which none may have been played


@pytest.mark.parametrize("among", [[], [40], [-1], [0.5], [[1, 2]], "all"])
def test_what_are_no_arms_to_choose_among_is_refused(among):
    for make in (agents.gp_ucb, constrained_ei):
        agent = started(make(FINITE))
        with pytest.raises(ValueError, match=r"among must be arms in 0\.\.39, at least one, got"):
            agent.recommend(among=among)


# Tuners

SPACE = {"rate": Log(1e-5, 1e-1), "depth": Integer(1, 12), "kernel": Categorical(["rbf", "poly"])}


def loss(p):
    return (math.log10(p["rate"]) + 3) ** 2 + 0.1 * (p["depth"] - 5) ** 2 + (p["kernel"] == "poly")


def run(tuner, value, rounds):
    ask_and_tell(tuner, value, rounds)
    return tuner


@pytest.mark.sampled(2)
@pytest.mark.parametrize("agent", [None, "gp-ei", "gp-ucb-sdf", "admmbo"])
def test_a_tuner_recommends_what_was_told_exactly_as_it_was_told(agent):
    tuner = run(Tuner(SPACE, goal="minimise", agent=agent, num_arms=64), loss, 12)
    tuner.ask()  # pending
    ticket, _ = tuner.ask()
    tuner.drop(ticket)
    told = [each.parameters for each in tuner.experiments if each.state == "told"]
    assert tuner.recommend().parameters in told


def test_repetitions_outweigh_a_lucky_value():
    """Five results about 1 and one of 2 at noise 1: the repeated point has the better mean."""
    agent = ("gp-bucb", {"kernel": "rbf", "length_scale": 0.05, "noise_std": 1.0})
    tuner = Tuner({"x": Linear(0, 1)}, agent=agent, standardise=False)
    for value in (1.0, 1.2, 0.9, 1.1, 0.8):
        tuner.add({"x": 0.2}, value)
    tuner.add({"x": 0.8}, 1.5)
    assert tuner.best.parameters == {"x": 0.8}
    advice = tuner.recommend()
    assert advice.parameters == {"x": 0.2}
    assert advice.mean == pytest.approx(5 / 6, abs=1e-6)  # sum / (n + lambda)
    assert advice.std == pytest.approx(math.sqrt(1 / 6), abs=1e-6)


def test_in_a_context_what_was_tried_in_any_is_recommended():
    agent = ("gp-bucb", {"noise_std": 0.01})
    tuner = Tuner({"x": Linear(0, 1)}, contexts={"z": Linear(0, 1)}, agent=agent, standardise=False)
    for x in np.linspace(0, 1, 6).tolist():
        for z in (0.0, 1.0):
            tuner.add({"x": x}, -((x - z) ** 2), context={"z": z})
    assert [tuner.recommend({"z": z}).parameters["x"] for z in (0.0, 0.1, 0.9, 1.0)] == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("state", ["nothing", "pending", "dropped"])
def test_without_a_result_there_is_nothing_to_recommend_of_what_was_tried(state):
    tuner = Tuner(SPACE)
    if state != "nothing":
        ticket, _ = tuner.ask()
        if state == "dropped":
            tuner.drop(ticket)
    with pytest.raises(ValueError, match="needs an experiment with a value in the ranges, got none"):
        tuner.recommend()
    assert tuner.recommend(anywhere=True).std > 0


# What users hand over


@pytest.mark.parametrize(
    "among", [np.empty((0, 2)), np.zeros(2), [[2.0, 0.0]], [[np.nan, 0.0]], [["a", "b"]]]
)
def test_what_are_no_points_of_the_box_to_choose_among_is_refused(among):
    agent = started(agents.gp_ei(BOX))
    with pytest.raises(ValueError, match="among must be"):
        agent.recommend(among=among)


@pytest.mark.long
def test_the_advice_is_the_experiment_of_the_best_mean_and_anywhere_is_not_worse():
    tuner = run(Tuner(SPACE, goal="minimise", noise_std=0.3), loss, 15)
    tried, anywhere = tuner.recommend(), tuner.recommend(anywhere=True)
    assert anywhere.mean <= tried.mean + 1e-9
    assert anywhere.parameters not in [each.parameters for each in tuner.experiments]
    assert tried.parameters in [each.parameters for each in tuner.experiments]


def test_the_interval_holds_95_per_cent():
    low, high = Advice({}, 2.0, 0.5).interval
    assert norm.cdf([low, high], 2.0, 0.5) == pytest.approx([0.025, 0.975], abs=1e-12)


class Chooser(FirstArm):
    """A plug-in whose answer takes no list to choose from."""

    def recommend(self, observation=None):
        return Recommendation(0, np.zeros(1), 1.0, 0.0)


def test_an_agent_that_cannot_choose_among_what_was_tried_says_so():
    tuner = run(Tuner({"x": Integer(1, 4)}, agent=Chooser), lambda p: p["x"], 3)
    with pytest.raises(ValueError, match="does not choose among tried parameters; pass anywhere=True"):
        tuner.recommend()
    assert tuner.recommend(anywhere=True).parameters == {"x": 1}

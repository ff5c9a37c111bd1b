"""References: whom they prefer, what they learn from, and that each beats random play where it should."""

from __future__ import annotations

import numpy as np
import pytest
from players import started

import agents
from agents.agent.reference_agent import OutcomeTable, ReferenceAgent, preference
from agents.algorithms.references import one_of_least
from agents.registry import resolve_agent
from bandit_envs import Setting
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import delivery
from gpbandits import evaluate

SEEN = np.zeros(1)
ARMS = np.linspace(0.0, 1.0, 50)[:, None]
SAID = {name: " ".join(str(resolve_agent(name).make.__doc__).split()) for name in agents.names()}
REFERENCES = [name for name, said in SAID.items() if "a reference" in said]


def fed(name, plays, values, costs=None, spent=None, seed=0, contexts=None, observations=None, **options):
    """An agent that was given the values of plays of others."""
    width = 0 if costs is None else 1
    budget = {} if spent is None else {"budget": 1e3}
    setting = Setting(arms=ARMS, contexts=contexts, horizon=400, num_constraints=width, **budget)
    agent = started(agents.make(name, setting, **options), seed)
    for t, arm in enumerate(plays):
        cost = np.full((1, width), 0.0 if costs is None else costs[t])
        price = None if spent is None else np.array([spent[t]])
        info = delivery(t, np.array([t]), np.array([float(values[t])]), cost, spent=price)
        seen = SEEN if observations is None else observations[t]
        agent.update(seen, arm, values[t], info)
    return agent


def chosen(agent, observation=SEEN, times=300):
    """The actions that an agent draws in one round: `offer` of all arms lets it draw again."""
    found = []
    for _ in range(times):
        agent.offer(np.ones(len(ARMS), dtype=bool))
        found.append(agent.act(observation))
    return np.array(found)


def test_the_references_are_those_that_the_pages_name():
    assert sorted(REFERENCES) == ["epsilon-greedy", "forest-ei", "forest-thompson", "lin-ucb", "local-search"]


@pytest.mark.parametrize("name", REFERENCES)
def test_pending_plays_change_no_choice_but_what_is_random(name):
    setting = Setting(arms=ARMS, horizon=60, max_delay=30, delay=PoissonDelay(3.0))
    agent = started(agents.make(name, setting))
    nothing = np.empty(0, dtype=np.int64)
    played = []
    for t in range(30):
        played.append(agent.act(SEEN))
        agent.update(SEEN, played[-1], 0.0, delivery(t, nothing, np.empty(0), np.empty((0, 0)), 30))
    assert len(set(played)) == 30  # without values every play is a new one
    assert agent.recommend().mean is None


@pytest.mark.parametrize("name", ["epsilon-greedy", "local-search"])
def test_means_play_the_best_mean_in_their_share_of_the_rounds(name):
    plays = [*range(0, 40, 4), 8, 8]
    values = [0.0] * 12
    values[2], values[10], values[11], values[3] = 3.0, 3.0, 3.0, 2.0
    actions = chosen(fed(name, plays, values))
    share = {"epsilon-greedy": 0.9, "local-search": 0.7}[name]
    assert np.mean(actions == 8) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 300))
    others = actions[actions != 8]
    if name == "local-search":
        assert set(others) <= set(range(31))  # the 30 nearest to arm 8: 0 to 30
        assert len(set(others)) > 15
    else:
        assert not set(others) & set(plays)


@pytest.mark.parametrize("name", ["epsilon-greedy", "local-search"])
def test_one_search_a_context(name):
    contexts = np.array([[0.0], [1.0]])
    seen = [np.zeros(1)] * 12 + [np.ones(1)] * 12
    plays = list(range(12)) * 2
    values = [1.0 * (k == 4) for k in range(12)] + [1.0 * (k == 7) for k in range(12)]
    agent = fed(name, plays, values, contexts=contexts, observations=seen)
    for context, best in ((0.0, 4), (1.0, 7)):
        actions = chosen(agent, np.full(1, context), 100)
        assert np.bincount(actions).argmax() == best
        assert agent.recommend(np.full(1, context)).action == best


def test_the_first_plays_of_a_local_search_are_random_in_each_context():
    contexts = np.array([[0.0], [1.0]])
    agent = fed("local-search", range(12), [1.0] * 12, contexts=contexts, observations=[np.zeros(1)] * 12)
    assert len(set(chosen(agent, np.ones(1), 200))) > 30


@pytest.mark.parametrize("name", REFERENCES)
def test_a_play_within_its_limit_comes_before_a_better_one_beyond_it(name):
    plays = list(range(50)) * 2
    values = [float(k) for k in plays]
    costs = [(k - 25.0) / 25.0 for k in plays]
    agent = fed(name, plays, values, costs=costs)
    assert agent.recommend().action == 25
    assert np.mean(chosen(agent, times=60) <= 27) > 0.6


@pytest.mark.parametrize("name", REFERENCES)
def test_a_budget_makes_cheap_plays_better(name):
    plays = list(range(50)) * 2
    values = [1.0 + k / 50.0 for k in plays]
    agent = fed(name, plays, values, spent=[1.0 + k for k in plays])
    assert agent.recommend().action == 0
    assert np.mean(chosen(agent, times=60) <= 30) > 0.6
    if name != "forest-ei":  # which looks where trees differ
        assert np.bincount(chosen(agent, times=60)).argmax() == 0


def test_where_nothing_keeps_its_limits_the_least_excess_comes_first():
    reward, costs = np.array([1.0, 2.0, 3.0]), np.array([[0.5, 0.0], [0.1, 0.2], [4.0, 0.0]])
    outcomes, unit = OutcomeTable(reward, costs, np.ones(3)), np.ones(2)
    assert preference(outcomes, unit).argmax() == 1
    assert preference(outcomes, np.array([1.0, 0.1])).argmax() == 0  # units of each cost
    kept = outcomes._replace(cost=np.array([[0.5, 0.0], [0.1, 0.2], [-4.0, 0.0]]))
    assert preference(kept, unit).argmax() == 2


def test_a_negative_reward_is_not_divided_by_its_price():
    outcomes = OutcomeTable(np.array([-1.0, -2.0, 3.0]), np.zeros((3, 0)), np.array([2.0, 100.0, 6.0]))
    np.testing.assert_array_equal(outcomes.rate, [-1.0, -2.0, 0.5])


def test_which_of_ties_are_nearest_is_drawn():
    gap = np.array([0.0, *[1.0] * 9, 2.0])
    rng = np.random.default_rng(0)
    drawn = np.bincount([one_of_least(gap, 5, rng) for _ in range(4000)], minlength=11)
    expected = np.array([0.2, *[0.8 / 9] * 9, 0.0]) * 4000
    assert drawn[10] == 0
    assert (np.abs(drawn - expected) <= 4.5 * np.sqrt(expected + 1e-9)).all()


def test_lin_ucb_finds_a_slope_and_its_width_is_the_textbooks():
    rng = np.random.default_rng(1)
    plays = rng.integers(50, size=40)
    values = ARMS[plays, 0] + 0.01 * rng.normal(size=40)
    agent = fed("lin-ucb", plays, values)
    assert set(chosen(agent, times=20)) == {49}
    greedy, wide = (fed("lin-ucb", [49] * 20, [1.0, 1.1] * 10, alpha=alpha) for alpha in (0.0, 50.0))
    assert set(chosen(wide, times=20)) == {0}  # the farthest from what was played
    assert set(chosen(greedy, times=20)) != {0}
    x, y = np.column_stack([np.ones(40), ARMS[plays, 0]]), (values - values.mean()) / values.std()
    inverse = np.linalg.inv(np.eye(2) + x.T @ x)
    every = np.column_stack([np.ones(50), ARMS[:, 0]])
    score = every @ inverse @ x.T @ y + 3.0 * np.sqrt(np.einsum("ni,ij,nj->n", every, inverse, every))
    assert fed("lin-ucb", plays, values, alpha=3.0).act(SEEN) == score.argmax()


def test_feedback_of_a_play_is_taken_once_and_dropped_plays_are_forgotten():
    agent = agents.make("local-search", Setting(arms=ARMS, horizon=9, max_delay=8, delay=PoissonDelay(1.0)))
    agent.reset(0)
    nothing = np.empty(0, dtype=np.int64)
    agent.update(SEEN, 3, 0.0, delivery(0, nothing, np.empty(0), np.empty((0, 0)), 8))
    agent.drop([0])
    with pytest.raises(ValueError, match="feedback comes once"):
        agent.update(SEEN, 3, 0.0, delivery(1, np.array([0]), np.zeros(1), np.empty((1, 0)), 8))
    assert isinstance(agent, ReferenceAgent)


@pytest.mark.long
@pytest.mark.parametrize("env", ["GPBandit-Real-v2", "GPBandit-Contextual-v0"])
@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_regrets_less_than_random_play(name, env):
    if name == "lin-ucb" and "Real" not in env:
        pytest.skip("samples of a Gaussian process are no lines")
    keywords = {"task": "digits-repeat"} if "Real" in env else {"horizon": 150}
    result = evaluate(env, [name, "random"], trials=3, env_kwargs=keywords)
    own, others = (result.regret[each][:, -1].mean() for each in (name, "random"))
    assert own < (0.95 if name == "forest-ei" else 0.9) * others


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["forest-thompson", "forest-ei"])
def test_forests_see_a_step_that_no_line_sees(name):
    rng = np.random.default_rng(1)
    plays = rng.permutation(50)[:40]
    values = 1.0 * (np.abs(ARMS[plays, 0] - 0.5) < 0.15)
    actions = chosen(fed(name, plays, values), times=40)
    assert np.mean(np.abs(ARMS[actions, 0] - 0.5) < 0.2) > 0.9

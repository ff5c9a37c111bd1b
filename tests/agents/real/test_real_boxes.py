"""The agent for real problems on a box whose model is not published: what it plays, and what it answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from real_cases import SEEN

import agents
from agents.real.agent import RealAgent
from agents.real.earlier import EarlierTasks, sides
from agents.real.horizon import Outlay
from agents.real.spaces import ROOM, BoxSpace
from bandit_envs import Setting
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import delivery

PEAK = np.array([0.3, 0.8])
LATE = {"max_delay": 4, "delay": PoissonDelay(1.0)}
CONTEXTS = {
    "features": {"contexts": np.array([[0.0, 3.0], [1.0, 5.0], [4.0, 4.0]])},
    "labels": {"contexts": np.eye(3)},
    "any of a box": {"context_low": [-1.0, 2.0], "context_high": [1.0, 6.0]},
}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "limit": {"num_constraints": 1},
    "budget": {"budget": 25.0},
    "published prices": {"budget": 25.0, "known_costs": lambda points: 1.0 + points[:, -2]},
    "changes": {"may_change": True},
    "late": LATE,
    **CONTEXTS,
    "all": {"num_constraints": 2, "budget": 40.0, "may_change": True, **LATE, **CONTEXTS["features"]},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def box(low=(0.0, 0.0), high=(1.0, 1.0), horizon: int = 30, **published: Any) -> Setting:
    return Setting(low=low, high=high, horizon=horizon, **published)


def observations(setting: Setting, rounds: int) -> np.ndarray:
    """Contexts of some rounds as the agent sees them."""
    rng = np.random.default_rng(5)
    if setting.context_low is not None:
        return rng.uniform(setting.context_low, setting.context_high, size=(rounds, 2))
    return setting.scaled_contexts[rng.integers(len(setting.scaled_contexts), size=rounds)]


def earned(setting: Setting, action, seen) -> float:
    """A smooth reward with a peak that moves a little with the context."""
    shown = setting.context_features(np.asarray(seen)[None])[0] if setting.has_contexts else np.zeros(1)
    gap = (np.asarray(action) + 1.0) / 2.0 - PEAK - 0.02 * shown.sum()
    return float(np.exp(-8.0 * gap @ gap))


def run(setting: Setting, rounds: int = 14, seed: int = 0, reward=earned, ask=None, **options: Any):
    """An agent and its plays, (n, d); feedback of a round comes at once, or two rounds later."""
    agent: Any = agents.make("gp-agent", setting, **options)
    agent.reset(seed)
    plays: list[Any] = []
    shown = observations(setting, rounds)
    lag = 2 if setting.max_delay else 0
    for t in range(rounds):
        if ask is not None:
            ask(agent, shown[t])
        plays.append(agent.act(shown[t]))
        due = [t - lag] if t >= lag else []
        values = np.array([reward(setting, plays[k], shown[k]) for k in due])
        first = np.array([plays[k][0] for k in due])
        cost = np.repeat(first[:, None], setting.num_constraints, axis=1)
        spent = 1.5 + 0.5 * first if setting.budget is not None else None
        info = delivery(t, np.array(due, dtype=int), values, cost, setting.max_delay, spent=spent)
        agent.update(shown[t], plays[-1], 0.0, info)
    return agent, np.array(plays)


@every_kind
def test_it_plays_every_kind_of_box_in_the_box_and_the_same_again(kind):
    setting = box(**KINDS[kind])
    agent, plays = run(setting)
    assert isinstance(agent, RealAgent)
    assert np.abs(plays).max() <= 1.0
    assert len(np.unique(plays, axis=0)) > 10
    np.testing.assert_array_equal(run(setting)[1], plays)
    assert (run(setting, seed=1)[1] != plays).any()


@every_kind
def test_questions_change_no_play(kind):
    def ask(agent, seen):
        among = np.random.default_rng(0).uniform(-1.0, 1.0, size=(30, 2))
        agent.recommend(seen)
        agent.recommend(seen, among)
        agent.believed(seen, among[0])
        agent.posterior(seen)
        agent.beliefs(seen)

    setting = box(**KINDS[kind])
    np.testing.assert_array_equal(run(setting, 10, ask=ask)[1], run(setting, 10)[1])


@every_kind
def test_units_of_the_box_and_of_its_contexts_change_no_play(kind):
    """Powers of two, so that no rounding differs; prices are published in the units of the box."""
    options = dict(KINDS[kind])
    other = dict(options)
    if "contexts" in options and kind != "labels":
        other["contexts"] = 8.0 * options["contexts"]
    if kind == "published prices":
        other["known_costs"] = lambda points: 1.0 + points[:, -2] / 4.0
    one, same = box(**options), box((0.0, 0.0), (4.0, 0.25), **other)
    found = [run(each, reward=lambda _, action, seen: earned(one, action, seen))[1] for each in (one, same)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_units_of_rewards_change_no_play(scale):
    plays = run(box())[1]
    in_units = run(box(), reward=lambda *each: scale * earned(*each))[1]
    np.testing.assert_allclose(in_units, plays, atol=1e-9)


def test_it_ends_beside_the_peak_and_recommends_it():
    agent, plays = run(box(), 30)
    assert np.abs((plays[-5:] + 1.0) / 2.0 - PEAK).max() < 0.05
    found = agent.recommend()
    np.testing.assert_allclose(found.point, PEAK, atol=0.02)
    assert found.mean >= agent.posterior(SEEN)[0].max() - 1e-9


def test_the_best_point_of_a_long_list_is_recommended_as_it_was_given():
    agent, _ = run(box(), 20)
    among = np.random.default_rng(1).uniform(-1.0, 1.0, size=(3 * ROOM, 2))
    each = np.array([agent.believed(SEEN, action)[0][0] for action in among[::50]])
    found = agent.recommend(among=among)
    assert (among == found.action).all(axis=1).any()
    assert found.mean >= each.max()
    best = among[::50][each.argmax()]
    np.testing.assert_array_equal(agent.recommend(among=among[::50]).action, best)
    np.testing.assert_array_equal(agent.recommend(among=[[1e-20, 0.6]]).action, [1e-20, 0.6])
    with pytest.raises(ValueError, match=r"among must be 2 numbers in \[-1, 1\]"):
        agent.recommend(among=[[0.1, 0.2, 0.3]])
    with pytest.raises(ValueError, match="action must be finite"):
        agent.believed(SEEN, [0.1, np.nan])


def test_before_any_value_it_recommends_some_point_of_the_prior_s_mean():
    agent = run(box(), 0)[0]
    found = agent.recommend()
    assert np.abs(found.action).max() <= 1.0
    assert found.mean == 0.0
    assert agent.posterior(SEEN)[0].shape == (0,)


def test_what_it_believes_is_what_it_would_of_these_points_as_arms():
    """The set has the corners too, so that its features span what the box does."""
    agent, plays = run(box(), 12)
    points = (plays + 1.0) / 2.0
    on_set: Any = agents.make("gp-agent", Setting(arms=np.vstack([points, np.eye(2)]), horizon=30))
    on_set.reset(0)
    for t in range(12):
        on_set.act(SEEN)
        values = np.array([earned(box(), plays[t], SEEN)])
        on_set.update(SEEN, t, 0.0, delivery(t, np.array([t]), values, np.empty((1, 0)), 0))
    # Which rounds learn the hyperparameters is the same, as are the generators of their chains.
    for found, expected in zip(agent.learners[0].states, on_set.learners[0].states, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for found, expected in zip(agent.posterior(SEEN), on_set.posterior(SEEN), strict=True):
        np.testing.assert_allclose(found, expected[:12], rtol=1e-6, atol=1e-9)


def test_a_play_that_is_made_again_is_of_the_same_point():
    agent, plays = run(box(), 9)
    before = agent.record.seen(0)
    again = agent.space.number(agent.space.here(SEEN), plays[4].copy())
    assert again == before.point[4]
    np.testing.assert_array_equal(agent.space.action(again), plays[4])


def numbered(space, action, seen=SEEN) -> int:
    """The number of an action that is played."""
    number = space.number(space.here(seen), action)
    space.keep()
    return number


@pytest.mark.parametrize("kind", CONTEXTS)
def test_a_point_is_another_one_in_another_context(kind):
    setting = box(**CONTEXTS[kind])
    agent = run(setting, 0)[0]
    space, shown = agent.space, np.unique(observations(setting, 20), axis=0)
    numbers = [numbered(space, [0.2, -0.4], each) for each in (*shown, *shown)]
    assert numbers == [*range(len(shown))] * 2
    columns, labels = space.parameters.columns[: len(shown)], space.parameters.data_set[: len(shown)]
    assert len(np.unique(np.column_stack([columns, labels]), axis=0)) == len(shown)
    assert ((columns >= 0.0) & (columns <= 1.0)).all()
    np.testing.assert_allclose(columns[:, -2:], [[0.6, 0.3]] * len(shown))


def test_points_keep_their_features_as_room_is_made_for_others():
    earlier = {"like": [(np.random.default_rng(j).uniform(size=(12, 2)), np.arange(12.0)) for j in range(2)]}
    agent = agents.make("gp-agent", box(horizon=9), **earlier)
    agent.reset(0)
    space: BoxSpace = agent.space  # type: ignore[attr-defined]
    actions = np.random.default_rng(2).uniform(-1.0, 1.0, size=(2 * ROOM + 7, 2))
    numbers = [numbered(space, each) for each in actions]
    assert numbers == [*range(len(actions))]
    np.testing.assert_allclose(space.parameters.columns[numbers], (actions + 1.0) / 2.0)


PREDICTABLE = [np.random.default_rng(j).uniform(size=(40, 2)) for j in range(2)]


def test_earlier_tasks_are_known_at_every_point_of_a_choice():
    """Two tasks with the same peak: what they tell of a point does not depend on its number."""
    setting = box()
    like = [(each, np.array([earned(setting, 2.0 * x - 1.0, SEEN) for x in each])) for each in PREDICTABLE]
    tasks = EarlierTasks.of(like, *sides(setting))
    assert tasks is not None
    agent, plays = run(setting, 8, like=like)
    assert np.abs((plays[0] + 1.0) / 2.0 - PEAK).max() < 0.2  # the best of an earlier task
    agent.space.asked(agent.space.here(SEEN), np.random.default_rng(3).uniform(-1.0, 1.0, (ROOM, 2)))
    told = agent.spec.reward.earlier
    np.testing.assert_allclose(told[:8], tasks.means((plays + 1.0) / 2.0), rtol=1e-9)
    np.testing.assert_allclose(told[8 : 8 + ROOM], tasks.means(agent.space.parameters.columns[8 : 8 + ROOM]))


def test_earlier_results_outside_the_box_call_for_its_nearest_point():
    like = [(3.0 * each, -np.square(3.0 * each - 2.0).sum(axis=1)) for each in PREDICTABLE]
    assert EarlierTasks.of(like, *sides(box())) is not None
    for goal in ("regret", "best"):
        agent: Any = agents.make("gp-agent", box(), like=like, goal=goal)
        agent.reset(0)
        np.testing.assert_array_equal(agent.act(SEEN), [1.0, 1.0])


def test_a_side_without_width_is_no_side():
    agent, _ = run(
        box((0.0, 3.0, 0.0), (1.0, 3.0, 1.0)), 12, reward=lambda _, action, seen: -(action[0] ** 2)
    )
    known = [agent.believed(SEEN, [0.3, middle, -0.2]) for middle in (-1.0, 0.0, 1.0)]
    assert known[0] == known[1] == known[2]


def test_a_play_that_is_refused_leaves_no_point():
    agent, _ = run(box(), 6)
    with pytest.raises(ValueError, match="feedback"):
        agent.update(SEEN, [0.1, 0.2], 0.0, delivery(3, np.array([3]), np.ones(1), np.empty((1, 0)), 0))
    assert len(agent.posterior(SEEN)[0]) == 6


@pytest.mark.parametrize("kind", CONTEXTS)
def test_beliefs_at_played_points_are_those_of_the_observed_context(kind):
    setting = box(**CONTEXTS[kind])
    agent, plays = run(setting, 8)
    for seen in observations(setting, 3):
        mean, std = agent.posterior(seen)
        for place, action in enumerate(plays):
            expected = agent.believed(seen, action)
            np.testing.assert_allclose([mean[place], std[place]], np.ravel(expected), rtol=1e-9)


@pytest.mark.parametrize("wrong", [np.zeros(2), -1.0, np.nan], ids=str)
def test_published_prices_that_are_none_are_refused_by_name(wrong):
    setting = box(
        budget=9.0, known_costs=lambda points: np.full(len(points), wrong) if np.ndim(wrong) == 0 else wrong
    )
    with pytest.raises(ValueError, match="known_costs must be a function"):
        run(setting, 8)


def test_where_nothing_keeps_the_limit_the_least_excess_is_recommended(monkeypatch):
    """Of probabilities that are all nothing, none counts."""
    agent, _ = run(box(num_constraints=1), 6)
    known = Outlay(np.array([1e-176, 1e-180]), np.array([6.0, 4.0]), np.ones(2), np.ones(2), [])
    monkeypatch.setattr(agent.rule, "costs", lambda here, points: known)
    among = np.array([[0.9, 0.9], [-0.9, 0.9]])
    np.testing.assert_array_equal(agent.recommend(among=among).action, among[1])
    known = known._replace(kept=np.array([0.2, 0.1]))
    np.testing.assert_array_equal(agent.recommend(among=among).action, among[0])


def test_under_a_limit_it_plays_where_the_limit_is_kept():
    """The cost is the first coordinate, in [-1, 1], and the peak of the rewards violates it."""
    reward = lambda setting, action, seen: float(-((action[0] - 0.5) ** 2) - action[1] ** 2)  # noqa: E731
    agent, plays = run(box(num_constraints=1, horizon=60), 50, reward=reward)
    assert plays[-10:, 0].max() < 0.05
    assert plays[-10:, 0].mean() > -0.3
    assert -0.3 < agent.recommend().action[0] < 0.05


def test_published_prices_are_those_of_the_box_s_own_units():
    setting = box((0.0, 0.0), (4.0, 1.0), budget=9.0, known_costs=lambda points: 1.0 + points[:, 0])
    agent = run(setting, 0)[0]
    space = agent.space
    points = space.asked(space.here(SEEN), [[-1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(space.prices(space.here(SEEN), points), [1.0, 5.0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_agent_plays_on_as_it_did(kind, tmp_path):
    if kind == "published prices":
        pytest.skip("a function is no data")
    setting = box(**KINDS[kind])
    agent, _ = run(setting, 10)
    agent.save(tmp_path / "agent")
    seen = observations(setting, 1)[0]
    np.testing.assert_array_equal(agents.load(tmp_path / "agent").act(seen), agent.act(seen))

"""The agent for real problems keeps the contracts of all agents, whatever the setting."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from players import at_once
from real_cases import SEEN, line, played

import agents
from agents.real.values import LARGEST
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import delivery
from gpbandits import evaluate

LATE = {"max_delay": 3, "delay": PoissonDelay(1.0)}
MODELS = {"withheld": {}, "published": {"kernel": make_kernel("rbf", 0.2), "noise_std": 0.1}}
KINDS = {
    "plain": {},
    "limit": {"num_constraints": 1},
    "budget": {"budget": 25.0},
    "both": {"num_constraints": 1, "budget": 25.0},
    "changes": {"may_change": True},
    "published": MODELS["published"],
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def smooth(arm: int, t: int) -> float:
    return float(np.sin(0.7 * arm) + 0.1 * np.cos(3.0 * t))


def told(agent, t: int, arm: int, rounds, plays=None) -> None:
    """Tell an agent what some rounds earned; `plays` are all arms so far."""
    rounds, setting = np.array(rounds, dtype=np.int64), agent.setting
    arms = np.array([arm] if plays is None else [plays[each] for each in rounds], dtype=float)
    cost = np.empty((len(rounds), 0))
    if setting.num_constraints:
        cost = np.repeat((arms - 6.0)[:, None], setting.num_constraints, axis=1)
    spent = 1.0 + 0.1 * arms if setting.budget is not None else None
    reward = np.array([smooth(int(each), 0) for each in arms])
    agent.update(SEEN, arm, 0.0, delivery(t, rounds, reward, cost, setting.max_delay, spent=spent))


def run(kind: str, rounds: int = 20, agent=None, start: int = 0, seed: int = 0, **more):
    """The agent of a kind of setting, and its plays; feedback is immediate."""
    if agent is None:
        agent = agents.make("gp-agent", line(**KINDS[kind], **more))
        agent.reset(seed)
    plays = []
    for t in range(start, rounds):
        plays.append(agent.act(SEEN))
        told(agent, t, plays[-1], [t])
    return agent, plays


@every_kind
def test_questions_change_no_play(kind):
    expected = run(kind, 9)[1]
    agent, plays = run(kind, 0)
    for t in range(9):
        for question in (agent.posterior, agent.beliefs, agent.recommend):
            question(SEEN)
        agent.believed(SEEN, 3)
        plays.append(agent.act(SEEN))
        told(agent, t, plays[-1], [t])
    assert plays == expected


@pytest.mark.parametrize("scale", [1e-9, 1e12])
@pytest.mark.parametrize("kind", ["plain", "limit", "changes"])
def test_units_of_rewards_and_costs_change_no_play(kind, scale):
    setting = line(**KINDS[kind])
    cost = (lambda arm, t: [arm - 6.0]) if setting.num_constraints else None
    in_units = (lambda arm, t: [30.0 * (arm - 6.0)]) if setting.num_constraints else None
    _, plays = played(setting, smooth, cost, rounds=10)
    assert played(setting, lambda arm, t: scale * smooth(arm, t), in_units, rounds=10)[1] == plays
    assert played(setting, lambda arm, t: 64.0 + smooth(arm, t), cost, rounds=10)[1] == plays


def test_a_budget_s_unit_changes_no_play():
    one = played(line(budget=25.0), smooth, spent=lambda arm, t: 1.0 + 0.1 * arm, rounds=12)[1]
    other = played(line(budget=2500.0), smooth, spent=lambda arm, t: 100.0 + 10.0 * arm, rounds=12)[1]
    assert other == one


HONEST = {
    "equal": lambda arm, t: 3.0,
    "zero": lambda arm, t: 0.0,
    "two": lambda arm, t: float(arm == 3),
    "contradicting": lambda arm, t: 5.0 * (-1.0) ** t,
    "tiny": lambda arm, t: 1e-300 * np.sin(arm),
    "denormal": lambda arm, t: 5e-324 * (arm % 2),
    "an outlier below": lambda arm, t: -1e139 if arm == 3 else np.sin(arm),
    "an outlier above": lambda arm, t: 1e139 if arm == 3 else np.sin(arm),
    "far from zero": lambda arm, t: 1e9 + np.sin(arm),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("law", HONEST)
@pytest.mark.parametrize("changes", [False, True])
def test_any_finite_values_have_an_answer(law, model, changes):
    agent, _ = played(line(**MODELS[model], may_change=changes), HONEST[law], rounds=16)
    mean, std = agent.posterior(SEEN)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert np.isfinite(agent.recommend().mean)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1.0, -1.0, 1e139])
def test_any_finite_costs_and_prices_have_an_answer(size):
    keywords = {"num_constraints": 1, "budget": 20.0}
    agent, _ = played(line(**keywords), smooth, lambda arm, t: [size * (arm - 6.0)], lambda arm, t: size, 16)
    assert all(np.isfinite(each).all() for pair in agent.beliefs(SEEN) for each in pair)
    assert np.isfinite(agent.recommend().mean)


def feedback(t: int, **wrong):
    """What round t earned in a setting with a cost and a budget, of which some is wrong."""
    info = delivery(t, np.array([t]), np.array([0.5]), np.array([[0.2]]), 0, spent=np.array([1.0]))
    for name, value in wrong.items():
        info[f"feedback_{name}"] = np.full_like(info[f"feedback_{name}"], value)
    return info


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"reward": np.nan}, "feedback_reward must be finite"),
        ({"reward": np.inf}, "feedback_reward must be finite"),
        ({"reward": -2.0 * LARGEST}, r"feedback_reward must be at most 1e\+140 in size"),
        ({"cost": np.inf}, "feedback_cost must be finite"),
        ({"cost": 2.0 * LARGEST}, r"feedback_cost must be at most 1e\+140 in size"),
        ({"spent": np.nan}, "feedback_spent must be finite"),
        ({"spent": 2.0 * LARGEST}, r"feedback_spent must be at most 1e\+140 in size"),
        ({"step": 7}, "feedback_step must name rounds"),
        ({"step": 0}, "feedback comes once"),
        (None, "feedback_spent must be the cost of each play"),
        ([], r"must have 1 cost\(s\)"),
    ],
    ids=str,
)
def test_wrong_feedback_is_refused_without_a_trace(wrong, words):
    agent, expected = run("both", 12)
    agent.reset(0)
    plays = []
    for t in range(12):
        plays.append(agent.act(SEEN))
        if t == 6:
            info = feedback(t, **(wrong or {}))
            if not wrong:
                del info["feedback_spent" if wrong is None else "feedback_cost"]
            with pytest.raises(ValueError, match=words):
                agent.update(SEEN, plays[-1], 0.0, info)
        told(agent, t, plays[-1], [t])
    assert plays == expected


def late_agent(drops: bool, model: str = "withheld"):
    """An agent after plays of which the last four are pending, or dropped."""
    agent = agents.make("gp-agent", line(horizon=60, **LATE, **MODELS[model]))
    agent.reset(0)
    for t in range(16):
        agent.act(SEEN)
        told(agent, t, (5 * t) % 12, [t] if t < 12 else [])
    if drops:
        agent.drop(np.arange(12, 16))
    return agent


def test_dropped_plays_are_pending_no_more():
    pending, dropped = late_agent(False), late_agent(True)
    assert len(pending.book.pending().point) == 4
    assert len(dropped.book.pending().point) == 0
    for one, other in zip(pending.posterior(SEEN), dropped.posterior(SEEN), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="once"):
        told(dropped, 16, 3, [12], [(5 * t) % 12 for t in range(16)])


@pytest.mark.parametrize("model", MODELS)
def test_beliefs_follow_from_delivered_feedback_alone(model):
    agent = late_agent(False, model)
    before = agent.posterior(SEEN)
    agent.act(SEEN)
    told(agent, 16, 4, [])
    for one, other in zip(before, agent.posterior(SEEN), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("published", MODELS.values(), ids=MODELS)
def test_pending_plays_are_not_all_of_one_arm(published):
    """Their std counts: while nothing is delivered it looks elsewhere."""
    agent = agents.make(
        "gp-agent", line(num_arms=40, horizon=200, max_delay=30, delay=PoissonDelay(9.0), **published)
    )
    agent.reset(0)
    for t in range(12):
        agent.act(SEEN)
        told(agent, t, (7 * t) % 40, [t])
    plays = []
    for t in range(12, 22):
        plays.append(agent.act(SEEN))
        told(agent, t, plays[-1], [])
    assert len(set(plays)) > 3


@pytest.mark.parametrize("model", MODELS)
def test_values_that_are_stated_to_be_precise_draw_the_mean(model):
    """Arm 5 earned 1 and -1, of which one is stated to be precise."""
    found = {}
    for first, second in ((3.0, 0.03), (0.03, 3.0), (np.nan, np.nan)):
        agent = agents.make("gp-agent", line(**MODELS[model]))
        agent.reset(0)
        for t in range(14):
            agent.act(SEEN)
            arm, std = (t + (t == 5), 0.1) if t < 12 else (5, first if t == 12 else second)
            value = 0.5 * np.sin(arm) if t < 12 else (1.0, -1.0)[t - 12]
            std = np.array([std if np.isfinite(first) else np.nan])
            agent.update(SEEN, arm, 0.0, at_once(t, value, std=std))
        found[first] = [each[5] for each in agent.posterior(SEEN)]
    assert found[0.03][0] > found[3.0][0] + 0.5
    assert found[0.03][1] < found[np.nan][1]


def test_stated_stds_that_are_the_usual_one_change_nothing():
    setting, plays = line(**MODELS["published"]), []
    for std in (np.nan, 0.1):
        agent = agents.make("gp-agent", setting)
        agent.reset(0)
        arms = []
        for t in range(10):
            arms.append(agent.act(SEEN))
            value, stated = np.array([smooth(arms[-1], t)]), np.array([std])
            agent.update(SEEN, arms[-1], 0.0, at_once(t, value, std=stated))
        plays.append(arms)
    assert plays[0] == plays[1]


@pytest.mark.parametrize(("std", "alarms"), [(0.1, 1), (5.0, 0)])
def test_a_value_that_is_stated_to_be_noisy_is_no_change(std, alarms):
    agent = agents.make("gp-agent", line(may_change=True, **MODELS["published"]))
    agent.reset(0)
    for t in range(13):
        agent.act(SEEN)
        arm, value, stated = (t, np.sin(0.5 * t), 0.1) if t < 12 else (5, np.sin(2.5) - 3.0, std)
        agent.update(SEEN, arm, 0.0, at_once(t, value, std=stated))
    assert len(agent.alarms) == alarms


def test_missing_arms_are_never_played():
    agent, rng = agents.make("gp-agent", line(volatile=True)), np.random.default_rng(0)
    agent.reset(0)
    mask = rng.random(12) < 0.3
    mask[2] = True
    agent.start({"action_mask": mask})
    for t in range(30):
        arm = agent.act(SEEN)
        assert mask[arm]
        info = at_once(t, smooth(arm, t))
        mask = rng.random(12) < 0.3
        mask[t % 12] = True
        agent.update(SEEN, arm, 0.0, info | {"action_mask": mask})


def test_a_recommendation_is_of_the_arms_asked_for_and_of_the_largest_mean():
    agent, _ = run("plain", 15)
    mean, std = agent.posterior(SEEN)
    for among in (None, [1, 4, 9], [7]):
        found = agent.recommend(among=among)
        arms = np.arange(12) if among is None else np.array(among)
        assert found.action == arms[mean[arms].argmax()]
        assert (found.mean, found.std) == pytest.approx((mean[found.action], std[found.action]), rel=1e-12)
    with pytest.raises(ValueError, match=r"among must be arms in 0\.\.11"):
        agent.recommend(among=[12])


def test_under_limits_the_best_arm_that_probably_keeps_them_is_recommended():
    """Rewards grow with the arm, and arms beyond 6 violate the limit."""
    setting = line(num_constraints=1, horizon=25)
    agent, _ = played(setting, lambda arm, t: 0.1 * arm, lambda arm, t: [arm - 6.5])
    assert agent.recommend().action == 6
    assert agent.recommend(among=[7, 8]).action == 7  # the likelier one of two that do not
    assert agent.infeasible is False
    assert agent.infeasible_since == -1


def test_it_says_where_no_arm_seems_to_keep_the_limits():
    agent, _ = played(line(num_constraints=1), smooth, lambda arm, t: [5.0 + 0.3 * arm])
    assert 0 <= agent.infeasible_since < 25
    batch = agents.make("gp-agent", line(num_constraints=1), 2)
    batch.reset([0, 1])
    assert batch.infeasible is None
    assert run("plain", 5)[0].infeasible is None


def test_beliefs_of_costs_come_to_what_is_true():
    agent, plays = played(line(num_constraints=1), smooth, lambda arm, t: [arm - 6.0], rounds=15)
    _, (cost, std) = agent.beliefs(SEEN)
    tried = sorted(set(plays))
    np.testing.assert_allclose(cost[tried], np.array(tried) - 6.0, atol=0.3)
    assert np.isfinite(std).all()


@pytest.mark.parametrize("kind", KINDS)
def test_before_any_value_it_believes_the_prior(kind):
    agent, _ = run(kind, 0)
    for mean, std in agent.beliefs(SEEN):
        np.testing.assert_array_equal(mean, 0.0)
        assert (std > 0.0).all()
    assert np.isfinite(agent.recommend().mean)


@pytest.mark.parametrize("model", MODELS)
def test_where_results_are_late_plays_are_drawn_until_three_are_delivered(model):
    """Values that differ change no play before, whenever they are delivered."""
    delivered = {4: [0], 6: [1], 8: [2]}
    plays = {}
    for sign in (1.0, -1.0):
        agent = agents.make("gp-agent", line(num_arms=40, **LATE, **MODELS[model]))
        agent.reset(0)
        arms = plays[sign] = []
        for t in range(9):
            arms.append(agent.act(SEEN))
            rounds = np.array(delivered.get(t, []), dtype=np.int64)
            values = sign * np.array([smooth(arms[each], 0) for each in rounds])
            info = delivery(t, rounds, values, np.empty((len(rounds), 0)), agent.setting.max_delay)
            agent.update(SEEN, arms[-1], 0.0, info)
    assert plays[1.0] == plays[-1.0]
    assert len(set(plays[1.0])) == 9


def test_a_published_mean_is_added_to_what_is_learnt():
    mean = np.linspace(-3.0, 3.0, 12)
    flat, sloping = (line(**MODELS["published"], prior_mean=each) for each in (0.0, mean))
    agent = agents.make("gp-agent", sloping)
    agent.reset(0)
    np.testing.assert_array_equal(agent.posterior(SEEN)[0], mean)
    assert agent.act(SEEN) == 11  # where the published mean is largest
    plain, moved = (agents.make("gp-agent", each) for each in (flat, sloping))
    for each, rise in ((plain, 0.0 * mean), (moved, mean)):
        each.reset(0)
        for t, arm in enumerate((3, 0, 5, 2)):
            value = np.array([smooth(arm, t) + rise[arm]])
            each.update(SEEN, arm, 0.0, at_once(t, value))
    np.testing.assert_allclose(moved.posterior(SEEN)[0] - mean, plain.posterior(SEEN)[0], atol=1e-9)


def test_cheap_arms_are_preferred_where_all_rewards_are_equal():
    setting = line(horizon=60, budget=20.0)
    _, plays = played(setting, lambda arm, t: 1.0, spent=lambda arm, t: 0.5 + 0.2 * arm, rounds=20)
    assert np.mean(plays[8:]) < 2.0


def test_in_the_last_round_the_best_so_far_is_played():
    explored = []
    for horizon in (400, 6):
        agent, plays = played(line(num_arms=60, horizon=horizon), lambda arm, t: np.sin(arm / 7), rounds=5)
        explored.append(agent.act(SEEN) not in plays)
    assert explored == [True, False]


@pytest.mark.parametrize("pending", [0, 20])
def test_the_rest_of_a_budget_bounds_how_many_rounds_use_what_is_learnt(pending):
    """When all is spent, or will be, the largest mean is played; with much of it left not."""
    explored = []
    for budget in (400.0, 6.0 + pending):
        setting = line(num_arms=60, horizon=400, budget=budget, **LATE)
        agent, _ = played(setting, lambda arm, t: np.sin(arm / 7), spent=lambda arm, t: 1.0, rounds=6)
        for t in range(6, 6 + pending):
            agent.act(SEEN)
            told(agent, t, 11, [])
        mean, _ = agent.posterior(SEEN)
        explored.append(agent.act(SEEN) != mean.argmax())
    assert explored == [True, False]


def test_what_all_plays_spent_counts():
    """With a fifth of a coin left no other arm is explored."""
    explored = []
    for budget in (400.0, 6.2):
        setting = line(num_arms=60, horizon=400, budget=budget)
        agent, plays = played(setting, lambda arm, t: np.sin(arm / 7), spent=lambda arm, t: 1.0, rounds=6)
        explored.append(agent.act(SEEN) not in plays)
    assert explored == [True, False]


def test_an_arm_that_is_explored_is_not_explored_again_while_it_is_pending():
    setting = line(num_arms=60, horizon=400, budget=400.0, **LATE)
    agent, plays = played(setting, lambda arm, t: np.sin(arm / 7), spent=lambda arm, t: 1.0, rounds=6)
    arm = agent.act(SEEN)
    assert arm not in plays
    told(agent, 6, arm, [])
    assert agent.act(SEEN) != arm


def above_a_limit(arm: int, t: int) -> list[float]:
    """A cost that no arm keeps, least at 17."""
    return [0.5 + abs(arm - 17) / 12]


def test_an_arm_that_may_violate_less_is_not_explored_again_while_it_is_pending():
    setting = line(num_arms=40, horizon=60, num_constraints=1, **LATE)
    agent, plays = played(setting, lambda arm, t: np.sin(arm / 7), above_a_limit, rounds=4)
    arm = agent.act(SEEN)
    assert arm not in plays
    assert agent.infeasible
    told(agent, 4, arm, [])
    assert agent.act(SEEN) != arm


def test_where_nothing_keeps_the_limit_and_all_rewards_are_equal_less_is_violated():
    setting = line(num_arms=25, horizon=60, num_constraints=1)
    _, plays = played(setting, lambda arm, t: 1.0, above_a_limit, rounds=45)
    assert np.mean([above_a_limit(arm, 0)[0] for arm in plays[20:]]) < 0.7


def test_limits_alone_are_learnt_around_a_published_model():
    setting = line(kernel=make_kernel("matern52", 0.1), noise_std=0.1, num_constraints=1, budget=9.0)
    agent = agents.make("gp-agent", setting)
    for asked in ("infeasible", "infeasible_since"):
        with pytest.raises(RuntimeError, match="reset"):
            getattr(agent, asked)
    agent.reset(0)
    reward, limit, price = (each.surrogate.prior.centre[0] for each in agent.learners)
    assert limit == reward != price


@pytest.mark.parametrize("known", [False, True])
def test_dear_arms_are_played_where_they_earn_more_a_price(known):
    """Reward 1 + arm^2 at the price of 1 + arm: the last arm earns most for what it costs."""
    costs = 1.0 + np.arange(12)
    published = {"known_costs": costs} if known else {}
    _, plays = played(
        line(budget=300.0, **published), lambda arm, t: float(1 + arm**2), spent=lambda arm, t: costs[arm]
    )
    assert np.mean(np.array(plays[12:]) >= 9) > 0.8


def test_the_published_prices_of_arms_are_used_from_the_first_choice_on():
    costs = np.full(12, 1e3)
    costs[4] = 1.0
    _, plays = played(
        line(budget=2e4, known_costs=costs), lambda arm, t: 1.0, spent=lambda arm, t: costs[arm]
    )
    assert set(plays[4:]) == {4}


@every_kind
def test_a_saved_agent_plays_on_as_it_did(kind, tmp_path):
    agent, _ = run(kind, 7)
    agent.save(tmp_path / "agent")
    twin = agents.load(tmp_path / "agent")
    assert run(kind, 10, twin, start=7)[1] == run(kind, 10, agent, start=7)[1]


@every_kind
def test_a_reset_with_the_same_seed_begins_the_same_run(kind):
    agent, plays = run(kind, 9)
    agent.reset(0)
    assert run(kind, 9, agent)[1] == plays


@pytest.mark.parametrize("kind", ["plain", "changes", "published"])
def test_other_seeds_are_other_first_plays(kind):
    assert run(kind, 4)[1] != run(kind, 4, seed=1)[1]


MIXED = np.array([[x, *np.eye(3)[c]] for x, c in product(np.linspace(0, 1, 5), range(3))])


VALUE = np.sin(5.0 * MIXED[:, 0]) + MIXED[:, 1:] @ np.array([0.3, -0.5, 0.8])


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (0, 3, 2, 1)])
def test_names_of_a_choice_s_values_change_no_play(order):
    plays = [
        played(Setting(arms=arms, horizon=25), lambda arm, t: VALUE[arm])[1]
        for arms in (MIXED, MIXED[:, order])
    ]
    assert plays[0] == plays[1]


def test_the_choice_as_one_parameter_finds_the_best_arm():
    agent, _ = played(Setting(arms=MIXED, horizon=25), lambda arm, t: VALUE[arm])
    assert agent.spec.reward.parameters.number == 2
    assert agent.recommend().action == VALUE.argmax()


@every_kind
def test_first_plays_are_distinct(kind):
    assert len(set(run(kind, 3)[1])) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    "environment", ["GP", "Delayed", "Contextual", "PiecewiseStationary", "Constrained", "Composite"]
)
@pytest.mark.parametrize("places", [{"publish_model": True}, {}, {"continuous": True}], ids=str)
def test_a_batch_equals_single_trials_and_beats_random_play(environment, places):
    keywords = {"num_arms": 20, "horizon": 50, "publish_model": False, **places}
    alone = {"it": lambda setting: agents.make("gp-agent", setting)}
    batch, single, random = (
        evaluate(f"GPBandit-{environment}-v0", each, trials=3, env_kwargs=keywords)
        for each in ({"it": "gp-agent"}, alone, {"it": "random"})
    )
    np.testing.assert_array_equal(batch.actions["it"], single.actions["it"])
    if environment != "Constrained":  # there the best arm violates the limit
        assert batch.regret["it"][:, -1].mean() < random.regret["it"][:, -1].mean()

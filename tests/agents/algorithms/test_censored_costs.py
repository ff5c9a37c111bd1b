"""Pending costs count as 0 and are never shifted, so that what is kept stays where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import references
from players import each_round
from rectified_cases import problem

import agents
from agents.beliefs.by_name import COST_BELIEFS, CensoredCost
from agents.beliefs.censored import Censored
from agents.model.model import Model
from agents.model.rounds import Delivery
from bandit_envs import BanditEnv
from bandit_envs.laws import delays
from gpbandits import evaluate

LATE = problem(delay=delays.PoissonDelay(4), horizon=80)
WINDOW, BOUND, WIDTH = 6, 0.5, 2.0
CENSORED: dict[str, Any] = {
    "belief": "censored",
    "belief_options": {"window": WINDOW, "reward_bound": BOUND},
    "cost_belief": "censored",
    "width": WIDTH,
}
HERE = np.zeros(1, dtype=int)


def played(rounds: int, **options: Any) -> tuple[Any, list[int], dict[int, tuple[int, float]]]:
    """An agent, its arms, and when the cost of each round came, and which it was."""
    env = BanditEnv(LATE)
    observation, _ = env.reset(seed=2)
    agent = agents.make("rpol", env.setting, **options)
    agent.reset(0)
    arms, came = [], {}
    for t, (action, _, info, _) in enumerate(each_round(env, agent, observation, rounds)):
        arms.append(action)
        mask = info["feedback_mask"]
        costs = info["feedback_cost"][mask, 0].tolist()
        came |= {s: (t, c) for s, c in zip(info["feedback_step"][mask].tolist(), costs, strict=True)}
    return agent, arms, came


def test_the_band_of_a_cost_is_that_of_values_which_are_0_until_they_come_in_time():
    agent, arms, came = played(50, **CENSORED)
    model, now = agent.model, 50
    value = np.zeros(now)
    for s, (arrival, cost) in came.items():
        value[s] = cost if arrival - s <= WINDOW else 0.0
    assert any(arrival - s > WINDOW for s, (arrival, _) in came.items())
    gram = model.kernel(LATE.decisions.points)
    mean, covariance = references.posterior(gram, model.noise_variance, np.array(arms), value)
    std = np.sqrt(np.diag(covariance))
    (belief,) = agent.objective.costs
    np.testing.assert_allclose(belief.mean(HERE)[0], mean, atol=1e-8)
    np.testing.assert_allclose(belief.std(HERE)[0], std, atol=1e-6)
    width = WIDTH + BOUND * std[arms[-WINDOW:]].sum()
    lower = agent.objective.lower(0, (belief.mean(HERE), belief.std(HERE)), agent.t)
    np.testing.assert_allclose(lower[0], mean - width * std, atol=1e-5)


def test_pending_rewards_count_as_the_least_that_may_come():
    agent, _, _ = played(1, **CENSORED)
    np.testing.assert_allclose(agent.belief.prior_mean, -3.0)


@pytest.mark.parametrize("cost", [-0.5, 0.5])
def test_what_is_censored_has_the_sign_of_the_cost_and_what_is_shifted_has_not(cost):
    model = Model.of(LATE.setting(), prior_mean=-3.0)
    ours, shifted = CensoredCost(Model.of(LATE.setting()), 1, window=3), Censored(model, 1, window=3)
    point = np.array([7])
    for belief in (ours, shifted):
        for k in range(40):
            belief.play(point)
            if k % 2:
                belief.receive(Delivery.of_values(HERE, point, np.array([cost]), delay=np.array([2])))
    assert np.sign(ours.mean(HERE)[0, 7]) == np.sign(cost)
    assert ours.mean(HERE)[0, 7] == pytest.approx(cost / 2, abs=0.02)
    assert shifted.mean(HERE)[0, 7] < -1.0


def test_a_play_that_will_never_yield_a_cost_counts_no_longer():
    agent, arms, came = played(1, **CENSORED)
    (belief,), fresh = agent.objective.costs, played(0, **CENSORED)[0].objective.costs[0]
    assert not came
    assert belief.std(HERE)[0, arms[0]] < 0.9 * fresh.std(HERE)[0, arms[0]]
    agent.drop(np.zeros(1, dtype=int))
    np.testing.assert_allclose(belief.std(HERE), fresh.std(HERE), atol=1e-9)


def test_without_delays_it_does_not_matter_what_pending_costs_count_as():
    def regret(belief: str) -> Any:
        own = {"belief": "censored", "belief_options": {"reward_bound": 0.0}} if belief == "censored" else {}
        spec = ("config", {"cost_belief": belief, **own})
        return evaluate(problem(horizon=30), {"it": spec}, trials=2).actions["it"]

    first, *others = map(regret, COST_BELIEFS)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_hallucinated_costs_are_known_better_before_they_come():
    names = ("delivered", "hallucinated")
    (told,), (certain,) = (played(5, cost_belief=name, rule="ucb")[0].objective.costs for name in names)
    assert (certain.std(HERE) <= told.std(HERE) + 1e-12).all()
    assert certain.std(HERE).min() < 0.5 * told.std(HERE).min()

"""CONFIG, RPOL and EPBO keep in every round what is proved of them, PDCBO and CKB what multipliers pay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import references
from agent_cases import batch_as_singles
from players import each_round, started
from rectified_cases import LINE, cost, play, problem, wave

import agents
from agents.algorithms.separate_models import RULES, epbo
from agents.beliefs.by_name import COST_BELIEFS, CensoredCost
from agents.beliefs.censored import Censored
from agents.beliefs.surface import Surface
from agents.box import AtPoints
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.objectives.by_name import APART
from agents.objectives.primal_dual import TOLERANCE
from bandit_envs import BanditEnv
from bandit_envs.laws import delays
from bandit_envs.problem.feedback import delivery
from gpbandits import evaluate

NAMES = ["config", "epbo", "rpol"]
WIDTH, HERE = 3.0, np.zeros(1)
TWO = (cost, lambda x: 0.2 - x[:, 0])
PROBLEMS = {
    "one cost": problem(),
    "two costs": problem(TWO),
    "delay": problem(TWO, delay=delays.PoissonDelay(5)),
}


def test_a_very_large_charge_is_an_infinite_one():
    runs = [play(PROBLEMS["two costs"], *each) for each in (("config",), ("epbo",))]
    large = play(PROBLEMS["two costs"], "epbo", rho=1e9)
    np.testing.assert_array_equal(large.arm, runs[0].arm)
    assert not np.array_equal(large.arm, runs[1].arm)


def test_no_charge_is_gp_ucb():
    field = {"free": ("epbo", {"rho": 0.0}), "plain": ("gp-ucb", {"width": WIDTH})}
    played = evaluate(PROBLEMS["one cost"], field, trials=3).actions
    np.testing.assert_array_equal(played["free"], played["plain"])


@pytest.mark.parametrize("rho", [-1.0, np.nan, "large", None])
def test_a_charge_below_0_is_refused_without_a_name_too(rho):
    with pytest.raises(ValueError, match="must be 0 or positive"):
        epbo(PROBLEMS["one cost"].setting(), rho=rho)


@pytest.mark.parametrize("place", PROBLEMS)
def test_the_charge_grows_with_the_root_of_time_and_what_violates(place):
    run = play(PROBLEMS[place], "rpol")
    t = np.arange(1, len(run.arm) + 1)[:, None, None]
    assert (run.charge[0] == 1).all()
    assert (run.charge >= np.sqrt(t - 1)).all()
    expected = np.maximum(run.charge[:-1] + run.arrived[:-1], np.sqrt(t[:-1]))
    np.testing.assert_allclose(run.charge[1:], expected, atol=1e-12)


def test_it_starts_over_with_a_trial_that_does():
    every = 20
    options = {"restart": "periodic", "restart_options": {"every": every}}
    run = play(PROBLEMS["delay"], "rpol", **options)
    assert (run.charge[::every] == 1).all()
    assert (run.charge[every - 1 : -1 : every] > 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_an_infeasible_problem_is_declared_and_the_least_violation_played(name):
    run = play(problem(horizon=80), name, lift=1.2)
    lower = np.maximum(run.cost_mean - WIDTH * run.cost_std, 0.0).sum(axis=2)
    np.testing.assert_array_equal(run.infeasible, (lower > 0).all(axis=2))
    assert run.infeasible[-1].all()
    since = run.agent.infeasible_since
    np.testing.assert_array_equal(since, run.infeasible.argmax(axis=0))
    if name == "config":
        (t, i) = run.infeasible.nonzero()
        np.testing.assert_allclose(lower[t, i, run.arm[t, i]], lower[t, i].min(axis=1), atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_a_box_of_the_points_of_a_set_is_played_as_the_set(name):
    setting = PROBLEMS["two costs"].setting()
    box = replace(setting, arms=None, low=np.zeros(1), high=np.ones(1))
    finite = started(agents.make(name, setting))
    other = started(agents.make(name, box, search=AtPoints(LINE)))
    for t in range(25):
        arm, action = finite.act(HERE), other.act(HERE)
        x = box.to_point(action)
        np.testing.assert_allclose(x, LINE[arm], atol=1e-6)
        value, costs = wave(x[None]), np.array([[each(x[None])[0] + 1.2 for each in TWO]])
        info = delivery(t, np.array([t]), value, costs, 0)
        finite.update(HERE, arm, value[0], info)
        other.update(HERE, action, value[0], info)
        assert other.infeasible == finite.infeasible
    assert finite.infeasible_since == other.infeasible_since > 0


def test_on_a_box_nothing_is_played_that_cannot_be_feasible():
    box = replace(PROBLEMS["two costs"].setting(), arms=None, low=np.zeros(1), high=np.ones(1))
    agent = started(agents.make("config", box, search={"candidates": 64}))
    for t in range(15):
        action = agent.act(HERE)
        x = box.to_point(action)
        for belief in agent.objective.costs:
            mean, std = Surface.of(belief).predict(x[None])
            assert mean - WIDTH * std <= 2 * TOLERANCE
        costs = np.array([[each(x[None])[0] for each in TWO]])
        agent.update(HERE, action, 0.0, delivery(t, np.array([t]), wave(x[None]), costs, 0))
    assert agent.infeasible_since == -1


@pytest.mark.parametrize("name", APART)
def test_every_cost_has_the_lambda_of_its_own_noise(name):
    setting = replace(PROBLEMS["two costs"].setting(), constraint_noise_std=0.0)
    for given, expected in ((None, 1e-6), (0.5, 0.25), (5.0, 25.0)):
        agent = started(agents.make(name, setting, constraint_noise_std=given))
        for belief in agent.objective.costs:
            np.testing.assert_allclose(belief.std_posterior.noise, expected)
    withheld = started(agents.make(name, replace(setting, constraint_noise_std=None)))
    for belief in withheld.objective.costs:
        np.testing.assert_allclose(belief.std_posterior.noise, withheld.model.noise_variance)


@pytest.mark.parametrize("withheld", [None, "kernel", "constraint_prior_std"])
def test_first_plays_set_the_scales_where_a_prior_is_withheld(withheld):
    setting = replace(PROBLEMS["two costs"].setting(), **({withheld: None} if withheld else {}))
    assert started(agents.make("config", setting)).objective.standardize == (withheld is not None)


def test_results_say_when_an_agent_found_the_problem_infeasible():
    sure = {"centre": [0.0, 5.0], "restart": "periodic", "restart_options": {"every": 7}}
    field = {"sure": ("config", sure), "unsure": "config", "blind": "gp-ucb"}
    result = evaluate(PROBLEMS["one cost"], field, trials=3)
    assert set(result.infeasible) == {"sure", "unsure"}
    np.testing.assert_array_equal(result.infeasible["sure"], 0)
    np.testing.assert_array_equal(result.infeasible["unsure"], -1)
    alone = evaluate(PROBLEMS["one cost"], field, trials=1)
    np.testing.assert_array_equal(alone.infeasible["sure"], 0)


# PDCBO and CKB

DUALS = ["ckb", "pdcbo"]
PLACES = {
    "now": problem(),
    "late": problem(delay=delays.PoissonDelay(5)),
    "two": problem((cost, lambda x: 0.2 - x[:, 0])),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("options", [{}, {"step": 0.1}, {"restart": "never", "standardize": True}], ids=str)
def test_observed_costs_are_paid_by_the_multiplier_on_every_path(place, options):
    run = play(PLACES[place], "pdcbo", **options)
    step = options.get("step", 1.0)
    final = run.agent.objective.phi
    phi = np.concatenate([run.phi[1:], final[None]])
    assert (np.cumsum(run.seen, axis=0) <= (phi - run.phi[0]) / step + 1e-9).all()
    assert (run.phi[0] == 0).all()
    np.testing.assert_allclose(phi, np.maximum(run.phi + step * run.seen, 0.0), atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rule", RULES)
def test_the_multipliers_of_estimates_lie_within_their_cap(place, rule):
    run = play(PLACES[place], "ckb", rule=rule, cap=0.5, step=0.4)
    assert (run.phi >= 0).all()
    assert (run.phi <= 0.5).all()
    assert len(np.unique(run.phi)) > 3


@pytest.mark.parametrize("place", PLACES)
def test_the_multiplier_moves_by_the_estimate_at_the_play(place):
    run = play(PLACES[place], "ckb", step=0.3, cap=2.0)
    lower = run.cost_mean - 3.0 * run.cost_std
    t, i = np.indices(run.arm.shape)
    expected = np.clip(run.phi + 0.3 * lower[t, i, :, run.arm], 0.0, 2.0)
    np.testing.assert_allclose(run.phi[1:], expected[:-1], atol=1e-8)


def test_costs_that_never_bind_leave_gp_ucb():
    slack = problem((lambda x: cost(x) - 4.0,))
    run = play(slack, "ckb")
    assert (run.phi == 0).all()
    actions = evaluate(slack, {"dual": "ckb", "plain": ("gp-ucb", {"width": 3.0})}, trials=2).actions
    np.testing.assert_array_equal(actions["dual"], actions["plain"])


@pytest.mark.parametrize("name", DUALS)
def test_a_multiplier_starts_over_with_its_trial(name):
    run = play(PLACES["late"], name, restart="periodic", restart_options={"every": 20})
    assert (run.phi[::20] == 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_batch_plays_what_its_trials_play_alone(rule):
    batch_as_singles("GPBandit-Composite-v0", ("ckb", {"rule": rule}), horizon=25, num_arms=15)


def test_samples_of_costs_are_refused_on_a_box():
    box = replace(PLACES["now"].setting(), arms=None, low=np.zeros(1), high=np.ones(1))
    assert agents.make("ckb", box, rule="random")
    with pytest.raises(ValueError, match='must not be "ts" on a box'):
        agents.make("ckb", box, rule="ts")


def test_estimates_may_be_clipped():
    run = play(PLACES["now"], "ckb", clip=0.01, step=1.0, cap=9.0)
    assert np.abs(np.diff(run.phi, axis=0)).max() <= 0.01 + 1e-12


# Pending costs that count as 0

DELAYED = problem(delay=delays.PoissonDelay(4), horizon=80)
WINDOW, BOUND, WIDE = 6, 0.5, 2.0
CENSORED: dict[str, Any] = {
    "belief": "censored",
    "belief_options": {"window": WINDOW, "reward_bound": BOUND},
    "cost_belief": "censored",
    "width": WIDE,
}
ONLY = np.zeros(1, dtype=int)


def censoring(rounds: int, **options: Any) -> tuple[Any, list[int], dict[int, tuple[int, float]]]:
    """An agent, its arms, and when the cost of each round came, and which it was."""
    env = BanditEnv(DELAYED)
    observation, _ = env.reset(seed=2)
    agent = started(agents.make("rpol", env.setting, **options))
    arms, came = [], {}
    for t, (action, _, info, _) in enumerate(each_round(env, agent, observation, rounds)):
        arms.append(action)
        mask = info["feedback_mask"]
        costs = info["feedback_cost"][mask, 0].tolist()
        came |= {s: (t, c) for s, c in zip(info["feedback_step"][mask].tolist(), costs, strict=True)}
    return agent, arms, came


def test_the_band_of_a_cost_is_that_of_values_which_are_0_until_they_come_in_time():
    agent, arms, came = censoring(50, **CENSORED)
    model, now = agent.model, 50
    value = np.zeros(now)
    for s, (arrival, paid) in came.items():
        value[s] = paid if arrival - s <= WINDOW else 0.0
    assert any(arrival - s > WINDOW for s, (arrival, _) in came.items())
    gram = model.kernel(DELAYED.decisions.points)
    mean, covariance = references.posterior(gram, model.noise_variance, np.array(arms), value)
    std = np.sqrt(np.diag(covariance))
    (belief,) = agent.objective.costs
    np.testing.assert_allclose(belief.mean(ONLY)[0], mean, atol=1e-8)
    np.testing.assert_allclose(belief.std(ONLY)[0], std, atol=1e-6)
    width = WIDE + BOUND * std[arms[-WINDOW:]].sum()
    lower = agent.objective.lower(0, (belief.mean(ONLY), belief.std(ONLY)), agent.t)
    np.testing.assert_allclose(lower[0], mean - width * std, atol=1e-5)


def test_pending_rewards_count_as_the_least_that_may_come():
    agent, _, _ = censoring(1, **CENSORED)
    np.testing.assert_allclose(agent.belief.prior_mean, -3.0)


@pytest.mark.parametrize("cost", [-0.5, 0.5])
def test_what_is_censored_has_the_sign_of_the_cost_and_what_is_shifted_has_not(cost):
    model = Model.of(DELAYED.setting(), prior_mean=-3.0)
    ours, shifted = CensoredCost(Model.of(DELAYED.setting()), 1, window=3), Censored(model, 1, window=3)
    point = np.array([7])
    for belief in (ours, shifted):
        for k in range(40):
            belief.play(point)
            if k % 2:
                belief.receive(Delivery.of_values(ONLY, point, np.array([cost]), delay=np.array([2])))
    assert np.sign(ours.mean(ONLY)[0, 7]) == np.sign(cost)
    assert ours.mean(ONLY)[0, 7] == pytest.approx(cost / 2, abs=0.02)
    assert shifted.mean(ONLY)[0, 7] < -1.0


def test_a_play_that_will_never_yield_a_cost_counts_no_longer():
    agent, arms, came = censoring(1, **CENSORED)
    (belief,), fresh = agent.objective.costs, censoring(0, **CENSORED)[0].objective.costs[0]
    assert not came
    assert belief.std(ONLY)[0, arms[0]] < 0.9 * fresh.std(ONLY)[0, arms[0]]
    agent.drop(np.zeros(1, dtype=int))
    np.testing.assert_allclose(belief.std(ONLY), fresh.std(ONLY), atol=1e-9)


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
    (told,), (certain,) = (censoring(5, cost_belief=name, rule="ucb")[0].objective.costs for name in names)
    assert (certain.std(ONLY) <= told.std(ONLY) + 1e-12).all()
    assert certain.std(ONLY).min() < 0.5 * told.std(ONLY).min()

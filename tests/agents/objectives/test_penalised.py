"""The penalised objective: multipliers, units, epochs, separate models, and the step of its own."""

import numpy as np
import pytest
from penalised_cases import ARMS, BOTH, DISCS, EPOCH, HALF, HORIZON, Run, discs
from players import started
from sklearn.gaussian_process.kernels import Matern

import agents
from agents.objectives.first_plays import FirstPlays
from agents.objectives.penalties import (
    ExponentialPenalty,
    LinearDual,
    Multiplicative,
    Polynomial,
    adaptive_step,
)
from bandit_envs import Setting
from bandit_envs.laws import KnownFunction, delays


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options", [{}, {"reuse": False}, {"inner": "thompson"}, {"models": "separate"}], ids=str
)
def test_algorithm_3_moves_its_multipliers_by_the_mean_cost_of_each_epoch(options):
    run = Run(discs(0.1), "gp-ucb-noisy-constraints", step=0.7, **options)
    kappa = np.zeros_like(run.multiplier[:, 0])
    for mean, after in zip(
        *(np.swapaxes(x, 0, 1) for x in (run.epoch_means()[0], run.after_epochs())), strict=True
    ):
        kappa = np.maximum(kappa + 0.7 * mean, 0.0)
        np.testing.assert_allclose(after, kappa, atol=1e-12)
    total = run.observed[:, : HORIZON // EPOCH * EPOCH].sum(axis=1)
    assert (total <= EPOCH * run.after_epochs()[:, -1] / 0.7 + 1e-9).all()  # on every path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [{}, {"reuse": False}, {"psi": "polynomial"}], ids=str)
def test_algorithm_2_multiplies_by_psi_of_the_mean_cost_and_never_decreases(options):
    run = Run(discs(), "gp-ucb-noiseless-constraints", **options)
    psi = Polynomial() if options.get("psi") else ExponentialPenalty()
    expected = np.cumsum(psi.log(run.epoch_means()[0]), axis=1)
    np.testing.assert_allclose(run.after_epochs(), expected, atol=1e-12)
    assert (np.diff(run.multiplier, axis=1) >= 0).all()
    total = run.observed[:, : HORIZON // EPOCH * EPOCH].sum(axis=1)
    log_kappa = run.after_epochs()[:, -1]
    inverse = np.expm1(log_kappa / 2) if options.get("psi") else log_kappa  # of psi for x > 0, c = 1, n = 2
    assert (total <= EPOCH * (HORIZON // EPOCH) * inverse + 1e-9).all()


def test_noise_grows_with_the_multipliers_in_algorithm_3_alone():
    kappa = np.array([[3.0, 4.0]])
    np.testing.assert_allclose(LinearDual(0.5).noise_std(kappa, 0.3, 0.2), np.sqrt(0.09 + 25 * 0.04))
    np.testing.assert_allclose(Multiplicative().noise_std(kappa, 0.2, 0.0), 0.2)


def test_separate_models_leave_the_scores_of_first_plays_alone_and_no_others():
    agent = Run(discs(0.1), BOTH[1], models="separate").agent
    objective, arms = agent.objective, agent.arms(np.zeros(3, dtype=np.int64))
    scores = np.random.default_rng(0).normal(size=(3, len(ARMS)))
    last = objective.first_plays.count
    after = objective.penalised(scores, arms, np.array([1, last, last + 1]))
    assert (after == scores).all(axis=1).tolist() == [True, True, False]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("delay", [0, 3, 12])
def test_separate_models_are_in_units_of_the_first_plays_however_late_these_come(name, delay):
    problem = discs(constraints=(DISCS, HALF), delay=delays.Constant(delay))
    run = Run(problem, name, models="separate")
    objective, agent = run.agent.objective, run.agent
    values = objective.first_plays.values  # (B, 3, 5)
    np.testing.assert_allclose(objective.centre, values.mean(axis=2))
    np.testing.assert_allclose(objective.scale, values.std(axis=2, ddof=1))
    np.testing.assert_allclose(agent.model.noise_std, 0.1 / objective.scale[:, 0])
    for j, belief in enumerate(objective.costs):  # seen without noise
        for i in range(3):
            point, plays, total = belief.mean_posterior.statistics(i)
            assert plays.sum() == HORIZON - delay
            cost = (DISCS, HALF)[j].function(ARMS[point])
            expected = plays * (cost - objective.centre[i, 1 + j]) / objective.scale[i, 1 + j]
            np.testing.assert_allclose(total, expected, atol=1e-9)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_centre_and_scale_are_those_of_the_first_plays_at_any_size(size):
    first = FirstPlays(3, 2, 4)
    first.add(np.zeros(5, dtype=int), np.arange(5), size * np.array([[1, 0], [2, 2], [6, 0], [3, 4], [9, 9]]))
    first.add(np.ones(2, dtype=int), np.arange(2), size * np.array([[1.0, 0.0], [1.0, 0.0]]))
    centre, scale = first.units(np.array([[1.0, -0.5]] * 3))
    value = np.array([1.0, 1.0, 6.0, 1.0])  # the fifth play is none of the first four
    np.testing.assert_allclose(centre, [size * value.mean(), 0.0, 0.0])
    np.testing.assert_allclose(scale, [size * value.std(ddof=1), 1.0, 1.0])  # two equal values tell no scale


def test_a_fresh_epoch_opens_at_the_best_mean_of_the_last_and_counts_its_own_rounds():
    run = Run(discs(), BOTH[0], reuse=False)
    assert (run.agent.t == HORIZON % EPOCH + 1).all()
    assert run.agent.belief.mean_posterior.count.sum(axis=1).max() == HORIZON % EPOCH


@pytest.mark.parametrize(("name", "weight"), [(BOTH[0], 0.5), (BOTH[1], 1.0)])
def test_the_first_epoch_has_the_noise_of_the_weighted_objective(name, weight):
    agent = started(agents.make(name, discs(), num_trials=2, initial=0), [0, 1])
    np.testing.assert_allclose(agent.rule.width.noise_std, [weight * 0.1] * 2)  # kappa^1 = 1, and 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("given", [{}, {"centre": -2.5}, {"centre": -2.5, "scale": 3.0}], ids=str)
@pytest.mark.parametrize("reuse", [True, False])
def test_all_plays_have_their_values_under_new_multipliers_in_units_that_may_be_the_users(name, given, reuse):
    agent = Run(discs(), name, reuse=reuse, **given).agent
    objective, belief = agent.objective, agent.belief
    weight = np.column_stack([objective.multipliers.weights.reward, -objective.multipliers.weights.cost])
    found = objective.first_plays.units(weight)
    np.testing.assert_array_equal(objective.centre, given.get("centre", found.centre))
    np.testing.assert_array_equal(objective.scale, given.get("scale", found.scale))
    for i in range(3):
        point, plays, total = belief.mean_posterior.statistics(i)
        f, h = objective.ledger.total[i, 0, point], objective.ledger.total[i, 1:][:, point]
        if reuse:
            value = objective.multipliers.weights.reward[i] * f - objective.multipliers.weights.cost[i] @ h
            expected = (value - objective.centre[i] * plays) / objective.scale[i]
            np.testing.assert_allclose(total, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("published", "given", "assumed"),
    [(None, None, 0.3), (0.2, None, 0.2), (0.2, 0.4, 0.4), (None, 0.0, 0.0)],
)
@pytest.mark.parametrize("models", ["penalised", "separate"])
def test_the_noise_on_costs_is_given_or_published_or_that_of_the_reward(published, given, assumed, models):
    keywords = {"noise_std": 0.3, "num_constraints": 1, "constraint_noise_std": published}
    setting = Setting(arms=ARMS, kernel=Matern(1.0, nu=2.5), **keywords)
    agent = started(agents.make(BOTH[1], setting, models=models, constraint_noise_std=given))
    if models == "separate":
        withheld = published is None and given is None  # then lambda is the reward's, here 0.01
        of_cost = agent.objective.costs[0].std_posterior.noise
        np.testing.assert_allclose(of_cost, 0.01 if withheld else max(assumed**2, 0.01))
        np.testing.assert_allclose(agent.objective.widths[0].noise_std, assumed)
        return
    agent.objective.multipliers.value[:] = 2.0
    agent.objective.multipliers.weights = LinearDual(0.5).weights(np.array([[2.0]]))
    np.testing.assert_allclose(agent.objective.begin().noise_std, np.sqrt(0.09 + 4 * assumed**2) / 3.0)


def test_weights_are_the_multipliers_over_one_plus_their_sum_without_overflow():
    log_kappa = np.array([[1.0, 2.0], [900.0, -3.0], [-2.0, -5.0]])
    reward, cost = Multiplicative().weights(log_kappa)
    kappa = np.exp(log_kappa[[0, 2]])
    np.testing.assert_allclose(reward[[0, 2]], 1 / (1 + kappa.sum(axis=1)))
    np.testing.assert_allclose(cost[[0, 2]], kappa / (1 + kappa.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(cost[1], [1.0, 0.0], atol=1e-300)
    np.testing.assert_allclose(reward + cost.sum(axis=1), 1.0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BOTH)
def test_separate_models_may_be_asked_for_in_the_papers_reading_whose_posteriors_are_fresh(name):
    assert Run(discs(), name, reading="paper", models="separate").agent


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [{}, {"reuse": False}, {"models": "separate"}], ids=str)
def test_the_multipliers_move_by_the_mean_cost_times_the_step_and_the_step_never_grows(options):
    run = Run(discs(0.1, constraints=(DISCS, HALF)), BOTH[1], **options)
    spread = run.agent.objective.first_plays.values.std(axis=2, ddof=1)
    mean, _ = run.epoch_means()
    size = np.sqrt(np.cumsum(mean**2, axis=1))
    step = np.stack([adaptive_step(spread, size[:, i]) for i in range(mean.shape[1])], axis=1)
    assert (np.diff(step, axis=1) <= 0).all()
    assert (np.abs(step * mean) <= (spread[:, :1] / spread[:, 1:])[:, None]).all()  # less than its unit
    kappa = np.zeros_like(mean[:, 0])
    for i, after in enumerate(np.swapaxes(run.after_epochs(), 0, 1)):
        kappa = np.maximum(kappa + step[:, i] * mean[:, i], 0.0)
        np.testing.assert_allclose(after, kappa, atol=1e-12)
    total = run.observed[:, : HORIZON // EPOCH * EPOCH].sum(axis=1)
    assert (total <= EPOCH * kappa / step[:, -1] + 1e-9).all()  # as with a fixed step


@pytest.mark.long
def test_the_step_of_algorithm_3_needs_no_common_unit_of_rewards_and_costs():
    def actions(size):
        cost = KnownFunction(lambda x: size * DISCS.function(x))
        return Run(discs(0.1 * size, constraints=(cost,)), BOTH[1]).actions

    np.testing.assert_array_equal(actions(64.0), actions(1.0))


def test_without_first_plays_the_step_counts_in_prior_deviations():
    agent = started(agents.make(BOTH[1], discs(), num_trials=2, initial=0), [0, 1])
    np.testing.assert_array_equal(agent.objective.first_plays.spread(), np.ones((2, 2)))
    np.testing.assert_allclose(adaptive_step(np.ones((1, 2)), np.array([[np.sqrt(3.0)]])), [[0.5]])


def test_psi_is_one_where_feasible_and_convex_beyond():
    x = np.array([-3.0, 0.0, 0.5, 2.0])
    np.testing.assert_allclose(ExponentialPenalty(2.0).excess(x), [0, 0, np.expm1(1.0), np.expm1(4.0)])
    np.testing.assert_allclose(Polynomial(1.0, 3.0).excess(x), [0, 0, 1.5**3 - 1, 26.0])
    with pytest.warns(RuntimeWarning, match="psi overflows at a cost of 1000"):
        assert np.isfinite(ExponentialPenalty().excess(np.array([1000.0]))).all()

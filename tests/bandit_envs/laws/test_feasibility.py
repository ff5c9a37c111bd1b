"""Constrained problems: what is feasible, what is optimal, what is told, and what is scored."""

from math import asin
from typing import Any

import numpy as np
import pytest
from cases import COSTS, by_hand

from bandit_envs import BanditEnv
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, KnownFunction, NoNoise, UniformNoise, functions
from bandit_envs.laws.derived import AsDrawn
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.truth import maximise
from bandit_envs.problems import build
from bandit_envs.problems.benchmarks import FUNCTIONS, spending, two_discs_cost, two_discs_reward, utility
from gpbandits.evaluation import best_mixture, evaluate

TWO_DISCS = 1 - asin(0.95)
IN_CONTEXTS = {"num_contexts": 4, "num_arms": 50, "horizon": 20, "changes": {"law": "at", "rounds": [5, 9]}}


def feasible_of(problem: Any, trial: Any) -> Any:
    """(S, Z, A)."""
    costs = trial.means[:, 1:]
    return (costs <= 0).all(axis=1).reshape(len(costs), problem.decisions.num_contexts, -1)


@pytest.mark.parametrize("law", functions.LAWS)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("quantile", [0.02, 0.3, 1.0])
def test_the_joint_feasible_share_of_the_tightest_context_is_the_quantile(law, count, quantile):
    spec = {"law": law, "quantile": quantile}
    problem = build("gp", {**IN_CONTEXTS, "constraints": spec, "num_constraints": count})
    for entropy in range(20):
        share = feasible_of(problem, problem.draw(entropy)).mean(axis=2)
        assert share.shape == (3, 4)
        np.testing.assert_allclose(share.min(axis=1), quantile)


def test_costs_of_a_trial_differ_by_a_constant_from_draws_of_their_law():
    keywords = {"num_arms": 50, "horizon": 5, "num_constraints": 2}
    shifted = build("gp", {**keywords, "constraints": {"law": "gp", "quantile": 0.1}}).draw(3).means
    looser = build("gp", {**keywords, "constraints": {"law": "gp", "quantile": 0.6}}).draw(3).means
    difference = shifted[0, 1:] - looser[0, 1:]
    np.testing.assert_allclose(difference, difference[0, 0])
    np.testing.assert_array_equal(shifted[0, 0], looser[0, 0])


def test_further_constraints_and_their_noise_leave_reward_noise_delays_and_contexts_as_they_were():
    shared = {**IN_CONTEXTS, "delay": {"law": "poisson", "mean": 2}}
    plain, one, three = (
        build("gp", {**shared, "num_constraints": count, "constraint_noise_std": 0.1}).draw(7)
        for count in (0, 1, 3)
    )
    for other in (one, three):
        np.testing.assert_array_equal(plain.means[:, 0], other.means[:, 0])
        np.testing.assert_array_equal(plain.noise[:, 0], other.noise[:, 0])
        np.testing.assert_array_equal(plain.wait, other.wait)
        np.testing.assert_array_equal(plain.context, other.context)


def test_costs_have_the_models_kernel_or_one_of_their_own():
    own = build("gp", {"constraints": {"law": "rkhs", "kernel": "matern52", "length_scale": 0.05}})
    assert own.constraints[0].kernel == make_kernel("matern52", 0.05)  # type: ignore[attr-defined]
    assert own.gram.under(own.constraints[0].kernel) is own.gram.under(own.constraints[0].kernel)  # type: ignore[attr-defined]
    rough, smooth = own.draw(0).means[0, 1], build("gp", {"constraints": "rkhs"}).draw(0).means[0, 1]
    assert np.abs(np.diff(rough)).mean() > 2 * np.abs(np.diff(smooth)).mean()
    (wide,) = build("gp", {"constraints": {"law": "gp", "length_scale": 0.5}}).constraints
    assert wide.kernel == make_kernel("rbf", 0.5)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "keywords", "count"),
    [
        ("gp", {}, 0),
        ("gp", {"constraints": "gp"}, 1),
        ("gp", {"num_constraints": 2}, 2),
        ("constrained", {}, 1),
        ("constrained", {"constraints": None}, 0),
        ("constrained", {"num_constraints": 0}, 0),
        ("constrained", {"num_constraints": 3}, 3),
        ("small-feasible-region", {"constraints": {"law": "gp"}, "num_constraints": 2, "num_arms": 25}, 2),
        ("gp", {"constraints": (KnownFunction(lambda x: x[:, 0] - 0.5),)}, 1),
    ],
)
def test_constraints_are_off_by_none_or_zero(name, keywords, count):
    problem = build(name, {"horizon": 5, **keywords})
    assert len(problem.constraints) == problem.draw(0).setting.num_constraints == count
    as_drawn = count == 0 or isinstance(keywords.get("constraints"), tuple)
    assert isinstance(problem.feasibility, AsDrawn) == as_drawn


@pytest.mark.parametrize(
    ("keywords", "law"),
    [
        ({}, NoNoise()),
        ({"constraint_noise_std": 0.2}, Gaussian(0.2)),
        ({"constraint_noise": {"law": "gaussian", "std": 0.1}}, Gaussian(0.1)),
        ({"constraint_noise": "uniform", "constraint_noise_std": 0.3}, UniformNoise(0.3)),
        ({"constraint_noise": "none"}, NoNoise()),
    ],
)
def test_the_noise_of_costs_is_a_keyword_and_its_deviation_is_published(keywords, law):
    problem = build("constrained", {"horizon": 20_000, **keywords})
    trial = problem.draw(0)
    assert problem.constraint_noise == law
    assert trial.setting.constraint_noise_std == law.std
    assert abs(trial.noise[:, 1].std() - law.std) <= 4 * law.std / np.sqrt(2 * 20_000)


def test_the_optima_of_the_two_discs_are_the_known_ones():
    box, grid = (build("small-feasible-region", {"continuous": c}) for c in (True, False))
    assert box.draw(0).optimum[0] == pytest.approx(TWO_DISCS, abs=1e-8)
    assert grid.draw(0).optimum[0] == pytest.approx(-0.2604, abs=5e-5)
    for side in (61, 121):
        problem = build("small-feasible-region", {"num_arms": side**2})
        assert problem.draw(0).optimum[0] == pytest.approx(-0.3001, abs=5e-5)
    best = np.array([[3 * np.pi / 2, asin(0.95)]])
    assert two_discs_reward(best)[0] == pytest.approx(TWO_DISCS)
    assert two_discs_cost(best)[0] == pytest.approx(0.0, abs=1e-12)


def test_the_optimum_of_the_data_rates_is_the_known_one():
    trial = build("data-rate-allocation", {"continuous": True}).draw(0)
    assert trial.optimum[0] == pytest.approx(2.7696, abs=5e-5)
    ends = np.array([[0.0] * 4, [2.0] * 4])
    np.testing.assert_allclose(utility(ends), [0.0, 4.0], atol=1e-12)
    np.testing.assert_allclose(spending(ends), [-2.0, 3.2])


@pytest.mark.parametrize("name", [name for name, known in FUNCTIONS.items() if known.cost])
def test_nothing_feasible_on_a_fine_net_beats_the_optimum(name):
    problem = build(name, {"continuous": True})
    trial = problem.draw(0)
    low, high = problem.decisions.low, problem.decisions.high
    points = np.random.default_rng(0).uniform(low, high, size=(100_000, len(low)))  # type: ignore[arg-type]
    reward, cost = (function(points) for function in trial.between[0])
    assert reward[cost <= 0].max() <= trial.optimum[0]
    assert reward.min() >= trial.worst[0]


def test_the_optimum_is_the_best_of_the_arms_that_keep_every_cost():
    for entropy in range(5):
        trial = by_hand(constraints=COSTS).draw(entropy)
        reward, *costs = trial.means[0]
        assert trial.optimum[0] == reward[(np.array(costs) <= 0.0).all(axis=0)].max()


@pytest.mark.long
def test_a_feasible_set_between_the_candidates_is_found_and_none_is_minus_infinity():
    def needle(x):
        return ((x - 0.5123) ** 2).sum(axis=1) - 1e-6

    low, high, anchors = np.zeros(2), np.ones(2), np.zeros((1, 2))
    best = maximise(lambda x: x[:, 0], low, high, anchors, [needle])
    assert best == pytest.approx(0.5123 + 1e-3, abs=1e-7)
    assert maximise(lambda x: x[:, 0], low, high, anchors, [lambda x: 1 + x[:, 0]]) == -np.inf


@pytest.mark.parametrize("keywords", [{"function_seed": 3, "num_constraints": 2}, {}])
def test_functions_that_every_reset_meets_again_are_made_once(keywords):
    name = "gp" if keywords else "small-feasible-region"
    problem = build(name, {"num_arms": 400, "horizon": 5, **keywords})
    first, second = problem.draw(0), problem.draw(1)
    assert first.means is second.means
    assert not np.array_equal(first.noise, second.noise)
    if keywords:
        np.testing.assert_array_equal(problem.draw(1, 4).means, problem.draw(2, 4).means)
        np.testing.assert_array_equal(problem.draw(0).means, first.means)


def test_signed_costs_of_plays_arrive_with_their_rewards():
    problem = build("constrained", {"num_constraints": 3, "num_arms": 30, "horizon": 40, "noise": "none",
                                    "delay": {"law": "poisson", "mean": 3}})  # fmt: skip
    env: Any = BanditEnv(problem)
    env.reset(seed=0)
    means, played, seen = env.simulator.trials[0].means[0], {}, 0
    for t in range(40):
        played[t] = arm = (7 * t) % 30
        info = env.step(arm)[4]
        np.testing.assert_array_equal(info["oracle"]["cost_mean"], means[1:, arm])
        for slot in info["feedback_mask"].nonzero()[0]:
            truth = means[:, played[info["feedback_step"][slot]]]
            assert info["feedback_reward"][slot] == truth[0]
            np.testing.assert_array_equal(info["feedback_cost"][slot], truth[1:])
            seen += 1
        assert info["cost"] == pytest.approx(np.maximum(info["feedback_cost"], 0).sum())
    assert seen > 20
    assert (means[1:] < 0).any()
    assert (means[1:] > 0).any()


def test_violation_cancels_over_time_and_hard_violation_does_not():
    keywords = {"horizon": 30, "num_arms": 40, "num_constraints": 2}
    result = evaluate("GPBandit-Constrained-v0", ["random"], trials=3, seed=1, env_kwargs=keywords)
    costs = result.costs["random"]
    soft = np.linalg.norm(np.maximum(costs.cumsum(axis=1), 0.0), axis=2)
    hard = np.linalg.norm(np.maximum(costs, 0.0), axis=2).cumsum(axis=1)
    assert (soft <= hard + 1e-12).all()
    for metric, expected in {"violation": soft, "hard_violation": hard}.items():
        np.testing.assert_allclose(result.curves(metric)["random"], expected)
        average = result.curves(f"average_{metric}")["random"]
        np.testing.assert_allclose(average, expected / np.arange(1, 31))


class Noting:
    def __init__(self, setting):
        self.num_arms, self.sums = len(setting.arms), []

    def reset(self, seed):
        self.t, self.total = 0, np.zeros(2)

    def act(self, observation):
        return self.t % self.num_arms

    def update(self, observation, action, reward, info):
        for slot in np.flatnonzero(info["feedback_mask"]):
            self.total = self.total + info["feedback_cost"][slot]
        self.sums.append(self.total)
        self.t += 1


@pytest.mark.parametrize("delay", [None, {"law": "poisson", "mean": 3}])
def test_the_violation_of_noisy_costs_is_that_of_the_sum_of_what_has_arrived(delay):
    noting = []
    keywords = {"horizon": 30, "num_arms": 7, "num_constraints": 2, "constraint_noise_std": 0.3}
    outcome = evaluate(
        "GPBandit-Constrained-v0",
        {"noting": lambda setting: noting.append(Noting(setting)) or noting[-1], "random": "random"},
        trials=1,
        seed=1,
        env_kwargs=keywords if delay is None else keywords | {"delay": delay},
    )
    expected = np.linalg.norm(np.maximum(noting[-1].sums, 0.0), axis=1)
    np.testing.assert_allclose(outcome.noisy_violation["noting"][0], expected, rtol=1e-12)
    assert not np.allclose(outcome.noisy_violation["noting"], outcome.violation["noting"])
    np.testing.assert_array_equal(outcome.curves("noisy_violation")["noting"][0], expected)


def test_on_the_two_discs_a_mixture_is_no_better_than_the_best_fixed_point_of_the_box():
    trial = build("small-feasible-region", {}).draw(0)
    mixture = best_mixture(trial.means[0])
    assert trial.optimum[0] <= mixture.value <= TWO_DISCS + 1e-9
    assert mixture.shares.sum() == pytest.approx(1.0)
    assert trial.means[0, 1] @ mixture.shares <= 1e-9


@pytest.mark.long
def test_a_mixture_of_data_rates_beats_the_best_fixed_ones():
    points = 2.0 * unit_grid(21**4, 4)
    mixture = best_mixture(np.array([utility(points), spending(points)]))
    assert mixture.value == pytest.approx(2.8183, abs=1e-4)  # 2.8202 on the box; a grid has less
    assert (mixture.shares > 1e-9).sum() <= 2


def test_the_mixture_of_two_points_is_the_one_by_hand():
    mixture = best_mixture(np.array([[0.0, 1.0], [-1.0, 3.0]]))
    np.testing.assert_allclose(mixture.shares, [0.75, 0.25])
    assert mixture.value == pytest.approx(0.25)
    assert best_mixture(np.array([[0.0, 1.0]])).value == pytest.approx(1.0)


def test_mixtures_of_nothing_feasible_are_an_error():
    with pytest.raises(ValueError, match="some mixture keeps <= 0, got none"):
        best_mixture(np.array([[0.0, 1.0], [1.0, 3.0]]))
    with pytest.raises(ValueError, match=r"shape \(1 \+ C, N\)"):
        best_mixture(np.zeros(3))

"""Functions in a table: recorded ones never repeat after a change, stated ones come in their order."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from cases import by_hand

from bandit_envs import BanditEnv, Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample, KnownFunction, Normalized, RecordedValues, SegmentMeans, changes
from bandit_envs.laws.derived import FeasibleShare, UnderKernel
from bandit_envs.laws.drift import OrnsteinUhlenbeck
from bandit_envs.laws.outcomes import BernoulliOutcomes, OfOutcome
from bandit_envs.laws.tabulated import MeasuredCosts, MeasuredTimes, Replicates
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.simulator import Simulator, SingleSimulator
from bandit_envs.problems import build

ROWS = np.random.default_rng(0).normal(size=(5, 25))
MEANS = ROWS[:3]
OFTEN = changes.GeometricChanges(0.3)
AT = changes.AtRounds((10, 25))


def rewards(problem: Problem, seed: int = 0) -> Any:
    """The mean rewards of each round, (T, N)."""
    trial = problem.draw(seed)
    return np.array([trial.means[version][0] for version in trial.version.tolist()])


def change_points(problem: Problem, seed: int = 0) -> Any:
    return changes.change_points_of(problem.draw(seed).segment)


@pytest.mark.parametrize("values", [ROWS[:2], ROWS[[0, 0, 0, 1]], ROWS], ids=["two", "repeated", "five"])
@pytest.mark.parametrize("derived", [lambda law: law, Normalized], ids=["itself", "normalised"])
def test_recorded_functions_differ_after_every_change_point(values, derived):
    problem = by_hand(reward=derived(RecordedValues(values)), changes=OFTEN)
    for seed in range(20):
        drawn, at = rewards(problem, seed), change_points(problem, seed)
        assert len(at)
        assert (drawn[at] != drawn[at - 1]).any(axis=1).all()


def test_a_repeated_record_leaves_the_others_alike():
    """Of rows a, b, c the one after a is b or c, each in half of the trials, within four standard errors."""
    problem = by_hand(reward=RecordedValues(ROWS[:3]), changes=changes.AtRounds((20,)))
    drawn = [rewards(problem, seed) for seed in range(400)]
    index = np.array([[np.flatnonzero(ROWS[:3, 0] == row[t, 0])[0] for t in (0, 20)] for row in drawn])
    next_one = (index[:, 1] - index[:, 0]) % 3 == 1
    assert (index[:, 0] != index[:, 1]).all()
    assert abs(next_one.mean() - 0.5) < 4 * 0.5 / np.sqrt(400)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_recorded_functions_that_recur_are_different_ones(count):
    problem = by_hand(reward=RecordedValues(ROWS), changes=changes.Recurring(2 * count, count))
    for seed in range(20):
        assert len(np.unique(rewards(problem, seed), axis=0)) == count


@pytest.mark.parametrize(
    ("laws", "most"),
    [
        ({"reward": KnownFunction(lambda x: x[:, 0])}, 1),
        ({"reward": RecordedValues(ROWS[[0, 0]])}, 1),
        ({"reward": UnderKernel(RecordedValues(ROWS[:1]), by_hand().kernel)}, 1),
        ({"reward": RecordedValues(ROWS[:2]), "changes": changes.Recurring(6, 3)}, 2),
        ({"reward": RecordedValues(ROWS[:1]), "constraints": (RecordedValues(-np.abs(ROWS[:1])),)}, 1),
    ],
)
def test_more_changes_than_functions_are_refused_with_the_remedy(laws, most):
    with pytest.raises(ValueError, match=f"changes must have at most {most} functions.*constraints="):
        by_hand(**{"changes": AT, **laws})
    assert by_hand(**{**laws, "changes": changes.Evenly(1)}).draw(0).segment[-1] == 0


def test_one_reward_function_may_have_costs_that_change():
    costs = {"constraints": (GPSample(),), "feasibility": FeasibleShare(0.2)}
    problem = by_hand(reward=KnownFunction(lambda x: x[:, 0]), changes=AT, **costs)
    assert len(np.unique(problem.draw(0).means, axis=0)) == 3


def test_a_shift_that_makes_two_costs_equal_is_an_error():
    costs = {"constraints": (RecordedValues(np.stack([ROWS[0], ROWS[0] + 1.0])),)}
    problem = by_hand(reward=RecordedValues(ROWS[:1]), **costs, feasibility=FeasibleShare(0.2), changes=AT)
    with pytest.raises(ValueError, match="changes must change a mean reward or cost, got"):
        problem.draw(0)


@pytest.mark.parametrize(
    ("law", "order"),
    [(AT, np.repeat([0, 1, 2], [10, 15, 15])), (changes.Recurring(5, 3), np.repeat([0, 1, 2, 0, 1], 8))],
)
def test_stated_means_come_in_their_order(law, order):
    problem = by_hand(reward=SegmentMeans(MEANS), changes=law)
    np.testing.assert_array_equal(rewards(problem), MEANS[order])
    np.testing.assert_array_equal(problem.draw(3).optimum, MEANS.max(axis=1)[order])
    np.testing.assert_array_equal(change_points(problem), np.flatnonzero(np.diff(order)) + 1)


def test_stated_means_may_be_rewards_costs_and_what_is_derived_of_them():
    costs = SegmentMeans(np.where(np.arange(3)[:, None] == np.arange(25) % 3, -1.0, 1.0))
    problem = by_hand(reward=Normalized(SegmentMeans(MEANS)), constraints=(costs,), changes=AT)
    span = np.ptp(MEANS, axis=1, keepdims=True)
    unit = (MEANS - MEANS.min(axis=1, keepdims=True)) / span
    means = problem.draw(0).means
    np.testing.assert_allclose(means[:, 0], unit, atol=1e-15)
    np.testing.assert_array_equal(means[:, 1], costs.values)
    assert problem.draw(0).optimum[12] == unit[1, 1::3].max()


def test_stated_probabilities_of_clicks_are_played_in_their_order():
    means = np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = by_hand(
        decisions=Decisions(unit_grid(2)),
        reward=SegmentMeans(means),
        noise=OfOutcome(0.5, outcome=BernoulliOutcomes()),
        changes=changes.AtRounds((20,)),
    )
    env = BanditEnv(problem)
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(40)] == [0.0] * 20 + [1.0] * 20


@pytest.mark.parametrize("law", [changes.Stationary(), changes.AtRounds((5,)), changes.GeometricChanges()])
def test_stated_means_need_as_many_segments(law):
    with pytest.raises(ValueError, match=r"changes must be a law of 3 functions.*AtRounds\(\(300, 600\)\)"):
        by_hand(reward=SegmentMeans(MEANS), changes=law)


def test_stated_costs_stand_in_segments_without_drift():
    drift, costs = OrnsteinUhlenbeck(0.1, costs=False), (SegmentMeans(-np.abs(MEANS)),)
    with pytest.raises(ValueError, match=r"changes must be .*as constraints\[0\] states so many segments"):
        by_hand(drift=drift, constraints=costs, changes=AT)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[0.1, 0.2], [0.3]], r"an \(M, N\) array of numbers, got"),
        ([["a", "b"]], r"an \(M, N\) array of numbers, got"),
        ([0.1, 0.2], r"an \(M, N\) array, got \(2,\)"),
        (np.zeros((0, 5)), r"an \(M, N\) array, got \(0, 5\)"),
        ([[0.1, np.inf]], "finite"),
    ],
)
def test_what_is_no_table_is_one_clear_error(values, said):
    for law, argument in ((SegmentMeans, "segment means"), (RecordedValues, "recorded values")):
        with pytest.raises(ValueError, match=f"{argument} must be {said}"):
            law(values)


def test_means_are_a_keyword():
    means = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [0.2, 0.8, 0.3]]
    problem = build("piecewise-stationary", {"means": means, "horizon": 60})
    np.testing.assert_array_equal(rewards(problem), np.repeat(means, 20, axis=0))
    placed = build("piecewise-stationary", {"means": means, "horizon": 60, "change_points": [10, 50]})
    np.testing.assert_array_equal(change_points(placed), [10, 50])
    in_contexts = build("gp", {"means": [[1.0, 2.0, 3.0, 4.0]], "num_contexts": 2, "num_arms": 2})
    np.testing.assert_array_equal(in_contexts.draw(0).means[0, 0], [1.0, 2.0, 3.0, 4.0])


# --- what is observed of measured runs, when it comes and what it costs are the runs' own ---

RUNS = [np.array([1.0, 3.0]), np.array([5.0]), np.array([0.0, 1.0, 5.0])]
MEASURED = np.array([each.mean() for each in RUNS])
RESIDUALS = np.concatenate([each - each.mean() for each in RUNS])
NOISE = Replicates(residuals=RESIDUALS, first=np.array([0, 2, 3, 6]))
TIMES = np.array([1.0, 4.0, 2.5])


def measured(**changed):
    law, arms = RecordedValues(MEASURED[None]), np.arange(3.0)[:, None]
    parts = {"noise": NOISE, "horizon": 300, "publish_model": False}
    return Problem(Decisions(arms), law, make_kernel("rbf", 1.0), **parts | changed)


def plays(made, seed=3):
    actions = np.arange(made.horizon) % 3
    single = SingleSimulator(made)
    single.start(made.draw(seed))
    outcomes = [single.play(action) for action in actions]
    return actions, single, outcomes


def test_a_play_observes_one_of_the_runs_of_its_arm_each_as_often():
    actions, single, _ = plays(measured(horizon=6000))
    for arm, runs in enumerate(RUNS):
        seen = single.observed[0, actions == arm, 0]
        counts = np.array([np.isclose(seen, run).sum() for run in runs])
        assert counts.sum() == len(seen) == 2000
        # 4.5 deviations of a binomial
        share = 1 / len(runs)
        assert (np.abs(counts - 2000 * share) <= 4.5 * np.sqrt(2000 * share * (1 - share)) + 1e-9).all()


def test_all_agents_meet_the_same_draws_and_a_batch_is_its_trials():
    made = measured()
    actions, single, _ = plays(made)
    batch = Simulator(made, 2)
    batch.begin(np.arange(2), [made.draw(3), made.draw(4)])
    for action in actions:
        batch.play(np.arange(2), np.array([action, 0]))
    np.testing.assert_array_equal(batch.observed[0], single.observed[0])


def test_the_deviation_is_that_of_the_runs_and_another_is_stated():
    mean_variance = np.mean([each.var() for each in RUNS])
    assert NOISE.std == pytest.approx(np.sqrt(mean_variance))
    assert measured(publish_model=True).setting().noise_std is None
    stated = dataclasses.replace(NOISE, stated=0.25)
    assert measured(publish_model=True, noise=stated).setting().noise_std == 0.25


def test_feedback_is_as_late_as_the_run_took():
    made = measured(delay=MeasuredTimes(interval=1.0, times=TIMES))
    actions, _, outcomes = plays(made)
    delays = np.array([outcome.delay for outcome in outcomes])
    np.testing.assert_array_equal(delays, np.array([0, 3, 2])[actions])


def test_the_published_window_does_not_depend_on_the_measured_times():
    slower = MeasuredTimes(interval=1.0, times=10.0 * TIMES)
    for delay in (MeasuredTimes(interval=1.0, times=TIMES), slower):
        assert measured(delay=delay).setting().max_delay == 299  # the horizon's end


def test_a_play_costs_what_a_run_took_and_no_more_is_spent_than_the_budget():
    made = measured(play_costs=MeasuredCosts(20.0, values=TIMES))
    single = SingleSimulator(made)
    single.start(made.draw(0))
    spent = [single.play(t % 3).spent for t in range(8)]
    assert spent == [1.0, 4.0, 2.5, 1.0, 4.0, 2.5, 1.0, 4.0]
    assert single.play(1).terminated
    assert made.setting().cost_min == 1.0  # the published least cost tells its size alone
    assert MeasuredCosts(5000.0, values=np.array([234.0, 400.0])).least == 100.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: measured(noise=Replicates(residuals=np.zeros(2), first=np.array([0, 2]))), "noise must be"),
        (lambda: Replicates(residuals=np.zeros(2), first=np.array([0, 3])), "first must be"),
        (lambda: MeasuredTimes(times=np.array([1.0, 0.0])), "times must be positive"),
        (lambda: MeasuredCosts(10.0, values=np.array([1.0, -1.0])), "values must be positive"),
        (lambda: MeasuredCosts(3.0, values=TIMES), "budget must be at least 4"),
        (lambda: Simulator(measured(delay=MeasuredTimes(times=TIMES[:2])), 1), "times must be one for each"),
    ],
)
def test_what_does_not_fit_is_an_error(make, said):
    with pytest.raises(ValueError, match=said):
        make()

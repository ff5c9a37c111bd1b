"""Laws of measured runs: what is observed, when it comes and what it costs are the runs' own."""

import dataclasses

import numpy as np
import pytest

from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.tabulated import MeasuredCosts, MeasuredTimes, RecordedValues, Replicates
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.simulator import Simulator, SingleSimulator

VALUES = [np.array([1.0, 3.0]), np.array([5.0]), np.array([0.0, 1.0, 5.0])]
MEANS = np.array([each.mean() for each in VALUES])
NOISE = Replicates(
    residuals=np.concatenate([each - each.mean() for each in VALUES]), first=np.array([0, 2, 3, 6])
)
TIMES = np.array([1.0, 4.0, 2.5])


def problem(**changed):
    arms = np.arange(3.0)[:, None]
    parts = {"noise": NOISE, "horizon": 300, "publish_model": False}
    return Problem(
        Decisions(arms), RecordedValues(MEANS[None]), make_kernel("rbf", 1.0), **{**parts, **changed}
    )


def plays(made, seed=3):
    actions = np.arange(made.horizon) % 3
    single = SingleSimulator(made)
    single.start(made.draw(seed))
    outcomes = [single.play(action) for action in actions]
    return actions, single, outcomes


def test_a_play_observes_one_of_the_runs_of_its_arm_each_as_often():
    actions, single, _ = plays(problem(horizon=6000))
    for arm, runs in enumerate(VALUES):
        seen = single.observed[0, actions == arm, 0]
        counts = np.array([np.isclose(seen, run).sum() for run in runs])
        assert counts.sum() == len(seen) == 2000
        # 4.5 deviations of a binomial
        share = 1 / len(runs)
        assert (np.abs(counts - 2000 * share) <= 4.5 * np.sqrt(2000 * share * (1 - share)) + 1e-9).all()


def test_all_agents_meet_the_same_draws_and_a_batch_is_its_trials():
    made = problem()
    actions, single, _ = plays(made)
    batch = Simulator(made, 2)
    batch.begin(np.arange(2), [made.draw(3), made.draw(4)])
    for action in actions:
        batch.play(np.arange(2), np.array([action, 0]))
    np.testing.assert_array_equal(batch.observed[0], single.observed[0])


def test_the_deviation_is_that_of_the_runs_and_another_is_stated():
    mean_variance = np.mean([each.var() for each in VALUES])
    assert NOISE.std == pytest.approx(np.sqrt(mean_variance))
    assert problem(publish_model=True).setting().noise_std is None
    stated = dataclasses.replace(NOISE, stated=0.25)
    assert problem(publish_model=True, noise=stated).setting().noise_std == 0.25


def test_feedback_is_as_late_as_the_run_took():
    made = problem(delay=MeasuredTimes(interval=1.0, times=TIMES))
    actions, _, outcomes = plays(made)
    delays = np.array([outcome.delay for outcome in outcomes])
    np.testing.assert_array_equal(delays, np.array([0, 3, 2])[actions])


def test_the_published_window_does_not_depend_on_the_measured_times():
    slower = MeasuredTimes(interval=1.0, times=10.0 * TIMES)
    for delay in (MeasuredTimes(interval=1.0, times=TIMES), slower):
        assert problem(delay=delay).setting().max_delay == 299  # the horizon's end


def test_a_play_costs_what_a_run_took_and_no_more_is_spent_than_the_budget():
    made = problem(play_costs=MeasuredCosts(20.0, values=TIMES))
    single = SingleSimulator(made)
    single.start(made.draw(0))
    spent = [single.play(t % 3).spent for t in range(8)]
    assert spent == [1.0, 4.0, 2.5, 1.0, 4.0, 2.5, 1.0, 4.0]
    assert single.play(1).terminated
    assert made.setting().cost_min == 1.0


def test_the_published_least_cost_tells_its_size_alone():
    assert MeasuredCosts(5000.0, values=np.array([234.0, 400.0])).least == 100.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: problem(noise=Replicates(residuals=np.zeros(2), first=np.array([0, 2]))),
            "noise must be of 1",
        ),
        (lambda: Replicates(residuals=np.zeros(2), first=np.array([0, 3])), "first must be"),
        (lambda: MeasuredTimes(times=np.array([1.0, 0.0])), "times must be positive"),
        (lambda: MeasuredCosts(10.0, values=np.array([1.0, -1.0])), "values must be positive"),
        (lambda: MeasuredCosts(3.0, values=TIMES), "budget must be at least 4"),
        (lambda: Simulator(problem(delay=MeasuredTimes(times=TIMES[:2])), 1), "times must be one for each"),
    ],
)
def test_what_does_not_fit_is_an_error(make, said):
    with pytest.raises(ValueError, match=said):
        make()

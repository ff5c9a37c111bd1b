"""Functions that drift from round to round, and recorded ones that are replayed."""

import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import CONTEXTS, COSTS, IN_CONTEXTS, by_hand, played
from sklearn.gaussian_process.kernels import RBF
from vector_pairs import same

from bandit_envs import BanditEnv, Decisions
from bandit_envs.laws import Gaussian, GPSample, KnownFunction, RecordedValues, changes, delays
from bandit_envs.laws.derived import FeasibleShare
from bandit_envs.laws.drift import STILL, OrnsteinUhlenbeck, Replay
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.drawn_functions import BLOCK
from bandit_envs.problems import build
from bandit_envs.problems.features import compose

HORIZON = 2 * BLOCK + 9
EVERYTHING = by_hand(
    decisions=IN_CONTEXTS,
    constraints=(GPSample(), GPSample()),
    feasibility=FeasibleShare(0.2),
    constraint_noise=Gaussian(0.05),
    changes=changes.AtRounds((10, 40)),
    drift=OrnsteinUhlenbeck(0.05),
    delay=delays.PoissonDelay(4),
    max_delay=6,
    horizon=HORIZON,
)


def functions(problem: Any, entropy: int = 0) -> Any:
    """All functions of a trial, (T, 1 + C, N)."""
    trial = problem.draw(entropy)
    return np.array([trial.means[version] for version in trial.version.tolist()])


@pytest.mark.long
def test_functions_have_the_kernels_covariance_and_forget_at_the_stated_rate():
    epsilon, lag, count = 0.3, 4, 1500
    problem = by_hand(decisions=Decisions(unit_grid(4)), drift=OrnsteinUhlenbeck(epsilon), horizon=BLOCK + 8)
    draws = np.array([functions(problem, seed)[[BLOCK - 2, BLOCK + 2], 0] for seed in range(count)])
    kernel = problem.gram.dense
    # Products of two Gaussians of unit variance and covariance c have the variance 1 + c^2.
    error = np.sqrt((1 + kernel**2) / count)
    for i in range(2):
        assert (np.abs(draws[:, i].T @ draws[:, i] / count - kernel) < 4.5 * error).all()
    expected = (1 - epsilon) ** (lag / 2) * kernel
    assert (np.abs(draws[:, 0].T @ draws[:, 1] / count - expected) < 4.5 * error).all()


def test_a_drift_of_rate_zero_draws_the_functions_of_no_drift_and_one_of_rate_one_independent_ones():
    still, zero = (replace(EVERYTHING, drift=drift) for drift in (STILL, OrnsteinUhlenbeck(0.0)))
    np.testing.assert_array_equal(functions(zero), functions(still))
    assert zero.setting().may_change == still.setting().may_change
    fresh = functions(by_hand(drift=OrnsteinUhlenbeck(1.0), horizon=HORIZON))[:, 0]
    assert np.abs((fresh[1:] * fresh[:-1]).mean()) < 0.2


def test_a_change_point_ends_what_drifts():
    problem = by_hand(drift=OrnsteinUhlenbeck(1e-6), changes=changes.AtRounds((10, 40)), horizon=HORIZON)
    steps = np.abs(np.diff(functions(problem)[:, 0], axis=0)).max(axis=1)
    assert (steps[[9, 39]] > 0.1).all()
    assert np.delete(steps, [9, 39]).max() < 0.02
    np.testing.assert_array_equal(np.unique(problem.draw(0).segment), [0, 1, 2])


def test_the_optimum_of_each_round_is_that_of_its_own_functions():
    trial = EVERYTHING.draw(3)
    for t in range(HORIZON):
        here = trial.means[t].reshape(3, len(CONTEXTS), 25)[:, trial.context[t]]
        feasible = (here[1:] <= 0).all(axis=0)
        assert feasible.sum() >= 5
        assert trial.optimum[t] == here[0][feasible].max()
        assert trial.worst[t] == here[0].min()


def test_the_draw_depends_neither_on_plays_nor_on_other_laws():
    plain = by_hand(drift=OrnsteinUhlenbeck(0.05), horizon=HORIZON)
    more = replace(plain, constraints=COSTS[:1], delay=delays.PoissonDelay(3))
    np.testing.assert_array_equal(functions(plain)[:, 0], functions(more)[:, 0])
    backwards = plain.draw(0).means
    there_and_back = [backwards[t] for t in range(HORIZON)][::-1]
    np.testing.assert_array_equal(there_and_back, [backwards[t] for t in range(HORIZON)][::-1])


@pytest.mark.parametrize("costs", [True, False])
def test_costs_drift_or_stay_as_is_chosen(costs):
    drift = OrnsteinUhlenbeck(0.05, costs=costs)
    moving = by_hand(drift=drift, constraints=(GPSample(),), feasibility=FeasibleShare(0.3), horizon=HORIZON)
    drawn = functions(moving)[:, 1]
    assert bool((drawn == drawn[0]).all()) != costs
    np.testing.assert_array_equal((drawn <= 0).sum(axis=1), 8)
    given = functions(by_hand(drift=drift, constraints=COSTS, horizon=HORIZON))
    assert (given[:, 1:] == given[0, 1:]).all()


def test_trials_of_frozen_functions_share_them_but_not_their_place_in_time():
    problem = by_hand(drift=OrnsteinUhlenbeck(0.1), horizon=HORIZON, function_seed=5)
    one, other = problem.draw(0), problem.draw(1)
    late = one.means[HORIZON - 1].copy()
    np.testing.assert_array_equal(other.means[0], functions(problem)[0])
    np.testing.assert_array_equal(other.means[HORIZON - 1], late)
    np.testing.assert_array_equal(one.optimum, other.optimum)


def test_an_environment_can_be_pickled_in_the_middle_of_a_trial():
    env = BanditEnv(EVERYTHING)
    played(env, rounds=BLOCK + 3)
    again = pickle.loads(pickle.dumps(env))
    for action in (0, 7, 24) * 12:
        same(env.step(action)[4], again.step(action)[4])


def test_memory_does_not_grow_with_the_horizon():
    def peak(horizon: int) -> int:
        problem = build("gp", {"drift": "ornstein-uhlenbeck", "horizon": horizon, "num_arms": 1000})
        _ = problem.gram.root
        tracemalloc.start()
        trial = problem.draw(0)
        for t in range(0, horizon, BLOCK):
            _ = trial.means[t]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # All functions of 2000 rounds would be 16 MB, of 200 rounds 1.6 MB.
    assert peak(2000) < peak(200) + 500_000


def test_recorded_functions_are_replayed_in_their_order():
    values = np.random.default_rng(0).normal(size=(30, 25))
    problem = by_hand(reward=RecordedValues(values), drift=Replay(2), constraints=COSTS, horizon=55)
    np.testing.assert_array_equal(functions(problem)[:, 0], values[np.arange(55) // 2])
    np.testing.assert_array_equal(problem.draw(0).segment, np.arange(55) // 2)


def test_rounds_in_which_a_replayed_function_differs_are_change_points_that_are_not_published():
    values = np.repeat(np.random.default_rng(0).normal(size=(3, 25)), [2, 1, 2], axis=0)
    replayed = {"reward": RecordedValues(values), "drift": Replay(400), "horizon": 2000}
    problem = by_hand(**replayed)
    trial = problem.draw(0)
    np.testing.assert_array_equal(changes.change_points_of(trial.segment), [800, 1200])
    assert not {"segment", "changes"} & vars(trial.setting).keys()
    constrained = {"constraints": (GPSample(),), "feasibility": FeasibleShare(0.2)}
    costs = by_hand(**replayed, **constrained, changes=changes.AtRounds((100, 800)))
    np.testing.assert_array_equal(changes.change_points_of(costs.draw(0).segment), [100, 800, 1200])


def test_a_drift_or_replay_in_which_nothing_changes_is_refused():
    still = RecordedValues(np.repeat(np.random.default_rng(0).normal(size=(1, 25)), 3, axis=0))
    with pytest.raises(ValueError, match="drift must be left out where the records are all the same"):
        by_hand(reward=still, drift=Replay(20))
    alone = {"reward": KnownFunction(COSTS[0].function), "drift": OrnsteinUhlenbeck(0.1)}
    with pytest.raises(ValueError, match="drift must be left out where each function is given once"):
        by_hand(**alone)
    kept = {"constraints": (GPSample(),), "feasibility": FeasibleShare(0.2)}
    assert by_hand(**alone, **kept).drifts
    with pytest.raises(ValueError, match="drift must be left out where each function is given once"):
        by_hand(**{**alone, "drift": OrnsteinUhlenbeck(0.1, costs=False)}, **kept)


def test_costs_that_stand_still_under_a_replay_differ_after_each_change_point():
    costs = RecordedValues(np.stack([np.full(25, -1.0), np.full(25, -2.0)]))
    rewards = RecordedValues(np.random.default_rng(0).normal(size=(2, 25)))
    drawn = {"drift": Replay(40), "constraints": (costs,), "changes": changes.AtRounds(tuple(range(1, 40)))}
    assert (np.diff(functions(by_hand(reward=rewards, **drawn))[:, 1, 0]) != 0).all()


@pytest.mark.needs_data("intel_temperature_train.csv", "intel_temperature_test.csv")
def test_the_sensors_are_replayed_time_by_time():
    from bandit_envs.data import intel_temperature

    problem = build("intel-temperature", {"replay": True, "standardize": False, "hold": 3})
    assert problem.horizon == 3 * 96
    recorded = intel_temperature().test
    np.testing.assert_allclose(functions(problem)[:, 0], np.repeat(recorded, 3, axis=0), atol=1e-12)
    np.testing.assert_allclose(problem.draw(0).optimum, np.repeat(recorded.max(axis=1), 3), atol=1e-12)
    plain = build("intel-temperature", {})
    assert (plain.horizon, plain.drifts) == (50, False)
    with pytest.raises(ValueError, match="horizon must be at most 96: 96 records, each held for 1 rounds"):
        build("intel-temperature", {"replay": True, "horizon": 97})
    with pytest.raises(ValueError, match="drift must be None where replay is True, got 'orn"):
        build("intel-temperature", {"replay": True, "drift": "ornstein-uhlenbeck"})


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"normalize": True}, "normalize must be False where a recording is replayed, .* got True"),
        ({"misspecification": 0.1}, "misspecification must be None where a recording is replayed, .* got"),
    ],
)
def test_what_would_change_a_replayed_recording_is_refused_by_its_own_name(keywords, message):
    recorded = RecordedValues(np.arange(12.0).reshape(3, 4))
    with pytest.raises(ValueError, match=message):
        compose(Decisions(unit_grid(4)), recorded, RBF(), name="recording", drift=Replay(), **keywords)

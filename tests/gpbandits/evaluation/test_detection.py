"""What is recorded of changes and alarms, and what it says of a detector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import synthetic
from cases import by_hand
from matplotlib.collections import LineCollection
from synthetic import assert_same

from bandit_envs.laws import RecordedValues
from bandit_envs.laws.drift import Replay
from gpbandits.evaluation import Result, evaluate, match_alarms
from gpbandits.evaluation.plots import alarm_figure, regret_figure
from gpbandits.evaluation.record import join_trials, ragged

SMALL = {"num_arms": 10, "horizon": 30, "change_points": [10, 20]}


class Detector:
    """Alarms in given rounds, one list for every trial."""

    def __init__(self, setting: Any, alarms: Any = (4, 12, 13), num_trials: int | None = None):
        self.num_trials = num_trials
        self.planned = list(alarms)

    def reset(self, seed: Any) -> None:
        self.round = 0
        self.alarms: Any = [] if self.num_trials is None else [[] for _ in range(self.num_trials)]

    def act(self, observation: Any) -> Any:
        return 0 if self.num_trials is None else np.zeros(self.num_trials, dtype=int)

    def update(self, observation: Any, action: Any, reward: Any, info: Any) -> None:
        if self.round in self.planned:
            for row in [self.alarms] if self.num_trials is None else self.alarms:
                row.append(self.round)
        self.round += 1


def one_by_one(setting: Any) -> Detector:
    return Detector(setting)


def brute(alarms: list[int], changes: list[int], horizon: int) -> tuple[list[float], list[int]]:
    """The definition, round by round."""
    delays, false, detected = [np.nan] * len(changes), [], set()
    for alarm in alarms:
        segment = sum(change <= alarm for change in changes)
        if segment == 0 or segment in detected:
            false.append(alarm)
        else:
            detected.add(segment)
            delays[segment - 1] = alarm - changes[segment - 1]
    return delays, false


@pytest.mark.parametrize("seed", range(20))
def test_alarms_are_matched_as_defined(seed):
    rng = np.random.default_rng(seed)
    alarms, changes = (
        np.sort(rng.choice(np.arange(1, 50), rng.integers(9), replace=False)) for _ in range(2)
    )
    found = match_alarms(alarms, changes)
    delays, false = brute(alarms.tolist(), changes.tolist(), 50)
    np.testing.assert_array_equal(found.delays, delays)
    np.testing.assert_array_equal(found.false, false)


@pytest.mark.parametrize("agent", [Detector, one_by_one])
def test_evaluate_reads_the_alarms_and_the_changes_of_every_trial(agent):
    result = evaluate("GPBandit-GP-v0", {"d": agent, "r": "random"}, trials=3, env_kwargs=SMALL)
    assert list(result.alarms) == ["d"]
    for rounds, changes in zip(result.alarms["d"], result.changes, strict=True):
        np.testing.assert_array_equal(rounds, [4, 12, 13])
        np.testing.assert_array_equal(changes, [10, 20])
    np.testing.assert_array_equal(result.segments, [np.repeat([0, 1, 2], 10)] * 3)


def test_alarms_at_the_changes_of_a_replay_are_right_ones():
    rows = RecordedValues(np.random.default_rng(0).normal(size=(3, 25)))
    replayed = by_hand(reward=rows, drift=Replay(10), horizon=30)
    found = evaluate(replayed, {"d": Detector}, trials=3).detections["d"]
    assert (found.mean_delay, found.missed_share, found.false_alarms_a_run) == (2.0, 0.5, 2.0)


@pytest.mark.parametrize("alarms", [[5, 5], [-1], [30], [2.5], [9, 3]])
def test_alarms_that_are_no_rounds_are_one_clear_error(alarms):
    def make(setting: Any) -> Detector:
        agent = Detector(setting)
        agent.reset = lambda seed: setattr(agent, "round", 99)
        agent.alarms = alarms
        return agent

    with pytest.raises(ValueError, match=r"alarms of an agent must be a trial's ascending rounds in 0\.\.29"):
        evaluate("GPBandit-GP-v0", {"d": make}, trials=1, env_kwargs=SMALL)


def detected(num_trials: int = 4, changes: Any = ((20, 40),) * 4) -> Result:
    whole = synthetic.result(num_trials=num_trials)
    alarms = ragged([[5, 21], [45], [], [30, 59]][:num_trials])
    records = {
        label: record._replace(changes=ragged(changes[:num_trials]))
        for label, record in whole.records.items()
    }
    records["GP-UCB"] = records["GP-UCB"]._replace(alarms=alarms)
    return Result("detected", 3, records)


def test_figures_of_a_detector_by_hand():
    found = detected().detections["GP-UCB"]
    assert found.mean_delay == pytest.approx((1 + 5 + 10 + 19) / 4)
    assert found.missed_share == 4 / 8
    np.testing.assert_array_equal(found.false_alarms, [1, 0, 0, 0])
    assert found.false_alarm_rate == 0.25 / 60
    assert found.false_run_share == 0.25


def test_without_changes_every_alarm_is_false_and_there_is_nothing_to_miss():
    found = detected(changes=((),) * 4).detections["GP-UCB"]
    assert np.isnan([found.mean_delay, found.missed_share]).all()
    assert found.false_alarms_a_run == 5 / 4


def test_alarms_and_changes_are_saved_joined_and_kept_whole_when_thinned(tmp_path):
    result = detected(changes=((20, 40), (), (7,), (1, 2, 3)))
    result.save(tmp_path / "r.parquet")
    assert_same(Result.load(tmp_path / "r.parquet"), result)
    thinned = result.at([10, 60])
    record = result.records["GP-UCB"]
    parts = [type(record)(*(part[rows] for part in record[:10])) for rows in (slice(0, 1), slice(1, 4))]
    joined = Result("detected", 3, {"GP-UCB": join_trials(parts)})
    for other in (thinned, joined):
        assert list(other.alarms) == ["GP-UCB"]
        mine, theirs = (each.changes + each.alarms["GP-UCB"] for each in (result, other))
        for left, right in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(left, right)
            assert left.dtype == right.dtype == np.int64
    np.testing.assert_array_equal(thinned.segments, result.segments[:, [9, 59]])


def lines_of(figure: Any) -> list[Any]:
    """X positions of all marks that are no curves."""
    marks = [found for found in figure.axes[0].collections if isinstance(found, LineCollection)]
    return [[path.vertices[0, 0] for path in found.get_paths()] for found in marks]


def test_figures_mark_shared_changes_and_the_alarms_of_a_single_trial():
    assert lines_of(regret_figure(detected())) == [[21, 41]]
    assert lines_of(regret_figure(detected(num_trials=1))) == [[6, 22], [21, 41]]
    assert lines_of(regret_figure(detected(changes=((20,), (21,), (20,), (20,))))) == []
    assert lines_of(regret_figure(detected(), scale="log-log")) == [[21, 41]]
    bottom, _ = regret_figure(detected()).axes[0].get_ylim()
    assert bottom == 0


def test_the_figure_of_alarms_counts_them_over_time(tmp_path):
    result = detected()
    figure = alarm_figure(result)
    (stairs,) = [patch for patch in figure.axes[0].patches if hasattr(patch, "get_data")]
    values, edges, _ = stairs.get_data()
    expected = np.zeros(60)
    expected[[5, 21, 45, 30, 59]] = 0.25
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(edges, np.arange(61))
    assert lines_of(figure) == [[21, 41]]
    result.plot_alarms(tmp_path / "alarms.png")
    assert (tmp_path / "alarms.png").stat().st_size > 5000


def test_there_is_no_figure_of_alarms_without_a_detector():
    with pytest.raises(ValueError, match="alarms need an agent that detects changes"):
        alarm_figure(synthetic.result())

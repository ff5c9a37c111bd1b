"""Trackers hold what a result says, each agent's batch of trials in a run of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from players import FirstArm

from bandit_envs.environment.info import Round
from gpbandits import evaluate
from gpbandits.tracking import TrackedRun, Tracker, to_mlflow, to_tensorboard, to_trackio

SMALL = {"num_arms": 6, "horizon": 7, "num_constraints": 1}
NAMES = ["round_regret", "regret", "violation"]


class OneByOne(FirstArm):
    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        return self.seed % 6


def played(tracker):
    agents = {"mine": OneByOne, "GP-UCB": "gp-ucb"}
    with tracker:
        return evaluate("GPBandit-GP-v0", agents, trials=2, seed=1, env_kwargs=SMALL, callback=tracker)


def expected(result):
    """Name of each run -> values by name, (T,)."""
    runs = {
        "mine, trial 0": ("mine", [0]),
        "mine, trial 1": ("mine", [1]),
        "GP-UCB, trials 0-1": ("GP-UCB", [0, 1]),
    }
    values = {}
    for name, (label, trials) in runs.items():
        record = result.records[label]
        regret, violation = record.regret[trials].mean(axis=0), record.violation[trials].mean(axis=0)
        values[name] = {"round_regret": regret, "regret": regret.cumsum(), "violation": violation.cumsum()}
    return values


def check(result, found, steps=range(1, 8)):
    """Compare runs found in a tracker, name -> values by name -> round -> value."""
    wanted = expected(result)
    assert set(found) == set(wanted)
    for run, values in wanted.items():
        for name in NAMES:
            assert list(found[run][name]) == list(steps)
            kept = values[name][np.array(list(steps)) - 1]
            np.testing.assert_allclose(list(found[run][name].values()), kept, rtol=1e-6)


@pytest.mark.parametrize(("every", "steps"), [(1, range(1, 8)), (3, [3, 6, 7])])
def test_a_tracker_of_ones_own_gets_each_run_whole(every, steps):
    found: dict[str, Any] = {}
    ended: list[str] = []

    def begin(name):
        run = found[name] = {each: {} for each in NAMES}

        def log(numbers, step):
            for key, value in numbers.items():
                run[key][step] = value

        return TrackedRun(log, lambda: ended.append(name))

    result = played(Tracker(begin, every))
    check(result, found, steps)
    assert ended == list(found)


def test_tensorboard_reads_what_was_tracked(tmp_path):
    pytest.importorskip("tensorboard", reason="needs the extra `trackers`")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    result, found = played(to_tensorboard(tmp_path)), {}
    for folder in tmp_path.iterdir():
        read = EventAccumulator(str(folder))
        read.Reload()
        found[folder.name] = {name: {e.step: e.value for e in read.Scalars(name)} for name in NAMES}
    check(result, found)


@pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")  # which MLflow uses
def test_mlflow_reads_what_was_tracked(tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="needs the extra `trackers`")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    try:
        tracker = to_mlflow("bandits", uri)
    except ImportError as error:
        pytest.skip(f"MLflow has no local store here: {error}")
    result, found = played(tracker), {}
    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("bandits")
    for run in client.search_runs([experiment.experiment_id]):
        assert run.info.status == "FINISHED"
        history = {name: client.get_metric_history(run.info.run_id, name) for name in NAMES}
        found[run.info.run_name] = {name: {each.step: each.value for each in history[name]} for name in NAMES}
    check(result, found)


def test_trackio_reads_what_was_tracked(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    pytest.importorskip("trackio", reason="needs the extra `trackers`")
    stored = pytest.importorskip("trackio.sqlite_storage").SQLiteStorage

    result, found = played(to_trackio("bandits")), {}
    for run in stored.get_runs("bandits"):
        rows = stored.get_logs("bandits", run)
        found[run] = {name: {row["step"]: row[name] for row in rows} for name in NAMES}
    check(result, found)


def test_a_tracker_that_is_given_a_trial_in_the_middle_says_so():
    tracker = Tracker(lambda name: TrackedRun(lambda numbers, step: None, lambda: None))
    zeros = np.zeros(1)
    with pytest.raises(RuntimeError, match="from their first round"):
        tracker(Round("mine", 2, np.array([0]), zeros, zeros))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="every must be"):
        Tracker(lambda name: TrackedRun(print, print), every=0)

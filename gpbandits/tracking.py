"""Evaluations in TensorBoard, MLflow and Trackio: `evaluate(..., callback=to_tensorboard("runs"))`."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np

from bandit_envs.basics.arguments import from_extra, is_count, is_text, require
from bandit_envs.basics.types import Floats
from bandit_envs.environment.info import Round

__all__ = ["Tracker", "to_mlflow", "to_tensorboard", "to_trackio"]

Numbers = dict[str, float]


class TrackedRun(NamedTuple):
    """A tracked run is open in a tracker."""

    log: Callable[[Numbers, int], object]  # values by name, and the round
    end: Callable[[], object]


class Tracker:
    """A tracker logs means over the trials that are played as a batch, of each agent in a run of its own.

    It logs `round_regret`, and the running sums `regret` and `violation`, by round. Agents play up to 64
    trials as a batch, and others one after another: runs are named by the agent and its trials.

    Args:
        begin: opens a run of a name, for trackers of your own.
        every: log each so many rounds, and the last.
    """

    def __init__(self, begin: Callable[[str], TrackedRun], every: int = 1):
        require(is_count(every), "every", "a positive number of rounds", every)
        self._begin, self._every = begin, every
        self._run: TrackedRun | None = None
        self._left: tuple[Numbers, int] | None = None  # of the latest round, if it was not logged
        self._sums: dict[str, Floats] = {}

    def __call__(self, seen: Round) -> None:
        """Take a round of `evaluate`."""
        if seen.round == 1:
            self.close()
            first, last = int(seen.trial[0]), int(seen.trial[-1])
            trials = f"trial {first}" if first == last else f"trials {first}-{last}"
            self._run, self._sums = self._begin(f"{seen.agent}, {trials}"), {}
        if self._run is None:
            raise RuntimeError("a tracker must see trials from their first round, got one that has begun")
        for name, values in {"regret": seen.regret, "violation": seen.violation}.items():
            self._sums[name] = self._sums.get(name, np.zeros(len(values))) + values
        numbers = {name: float(sums.mean()) for name, sums in self._sums.items()}
        numbers["round_regret"] = float(seen.regret.mean())
        self._left = numbers, seen.round
        if seen.round % self._every == 0:
            self._log()

    def close(self) -> None:
        """Log the last round and end the run; a further evaluation opens new ones."""
        if self._run is not None:
            self._log()
            self._run.end()
        self._run = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _log(self) -> None:
        if self._run is not None and self._left is not None:
            self._run.log(*self._left)
        self._left = None


def to_tensorboard(folder: str | Path, every: int = 1) -> Tracker:
    """Return a tracker that writes files of TensorBoard, a folder a run: `tensorboard --logdir FOLDER`."""
    with from_extra("trackers", "files of TensorBoard"):
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

    event, summary = cast(Any, event_pb2).Event, cast(Any, summary_pb2).Summary  # made at run time

    def begin(name: str) -> TrackedRun:
        writer = EventFileWriter(str(Path(folder) / name.replace("/", "-")))

        def log(numbers: Numbers, step: int) -> None:
            values = [summary.Value(tag=tag, simple_value=value) for tag, value in numbers.items()]
            writer.add_event(event(step=step, wall_time=time.time(), summary=summary(value=values)))

        return TrackedRun(log, writer.close)

    return Tracker(begin, every)


def to_mlflow(experiment: str = "gpbandits", uri: str | None = None, every: int = 1) -> Tracker:
    """Return a tracker that writes to an experiment of MLflow.

    Args:
        experiment: name, which is made if there is none.
        uri: of the tracking server or store, by default MLflow's own.
    """
    with from_extra("trackers", "runs of MLflow"):
        from mlflow import MlflowClient  # type: ignore[import-not-found] (the extra `trackers` has it)
    require(is_text(experiment), "experiment", "text in one line", experiment)
    client: Any = MlflowClient(tracking_uri=uri)
    found = client.get_experiment_by_name(experiment)
    number = client.create_experiment(experiment) if found is None else found.experiment_id

    def begin(name: str) -> TrackedRun:
        run = client.create_run(number, run_name=name).info.run_id

        def log(numbers: Numbers, step: int) -> None:
            for key, value in numbers.items():
                client.log_metric(run, key, value, step=step)

        return TrackedRun(log, lambda: client.set_terminated(run))

    return Tracker(begin, every)


def to_trackio(project: str = "gpbandits", every: int = 1, **options: Any) -> Tracker:
    """Return a tracker that writes to a project of Trackio on this machine, with options of `trackio.init`.

    `trackio show --project PROJECT` shows it.
    """
    with from_extra("trackers", "runs of Trackio"):
        import trackio  # type: ignore[import-not-found] (the extra `trackers` has it)

    def begin(name: str) -> TrackedRun:
        trackio.init(project=project, name=name, **options)
        return TrackedRun(lambda numbers, step: trackio.log(numbers, step=step), trackio.finish)

    return Tracker(begin, every)

"""What the records of agents say: regret, violation, time, changes and alarms, as arrays by label."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.changes import segments_of
from gpbandits.evaluation.detection import Detection, detection
from gpbandits.evaluation.record import Record, check_shapes

Metric = Literal[
    "cumulative",
    "average",
    "simple",
    "violation",
    "average-violation",
    "hard-violation",
    "average-hard-violation",
]


@dataclasses.dataclass(frozen=True, eq=False)
class Curves:
    """Agents' records on the same trials of one environment, by label, and what follows from them.

    Args:
        environment: the label that tables and figures print.
        seed: of the evaluation; trial i is drawn from (seed, i) whatever the agents are.
        records: one a label; all with the same B trials, T recorded rounds and C constraints.
        privileged: labels of the agents that were told what a learner cannot know.
        first_trial: index of the first trial, when this is a block of a larger evaluation.
        checkpoints: the recorded rounds, counted from 1, (T,); None where each round is recorded.
        tracks: label -> "from scratch" or "pretrained" for the reinforcement learners among the agents; the
            two do not share a figure.
    """

    environment: str
    seed: int
    records: dict[str, Record]
    privileged: frozenset[str] = frozenset()
    first_trial: int = 0
    checkpoints: Ints | None = None
    tracks: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.records:
            raise ValueError("a result needs the record of at least one agent, got none")
        if unknown := self.privileged - self.records.keys():
            raise ValueError(f"privileged names agents without a record: {', '.join(sorted(unknown))}")
        if unknown := self.tracks.keys() - self.records.keys():
            raise ValueError(f"tracks names agents without a record: {', '.join(sorted(unknown))}")
        for label, record in self.records.items():
            check_shapes(label, record, (self.num_trials, len(self.rounds), self.num_constraints))

    @property
    def agents(self) -> list[str]:
        """Labels, in the order in which they were given."""
        return list(self.records)

    @property
    def num_trials(self) -> int:
        """The number of trials B."""
        return len(self._first.regret)

    @property
    def num_constraints(self) -> int:
        """The number of constraints C."""
        return self._first.cost.shape[-1]

    @cached_property
    def rounds(self) -> Ints:
        """The recorded rounds, counted from 1, (T,)."""
        if self.checkpoints is not None:
            return np.asarray(self.checkpoints, dtype=np.int64)
        return np.arange(1, self._first.regret.shape[1] + 1)

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self.rounds[-1])

    @cached_property
    def regret(self) -> dict[str, Floats]:
        """Cumulative regret R_t = sum_{s <= t} f(x*) - f(x_s) of the noiseless means, (B, T) each."""
        return {label: np.cumsum(record.regret, axis=1) for label, record in self.records.items()}

    @cached_property
    def average_regret(self) -> dict[str, Floats]:
        """R_t / t, (B, T) each."""
        return self._average(self.regret)

    @property
    def simple_regret(self) -> dict[str, Floats]:
        """Regret of the best play that has arrived by round t, or the largest possible, (B, T) each."""
        return {label: record.simple_regret for label, record in self.records.items()}

    @property
    def costs(self) -> dict[str, Floats]:
        """Noiseless constraint values of the plays, (B, T, C) each; sums between checkpoints."""
        return {label: record.cost for label, record in self.records.items()}

    @cached_property
    def violation(self) -> dict[str, Floats]:
        """V_t = || [sum_{s <= t} g(x_s)]^+ ||, (B, T) each; slack makes up for it (Shi 2022, eq. 7)."""
        return {
            label: np.linalg.norm(np.maximum(np.cumsum(record.cost, axis=1), 0.0), axis=2)
            for label, record in self.records.items()
        }

    @cached_property
    def hard_violation(self) -> dict[str, Floats]:
        """sum_{s <= t} || [g(x_s)]^+ ||, (B, T) each; at least V_t, and nothing makes up for it."""
        return {label: np.cumsum(record.violation, axis=1) for label, record in self.records.items()}

    @property
    def actions(self) -> dict[str, Any]:
        """Arms, (B, T), or points, (B, T, d), each."""
        return {label: record.action for label, record in self.records.items()}

    @property
    def seconds(self) -> dict[str, Floats]:
        """Time in act and update, (B,) each."""
        return {label: record.seconds for label, record in self.records.items()}

    @property
    def seconds_per_decision(self) -> dict[str, Floats]:
        """Time in act and update a round, (B,) each."""
        return {label: seconds / self.horizon for label, seconds in self.seconds.items()}

    @property
    def changes(self) -> list[Ints]:
        """The rounds of each trial, counted from 0, that began another segment; one array a trial."""
        return [np.array(rounds, dtype=np.int64) for rounds in self._first.changes]

    @cached_property
    def segments(self) -> Ints:
        """How many changes there were up to each recorded round, (B, T)."""
        whole = [segments_of(rounds, self.horizon) for rounds in self.changes]
        return np.stack(whole)[:, self.rounds - 1]

    @property
    def alarms(self) -> dict[str, list[Ints]]:
        """The rounds, counted from 0, after which an agent that detects alarmed; one array a trial."""
        return {
            label: [np.array(rounds, dtype=np.int64) for rounds in record.alarms]
            for label, record in self.records.items()
            if all(rounds is not None for rounds in record.alarms)
        }

    @cached_property
    def detections(self) -> dict[str, Detection]:
        """Detection delays, missed changes and false alarms of each agent that detects."""
        return {label: detection(alarms, self.changes, self.horizon) for label, alarms in self.alarms.items()}

    def curves(self, metric: Metric = "cumulative") -> dict[str, Floats]:
        """Regret or violation by metric, (B, T) each; the averages are over time, up to each round."""
        match metric:
            case "cumulative":
                return self.regret
            case "simple":
                return self.simple_regret
            case "violation":
                return self.violation
            case "hard-violation":
                return self.hard_violation
            case "average":
                return self.average_regret
            case "average-violation":
                return self._average(self.violation)
            case "average-hard-violation":
                return self._average(self.hard_violation)
        raise ValueError(f"unknown metric {metric!r}; choose one of {', '.join(get_args(Metric))}")

    def _average(self, sums: dict[str, Floats]) -> dict[str, Floats]:
        """A time average up to each round."""
        return {label: values / self.rounds for label, values in sums.items()}

    @property
    def _first(self) -> Record:
        return next(iter(self.records.values()))

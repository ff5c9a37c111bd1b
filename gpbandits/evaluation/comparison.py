"""A comparison holds the records of agents on the same trials; parts of it are selected and joined."""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Ints
from gpbandits.evaluation.formats import signs
from gpbandits.evaluation.record import Record, check_rounds, check_shapes, join_trials
from gpbandits.evaluation.stamp import agents_of

PRETRAINED = "pretrained"  # the track of policies trained on other functions
SETS = ("privileged", "approximate", "assuming", "unfit")  # of labels


@dataclasses.dataclass(frozen=True, eq=False)
class SharedTrials:
    """A comparison holds agents' records on the same trials of one environment, by label.

    Args:
        environment: the label that tables and figures print.
        seed: seed of the evaluation; trial i is drawn from (seed, i) and `entropy`, for all agents alike.
        records: one for each label, all with the same B trials, T recorded rounds and C constraints.
        privileged: labels of the agents that observed the true functions or changes.
        first_trial: index of the first trial, if this is a block of a larger evaluation.
        checkpoints: the recorded rounds, counted from 1, (T,); None if every round is recorded.
        tracks: label -> "from scratch" or "pretrained" for the reinforcement learners among the agents;
            tables and figures mark the latter.
        windows: label -> longest delay, in rounds or units of time, of agents that discard later feedback.
        approximate: labels of the agents whose posterior is not exact.
        assuming: labels of the agents that use a bound that was neither given nor published.
        entropy: entropy of the environments beside the seed, if agents were isolated or it was given.
        unfit: labels of the agents that do not declare a feature of the environment (constraints, delays,
            contexts or changes).
        long_term: True if constraints hold for average costs, False if in each round.
        origins: what is known of the code that played this and of the time, see `gpbandits.evaluation.stamp`;
            of what `Result.save` wrote also commit, digests of the code, and versions.
    """

    environment: str
    seed: int
    records: dict[str, Record]
    privileged: frozenset[str] = frozenset()
    first_trial: int = 0
    checkpoints: Ints | None = None
    tracks: Mapping[str, str] = dataclasses.field(default_factory=dict)
    windows: Mapping[str, float] = dataclasses.field(default_factory=dict)
    approximate: frozenset[str] = frozenset()
    assuming: frozenset[str] = frozenset()
    entropy: int | None = None
    unfit: frozenset[str] = frozenset()
    long_term: bool = False
    origins: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not self.records:
            raise ValueError("a result needs the record of at least one agent, got none")
        for name in (*SETS, "tracks", "windows"):
            if unknown := set(getattr(self, name)) - self.records.keys():
                raise ValueError(f"{name} names agents without a record: {', '.join(sorted(unknown))}")
        for label, record in self.records.items():
            check_shapes(label, record, (self.num_trials, len(self.rounds), self.num_constraints))

    @property
    def agents(self) -> list[str]:
        """Return the labels in their given order."""
        return list(self.records)

    @property
    def num_trials(self) -> int:
        """Return the number of trials B."""
        return len(self._first.regret)

    @property
    def num_constraints(self) -> int:
        """Return the number of constraints C."""
        return self._first.cost.shape[-1]

    @cached_property
    def rounds(self) -> Ints:
        """Return the recorded rounds, counted from 1, (T,)."""
        if self.checkpoints is not None:
            return np.asarray(self.checkpoints, dtype=np.int64)
        return np.arange(1, self._first.regret.shape[1] + 1)

    @property
    def horizon(self) -> int:
        """Return the last round."""
        return int(self.rounds[-1])

    def column_of(self, at: int | None) -> int:
        """Return the index of the last recorded round up to `at`; of the last of all for None."""
        return -1 if at is None else max(int((self.rounds <= at).sum()) - 1, 0)

    @property
    def changes(self) -> list[Ints]:
        """Return the rounds, counted from 0, in which a new segment began; one array a trial."""
        return [np.array(rounds, dtype=np.int64) for rounds in self._first.changes]

    @property
    def pretrained(self) -> frozenset[str]:
        """Return the labels of the agents that were trained beforehand on other functions."""
        return frozenset(label for label, track in self.tracks.items() if track == PRETRAINED)

    def marked(self, label: str) -> str:
        """Return the label with its `MARKS`, as tables and figures print it."""
        return label + signs(label, self)

    def marked_as(self, results: Collection["SharedTrials"]) -> Self:
        """Return the result with every mark that one of its agents has in any of some results."""
        given = {name: {x for each in results for x in getattr(each, name)} for name in SETS}
        return dataclasses.replace(self, **{x: each & self.records.keys() for x, each in given.items()})

    def comparable(self, label: str) -> bool:
        """Return True if others may be compared with the agent: it is neither privileged nor pretrained."""
        return label not in self.privileged | self.pretrained

    def by_track(self) -> dict[str, Self]:
        """Return a part for each track, with the agents of that track and those without one."""
        tracks = sorted(set(self.tracks.values()))
        parts = {x: [y for y in self.agents if self.tracks.get(y, x) == x] for x in tracks}
        return {x: self.select(labels) for x, labels in parts.items()} if len(tracks) > 1 else {"": self}

    def select(self, labels: Sequence[str]) -> Self:
        """Return the part of some of the agents, in this order."""
        listed = isinstance(labels, Iterable) and not isinstance(labels, str)
        labels = list(labels) if listed else labels
        require(listed and labels, "labels", "a list of labels of agents", labels)
        if unknown := [label for label in labels if not isinstance(label, str) or label not in self.records]:
            raise ValueError(f"unknown agent {unknown[0]!r}; choose among {', '.join(self.agents)}")
        return dataclasses.replace(
            self,
            records={label: self.records[label] for label in labels},
            tracks={label: track for label, track in self.tracks.items() if label in labels},
            windows={label: window for label, window in self.windows.items() if label in labels},
            **{name: getattr(self, name) & set(labels) for name in SETS},
        )

    def at(self, rounds: Ints | Sequence[int]) -> Self:
        """Thin to these rounds, which count from 1, increase, and end with the horizon."""
        if self.checkpoints is not None:
            raise ValueError("this result is thinned to checkpoints already; thin the full one")
        rounds = check_rounds("rounds", rounds, self.horizon)
        records = {label: record.at(rounds) for label, record in self.records.items()}
        return dataclasses.replace(self, records=records, checkpoints=rounds)

    def condensed(self, rounds: Iterable[int]) -> Self:
        """Cut to the last recorded round up to each of `rounds`, and the last of all."""
        ends = [self.column_of(each) for each in (*rounds, None)]
        columns = np.unique(np.array(ends) % len(self.rounds))
        records = {label: record.at(columns + 1) for label, record in self.records.items()}
        return dataclasses.replace(self, records=records, checkpoints=self.rounds[columns])

    @property
    def _first(self) -> Record:
        return next(iter(self.records.values()))


Kind = TypeVar("Kind", bound=SharedTrials)


def joined(rows: Mapping[str, Sequence[Kind]]) -> Kind:
    """Join the blocks of trials of each agent, one agent a block, in their order.

    Callers guarantee equal trials and equal recorded rounds; all but labels is that of the first block.
    """
    blocks = [block for row in rows.values() for block in row]
    marked: Any = {name: frozenset(x for x, row in rows.items() if getattr(row[0], name)) for name in SETS}
    origins = {repr(sorted(each.items())): each for block in blocks for each in block.origins}
    return dataclasses.replace(
        blocks[0],
        records={
            x: join_trials([next(iter(block.records.values())) for block in row]) for x, row in rows.items()
        },
        tracks={label: track for label, row in rows.items() for track in row[0].tracks.values()},
        windows={label: window for label, row in rows.items() for window in row[0].windows.values()},
        long_term=any(block.long_term for block in blocks),
        origins=tuple(origins.values()),
        **marked,
    )


def join(one: Kind, other: Kind) -> Kind:
    """Join the same agents on trials that follow, or further agents on the same trials; see `Result.join`."""
    if one.records.keys() == other.records.keys():
        first, second = sorted((one, other), key=lambda each: each.first_trial)
        _require_same(first, second)
        asked = [agents_of(part.origins) for part in (one, other)]  # as far as origins say
        if asked[0] != asked[1] and all(len(each) == len(one.records) for each in asked):
            raise ValueError(
                "results to join must have the same agents and options under a label; "
                "others need another label"
            )
        end = first.first_trial + first.num_trials
        if second.first_trial != end:
            raise ValueError(
                f"results of the same agents must have trials that follow each other, got {_trials(first)} "
                f"and {_trials(second)}; evaluate(..., first_trial={end}) plays the next ones"
            )
        return joined({label: [each.select([label]) for each in (first, second)] for label in one.agents})
    if shared := sorted(one.records.keys() & other.records.keys()):
        raise ValueError(
            f"results to join must have the same agents or none in common, got {', '.join(shared)} in both; "
            "`select` takes some of them"
        )
    _require_same(one, other)
    if _trials(one) != _trials(other):
        raise ValueError(
            f"results of other agents must be of the same trials, got {_trials(one)} and {_trials(other)}"
        )
    if not all(map(np.array_equal, one.changes, other.changes)):
        raise ValueError("results to join must be of the same trials, got other change-points")
    return joined({label: [each.select([label])] for each in (one, other) for label in each.agents})


def _trials(part: SharedTrials) -> str:
    return f"trials {part.first_trial} to {part.first_trial + part.num_trials - 1}"


def _require_same(one: SharedTrials, other: SharedTrials) -> None:
    """Raise, with the first difference, unless two results are of one evaluation."""
    facts = ("environment", "seed", "entropy", "horizon", "num_constraints", "long_term")
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in facts}
    pairs["recorded rounds"] = (len(one.rounds), len(other.rounds))
    played = [{each["played"] for each in part.origins if each.get("played")} for part in (one, other)]
    if all(played):
        pairs["fingerprint of the environment"] = (sorted(played[0]), sorted(played[1]))
    for name, (mine, theirs) in pairs.items():
        if mine != theirs:
            raise ValueError(f"results to join must have the same {name}, got {mine!r} and {theirs!r}")
    if not np.array_equal(one.rounds, other.rounds):
        raise ValueError("results to join must have recorded the same rounds")

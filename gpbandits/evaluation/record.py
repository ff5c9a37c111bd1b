"""A record holds actions and outcomes of one agent in some trials, at all rounds or at checkpoints."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.measures import Measure, Need, RoundBlock, followed
from gpbandits.evaluation.signals import joined_stopped

POINTS = 200  # points of a curve over the spent budget
_AXES = {"cost": 3, "observed_cost": 3}  # of trials, rounds and constraints; others have trials and rounds
_AXES |= dict.fromkeys(("seconds", "changes", "alarms", "infeasible", "covered", "played"), 1)
# Others may have coordinates.
_PLAYS = ("regret", "simple_regret", "violation", "spent", "shortfall", "moved")
SUMMED = ("cost", "observed_cost", *(name for name in _PLAYS if name != "simple_regret"))


class Record(NamedTuple):
    """A record holds B trials of one agent at T recorded rounds, which are all rounds unless thinned.

    Regret, cost and violation are sums since the previous recorded round, hence values of single rounds if
    all are recorded. If rounds are thinned, `totals` are running totals of all rounds. Change-points and
    alarms are complete; their rounds count from 0.
    """

    regret: Floats  # (B, T) regret of the noiseless mean, charged when played
    simple_regret: Floats  # (B, T) of the plays that count, see `Curves.simple_regret`
    cost: Floats  # (B, T, C) noiseless constraint values of the plays
    violation: Floats  # (B, T) norm of their positive part, which does not cancel over rounds
    observed_cost: Floats  # (B, T, C) sums of the noisy constraint values delivered in the round
    action: Any  # (B, T) arms or (B, T, d) points
    seconds: Floats  # (B,) spent in act and update
    changes: Any  # (B,) tuples of ascending rounds: those that began another segment
    alarms: Any  # (B,) tuples of ascending rounds: those after which the agent alarmed; None without detector
    infeasible: Any  # (B,) rounds in which it found that no play keeps the costs; -1 never, None cannot tell
    # Where plays cost: (B, T) true costs since the previous recorded round; (B, T) sums of rho* k(x) - f(x),
    # rho* the best reward a unit of cost of the round; (B,) rounds in which a play was made.
    spent: Floats | None = None
    shortfall: Floats | None = None
    played: Ints | None = None
    moved: Floats | None = None  # (B, T) sums of the costs of moves since the previous recorded round
    # (B,) share of the arms that can be reached safely which were certified or played; where there is a seed
    covered: Floats | None = None
    # Measure -> (B, T, ...) running totals, where rounds are thinned, and always of what needs duels; None
    # where those follow from the fields.
    totals: Mapping[str, Any] | None = None
    stopped: Mapping[str, Any] | None = None  # rule -> `Stopped`, of an agent with the option `stopping`

    @property
    def of_rounds(self) -> RoundBlock:
        """The values from which measures are computed."""
        seen = self.regret, self.cost, self.violation, self.observed_cost
        plays = RoundBlock(*seen, simple=self.simple_regret)
        plays = plays._replace(spent=self.spent, shortfall=self.shortfall, moved=self.moved)
        known = {name: (self.totals or {}).get(f"{name}_regret") for name in ("strong", "weak")}
        rises = {x: np.diff(each, axis=1, prepend=0.0) for x, each in known.items() if each is not None}
        return plays._replace(**rises)

    def has(self, needs: Need | None) -> bool:
        """Return whether plays or moves cost, or are duels, where a measure needs that."""
        held = {"budget": self.spent is not None, "movement": self.moved is not None}
        held["duels"] = "strong_regret" in (self.totals or {})
        return held.get(needs or "", True)

    def running(self, measure: Measure) -> Any:
        """Return the measure up to each recorded round, (B, T, ...)."""
        if self.totals is not None and measure.name in self.totals:
            return self.totals[measure.name]
        if measure.of is None:
            return getattr(self, measure.name)
        return measure.accumulate(measure.values(self.of_rounds))

    def at(self, rounds: Ints) -> "Record":
        """Thin to these rounds, which count from 1, increase, and end with the last, (R,)."""
        index = rounds - 1
        summed = {name: getattr(self, name) for name in SUMMED}
        return self._replace(
            simple_regret=self.simple_regret[:, index],
            action=self.action[:, index],
            **{name: sums_between(each, rounds) for name, each in summed.items() if each is not None},
            totals={measure.name: self.running(measure)[:, index] for measure in followed(self.has)},
        )


def join_trials(blocks: Sequence[Record]) -> Record:
    """Return one record from blocks of trials of the same agent, in their order; what one lacks it lacks."""
    joined: dict[str, Any] = {}
    for name in Record._fields:
        parts = [getattr(block, name) for block in blocks]
        if any(part is None for part in parts):
            joined[name] = None
        elif name == "totals":
            shared = [key for key in parts[0] if all(key in part for part in parts)]
            joined[name] = {key: np.concatenate([part[key] for part in parts]) for key in shared}
        else:
            joined[name] = joined_stopped(parts) if name == "stopped" else np.concatenate(parts)
    return Record(**joined)


def ragged(rounds: Sequence[Any]) -> Any:
    """Return B lists of rounds of different lengths as an array (B,) of tuples; None stays."""
    array = np.empty(len(rounds), dtype=object)
    for i, row in enumerate(rounds):
        array[i] = None if row is None else tuple(map(int, row))
    return array


def one_each(values: Sequence[Any]) -> Any:
    """Return B integers or None as an array (B,) of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = [None if value is None else int(value) for value in values]
    return array


def check_shapes(label: str, record: Record, expected: tuple[int, int, int]) -> None:
    """Raise unless the record has B trials, T recorded rounds and C constraints."""
    for name, values in (*(record.totals or {}).items(), *record._asdict().items()):
        if values is None or name in ("totals", "stopped"):
            continue
        right = expected[: _AXES.get(name, 2)]
        shape = np.shape(values) if name in _AXES or name in _PLAYS else np.shape(values)[:2]
        if shape != right:
            raise ValueError(
                f"{name} of agent {label!r} must have shape {right} "
                f"(trials, recorded rounds, constraints: {expected}), got {shape}"
            )
    for rule, stopped in (record.stopped or {}).items():
        if len(stopped.after) != expected[0]:
            raise ValueError(f"stops of agent {label!r} by {rule!r} must be of {expected[0]} trials")


def budget_grid(spent: Sequence[Floats]) -> Floats:
    """Return budgets from where all agents have played in all trials to the largest of the `spent`, (n,)."""
    first, last = (max(float(each[:, i].max()) for each in spent) for i in (0, -1))
    return np.linspace(first, last, POINTS)


def over_budget(values: Floats, spent: Floats, grid: Floats) -> Floats:
    """Return the values after the last play that each budget of a grid pays for, (B, T) -> (B, n)."""
    last = np.array([np.searchsorted(row, grid, side="right") - 1 for row in spent])
    return np.take_along_axis(values, np.maximum(last, 0), axis=1)


BLOCK = 4096  # rounds that are processed together
SPACINGS = ("log", "every")


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """Record about `per_decade` rounds in each decade of t ("log"), or all rounds ("every")."""

    spacing: str = "log"
    per_decade: int = 50

    def __post_init__(self) -> None:
        require(self.spacing in SPACINGS, "spacing", f"one of {', '.join(SPACINGS)}", self.spacing)
        require(self.per_decade >= 1, "per_decade", "at least 1", self.per_decade)

    @property
    def of_run(self) -> Callable[[int], Ints] | None:
        """Return the function from a horizon to the recorded rounds; None records all."""
        return None if self.spacing == "every" else self.rounds

    def rounds(self, horizon: int) -> Ints:
        """Return logarithmically spaced rounds from 1 to the horizon, (R,)."""
        count = 1 + int(np.ceil(self.per_decade * np.log10(horizon)))
        return np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))


def recorded_in(rounds: Ints | None, block: slice) -> Ints:
    """Return the recorded rounds (counted from 1; None is all) of a block, counted from 0 in it, (r,)."""
    if rounds is None:
        return np.arange(block.stop - block.start)
    first, beyond = np.searchsorted(rounds, [block.start + 1, block.stop + 1])
    return rounds[first:beyond] - 1 - block.start


def check_rounds(name: str, rounds: Any, horizon: int) -> Ints:
    """Return rounds to record as an array, or raise unless they increase from at least 1 to the horizon."""
    given = np.asarray(rounds)
    switched = isinstance(rounds, list | tuple) and any(isinstance(each, bool | np.bool_) for each in rounds)
    integers = not switched and given.ndim == 1 and given.dtype.kind in "iu" and len(given) > 0
    valid = integers and given[0] >= 1 and given[-1] == horizon and bool((np.diff(given) > 0).all())
    require(valid, name, f"rounds that increase from at least 1 to the horizon {horizon}", rounds)
    return given.astype(np.int64)


class Sums:
    """Sums add values since the previous recorded round, so that their running sums are exact.

    They take values block by block, so that a run in progress and a whole one in memory agree bit for bit.
    """

    def __init__(self) -> None:
        self._rest: Floats | None = None  # (B, ...) since the last recorded round, if there are such rounds

    def take(self, values: Floats, recorded: Ints) -> Floats:
        """Return the sums that end at the recorded rounds, (r,), of a block, (B, n, ...) -> (B, r, ...)."""
        starts = np.r_[0, recorded + 1]
        starts = starts[starts < values.shape[1]]
        sums = np.add.reduceat(values, starts, axis=1)
        if self._rest is not None:
            sums[:, 0] += self._rest
        self._rest = sums[:, -1] if len(starts) > len(recorded) else None
        return sums[:, : len(recorded)]


def sums_between(values: Floats, rounds: Ints) -> Floats:
    """Return the `Sums` of all rounds at once, (B, T, ...) -> (B, r, ...)."""
    kept, horizon = Sums(), values.shape[1]
    blocks = [slice(start, min(start + BLOCK, horizon)) for start in range(0, horizon, BLOCK)]
    parts = [kept.take(values[:, each], recorded_in(rounds, each)) for each in blocks]
    return np.concatenate(parts, axis=1)

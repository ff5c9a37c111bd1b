"""Parameters by name as points that a kernel compares, the time as a context, results of earlier tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require, written_as
from bandit_envs.basics.types import Bools, Floats, Ints

from ..real.earlier import FEWEST
from ..saving.data import require_types
from .continuous import Continuum, plain
from .parameters import KINDS, Ranges, as_parameter

TIME = "time"  # the name of this context


@dataclass(frozen=True)
class Time(Continuum):
    """Start of an experiment, in any unit; it may be before 0 and after the span."""

    span: float  # approximate duration of all experiments together: the unit of the kernel

    def __post_init__(self) -> None:
        span = plain(self.span)
        usable = is_number(span) and span > 0
        require(usable, "clock", "a positive time: about how long all experiments take together", self.span)
        object.__setattr__(self, "span", span)

    def share(self, values: Floats) -> Floats:
        """Return time / span."""
        return values / self.span

    def at_share(self, shares: Floats) -> Floats:
        return shares * self.span

    def features(self, value: float) -> Floats:
        """Return time / span, which has no bounds."""
        return np.array([value / self.span])

    def at(self, quantile: float) -> float:
        """Return the time at which this share of the span is over."""
        return quantile * self.span

    def check(self, name: str, value: Any) -> Any:
        time = plain(value)
        require(is_number(time), name, "a finite number, in the unit of the clock", value)
        return time


def with_clock(contexts: Any, clock: float | None) -> Any:
    """Return the contexts, with the time where there is a clock."""
    if clock is None or not isinstance(contexts, Mapping):
        return contexts
    require(TIME not in contexts, "contexts", f"without {TIME!r} where there is a clock", contexts)
    return {**contexts, TIME: Time(clock)}


def without_time(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return a context without its time."""
    return {name: value for name, value in context.items() if name != TIME}


Values = dict[str, Any]


def text_of(values: Values) -> str:
    """Return values by name on one line, rounded."""
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
    )


class Space:
    """Named parameters, or contexts (`what`, for messages), in the order in which they were given."""

    def __init__(self, what: str, kinds: Ranges):
        self.what, self.kinds = what, {}
        require(isinstance(kinds, Mapping), what, 'a dict such as {"x": (0.0, 1.0)}', kinds)
        for name, kind in kinds.items():
            require(isinstance(name, str), f"a name in {what}", "text", name)
            timed = what == "contexts" and isinstance(kind, Time)
            self.kinds[name] = kind if timed else as_parameter(f"{what}[{name!r}]", kind)

    @property
    def dim(self) -> int:
        """Number of features d."""
        return sum(kind.width for kind in self.kinds.values())

    @property
    def size(self) -> float:
        """Number of different points, infinity where a parameter is continuous."""
        levels = [kind.levels for kind in self.kinds.values()]
        return math.prod(math.inf if each is None else len(each) for each in levels)

    @cached_property
    def parameter_of_feature(self) -> Ints:
        """Index of each feature's parameter, (d,)."""
        return np.repeat(np.arange(len(self.kinds)), [kind.width for kind in self.kinds.values()])

    @cached_property
    def continuous(self) -> Bools:
        """Mask of features that may take any value in [0, 1], (d,)."""
        levels = np.array([kind.levels is None for kind in self.kinds.values()])
        return levels[self.parameter_of_feature]

    def check(self, values: Any) -> Values:
        """Return a dict of one possible value for every name, as plain data, or raise a ValueError."""
        argument = self._named(values)
        return {name: kind.check(f"{argument}[{name!r}]", values[name]) for name, kind in self.kinds.items()}

    def check_done(self, values: Any) -> Values:
        """Return the values of an experiment that was done, which may lie outside the ranges, or raise."""
        argument = self._named(values)
        return {n: kind.check_done(f"{argument}[{n!r}]", values[n]) for n, kind in self.kinds.items()}

    def check_some(self, argument: str, values: Any) -> Values:
        """Return possible values of at least one name, as plain data, or raise a ValueError."""
        some = isinstance(values, Mapping) and len(values) > 0 and set(values) <= set(self.kinds)
        require(some, argument, f"a dict of some of {self._names}", values)
        return {name: self.kinds[name].check(f"{argument}[{name!r}]", each) for name, each in values.items()}

    def allows(self, values: Values) -> bool:
        """Return True if all values lie in their ranges."""
        return all(kind.allows(values[name]) for name, kind in self.kinds.items())

    def _named(self, values: Any) -> str:
        """Return the argument as methods of a tuner call it, or raise unless it has every name."""
        argument = "context" if self.what == "contexts" else self.what
        require(isinstance(values, Mapping), argument, f"a dict with {self._names}", values)
        require(set(values) == set(self.kinds), argument, f"exactly {self._names}", sorted(values, key=str))
        return argument

    def features(self, values: Mapping[str, Any]) -> Floats:
        """Return features of a point, (d,)."""
        parts = [kind.features(values[name]) for name, kind in self.kinds.items()]
        return np.concatenate([np.zeros(0), *parts])

    def values(self, features: Floats) -> Values:
        """Return the possible point nearest to some features, (d,)."""
        parts = zip(self.kinds.items(), np.split(features, self._ends), strict=True)
        return {name: kind.value(part) for (name, kind), part in parts}

    def snap(self, features: Floats) -> Floats:
        """Return features of the possible points nearest to points of [0, 1]^d, (n, d)."""
        found = features.clip(0.0, 1.0)
        for kind, columns in self._rounded:
            found[:, columns] = kind.snap(features[:, columns])
        return found

    def spread(self, number: int) -> list[Values]:
        """Return all points if they are at most `number`, else `number` Sobol points that cover the space."""
        if self.size <= number:
            levels = [kind.levels or () for kind in self.kinds.values()]
            return [dict(zip(self.kinds, point, strict=True)) for point in product(*levels)]
        from scipy.stats import qmc

        quantiles = qmc.Sobol(len(self.kinds), scramble=False).random_base2(math.ceil(math.log2(number)))
        rows = quantiles[:number].tolist()
        return [{n: kind.at(u) for (n, kind), u in zip(self.kinds.items(), row, strict=True)} for row in rows]

    def to_data(self) -> list[list[Any]]:
        """Return names, kinds and their arguments."""
        return [[name, type(kind).__name__, asdict(kind)] for name, kind in self.kinds.items()]  # type: ignore[call-overload]

    @classmethod
    def from_data(cls, what: str, data: list[list[Any]]) -> Space:
        """Return the space of `to_data`."""
        kinds = {**KINDS, "Time": Time} if what == "contexts" else KINDS
        for _, kind, arguments in data:
            require_types(f"a {kind}", arguments, {each.name: Any for each in fields(kinds[kind])}, False)
        return cls(what, {name: kinds[kind](**arguments) for name, kind, arguments in data})

    @cached_property
    def _rounded(self) -> list[tuple[Any, slice]]:
        """The parameters that are not continuous, each with its features."""
        ends = [*self._ends.tolist(), self.dim]
        parts = zip(self.kinds.values(), map(slice, [0, *ends[:-1]], ends), strict=True)
        return [(kind, columns) for kind, columns in parts if kind.levels is not None]

    @cached_property
    def _ends(self) -> Ints:
        """End of each parameter's features, without the last one."""
        return np.cumsum([kind.width for kind in self.kinds.values()])[:-1]

    @property
    def _names(self) -> str:
        return ", ".join(map(repr, self.kinds)) or "nothing"


VALUE = "value"  # the column of a table of an earlier task
Results = tuple[tuple[Values, ...], tuple[float, ...]]  # its parameters and values


def results_of(like: Any, space: Space) -> tuple[Results, ...]:
    """Return the results of earlier tasks, or raise an error that names the task and the row.

    Args:
        like: tables, that is frames or lists of dicts of all parameters and the "value", or results.
        space: of the parameters.
    """
    words = "a list of tuners, or of tables with a column a parameter and the column 'value'"
    require(isinstance(like, Sequence) and not isinstance(like, str), "like", words, like)
    found = []
    for j, given in enumerate(like):
        name = f"like[{j}]"
        result = isinstance(given, tuple) and len(given) == 2  # of a file, or checked before
        rows, values = map(list, given) if result else _of_table(name, given, space)
        enough = len(rows) == len(values) >= FEWEST
        require(enough, name, f"at least {FEWEST} experiments with a value", len(values))
        for i, value in enumerate(values):
            words = "a finite number; leave failed experiments out"
            require(is_number(value), f"{name}, row {i}: {VALUE}", words, value)
        with written_as({"parameters": name}):
            found.append((tuple(map(space.check_done, rows)), tuple(map(float, values))))
    return tuple(found)


def _of_table(name: str, table: Any, space: Space) -> tuple[list[Any], list[Any]]:
    given: Any = table if isinstance(table, Sequence) else getattr(table, "to_dict", lambda _: [])("records")
    require(not isinstance(given, str) and len(given) > 0, name, "a tuner, a frame or a list of dicts", table)
    words = f"exactly the columns {', '.join(map(repr, sorted({*space.kinds, VALUE})))}"
    for i, row in enumerate(given):
        named = isinstance(row, Mapping)
        fits = named and set(row) == {*space.kinds, VALUE}
        require(fits, f"{name}, row {i}", words, sorted(row, key=str) if named else row)
    rows: list[Any] = list(given)
    return [{key: row[key] for key in space.kinds} for row in rows], [row[VALUE] for row in rows]

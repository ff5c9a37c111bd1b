"""Define a problem from a table of measurements: each row is a run of an arm, in a context, at a time."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics import arguments
from bandit_envs.basics.arguments import ArgumentError, require, require_size, written_as
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.data.own_tables import DECADES, OwnTable, ReadAxis, read_axis, read_table
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.laws.drift import Replay
from bandit_envs.laws.functions import Moments
from bandit_envs.laws.tabulated import MeasuredCosts, MeasuredTimes, RecordedValues, Replicates
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults

ARMS = ("step_size", "width", "batch_size", "weight_decay")  # of the example that ships
REWARD = "val_acc"
REPEATS = "repeats"
HORIZON = 200
PLAYS = 50  # plays of median price that the default budget pays for
WORKERS = 10  # runs that start within the median delay

__all__ = ["TableReading", "reading_of", "table"]


@dataclass(frozen=True)
class TableReading:
    """Hold a table's runs by point and time; a point is a (context, arm) pair.

    Args:
        table: the cells.
        arms, contexts: the columns that describe arms and contexts, in their order.
        changes: the column by whose values, in ascending order, rewards change; None if they do not.
    """

    table: OwnTable
    arms: tuple[ReadAxis, ...]
    contexts: tuple[ReadAxis, ...] = ()
    changes: str | None = None

    @cached_property
    def arm(self) -> tuple[Floats, Ints]:
        """Return the features of each arm, (A, d), and the arm of each row, (R,)."""
        return _features(self.table, self.arms)

    @cached_property
    def context(self) -> tuple[Floats, Ints]:
        """Return the features of each context, (Z, dz), and the context of each row, (R,)."""
        return _features(self.table, self.contexts)

    @cached_property
    def segment(self) -> tuple[Any, Ints]:
        """Return the values of the column of changes, (S,), and the index of each row's, (R,)."""
        if self.changes is None:
            return np.zeros(1), np.zeros(len(self.arm[1]), dtype=np.int64)
        values, row = np.unique(self.table.cells(self.changes), return_inverse=True)
        return values, row.astype(np.int64)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of segments and points, (S, N)."""
        return len(self.segment[0]), len(self.context[0]) * len(self.arm[0])

    @cached_property
    def cell(self) -> Ints:
        """Return the index of each row's (segment, point), (R,); raise where a pair has no row."""
        point = self.context[1] * len(self.arm[0]) + self.arm[1]
        cell = self.segment[1] * self.shape[1] + point
        absent = np.flatnonzero(np.bincount(cell, minlength=self.shape[0] * self.shape[1]) == 0)
        if len(absent):
            segment, at = divmod(int(absent[0]), self.shape[1])
            context, arm = divmod(at, len(self.arm[0]))
            of_arm, of_context = (self.arm[1] == arm).argmax(), (self.context[1] == context).argmax()
            place = f"the arm of row {self.table.row(int(of_arm)) + 1}"
            place += f" in the context of row {self.table.row(int(of_context)) + 1}"
            place += f" where {self.changes} is {self.segment[0][segment]}" if self.changes else ""
            require(False, "file", f"a table with a row for {place}", "none")
        return cell

    def mean(self, column: str) -> Floats:
        """Return the mean of a column over the runs of each point and segment, (S, N)."""
        values = self.table.numbers(column)
        return (np.bincount(self.cell, values) / np.bincount(self.cell)).reshape(self.shape)

    def noise(self, column: str, sign: float) -> Replicates | str:
        """Return the law that draws a run of the point that is played; "none" if all were run once."""
        values, point = self.table.numbers(column), self.cell % self.shape[1]
        residual = values - self.mean(column).ravel()[self.cell]
        if not residual.any():
            return "none"
        order = np.argsort(point, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(point, minlength=self.shape[1]))])
        return Replicates(residuals=sign * residual[order], first=first)

    @property
    def said(self) -> list[str]:
        """Return what was recognised, in words."""
        runs = np.bincount(self.cell)
        counts = f"{runs.min()} to {runs.max()}" if runs.min() < runs.max() else f"{runs.min()}"
        found = [f"{len(self.cell)} rows: {len(self.arm[0])} arms with {counts} runs each"]
        if self.contexts:
            found.append(f"{len(self.context[0])} contexts")
        if self.changes:
            values = self.segment[0]
            ends = f"in ascending order from {values[0]} to {values[-1]}"
            found.append(f"{len(values)} values of {self.changes}, {ends}")
        return found + [axis.said for axis in (*self.arms, *self.contexts)]


def reading_of(
    file: Any = None,
    *,
    arms: Sequence[str] | None = None,
    context: Any = None,
    changes: Any = None,
    scales: Mapping[str, str] | None = None,
    never: Any = None,
) -> TableReading:
    """Read the columns of a table that describe arms, contexts and times; arguments are those of `table`."""
    own, scales = read_table(file), {} if scales is None else scales
    given = (file is None and arms is None) or (_are_columns(arms) and bool(arms))
    require(given, "arms", "a list of the columns of the file that describe the arms", arms)
    names = ARMS if arms is None else tuple(arms)
    with written_as({"column": "arms"}):
        own = own.without(never, names)
    between = tuple(context) if _are_columns(context) else ()
    described = (*names, *between)
    require(len({*described}) == len(described), "arms", "different columns", described)
    require(isinstance(scales, Mapping), "scales", "a dict from columns to scales", scales)
    unknown = [name for name in scales if name not in described]
    require(not unknown, "scales", "of columns of arms and contexts", unknown)
    axes = {}
    for argument, each in (("arms", names), ("context", between)):
        with written_as({"column": argument}):
            axes |= {name: read_axis(own, name, scales.get(name)) for name in each}
    segments = changes if isinstance(changes, str) and changes in own.columns else None
    alone = segments not in axes
    require(alone, "changes", "a column that describes neither arms nor contexts", changes)
    of_arms, of_contexts = (tuple(axes[name] for name in each) for each in (names, between))
    return TableReading(own, of_arms, of_contexts, segments)


def table(
    *,
    file: str | os.PathLike[str] | Mapping[str, Any] | Any = None,
    arms: Sequence[str] | None = None,
    reward: str | None = None,
    minimise: bool = False,
    costs: Mapping[str, float] | None = None,
    price: str | None = None,
    budget: Any = None,
    delay: Any = None,
    interval: float | None = None,
    context: Any = None,
    changes: Any = None,
    hold: int | None = None,
    noise: Any = REPEATS,
    scales: Mapping[str, str] | None = None,
    never: Any = None,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.5,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Play a table of your own, in which every arm was measured, once or several times.

    f is the mean over the rows of an arm. Action: `Discrete(A)`, an arm, whose features are the columns of
    `arms` in [0, 1]: text is a category (one-hot), positive numbers that spread over a factor of 100 are
    logarithmic. Observation: a constant 0, or the context's features. Reward: one of the arm's rows, drawn at
    random, in the table's unit. Info: see docs/environments.md. Regret: best mean - that of the arm.
    No model is published: none is known beforehand. With `publish_model=True` the given kernel, with mean and
    variance of the table, is published, no prior under which anything was drawn. A row that lacks a cell of a
    column in use is refused by its number, and so is a table in which an arm has no row in some context.

    Args:
        file: path of a CSV or Parquet file, a data frame, or a mapping from names to columns. None is a table
            that ships: networks trained on digits.
        arms: columns that describe an arm.
        reward: column to maximise, or with `minimise` to minimise: the reward is then minus it.
        minimise: see `reward`.
        costs: limits of columns, such as {"latency": 200.0}: an arm is feasible where the mean of each is at
            most its limit. A cost is the excess, or the logarithm of the ratio to the limit where a column is
            positive and spreads over a factor of 100.
        price: column of what a play takes from the budget, positive.
        budget: amount that may be spent on prices; by default 50 plays of median price, or the dearest one if
            that is more. Without `price`, as for all problems.
        delay: column of how long a result takes, positive; or a law, as for all problems.
        interval: time between the starts of two plays, in the unit of the delay; by default a tenth of its
            median.
        context: columns that are observed before the play; contexts are drawn uniformly. Or a law.
        changes: column by whose values, in ascending order, rewards change, such as "day"; or a law.
        hold: rounds of each of these values; by default they share the horizon, 200 rounds.
        noise: "repeats" draws one of the rows of an arm; or a law.
        scales: of columns that are not as recognised: {"width": "log"}, "linear" or "category".
        never: arms that must never be played, by values of some of their columns: {"catalyst": "C"}, or a
            list of such dicts. They are left out of the problem, and of the best arm that regret refers to.
        kernel, length_scale: a model of the features, for agents that take it.
        continuous: must be False; tables have no values between their points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-Table-v0", costs={"train_time": 0.5})
    """
    arguments.require_switch("minimise", minimise)
    read = reading_of(file, arms=arms, context=context, changes=changes, scales=scales, never=never)
    sign = -1.0 if minimise else 1.0
    column: Any = REWARD if file is None and reward is None else reward
    described = [axis.name for axis in (*read.arms, *read.contexts)] + [read.changes]
    own = not (isinstance(column, str) and column in described)
    require(own, "reward", "a column that describes neither arms nor contexts nor times", column)
    values = sign * _mean(read, "reward", column)
    rounds = HORIZON if features.get("horizon") is None else features["horizon"]
    require_size("horizon", rounds)
    held = max(rounds // len(values), 1) if hold is None else hold
    require_size("hold", held)
    vary = len(values) > 1
    require(hold is None or vary, "hold", "left out where no column says when rewards change", hold)
    measured: dict[str, Any] = {"publish_model": False, "horizon": HORIZON}
    if vary:
        measured |= {"drift": Replay(held), "horizon": held * len(values)}
    measured |= {"noise": read.noise(column, sign)} | _costs(read, costs) | _price(read, price, budget)
    measured |= _delay(read, delay, interval)
    laws = {"context": None if read.contexts else context, "changes": None if read.changes else changes}
    laws["noise"] = None if isinstance(noise, str) and noise == REPEATS else noise
    given = {name: law for name, law in laws.items() if law is not None}
    with _columns_or_laws(read.table.columns):
        return compose(
            Decisions(read.arm[0], read.context[0] if read.contexts else None, continuous=continuous),
            RecordedValues(values, moments=Moments(float(values.mean()), float(values.std()))),
            make_kernel(kernel, length_scale),
            name="table",
            **with_defaults({**features, **given}, **measured),
        )


COLUMN_OR_LAW = {f'{name}["law"]': name for name in ("delay", "context", "changes")}


@contextmanager
def _columns_or_laws(columns: Iterable[str]) -> Iterator[None]:
    """Name the columns of the file, too, where an argument is neither one of them nor a law."""
    try:
        yield
    except ArgumentError as error:
        name = COLUMN_OR_LAW.get(error.argument)
        if name is None:
            raise
        what = "a list of columns" if name == "context" else "a column"
        laws = error.complaint.removeprefix("must be ")
        words = f"must be {what} of the file ({', '.join(columns)}), or a law: {laws}"
        raise ArgumentError(name, words, error.entry) from None


def _costs(read: TableReading, costs: Mapping[str, float] | None) -> dict[str, Any]:
    laws, costs = [], {} if costs is None else costs
    require(isinstance(costs, Mapping), "costs", "a dict from columns to limits", costs)
    for column, limit in costs.items():
        require(arguments.is_number(limit), f"costs[{column!r}]", "a number, the limit of a column", limit)
        metric = _mean(read, "costs", column).mean(axis=0)  # over segments: costs stand still
        spread = bool((metric > 0.0).all()) and metric.max() / metric.min() >= DECADES and limit > 0.0
        excess = np.log(metric / limit) if spread else metric - limit
        laws.append(RecordedValues(excess[None], moments=Moments(0.0, float(excess.std()) or 1.0)))
    return {"constraints": laws} if laws else {}


def _price(read: TableReading, price: str | None, budget: Any) -> dict[str, Any]:
    if price is None:
        return {} if budget is None else {"budget": budget}
    values = _mean(read, "price", price).mean(axis=0)
    read.table.positive(price, "a price")
    usual = max(PLAYS * float(np.median(values)), float(values.max()))
    return {"budget": MeasuredCosts(usual if budget is None else budget, values=values)}


def _delay(read: TableReading, delay: Any, interval: float | None) -> dict[str, Any]:
    if not (isinstance(delay, str) and delay in read.table.columns):
        require(interval is None, "interval", "left out where no column is the delay", interval)
        return {} if delay is None else {"delay": delay}
    times = read.mean(delay).mean(axis=0).reshape(len(read.context[0]), -1).mean(axis=0)  # of each arm
    read.table.positive(delay, "a time")
    between = float(np.median(times)) / WORKERS if interval is None else interval
    return {"delay": MeasuredTimes(interval=between, times=times)}


def _mean(read: TableReading, argument: str, column: Any) -> Floats:
    """Return the mean of the column that an argument names, (S, N)."""
    require(isinstance(column, str), argument, f"one of {', '.join(read.table.columns)}", column)
    with written_as({"column": argument}):
        return read.mean(column)


def _are_columns(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)


def _features(table: OwnTable, axes: Sequence[ReadAxis]) -> tuple[Floats, Ints]:
    """Return the features of the different combinations, and the index of each row's."""
    if not axes:
        size = len(next(iter(table.columns.values())))
        return np.empty((1, 0)), np.zeros(size, dtype=np.int64)
    codes = np.column_stack([np.searchsorted(axis.values, table.cells(axis.name)) for axis in axes])
    kinds, row = np.unique(codes, axis=0, return_inverse=True)
    columns = [axis.features[kinds[:, i]] for i, axis in enumerate(axes)]
    return np.hstack(columns), row.ravel().astype(np.int64)

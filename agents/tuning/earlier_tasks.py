"""Results of earlier tuners, or tables of them, as what a tuner begins with; see `agents.real.earlier`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandit_envs.basics.arguments import is_number, require, written_as

from ..real.earlier import FEWEST
from .space import Space, Values

VALUE = "value"  # the column of a table
Results = tuple[tuple[Values, ...], tuple[float, ...]]  # parameters and values of the experiments of a task


def results_of(like: Any, space: Space) -> tuple[Results, ...]:
    """Return the results of earlier tasks, or raise an error that names the task and the row.

    Args:
        like: tables, that is frames or lists of dicts of all parameters and the "value", or results.
        space: of the parameters.
    """
    words = "a list of tuners, or of tables with a column a parameter and the column 'value'"
    listed = isinstance(like, Sequence) and not isinstance(like, str)
    require(listed, "like", words, like)
    return tuple(_result(f"like[{j}]", each, space) for j, each in enumerate(like))


def _result(name: str, given: Any, space: Space) -> Results:
    if isinstance(given, tuple) and len(given) == 2:  # of a file, or checked before
        rows, values = list(given[0]), list(given[1])
    else:
        rows, values = _of_table(name, given, space)
    enough = len(rows) == len(values) >= FEWEST
    require(enough, name, f"at least {FEWEST} experiments with a value", len(values))
    for i, value in enumerate(values):
        words = "a finite number; leave failed experiments out"
        require(is_number(value), f"{name}, row {i}: {VALUE}", words, value)
    with written_as({"parameters": name}):
        return tuple(map(space.check_done, rows)), tuple(map(float, values))


def _of_table(name: str, table: Any, space: Space) -> tuple[list[Values], list[float]]:
    try:
        given = table if isinstance(table, Sequence) else table.to_dict("records")
    except AttributeError:
        given = []
    listed = not isinstance(given, str) and len(given) > 0
    require(listed, name, "a tuner, a frame or a list of dicts", table)
    rows: list[Any] = list(given)
    columns = {*space.kinds, VALUE}
    for i, row in enumerate(rows):
        fits = isinstance(row, Mapping) and set(row) == columns
        words = f"exactly the columns {', '.join(map(repr, sorted(columns)))}"
        require(fits, f"{name}, row {i}", words, sorted(row, key=str) if isinstance(row, Mapping) else row)
    return [{key: row[key] for key in space.kinds} for row in rows], [row[VALUE] for row in rows]

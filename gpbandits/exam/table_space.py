"""A finite space whose points are the rows of a table."""

from typing import Any

from agents.tuning import Linear
from agents.tuning.space import Space, Values
from bandit_envs.basics.types import Floats


class TableSpace(Space):
    """A space holds the rows of a table, (A, d) in [0, 1] and different, as points with a number a column."""

    def __init__(self, rows: Floats):
        names = [f"x{i + 1}" for i in range(rows.shape[1])]
        super().__init__("parameters", dict.fromkeys(names, Linear(0.0, 1.0)))
        self.rows, listed = rows, rows.tolist()
        self._points = [dict(zip(names, row, strict=True)) for row in listed]
        self._index = {tuple(row): i for i, row in enumerate(listed)}

    @property
    def size(self) -> float:
        return len(self.rows)

    def spread(self, number: int) -> list[Values]:
        return self._points[:number]

    def features(self, values: Any) -> Floats:
        return self.rows[self.index(values)]

    def to_data(self) -> list[list[Any]]:
        raise ValueError("a tuner on the rows of a table is not saved: its file would lack them")

    def index(self, values: Values) -> int:
        """Return the row of a point."""
        return self._index[tuple(values.values())]

    def point(self, row: int) -> Values:
        """Return the point of a row."""
        return self._points[row]

"""Which parameters may be asked for: the possible ones by a rule of the user, and those available now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints

from .space import Space, Values

SAME = 1e-6  # of a range: parameters that are no further apart are equal
ENTRIES = "None, a dict of some or all parameters, or a list of such dicts"
MOST_KNOWN = 100_000  # answers of a rule that are kept


class Possible:
    """The rule which parameters may be asked for: a function of the user, and what never may.

    Copies of an agent share it.

    Args:
        space: of the parameters.
        rule: returns whether parameters, by keyword, are possible; None if all are.
        never: entries, each of some parameters or of all, that no question may agree with.
    """

    def __init__(self, space: Space, rule: Callable[..., Any] | None, never: Sequence[Values] = ()):
        self.space, self.rule = space, rule
        self._never = Available(space, never) if never else None
        self._known: dict[bytes, bool] = {}

    def __call__(self, values: Values) -> bool:
        """Return the answer of the rule, or raise where it is neither True nor False."""
        if self._never is not None and self._never.mask(self.space.features(values)[None])[0]:
            return False
        if self.rule is None:
            return True
        answer, words = self.rule(**values), "a function that returns True or False"
        require(isinstance(answer, bool | np.bool_), "possible", words, answer)
        return bool(answer)

    def mask(self, features: Floats) -> Bools:
        """Return which points are possible, (n, d) -> (n,)."""
        return np.array([self._at(row) for row in features], dtype=bool)

    def __deepcopy__(self, memo: Any) -> Possible:
        return self

    def _at(self, row: Floats) -> bool:
        key = row.tobytes()
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = self(self.space.values(row))
        return self._known[key]


class Available:
    """Points that agree with one of several entries, each of which fixes some parameters or all of them."""

    def __init__(self, space: Space, entries: Sequence[Values]):
        self.fixed = np.zeros((len(entries), space.dim), dtype=bool)  # (m, d)
        self.features = np.zeros((len(entries), space.dim))  # (m, d), 0 where not fixed
        self.entries, names = entries, list(space.kinds)
        for i, entry in enumerate(entries):
            for name, value in entry.items():
                own = space.parameter_of_feature == names.index(name)
                self.fixed[i, own], self.features[i, own] = True, space.kinds[name].features(value)

    def mask(self, points: Floats) -> Bools:
        """Return which points agree with an entry, (n, d) -> (n,)."""
        entry = self._nearest(points)
        apart = np.where(self.fixed[entry], np.abs(points - self.features[entry]), 0.0)
        return apart.max(axis=1, initial=0.0) <= SAME

    def placed(self, points: Floats) -> tuple[Floats, Bools]:
        """Return points moved to agree with their nearest entry, and which features are free, (n, d) each."""
        entry = self._nearest(points)
        return np.where(self.fixed[entry], self.features[entry], points), ~self.fixed[entry]

    def entry(self, point: Floats) -> Values:
        """Return the entry nearest to a point, (d,)."""
        return self.entries[int(self._nearest(point[None])[0])]

    def _nearest(self, points: Floats) -> Ints:
        """Return the nearest entry of each point in the features that it fixes, (n, d) -> (n,)."""
        squares = points**2 @ self.fixed.T - 2.0 * points @ self.features.T + (self.features**2).sum(axis=1)
        return squares.argmin(axis=1)

    def listed(self, points: Floats) -> Floats:
        """Return points of every entry, as many in all as are given or one an entry, (n, d) -> (k, d)."""
        entry = np.arange(max(len(points), len(self.fixed))) % len(self.fixed)
        return np.where(
            self.fixed[entry], self.features[entry], np.resize(points, (len(entry), points.shape[1]))
        )


def completed(space: Space, entries: Sequence[Values], number: int) -> list[Values]:
    """Return points that agree with the entries and cover the space, about so many in all."""
    points, each = [], max(number // len(entries), 1)
    for entry in entries:
        whole = len(entry) == len(space.kinds)
        points += [entry] if whole else [point | entry for point in space.spread(each)]
    return points


def checked_entries(argument: str, space: Space, given: Any, fewest: int = 0) -> tuple[Values, ...]:
    """Return the entries of an argument that is None, a dict or a list of dicts, or raise."""
    if given is None:
        return ()
    entries = [given] if isinstance(given, dict) else given
    listed = isinstance(entries, Sequence) and not isinstance(entries, str) and len(entries) >= fewest
    require(listed, argument, ENTRIES, given)
    return tuple(space.check_some(f"{argument}[{i}]", entry) for i, entry in enumerate(entries))

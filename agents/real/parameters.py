"""The parameters of a problem: which columns of its features belong together, and their distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting


@dataclass(frozen=True, eq=False)
class Parameters:
    """P parameters of D columns in [0, 1]: a number is a column, a choice has one column a value.

    D_p(x, x') is the squared difference of a number, and [c != c'] of a choice (Hutter et al. 2011).
    """

    columns: Floats  # (N, D) of all points; columns of a choice are divided by sqrt(2)
    owner: Ints  # (D,) the parameter of each column
    data_set: Ints  # (N,) the context of a point where contexts are data sets without features, else 0
    num_data_sets: int
    of_choices: Bools  # (D,) the columns of choices

    @classmethod
    def of(cls, setting: Setting, by_column: bool = False) -> Parameters:
        """Return the parameters of arms and of contexts that have features; each column one, if asked for."""
        decisions = setting.decisions
        arms, contexts = _unit(decisions.arms), _unit(np.asarray(decisions.contexts, dtype=np.float64))
        found = _choices(arms)
        choices = [] if by_column else found
        labels = bool(contexts.shape[1]) and _is_one_hot(contexts) and not by_column
        shown = np.empty((len(contexts), 0)) if labels or len(contexts) == 1 else contexts
        both = [np.repeat(shown, len(arms), axis=0), np.tile(arms, (len(contexts), 1))]
        owner = [np.arange(shown.shape[1]), _owners(choices, arms.shape[1]) + shown.shape[1]]
        scale = np.ones(arms.shape[1])
        scale[[column for choice in choices for column in choice]] = np.sqrt(0.5)
        both[1] = both[1] * scale
        index = np.repeat(np.arange(len(contexts)), len(arms)) if labels else np.zeros(len(both[1]), int)
        of_choices = np.zeros(shown.shape[1] + arms.shape[1], dtype=bool)
        of_choices[[shown.shape[1] + column for choice in found for column in choice]] = True
        return cls(np.hstack(both), np.concatenate(owner), index, len(contexts) if labels else 1, of_choices)

    @cached_property
    def number(self) -> int:
        """Return P."""
        return int(self.owner.max(initial=-1)) + 1

    def sums(self, each: Floats) -> Floats:
        """Return the sums over the columns of each parameter, (D,) -> (P,)."""
        return np.bincount(self.owner, each, self.number).astype(np.float64)


def _unit(features: Floats) -> Floats:
    """Return features with every column scaled to [0, 1], (n, d)."""
    low, span = features.min(axis=0), np.ptp(features, axis=0)
    return (features - low) / np.where(span > 0.0, span, 1.0)


def _is_one_hot(rows: Floats) -> bool:
    return len(rows) > 1 and bool(np.isin(rows, (0.0, 1.0)).all() and (rows.sum(axis=1) == 1.0).all())


def _choices(arms: Floats) -> list[list[int]]:
    """Return the groups of neighbouring columns of 0 and 1 that sum to 1 in every row."""
    binary = np.all(np.isin(arms, (0.0, 1.0)), axis=0)
    found: list[list[int]] = []
    start = 0
    while start < len(binary):
        group = _group(arms, binary, start)
        if group:
            found.append(group)
        start = group[-1] + 1 if group else start + 1
    return found


def _group(arms: Floats, binary: Bools, start: int) -> list[int]:
    """Return the shortest such group that begins at a column; none where there is none of two."""
    total, column = np.zeros(len(arms)), start
    while column < len(binary) and binary[column]:
        total = total + arms[:, column]
        if total.max() > 1.0:
            return []
        if column > start and total.min() == 1.0:
            return list(range(start, column + 1))
        column += 1
    return []


def _owners(choices: list[list[int]], width: int) -> Ints:
    """Return the parameter of each column, numbered from 0, (d,)."""
    first = np.arange(width)
    for group in choices:
        first[group] = group[0]
    return np.unique(first, return_inverse=True)[1].ravel()

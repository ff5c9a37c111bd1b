"""A table of the user's own: its picture before any agent plays, and which agents found its best rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.data.own_tables import DECADES
from bandit_envs.problems.table import TableReading
from gpbandits.evaluation.result import Result

NEAR = 0.05  # of the range of mean rewards, within which an arm is near the best
BINS = 30


def table_figure(
    reading: TableReading, reward: str, minimise: bool = False, times: Sequence[str] = ()
) -> Figure:
    """Draw the mean rewards of all arms, how many of them are within a gap of the best, and what a run takes.

    For each column of `times`, such as a run time or a price, a panel shows the mean of each arm beside its
    mean reward: whether what is good takes long.
    """
    means = reading.mean(reward).ravel()
    gap = np.sort(means - means.min() if minimise else means.max() - means)
    figure = Figure(figsize=(8.0 + 4.0 * len(times), 3.2), layout="constrained")
    left, right, *others = figure.subplots(1, 2 + len(times))
    left.hist(means, bins=BINS)
    left.set(xlabel=f"mean {reward}", ylabel="arms")
    right.step(gap, np.arange(1, len(gap) + 1) / len(gap), where="post")
    right.axvline(NEAR * float(np.ptp(means)), linestyle=":", color="grey")
    right.set(xlabel=f"{reward}: gap to the best", ylabel="share of arms within the gap", ylim=(0.0, 1.02))
    for axes, column in zip(others, times, strict=True):
        taken = reading.mean(column).ravel()
        axes.scatter(taken, means, s=14.0)
        axes.set(xlabel=f"mean {column} of a run", ylabel=f"mean {reward}")
        if taken.min() > 0.0 and taken.max() / taken.min() >= DECADES:
            axes.set_xscale("log")
    return figure


def found_rows(result: Result) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and a row for each agent, in the order of the tables of a result.

    An agent found a near-best arm in the round from which on its simple regret is at most `NEAR` of the
    largest; medians are over the trials, in which it may have found none.
    """
    header = ("agent", "found in", "median round", "gap at the end")
    spent = result.spent if result.spent else {}
    header += ("median price",) if spent else ()
    largest = max(float(curve.max()) for curve in result.simple_regret.values())
    rows = []
    for label in result.ordered:
        near = result.simple_regret[label] <= NEAR * largest
        first = np.where(near.any(axis=1), near.argmax(axis=1), -1)
        rows.append(_row(label, result, first, spent.get(label)))
    return header, rows


def _row(label: str, result: Result, first: Any, spent: Any) -> tuple[str, ...]:
    found = first[first >= 0]
    share = f"{len(found)} of {len(first)} trials"
    when = f"{np.median(result.rounds[found]):.0f}" if len(found) else "-"
    row = (label, share, when, f"{result.simple_regret[label][:, -1].mean():.4g}")
    if spent is None:
        return row
    paid = spent[first >= 0, found]
    return (*row, f"{np.median(paid):.4g}" if len(paid) else "-")

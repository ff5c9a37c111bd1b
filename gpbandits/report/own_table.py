"""A table of the user's own: its picture before any agent plays, and which agents found its best rows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.basics.types import Floats
from bandit_envs.data.own_tables import DECADES
from bandit_envs.problems.table import TableReading
from gpbandits.evaluation.result import Result
from gpbandits.report.chart import rendered

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
    gap = np.sort(gaps_of(reading, reward, minimise).ravel())
    what = "arms" if len(means) == len(reading.arm[0]) else "arms, in each context and at each time"
    figure = Figure(figsize=(8.0 + 4.0 * len(times), 3.2), layout="constrained")
    left, right, *others = figure.subplots(1, 2 + len(times))
    left.hist(means, bins=BINS)
    left.set(xlabel=f"mean {reward}", ylabel=what)
    right.step(gap, np.arange(1, len(gap) + 1) / len(gap), where="post")
    right.axvline(near_gap(reading, reward), linestyle=":", color="grey")
    right.set(xlabel=f"{reward}: gap to the best", ylabel="share of arms within the gap", ylim=(0.0, 1.02))
    for axes, column in zip(others, times, strict=True):
        taken = reading.mean(column).ravel()
        axes.scatter(taken, means, s=14.0)
        axes.set(xlabel=f"mean {column} of a run", ylabel=f"mean {reward}")
        if taken.min() > 0.0 and taken.max() / taken.min() >= DECADES:
            axes.set_xscale("log")
    return figure


def gaps_of(reading: TableReading, reward: str, minimise: bool = False) -> Floats:
    """Return how far each arm is from the best of its context and time, (S, Z, A)."""
    means = (-1.0 if minimise else 1.0) * reading.mean(reward)
    means = means.reshape(len(means), -1, len(reading.arm[0]))
    return means.max(axis=2, keepdims=True) - means


def near_gap(reading: TableReading, reward: str) -> float:
    """Return the gap to the best within which an arm is near it."""
    return NEAR * float(np.ptp(reading.mean(reward)))


def found_rows(result: Result, near: float) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and a row for each agent, in the order of the tables of a result.

    An agent found a near-best arm in the round from which on its simple regret is at most `near`, in all
    contexts and at all times that follow; medians are over the trials, in which it may have found none.
    """
    header = ("agent", "found in", "median round", "gap at the end")
    header += ("median price",) if result.spent else ()
    rows = []
    for label in result.ordered:
        far = result.simple_regret[label] > near
        first = np.where(far.any(axis=1), far.shape[1] - far[:, ::-1].argmax(axis=1), 0)
        (trials,) = (first < far.shape[1]).nonzero()  # that found one
        found = first[trials]
        share, gap = f"{len(found)} of {len(first)} trials", result.simple_regret[label][:, -1].mean()
        row = [label, share, f"{np.median(result.rounds[found]):.0f}" if len(found) else "-", f"{gap:.4g}"]
        if result.spent:
            paid = result.spent[label][trials, found]
            row.append(f"{np.median(paid):.4g}" if len(paid) else "-")
        rows.append(tuple(row))
    return header, rows


def add_to_page(
    page: Path, said: Sequence[str], header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Put before the sections of a page how the table was read, its picture, and who found its best rows."""
    section = rendered("gpbandits.report", "found.html", header=header, rows=list(rows), said=said)
    before, begin, after = page.read_text(encoding="utf-8").partition("<section")
    page.write_text(f"{before}{section}{begin}{after}", encoding="utf-8")

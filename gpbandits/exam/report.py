"""The table and the figure of a part: published numbers beside those of entrants, and marks to be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.types import Floats
from bandit_envs.rendering.picture import ShownFigure
from gpbandits.evaluation.formats import styles
from gpbandits.evaluation.table import Table
from gpbandits.exam.part import ComparedPart, ExamRow, Milestone, Published

WIDTH, HEIGHT, COLUMNS = 4.6, 3.4, 2  # of a panel in inches; panels in a row
MOST = 6  # entries of a legend inside its panel
MOST_COLUMNS = 4  # milestones that are columns of a table
Found = dict[Milestone, Any]  # Published, or None where an entrant has not played all
Owners = Mapping[str, Found]
Line = tuple[str | int | None, ...]
Played = Mapping[str, Mapping[str, Floats]]  # entrant -> task -> (seeds, k)
# Marks that the package's own entrants must reach in the whole exam, by part and title of a milestone.
MARKS: Mapping[str, Mapping[str, float]] = {
    # FSBO's after 25 and 50 questions, which learns from other tables, and BOHAMIANN's after 100
    "hpo-b": {"25 questions": 0.0338, "50 questions": 0.0208, "100 questions": 0.0127},
    "crossed-barrel": {"question 96": 18.5},
    "boxes": {
        "Branin, 5 random + 20, worst": 0.27,
        "Branin at 33, mean": 0.01,
        "Branin at 25, worst": 0.30,
        "Hartmann 6 at 40, worst": 2.60,
        "Hartmann 6 at 57, median": 0.01,
        "Hartmann 6 at 120, share within .01": 1.0,
        "Gardner, 6 random + 12, worst": 0.005,
    },
}
_MARKS = "Marks are the package's own; what reaches them is in bold."
_ERRORS = "± one standard error over seeds; published errors as their source states them."


def played_by(rows: Sequence[ExamRow], tasks: Sequence[str]) -> dict[str, dict[str, Floats]]:
    """Return the values of each entrant on some tasks, by the seeds that it has on all of its tasks."""
    found: dict[str, dict[str, dict[int, Floats]]] = {}
    for row in rows:
        if row.task in tasks:
            found.setdefault(row.entrant, {}).setdefault(row.task, {})[row.seed] = row.values
    played = {}
    for entrant, by_task in sorted(found.items()):
        shared = sorted(set.intersection(*(set(seeds) for seeds in by_task.values())))
        if shared:
            played[entrant] = {t: np.array([seeds[s] for s in shared]) for t, seeds in by_task.items()}
    return played


def found_at(part: ComparedPart, at: Milestone, played: Mapping[str, Floats], tasks: Sequence[str]) -> Any:
    """Return an entrant's number at a milestone, None unless it has played all its tasks so far."""
    own, place = part.tasks_of(at, tasks), part.kept.index(at.question)
    if not own or any(task not in played or played[task].shape[1] <= place for task in own):
        return None
    return at.of({task: played[task][:, place] for task in own}, part.better)


def part_table(part: ComparedPart, rows: Sequence[ExamRow], tasks: Sequence[str]) -> Table:
    """Return published numbers, those of entrants, in bold what reaches a mark, and the marks.

    A part of few milestones has a column each, one of many a line each.
    """
    shown = [at for at in part.milestones if part.tasks_of(at, tasks)]
    theirs: dict[str, Found] = {}
    for at in shown:
        for who, value in part.published(at, part.tasks_of(at, tasks)).items():
            theirs.setdefault(who, {})[at] = value
    played = played_by(rows, tasks)
    ours = {who: {at: found_at(part, at, own, tasks) for at in shown} for who, own in played.items()}
    seeds = {who: min(map(len, own.values())) for who, own in played.items()}
    known = MARKS.get(part.name, {}) if set(tasks) == set(part.tasks) else {}
    marks = {at: Published(known[at.title]) for at in shown if at.title in known}
    reached = [
        (i, j)
        for i, found in enumerate(ours.values())
        for j, at in enumerate(shown)
        if at in marks and found[at] is not None and _reaches(found[at].value, at, marks[at].value, part)
    ]
    if len(shown) <= MOST_COLUMNS:
        header, lines = _by_owner(shown, theirs, ours, seeds, marks)
        bold = {(len(theirs) + i, 2 + j) for i, j in reached}
    else:
        header, lines = _by_milestone(shown, theirs, ours, seeds, marks)
        bold = {(j, 2 + i) for i, j in reached}
    size = f"{part.quantity}; {len(tasks)} of {len(part.tasks)} tasks."
    first = (size[0].upper() + size[1:], *([_MARKS] if marks else []))
    notes = (*first, *part.notes, _ERRORS, f"Source: {part.source}.")
    return Table(part.title, header, tuple(lines), notes, bold=frozenset(bold), name=part.name)


def _by_owner(
    shown: Sequence[Milestone], theirs: Owners, ours: Owners, seeds: Mapping[str, int], marks: Found
) -> tuple[tuple[str, ...], list[Line]]:
    """Return header and lines of a table with a line an owner of numbers."""
    header = ("published, then played here", "seeds", *(at.title for at in shown))
    lines: list[Line] = [(who, None, *(_text(each.get(at)) for at in shown)) for who, each in theirs.items()]
    lines += [(who, seeds[who], *(_text(each[at]) for at in shown)) for who, each in ours.items()]
    lines += [("mark", None, *(_text(marks.get(at)) for at in shown))] if marks else []
    return header, lines


def _by_milestone(
    shown: Sequence[Milestone], theirs: Owners, ours: Owners, seeds: Mapping[str, int], marks: Found
) -> tuple[tuple[str, ...], list[Line]]:
    """Return header and lines of a table with a line a milestone."""
    entrants = [f"{who} ({number} seed{'s' * (number > 1)})" for who, number in seeds.items()]
    header = ("milestone", "published", *entrants, *(["mark"] if marks else []))
    lines: list[Line] = []
    for at in shown:
        others = ", ".join(f"{each[at]} ({who})" for who, each in theirs.items() if at in each)
        mark = [_text(marks.get(at))] if marks else []
        lines.append((at.title, others or None, *(_text(each[at]) for each in ours.values()), *mark))
    return header, lines


def _text(value: Published | None) -> str | None:
    return None if value is None else str(value)


def _reaches(value: float, at: Milestone, mark: float, part: ComparedPart) -> bool:
    """Return True where a number at a milestone is as good as a mark."""
    return value >= mark if part.better > 0 or at.statistic == "share within" else value <= mark


def part_figure(part: ComparedPart, rows: Sequence[ExamRow], tasks: Sequence[str]) -> Figure | None:
    """Draw the quantity by question, a panel for each statistic, with published numbers as points."""
    panels: dict[Any, list[Milestone]] = {}
    for at in part.milestones:
        if part.tasks_of(at, tasks):
            panels.setdefault((at.tasks, at.statistic, at.within), []).append(at)
    played = played_by(rows, tasks)
    if not panels or not played:
        return None
    across = min(COLUMNS, len(panels))
    down = -(-len(panels) // across)
    figure = ShownFigure.of_size(WIDTH * across, HEIGHT * down)
    for i, group in enumerate(panels.values()):
        _draw(figure.add_subplot(down, across, i + 1), part, group, played, tasks)
    return figure


def _draw(
    axes: Any, part: ComparedPart, group: list[Milestone], played: Played, tasks: Sequence[str]
) -> None:
    points: dict[str, list[tuple[int, float]]] = {}
    for at in group:
        for who, value in part.published(at, part.tasks_of(at, tasks)).items():
            points.setdefault(who, []).append((at.question, value.value))
    lines = {}
    for who, values in played.items():
        found = [(q, found_at(part, group[0]._replace(question=q), values, tasks)) for q in part.kept]
        if line := [(question, value.value) for question, value in found if value is not None]:
            lines[who] = line
    looks = styles(len(lines) + len(points))
    for (who, line), look in zip(lines.items(), looks, strict=False):
        axes.plot(*np.array(line).T, look.dashes, color=look.colour, label=who)
    for (who, line), look in zip(points.items(), looks[len(lines) :], strict=True):
        axes.plot(*np.array(line).T, look.marker, color=look.colour, label=f"{who} (published)")
    own = part.tasks_of(group[0], tasks)
    where = own[0] if len(own) == 1 else f"{len(own)} tables"
    within = f" {group[0].within:g}" if group[0].statistic == "share within" else ""
    axes.set(xlabel="question", title=where)
    axes.set_ylabel(f"{group[0].statistic}{within}\n{part.quantity}", fontsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if part.better < 0 and not within and any(value > 0 for line in lines.values() for _, value in line):
        axes.set_yscale("log")
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(lines) + len(points) > MOST else {}
    axes.legend(fontsize=7, frameon=False, **beside)

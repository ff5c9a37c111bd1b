"""Parts whose tasks are played here: a task, an entrant and a seed at a time, and the file of the results."""

from __future__ import annotations

import abc
import csv
import io
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import delayed

from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import held, write_whole
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.parts import in_processes
from gpbandits.exam.entrants import Entrant
from gpbandits.exam.part import ComparedPart, ExamReport, ExamRow, Key, Sitting

FIELDS = ("task", "entrant", "seed", "questions", "code", "seconds")


class RowFile:
    """A file of rows, rewritten whole after each one, so that a run that is killed loses no other."""

    def __init__(self, path: Path, kept: Sequence[int]):
        self.path, self.header = path, [*FIELDS, *(f"q{each}" for each in kept)]
        self.rows: dict[Key, ExamRow] = {each.key: each for each in self._read()}

    def add(self, row: ExamRow) -> None:
        """Keep a row in place of one with the same key, and write the file."""
        self.rows[row.key] = row
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        for _, each in sorted(self.rows.items(), key=lambda item: (item[0][1], *item[0])):
            line = [*each[:5], f"{each.seconds:.1f}", *(f"{value:.6g}" for value in each.values)]
            writer.writerow(line + [""] * (len(self.header) - len(line)))
        write_whole(self.path, text.getvalue().encode())

    def _read(self) -> list[ExamRow]:
        if not self.path.exists():
            return []
        header, *lines = [*csv.reader(self.path.read_text(encoding="utf-8").splitlines())] or [[]]
        if header != self.header or any(len(line) != len(header) for line in lines):
            raise ValueError(f"{self.path} holds no rows of this part; move it away, or give another --out")
        rows = []
        for task, entrant, seed, questions, code, seconds, *numbers in lines:
            try:
                values = np.array([float(each) for each in numbers if each])
                rows.append(ExamRow(task, entrant, int(seed), int(questions), code, float(seconds), values))
            except ValueError as error:
                where = f"{task},{entrant},{seed},{questions}"
                raise ValueError(f"{self.path} has a damaged row, {where}: {error}") from None
        return rows


class PlayedPart(ComparedPart):
    """A part has tasks, each played by an entrant with a seed."""

    seeds: int
    quick_seeds: int
    quick_tasks: tuple[str, ...]

    @abc.abstractmethod
    def play(self, task: str, entrant: Entrant, seed: int, questions: int) -> Floats:
        """Return the quantity after each question that `kept_until` names."""

    def lacking(self, task: str, entrant: Entrant) -> list[str]:
        """Return the features that an entrant lacks for a task, from which it is then left out."""
        return entrant.lacking("finite")

    def questions(self, task: str) -> int:
        """Return the number of questions of a task."""
        return self.kept[-1]

    def kept_until(self, questions: int) -> Ints:
        """Return the questions of `kept` that a task has when it is asked so many."""
        return np.array([each for each in self.kept if each <= questions], dtype=np.int64)

    def hold(self, sitting: Sitting) -> ExamReport:
        from gpbandits.exam.report import part_figure, part_table

        cells = list(self.cells(sitting))
        path = sitting.folder / f"{self.name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with held(path, "another exam writes it: wait for its end, or give another --out"):
            rows = RowFile(path, self.kept)
            failures = self._play_missing(cells, rows, sitting)
        tasks = list(dict.fromkeys(cell.task for cell in cells))
        shown = [row for row in rows.rows.values() if row.questions == self._asked(row.task, sitting)]
        table = part_table(self, shown, tasks)
        table = replace(table, notes=(*table.notes, *self.left_out(sitting)))
        return ExamReport([table], part_figure(self, shown, tasks), failures)

    def _play_missing(
        self, cells: Sequence[ExamCell], rows: RowFile, sitting: Sitting
    ) -> list[tuple[str, str]]:
        """Add the rows that are missing, and return the cells that failed, each with its traceback."""
        missing = [x for x in cells if x.key not in rows.rows or rows.rows[x.key].code != x.code]
        outcomes, failures = (computed(cell, ()) for cell in missing), []
        if sitting.workers > 1 and len(missing) > 1:
            calls = [delayed(computed)(cell, tuple(sys.path)) for cell in missing]
            outcomes = in_processes(sitting.workers, calls, pre_dispatch=2 * sitting.workers)
        with sitting.bar(self.title, len(missing)) as advance:
            for outcome in outcomes:
                if isinstance(outcome, ExamRow):
                    rows.add(outcome)
                else:
                    failures.append(outcome)
                advance()
        return failures

    def left_out(self, sitting: Sitting) -> list[str]:
        """Return a note on each entrant that is left out of some tasks, with what it lacks there."""
        notes = []
        for entrant in sitting.entrants:
            found = {task: self.lacking(task, entrant) for task in self.tasks}
            said = ", ".join(f"{task} ({', '.join(lacks)})" for task, lacks in found.items() if lacks)
            notes += [f"{entrant.label} is left out of what it does not handle: {said}."] if said else []
        return notes

    def cells(self, sitting: Sitting) -> Iterator[ExamCell]:
        """Yield the cells of a sitting, or raise where an argument fits no task."""
        seeds = sitting.seeds or (self.quick_seeds if sitting.quick else self.seeds)
        few = max(1, self.kept[0])
        enough = sitting.questions is None or sitting.questions >= few
        require(enough, "questions", f"at least {few} for {self.name}", sitting.questions)
        for entrant in sitting.entrants:
            for task in self.quick_tasks if sitting.quick else self.tasks:
                if not self.lacking(task, entrant):
                    asked = self._asked(task, sitting)
                    yield from (ExamCell(self, task, entrant, seed, asked) for seed in range(seeds))

    def _asked(self, task: str, sitting: Sitting) -> int:
        return min(self.questions(task), sitting.questions or self.questions(task))


class ExamCell(NamedTuple):
    """A cell is one task, played by one entrant with one seed."""

    part: PlayedPart
    task: str
    entrant: Entrant
    seed: int
    questions: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Return what is played."""
        return self.task, self.entrant.label, self.seed, self.questions

    @property
    def code(self) -> str:
        """Return a digest of the code that computes it."""
        return self.entrant.code(type(self.part).__module__)

    def __str__(self) -> str:
        return f"{self.entrant.label} on {self.part.name}/{self.task}, seed {self.seed}"


def computed(cell: ExamCell, path: Sequence[str]) -> ExamRow | tuple[str, str]:
    """Return the row of a cell, or its name with the traceback of an error; `path` finds plug-ins."""
    sys.path.extend(each for each in path if each not in sys.path)
    begun = time.perf_counter()
    try:
        values = cell.part.play(cell.task, cell.entrant, cell.seed, cell.questions)
    except Exception:  # an entrant may raise anything, and others go on
        return str(cell), traceback.format_exc()
    return ExamRow(*cell.key, cell.code, time.perf_counter() - begun, values)

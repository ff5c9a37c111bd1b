"""Stored results of a part: a file with a row for each task, entrant and seed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from bandit_envs.basics.files import write_whole
from bandit_envs.basics.types import Floats

FIELDS = ("task", "entrant", "seed", "questions", "code", "seconds")
Key = tuple[str, str, int, int]  # task, entrant, seed and number of questions


class ExamRow(NamedTuple):
    """A row has the quantity after each question that the part keeps, and the code that computed it."""

    task: str
    entrant: str
    seed: int
    questions: int
    code: str
    seconds: float
    values: Floats  # (k,)

    @property
    def key(self) -> Key:
        """Return what was played, whatever the code."""
        return self.task, self.entrant, self.seed, self.questions


class RowFile:
    """A file of rows, rewritten whole after each one, so that a run that is killed loses no other."""

    def __init__(self, path: Path, kept: Sequence[int]):
        self.path, self.header = path, [*FIELDS, *(f"q{each}" for each in kept)]
        self.rows: dict[Key, ExamRow] = {each.key: each for each in self._read()}

    def holds(self, key: Key, code: str) -> bool:
        """Return whether the row of a key was computed by this code."""
        return key in self.rows and self.rows[key].code == code

    def add(self, row: ExamRow) -> None:
        """Keep a row in place of one with the same key, and write the file."""
        self.rows[row.key] = row
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        for key in sorted(self.rows, key=lambda key: (key[1], *key)):
            writer.writerow(self._line(self.rows[key]))
        write_whole(self.path, text.getvalue().encode())

    def _line(self, row: ExamRow) -> list[str]:
        numbers = [f"{value:.6g}" for value in row.values]
        blank = [""] * (len(self.header) - len(FIELDS) - len(numbers))
        first = [row.task, row.entrant, str(row.seed), str(row.questions), row.code, f"{row.seconds:.1f}"]
        return [*first, *numbers, *blank]

    def _read(self) -> list[ExamRow]:
        if not self.path.exists():
            return []
        header, *lines = [*csv.reader(self.path.read_text(encoding="utf-8").splitlines())] or [[]]
        if header != self.header or any(len(line) != len(header) for line in lines):
            raise ValueError(f"{self.path} holds no rows of this part; move it away, or give another --out")
        return [self._row(line) for line in lines]

    def _row(self, line: list[str]) -> ExamRow:
        task, entrant, seed, questions, code, seconds, *numbers = line
        try:
            values = np.array([float(each) for each in numbers if each])
            return ExamRow(task, entrant, int(seed), int(questions), code, float(seconds), values)
        except ValueError as error:
            raise ValueError(f"{self.path} has a damaged row, {','.join(line[:4])}: {error}") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let no other process write a file of rows in the block, or raise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"another exam writes {path}; wait for it, or give another --out") from None
    try:
        yield
    finally:
        lock.release()

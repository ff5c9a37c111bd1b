"""The part of real tasks ranks entrants as the leaderboard does."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from bandit_envs.problems.real import tasks
from gpbandits.exam import PARTS, Sitting
from gpbandits.report import entrants
from gpbandits.report.entrants import REFERENCE

OWN = next(name for name, task in tasks().items() if task.tables and task.tables[0].startswith("ours/"))


@pytest.fixture
def _one_task(monkeypatch):
    """The suite is one task, whose table ships."""
    monkeypatch.setattr(entrants, "tasks", lambda: {OWN: tasks()[OWN]})


class Counter:
    """A bar that counts."""

    def __init__(self):
        self.total = self.advanced = 0

    @contextmanager
    def __call__(self, title, total):
        self.total += total

        def advance():
            self.advanced += 1

        yield advance


@pytest.mark.usefixtures("_one_task")
def test_a_plug_in_is_ranked_beside_the_reference(tmp_path):
    bar = Counter()
    sitting = Sitting(tmp_path, ["exam_cases:Plain", "tuner"], seeds=6, questions=5, bar=bar)
    report = PARTS["real"].hold(sitting)
    assert not report.failures
    (table,) = report.tables
    same = [row[0].split(" = ") for row in table.rows]  # of the same plays, as both draw from one seed
    assert {name for names in same for name in names} == {"exam_cases:Plain", REFERENCE}
    assert table.name == f"real-{tasks()[OWN].family}"
    assert bar.advanced == bar.total > 0
    stored = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert stored
    again = PARTS["real"].hold(sitting)
    assert again.tables[0].texts == table.texts
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == stored


@pytest.mark.usefixtures("_one_task")
def test_an_entrant_that_fails_on_a_real_task_is_named(tmp_path):
    report = PARTS["real"].hold(Sitting(tmp_path, ["exam_cases:Failing"], seeds=6, questions=5))
    assert report.failures
    assert all("no idea" in reason for _, reason in report.failures)

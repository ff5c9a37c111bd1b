"""The page on the exam shows what the stored rows say."""

from __future__ import annotations

import numpy as np
import pytest
from pages import DOCS, blocks, read

from gpbandits.exam import PARTS, PlayedPart
from gpbandits.exam.played import RowFile
from gpbandits.exam.report import MARKS, part_table

STORED = DOCS / "results" / "exam"
PLAYED = {name: part for name, part in PARTS.items() if isinstance(part, PlayedPart)}


def whole(part):
    """The stored rows of whole tasks, and the table of all tasks."""
    rows = RowFile(STORED / f"{part.name}.csv", part.kept).rows.values()
    shown = [row for row in rows if row.questions == part.questions(row.task)]
    return shown, part_table(part, shown, part.tasks)


@pytest.mark.parametrize("part", PLAYED.values(), ids=PLAYED)
def test_the_tables_of_the_page_are_those_of_the_stored_rows(part):
    rows, table = whole(part)
    assert {row.task for row in rows} == set(part.tasks)
    assert (STORED / "tables" / f"{part.name}.csv").read_text(encoding="utf-8") == table.to_csv()
    page = read("exam.md")
    assert f":file: results/exam/tables/{part.name}.csv" in page
    assert f"(results/exam/{part.name}.png)" in page
    assert (STORED / f"{part.name}.png").is_file()


@pytest.mark.parametrize("part", PLAYED.values(), ids=PLAYED)
def test_stored_entrants_have_played_every_task_with_the_same_seeds(part):
    rows, _ = whole(part)
    for entrant in {row.entrant for row in rows}:
        own = {task: {r.seed for r in rows if (r.entrant, r.task) == (entrant, task)} for task in part.tasks}
        assert len({frozenset(seeds) for seeds in own.values()}) == 1, entrant
    assert {"random", "tuner"} <= {row.entrant for row in rows}


def test_the_page_says_what_one_table_of_hpo_b_takes_from_the_mean():
    part, table = PLAYED["hpo-b"], "6767-146065"
    section = " ".join(read("exam.md").partition("## HPO-B")[2].partition("\n## ")[0].split())
    own = [row for row in whole(part)[0] if row.entrant == "tuner"]
    at = {n: list(part.kept).index(n) for n in (25, 50, 100)}
    means = {n: np.mean([row.values[i] for row in own if row.task != table]) for n, i in at.items()}
    assert (
        "Without it the tuner's means would be {:.4f}, {:.4f} and {:.4f}.".format(*means.values()) in section
    )
    every = {n: np.mean([row.values[i] for row in own]) for n, i in at.items()}
    marks = MARKS["hpo-b"]
    assert [n for n, mean in every.items() if mean <= marks[f"{n} questions"]] == [100]
    assert "Of the marks that after 100 questions is reached, and those after 25 and 50 are not." in section
    stuck = [row for row in own if row.task == table and row.values[at[25]] > 0.5]
    assert (len(stuck), len({row.seed for row in own})) == (3, 5)
    assert "three of five runs find none" in section


def test_the_page_says_that_the_mark_of_crossed_barrels_is_missed():
    part = PLAYED["crossed-barrel"]
    place = list(part.kept).index(96)
    found = [row.values[place] for row in whole(part)[0] if row.entrant == "tuner"]
    assert np.mean(found) < MARKS["crossed-barrel"]["question 96"]
    assert "The mark after question 96 is not reached." in " ".join(read("exam.md").split())


def test_the_page_names_every_part_and_the_command_that_made_its_rows():
    page = read("exam.md")
    assert all(f"`{name}`" in page for name in PARTS)
    for part in PLAYED.values():
        entrants = {row.entrant for row in whole(part)[0]}
        made = [each for each in blocks(DOCS / "exam.md", "bash") if "--out docs/results/exam" in each]
        assert len(made) == 1
        assert all(f"--agent {name} " in made[0] for name in entrants)

"""Sittings: what is kept, what is played again, and the command."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from exam_cases import PLAYED

from bandit_envs.basics.files import held
from gpbandits import cli
from gpbandits.exam import Sitting
from gpbandits.exam.boxes import Boxes
from gpbandits.exam.entrants import Entrant
from gpbandits.exam.played import RowFile
from gpbandits.exam.report import part_figure, part_table

FEW = {"questions": 3, "quick": True}


class Counting(Boxes):
    """The boxes, which count what is played and stop where they are asked to."""

    def __init__(self, stop=None):
        self.played, self.stop = Counter(), stop

    def play(self, task, entrant, seed, questions):
        if sum(self.played.values()) == self.stop:
            raise KeyboardInterrupt
        self.played[task, entrant.label, seed] += 1
        return super().play(task, entrant, seed, questions)


def stored(folder, name="boxes"):
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_sitting_that_is_repeated_plays_what_is_missing_alone(tmp_path):
    first, second, third = Counting(), Counting(), Counting()
    first.hold(Sitting(tmp_path, ["random"], seeds=2, **FEW))
    tasks = len(PLAYED["boxes"].quick_tasks)
    assert len(first.played) == 2 * tasks
    before = stored(tmp_path)
    second.hold(Sitting(tmp_path, ["random"], seeds=2, **FEW))
    assert not second.played
    third.hold(Sitting(tmp_path, ["random"], seeds=3, **FEW))
    assert {seed for *_, seed in third.played} == {2}
    assert [row for row in stored(tmp_path) if row["seed"] != "2"] == before


def test_an_interrupted_sitting_loses_the_cell_in_progress_alone(tmp_path):
    part = Counting(stop=2)
    with pytest.raises(KeyboardInterrupt):
        part.hold(Sitting(tmp_path, ["random"], seeds=2, **FEW))
    assert len(stored(tmp_path)) == 2
    rest = Counting()
    report = rest.hold(Sitting(tmp_path, ["random"], seeds=2, **FEW))
    assert not set(rest.played) & set(part.played)
    assert not report.failures
    whole = Counting()
    again = whole.hold(Sitting(tmp_path / "whole", ["random"], seeds=2, **FEW))
    assert report.tables[0].texts == again.tables[0].texts


def test_other_code_plays_again_and_replaces_its_rows(tmp_path, monkeypatch):
    sitting = Sitting(tmp_path, ["random"], seeds=1, **FEW)
    Counting().hold(sitting)
    monkeypatch.setattr(Entrant, "code", lambda self, module: "other")
    part = Counting()
    part.hold(sitting)
    assert len(part.played) == len(stored(tmp_path)) == len(part.quick_tasks)
    assert {row["code"] for row in stored(tmp_path)} == {"other"}


@pytest.mark.long
def test_several_processes_give_the_rows_of_one(tmp_path):
    for workers in (1, 2):
        place = tmp_path / str(workers)
        Boxes().hold(Sitting(place, ["random", "exam_cases:Plain"], seeds=2, workers=workers, **FEW))
    one, two = ([{**row, "seconds": ""} for row in stored(tmp_path / name)] for name in ("1", "2"))
    assert one == two
    assert len(one) == 3 * 2 * 2


def test_an_entrant_that_fails_is_named_and_the_others_go_on(tmp_path):
    report = Boxes().hold(Sitting(tmp_path, ["exam_cases:Failing", "random"], seeds=1, **FEW))
    assert "exam_cases:Failing on boxes/branin, seed 0" in [cell for cell, _ in report.failures]
    assert all("no idea" in reason for _, reason in report.failures)
    assert {row["entrant"] for row in stored(tmp_path)} == {"random"}


def test_rows_come_back_from_their_file(tmp_path):
    part = Boxes()
    part.hold(Sitting(tmp_path, ["random"], seeds=1, **FEW))
    held = RowFile(tmp_path / "boxes.csv", part.kept)
    for row in held.rows.values():
        played = part.play(row.task, Entrant.named("random"), row.seed, row.questions)
        assert row.values == pytest.approx(played, rel=1e-5)


@pytest.mark.parametrize("damage", ["", "task,entrant\n", "{},x\n", None])
def test_a_file_of_other_rows_is_refused(tmp_path, damage):
    part = Boxes()
    part.hold(Sitting(tmp_path, ["random"], seeds=1, **FEW))
    path = tmp_path / "boxes.csv"
    header, row, *_ = path.read_text().splitlines()
    path.write_text(f"{header}\n{row.replace('random,0', 'random,zero')}\n" if damage is None else damage)
    with pytest.raises(ValueError, match=r"boxes\.csv (holds no rows|has a damaged row)"):
        part.hold(Sitting(tmp_path, ["random"], seeds=1, **FEW))


def test_two_sittings_do_not_write_the_same_file(tmp_path):
    with held(tmp_path / "boxes.csv", "wait"), pytest.raises(ValueError, match="another exam writes it"):
        Boxes().hold(Sitting(tmp_path, ["random"], seeds=1, **FEW))


def test_a_table_leaves_out_what_an_entrant_has_not_played(tmp_path):
    part = Boxes()
    part.hold(Sitting(tmp_path, ["random", "gp-ei"], seeds=1, **FEW))
    rows = RowFile(tmp_path / "boxes.csv", part.kept).rows.values()
    table = part_table(part, list(rows), list(part.quick_tasks))
    assert all(cell is None for row in table.rows[-2:] for cell in row[2:])  # after 3 questions
    figure = part_figure(part, list(rows), list(part.quick_tasks))
    assert figure is not None
    lines = {axes.get_title(): [line.get_label() for line in axes.get_lines()] for axes in figure.axes}
    assert "gp-ei" in lines["branin"]
    assert "gp-ei" not in lines["gardner"]
    assert "bayex (published)" in lines["branin"]


@pytest.mark.long
def test_the_command_prints_published_numbers_beside_those_of_a_plug_in(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    arguments = ["exam", "boxes", "--agent", "exam_cases:Plain", "--agent", "random", "--seeds", "2"]
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments, "--questions", "5", "--out", str(tmp_path)])
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "0.0100 (scikit-optimize)" in next(
        line for line in said.splitlines() if line.startswith("Branin at 33")
    )
    assert "exam_cases:Plain (2 seeds)" in said
    assert (tmp_path / "boxes.png").is_file()
    assert (tmp_path / "tables" / "boxes.csv").is_file()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["crosed-barrel"], "did you mean 'crossed-barrel'"),
        (["boxes", "--agent", "nobody"], "unknown agent 'nobody'"),
        (["boxes", "--agent", ""], "agent must be a name"),
        (["boxes", "--agent", "exam_cases:Nobody"], "does not lead to a class"),
        (["boxes", "--agent", 'tuner {"goal": "maximise"}'], "tuner with some of agent"),
        (["boxes", "--agent", 'tuner {"noise_std": -1}'], "noise_std must be"),
        (["boxes", "--agent", 'gp-ei {"widt": 1}'], "widt"),
        (["boxes", "--agent", "tuner {"], "as JSON"),
        (["boxes", "--agent", "tuner", "--agent", "tuner"], "named once each"),
        (["boxes", "--agent", "gp-ucb-oracle"], "sees no truth"),
        (["crossed-barrel", "--questions", "1"], "at least 2"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_played(tmp_path, capsys, given, said):
    with pytest.raises(SystemExit) as ended:
        cli.main(["exam", *given, "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.parametrize("given", [{"seeds": 0}, {"questions": 0}, {"workers": 0}, {"seeds": 1.5}])
def test_numbers_of_a_sitting_are_positive(tmp_path, given):
    with pytest.raises(ValueError, match=f"{next(iter(given))} must be"):
        Sitting(tmp_path, **given)


def test_a_file_is_no_folder_of_results(tmp_path):
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ValueError, match="out must be a folder"):
        Sitting(path)

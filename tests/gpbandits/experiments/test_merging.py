"""Folders computed apart become one with the bytes of a run in one place; what differs is named."""

from __future__ import annotations

import json
import shlex
import shutil

import pytest
from study_cases import TINY, called

from gpbandits.evaluation.result import Result
from gpbandits.experiments import Store, load_study, open_results, run, write_tables
from gpbandits.experiments.backends import Shard
from gpbandits.experiments.merging import merge
from gpbandits.experiments.store import keep_study


def folder(tmp_path, name, cells, text=TINY):
    (tmp_path / f"{name}.toml").write_text(text)
    study = load_study(tmp_path / f"{name}.toml")
    store = keep_study(tmp_path / name, study, text.encode())
    run(study, store, 1)
    for i, cell in enumerate(study.cells()):
        if i not in cells:
            store.path(cell).unlink()
    return tmp_path / name


def tables(place):
    study, store = open_results(place)
    write_tables(place, store.load(study))
    return {path.name: path.read_bytes() for path in (place / "results").iterdir()}


@pytest.mark.long
def test_what_was_computed_apart_equals_what_was_computed_together(tmp_path):
    whole = folder(tmp_path, "whole", range(8))
    one, two = folder(tmp_path, "one", range(5)), folder(tmp_path, "two", range(3, 8))
    merged = merge([one, two], tmp_path / "both")
    assert merged.taken == {str(one): 5, str(two): 3}
    assert (merged.faults, list(merged.whole.missing)) == ([], [])
    assert tables(tmp_path / "both") == tables(whole)
    for name in ("study.toml", "plan.json"):
        assert (tmp_path / "both" / name).read_bytes() == (whole / name).read_bytes()
    assert run(*open_results(tmp_path / "both"), workers=1, shard=Shard(1, 1)) == []


def test_a_folder_may_be_merged_into_another_and_into_itself(tmp_path):
    one, two = folder(tmp_path, "one", range(5)), folder(tmp_path, "two", range(3, 8))
    assert merge([two], one).taken == {str(one): 5, str(two): 3}
    assert merge([one, two], one).taken == {str(one): 8, str(two): 0}
    assert len(Store(one / "cells").survey(open_results(one)[0]).valid) == 8


def test_cells_that_are_missing_or_failed_in_all_stay_so(tmp_path):
    one, two = folder(tmp_path, "one", [0, 1]), folder(tmp_path, "two", [1, 2])
    study, store = open_results(two)
    cells = list(study.cells())
    for cell in (cells[0], cells[5]):
        store.failure_path(cell).write_text("it raised")
    whole = merge([one, two], tmp_path / "both").whole
    assert [cells.index(cell) for cell, _ in whole.missing] == [3, 4, 5, 6, 7]
    assert whole.failed == {store.path(cells[5]).stem}


def test_a_damaged_file_is_named_and_left_out(tmp_path):
    one, two = folder(tmp_path, "one", range(8)), folder(tmp_path, "two", [0])
    study, store = open_results(one)
    paths = [store.path(cell) for cell in study.cells()]
    for path in paths[:2]:
        path.write_bytes(b"damaged")
    merged = merge([one, two], tmp_path / "both")
    assert len(merged.faults) == 2
    assert all(any(str(path) in fault for fault in merged.faults) for path in paths[:2])
    assert merged.taken == {str(one): 6, str(two): 1}
    assert [key for _, key in merged.whole.missing] == [paths[1].stem]


def test_a_cell_with_other_numbers_is_named_and_nothing_is_written(tmp_path):
    one, two = folder(tmp_path, "one", range(8)), folder(tmp_path, "two", range(8))
    study, store = open_results(two)
    cell = list(study.cells())[3]
    path = store.path(cell)
    result = Result.load(path)
    result.records[cell.agent.name].regret[0, 0] += 1e-9
    result.save(path, store.metadata(cell))
    with pytest.raises(ValueError, match="1 cells have other numbers in two folders") as caught:
        merge([one, two], tmp_path / "both")
    assert str(cell) in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (tmp_path / "both").exists()


def test_another_study_is_named_by_what_differs(tmp_path):
    one = folder(tmp_path, "one", range(8))
    two = folder(tmp_path, "two", range(8), TINY.replace("horizon = 5", "horizon = 6"))
    with pytest.raises(ValueError, match=r"environments\[0\].kwargs.horizon 5 in .*one and 6 in .*two"):
        merge([one, two], tmp_path / "both")


def test_other_code_is_named_by_what_differs(tmp_path):
    one, two = folder(tmp_path, "one", range(8)), tmp_path / "two"
    shutil.copytree(one, two)
    plan = json.loads((two / "plan.json").read_text())
    plan["codes"][0][1]["versions"]["numpy"] = "0.1"
    del plan["sha256"]  # as of a run before there were digests
    (two / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(
        ValueError, match=r"the code of the folders must be the same.*versions.numpy .* and '0.1'"
    ):
        merge([one, two], tmp_path / "both")


@pytest.mark.parametrize("wrong", ["source", "target"])
def test_a_folder_that_has_no_results_is_named(tmp_path, wrong):
    one, other = folder(tmp_path, "one", [0]), tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    given = ([one, other], tmp_path / "both") if wrong == "source" else ([one], other)
    with pytest.raises(ValueError, match="other"):
        merge(*given)
    assert {path.name for path in other.iterdir()} == {"thesis.tex"}


@pytest.mark.usefixtures("without_figures")
def test_machines_apart_compute_their_shares_and_folders_are_merged(tmp_path, capsys):
    (tmp_path / "study.toml").write_text(TINY)
    command = ("run", tmp_path / "study.toml", "--workers", "1")
    for i in (1, 2):
        code, out, err = called(capsys, *command, "--shard", f"{i}/3", "--only", "--out", tmp_path / str(i))
        assert (code, err) == (0, "")
        assert f"Share {i}/3 is done. 5 cells are missing" in out
        assert "`gpbandits merge` joins their folders" in out
    both = tmp_path / "both of them"
    code, out, err = called(capsys, "merge", tmp_path / "1", tmp_path / "2", "--out", both)
    assert (code, err) == (0, "")
    assert shlex.split(out.split("`")[1]) == ["gpbandits", "run", f"{both}/study.toml", "--out", str(both)]
    assert f"3 cells from {tmp_path / '2'}" in out
    assert "6 of 8 cells" in out
    assert "computes the 2 that are missing" in out
    code, _, err = called(capsys, *command, "--only", "--out", tmp_path / "3")
    assert code == 2
    assert "--only must be given with --shard, whose share it is, got None" in err

"""How far a study has come, what of it failed, and removing what it no longer needs."""

from __future__ import annotations

import csv
import importlib
import json
import math
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from players import FirstArm
from slow_runs import held_elsewhere
from study_cases import called

from gpbandits.evaluation.parquet import read_metadata
from gpbandits.evaluation.result import Result
from gpbandits.experiments import Store, cells, failures, keep_study, load_study, open_results
from gpbandits.experiments.store import count_all
from gpbandits.experiments.toml import parse_study

STUDY = """
[study]
name = "small"
trials = 5
block_size = 2
[[environments]]
id = "GPBandit-GP-v0"
label = "GP"
kwargs = { num_arms = 20, horizon = 15 }
[[agents]]
name = "test_status:Moody"
label = "moody"
[[agents]]
name = "random"
"""


class Moody(FirstArm):
    """An agent that fails as long as its file is there."""

    def reset(self, seed):
        if Path("mood").exists():
            raise RuntimeError(f"I am not in the mood{Path('mood').read_text()}")


@pytest.fixture
def call(tmp_path, monkeypatch, capsys, without_figures):
    """Run a command on the folder `out`; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)

    def run(command, *arguments):
        where = ("study.toml", "--out", "out", "--workers", "1") if command == "run" else ("out",)
        return called(capsys, command, *where, *arguments)

    return run


@pytest.mark.long
def test_a_failure_is_kept_shown_and_repeated_by_the_next_run(call):
    Path("mood").touch()
    assert call("run")[0] == 1
    study, store = open_results("out")
    assert [cell.first_trial for cell, _ in failures(study, store)] == [0, 2, 4]
    counts = count_all(study, store.survey(study))
    assert counts[study.agents[0].label, study.environments[0].label] == (0, 5, 0)
    code, out, _ = call("status")
    assert code == 0
    assert "0 of 5, 5 failed" in out
    assert "5 trials done, 5 failed, 0 missing." in out
    assert "moody on GP, trials 0 to 1 failed" in out
    assert "RuntimeError: I am not in the mood" in out
    Path("mood").unlink()
    assert call("run")[0] == 0
    assert failures(study, store) == []
    assert not list(store.folder.glob("*.failed.txt"))
    assert "10 trials done, 0 failed, 0 missing.\n" in call("status")[1]


@pytest.mark.long
def test_control_characters_of_errors_and_labels_do_not_reach_the_terminal(call):
    """ESC and its forms of one byte move the cursor, colour and rename the window."""
    controls = "".join(map(chr, (*range(9), *range(11, 32), *range(127, 160))))
    Path("mood").write_text(controls)
    code, out, err = call("run")
    assert code == 1
    code, shown, _ = call("status")
    for text in (out, err, shown, call("status")[1]):
        assert not set(controls) & set(text)
    for text in (err, shown):
        assert "\\x1b" in text, ascii(text)
        assert "\\x9b" in text, ascii(text)
    plan = Path("out/plan.json")
    content = json.loads(plan.read_text().replace('"moody"', '"\\u001b[31mmoody"'))
    del content["sha256"]  # a plan of an old run: its content is not what was written
    plan.write_text(json.dumps(content))
    assert "\\x1b[31mmoody" in call("status")[1]
    plan.write_text(plan.read_text().replace('"trials"', '"\\u009b31m"'))
    code, _, err = call("status")
    assert code == 2
    assert "\\x9b31m" in err


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", ["status", "report"])
def test_every_cell_is_read_once(call, monkeypatch, command):
    call("run")
    cells.known_fault.cache_clear()
    cells.latest.cache_clear()
    read: list[Path] = []
    load = cells.read_cell
    monkeypatch.setattr(cells, "read_cell", lambda path: read.append(path) or load(path))
    call(command)
    assert (
        sorted(map(Path.absolute, read))
        == sorted(map(Path.absolute, Path("out", "cells").glob("*.parquet")))
        != []
    )


@pytest.mark.long
def test_clean_moves_cells_that_the_study_no_longer_names_and_unfinished_files_to_a_trash_folder(call):
    call("run")
    before = {path.name: path.read_bytes() for path in Path("out/cells").glob("*.parquet")}
    Path("study.toml").write_text(STUDY.replace("horizon = 15", "horizon = 16"))
    call("run")
    study, store = open_results("out")
    needed = {store.path(cell).name for cell in study.cells()}
    unfinished = store.folder / f".{'ab' * 16}.parquet.{'0' * 32}.part"
    unfinished.touch()
    (store.folder / "notes.txt").touch()  # somebody's own
    assert "7 files belong to no cell" in call("status")[1]
    code, out, _ = call("clean", "--yes")
    assert code == 0
    (trash,) = Path("out/trash").iterdir()
    assert f"Moved 7 files to {trash}. To restore them: mv {trash}/* out/cells" in out
    assert {path.name for path in store.folder.glob("[!.]*")} == needed | {"notes.txt"}
    assert not unfinished.exists()
    assert "Nothing to move" in call("clean")[1]
    subprocess.run(f"mv {trash}/* out/cells", shell=True, check=True)
    assert before.items() <= {path.name: path.read_bytes() for path in store.folder.glob("*.parquet")}.items()


@pytest.mark.long
def test_clean_leaves_cells_of_other_code_alone_unless_asked(call, monkeypatch):
    call("run")
    with monkeypatch.context() as patch:
        patch.setattr("gpbandits.experiments.study.versions", lambda agent: {"numpy": "another"})
        call("run")
    call("run")
    assert len(list(Path("out/cells").glob("*.parquet"))) == 12
    assert "belong to no cell" not in call("status")[1]
    assert "Nothing to move" in call("clean", "--yes")[1]
    assert "Moved 6 files" in call("clean", "--yes", "--other-code")[1]
    assert "10 trials done, 0 failed, 0 missing.\n" in call("status")[1]


def test_clean_asks_and_no_leaves_everything(call, monkeypatch):
    call("run")
    other = STUDY.replace('[[agents]]\nname = "random"', "")
    keep_study("out", parse_study(tomllib.loads(other)), other.encode())
    monkeypatch.setattr("typer.confirm", lambda question: False)
    assert call("clean")[0] == 1
    assert len(list(Path("out/cells").glob("*.parquet"))) == 6


@pytest.mark.long
def test_a_file_that_a_live_run_is_writing_is_not_superfluous(call):
    call("run")
    study, store = open_results("out")
    key = "cd" * 16
    part = store.folder / f".{key}.parquet.{'0' * 32}.part"
    part.touch()
    with held_elsewhere(store.folder, key):
        assert store.superfluous(study) == []
    assert store.superfluous(study) == [part]


def test_timings_are_a_table_of_their_own(call):
    call("run")
    study, store = open_results("out")
    ((_, result),) = store.load(study)
    with open("out/timings.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["trial"] for row in rows] == [*"01234", *"01234"]
    assert float(rows[0]["seconds"]) == pytest.approx(result.seconds["moody"][0], abs=1e-6)
    table = Result.load("out/results/GP.parquet")
    assert table.seconds["moody"].tolist() == pytest.approx([float("nan")] * 5, nan_ok=True)
    assert table.regret["moody"].tolist() == result.regret["moody"].tolist()


def test_a_folder_without_a_study_is_named(call):
    with pytest.raises(ValueError, match=r"must hold the plan\.json that `gpbandits run --out` writes"):
        open_results("nowhere")
    code, _, err = call("status")
    assert code == 2
    assert "got out without one" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backend", "dask"], "--scheduler must be given with --backend dask"),
        (["--scheduler", "tcp://x:1"], "--scheduler must be given with --backend dask"),
        (["--backend", "dask", "--scheduler", "tcp://x:1"], "--workers is for --backend local"),
    ],
)
def test_options_of_backends_must_fit(call, options, message):
    code, out, err = call("run", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("out").exists()


def test_a_store_loads_what_another_study_of_the_same_cells_computed(call):
    call("run")
    Path("other.toml").write_text(STUDY.replace('"small"', '"other"').replace('"moody"', '"renamed"'))
    other = load_study("other.toml")
    ((_, result),) = Store("out/cells").load(other)
    assert result.agents == ["renamed", "random"]


def test_a_file_is_no_folder_of_results():
    with pytest.raises(ValueError, match=r"--out must be a folder, or new, got '.*test_status\.py'"):
        keep_study(__file__, None, b"")  # type: ignore[arg-type]


def test_a_folder_of_another_study_is_left_alone_and_named(call):
    call("run")
    Path("study.toml").write_text(STUDY.replace('"small"', '"other"'))
    code, _, err = call("run")
    assert code == 2
    assert "--out must be new or have results of the study 'other', got out with those of 'small'" in err
    assert Path("out/study.toml").read_text() == STUDY


def swap(store, study):
    first, second = (store.path(study.cells_of(study.environments[0], agent)[1]) for agent in study.agents)
    whole = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(whole)
    return [first, second]


def stranger(store, study):
    """A Parquet file of somebody else."""
    path = store.path(next(study.cells()))
    pq.write_table(pa.table({"a": [1]}), path)
    return [path]


def evaluated(store, study):
    """What Result.save writes, of no cell."""
    path = store.path(next(study.cells()))
    Result.load(path).save(path)
    return [path]


def cut_off(store, study):
    path = store.path(next(study.cells()))
    path.write_bytes(path.read_bytes()[:-100])
    return [path]


def resown(store, study):
    """A cell under its own name, whose numbers are of other trials."""
    first, second, _ = map(store.path, study.cells_of(study.environments[0], study.agents[0]))
    Result.load(second).save(first, read_metadata(first))
    return [first]


def not_finite(store, study):
    paths = [store.path(study.cells_of(study.environments[0], agent)[1]) for agent in study.agents]
    for path, value in zip(paths, (math.nan, math.inf), strict=True):
        result = Result.load(path)
        next(iter(result.records.values())).regret[0, 0] = value
        result.save(path, read_metadata(path))
    return paths


def pipe(store, study):
    """A FIFO, which nobody writes to, in the place of a cell."""
    path = store.path(next(study.cells()))
    path.unlink()
    os.mkfifo(path)
    return [path]


UNFIT = (swap, stranger, evaluated, cut_off, resown, not_finite, *((pipe,) if hasattr(os, "mkfifo") else ()))


@pytest.mark.long
@pytest.mark.parametrize("spoil", UNFIT)
def test_an_unfit_cell_is_reported_by_path_counted_as_missing_and_computed_anew(call, spoil):
    call("run")
    table = Path("out/results/GP.parquet").read_bytes()
    study, store = open_results("out")
    spoilt = spoil(store, study)
    trials = 2 * len(spoilt)
    code, out, _ = call("status")
    assert code == 0
    assert f"{10 - trials} trials done, 0 failed, {trials} missing." in out
    assert all(str(path) in out for path in spoilt)
    code, out, err = call("report", "--no-figures")
    assert code == 0, err
    assert all(str(path) in out for path in spoilt)
    code, out, err = call("run")
    assert code == 0, err
    assert all(str(path) in out for path in spoilt)
    assert Path("out/results/GP.parquet").read_bytes() == table
    assert str(spoilt[0]) not in call("status")[1]


def test_where_a_file_system_has_no_locks_cells_are_computed_all_the_same(call, monkeypatch):
    import errno
    import fcntl

    from gpbandits.experiments.locks import is_locked

    def refuse(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    assert call("run")[0] == 0
    assert not is_locked(Path("out/cells"), "ab" * 16)


OWN = """
from pathlib import Path

from test_status import Moody

with open("imports.txt", "a") as notes:
    notes.write("imported\\n")
"""


@pytest.mark.long
def test_reading_a_folder_runs_nothing_and_needs_nothing_that_its_study_names(call, monkeypatch):
    monkeypatch.syspath_prepend(Path.cwd())
    Path("own_agent.py").write_text(OWN)
    Path("study.toml").write_text(STUDY.replace("test_status:Moody", "own_agent:Moody"))
    code, out, err = call("run")
    assert code == 0, err
    assert out.count("Importing own_agent, which study.toml names: run only studies from people you") == 1
    Path("imports.txt").unlink()
    for text in (OWN, "raise SystemExit", None):
        monkeypatch.delitem(sys.modules, "own_agent", raising=False)
        Path("own_agent.py").write_text(text) if text else Path("own_agent.py").unlink()
        importlib.invalidate_caches()
        assert "10 trials done, 0 failed, 0 missing.\n" in call("status")[1]
        assert call("report", "--no-figures")[0] == 0
        assert "Nothing to move" in call("clean", "--yes")[1]
        assert not Path("imports.txt").exists()
        assert "own_agent" not in sys.modules


DAMAGE = {
    "nothing": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "a list": lambda text: "[]",
    "another format": lambda text: text.replace('"format": 1', '"format": 2'),
    "no codes": lambda text: text.replace('"codes"', '"cods"'),
    "an unknown key": lambda text: text.replace('"trials"', '"trails"'),
    "deep": lambda text: "[" * 100_000,
    "more trials than any folder holds": lambda text: text.replace('"trials": 5', f'"trials": {10**9}'),
    "not text": lambda text: "\udcff",
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_plan_is_named_and_the_next_run_writes_it_anew(call, damage):
    call("run")
    plan = Path("out/plan.json")
    plan.write_text(damage(plan.read_text()), errors="surrogateescape")
    code, out, err = call("status")
    assert (code, out) == (2, "")
    assert "out/plan.json is damaged, or of another version of gpbandits" in err
    assert call("run")[0] == 0
    assert call("status")[0] == 0

"""A survey finds what each cell's file says, reads only new files, and trusts no file that changed."""

from __future__ import annotations

import json
import os
import tomllib

import pyarrow.parquet as pq
import pytest

from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, backends, keep_study, run
from gpbandits.experiments import survey as surveys
from gpbandits.experiments.check import count_all
from gpbandits.experiments.survey import INDEX
from gpbandits.experiments.toml import parse_study
from gpbandits.report import write_report

PLACES = tuple(
    EnvironmentEntry("GPBandit-GP-v0", label, {"horizon": n, "num_arms": 4})
    for label, n in (("a", 3), ("b", 4))
)
AGENTS = (AgentEntry("random", "random"), AgentEntry("gp-ucb", "bold", {"width": 3.0}))
STUDY = Study("s", 5, PLACES, AGENTS, block_size=2)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(surveys, "WORTH", 1)
    store = Store(tmp_path / "cells")
    assert run(STUDY, store, 1) == []
    return store


def states(store):
    """The state of each cell, one by one, as files say it."""
    cells = list(STUDY.cells())
    return [store.holds(cell) for cell in cells], [store.failure(cell) is not None for cell in cells]


def surveyed(store):
    known = store.survey(STUDY)
    return [key in known.valid for key in known.keys], [key in known.failed for key in known.keys]


def test_a_survey_says_of_each_cell_what_its_files_say(store):
    first, second, third, *_ = STUDY.cells()
    store.path(first).unlink()
    store.path(second).write_bytes(b"damaged")
    store.failure_path(second).write_text("it raised")
    store.failure_path(third).write_text("but was computed later")
    assert surveyed(store) == states(store)
    known = store.survey(STUDY)
    assert [key for _, key in known.missing] == [store.path(cell).stem for cell in (first, second)]
    assert list(known.faults) == [store.path(second).stem]
    counts = count_all(STUDY, known)
    for place in PLACES:
        for agent in AGENTS:
            each = STUDY.cells_of(place, agent)
            done = sum(cell.trials for cell in each if store.holds(cell))
            failed = sum(cell.trials for cell in each if store.failure(cell) is not None)
            assert counts[agent.label, place.label] == (done, failed, STUDY.trials - done - failed)


def test_files_of_the_index_are_not_read_again_and_changed_ones_are(store, monkeypatch):
    read = []

    def reading(path):
        read.append(path.stem)
        return sound(path)

    sound = surveys.fault
    monkeypatch.setattr(surveys, "fault", reading)
    assert len(store.survey(STUDY).valid) == len(list(STUDY.cells()))
    assert read == []  # the run noted what it computed
    path = store.path(next(STUDY.cells()))
    path.write_bytes(path.read_bytes()[:-1])
    assert path.stem in store.survey(STUDY).faults
    assert read == [path.stem]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_without_a_readable_index_all_files_are_read_and_it_is_written_again(store, content):
    index = store.folder / INDEX
    index.unlink()
    if content is not None:
        index.write_bytes(content)
    assert surveyed(store) == states(store)
    assert index.stat().st_size > 100
    os.utime(store.path(next(STUDY.cells())))  # another time: read again
    assert surveyed(store) == states(store)


def test_indexes_of_jobs_that_share_a_folder_are_added(store):
    half = len(list(STUDY.cells())) // 2
    keys = store.survey(STUDY).keys
    (store.folder / INDEX).unlink()
    for some in (keys[:half], keys[half:]):
        surveys.note(store.folder, some)
    assert set(surveys.index_of(store.folder)) == set(keys)


def test_a_run_takes_its_cells_in_parts_of_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "AT_ONCE", 5)
    sizes = []

    def counting(tasks):
        sizes.append(len(tasks))
        yield from backends.local(1)(tasks)

    assert run(STUDY, Store(tmp_path), backend=counting) == []
    assert sizes == [5, 5, 2, 0]  # and none that another run was computing
    assert len(Store(tmp_path).survey(STUDY).valid) == 12


THINNED = """
[study]
name = "thinned"
trials = 4
block_size = 2
[checkpoints]
spacing = "log"
[[environments]]
id = "GPBandit-GP-v0"
label = "GP"
kwargs = { num_arms = 4, horizon = 12 }
[[agents]]
name = "random"
"""


def as_an_older_version_wrote_it(path):
    """Write a cell's file as before there were running totals between checkpoints."""
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"gpbandits"])
    del header["totals"]
    pq.write_table(table.replace_schema_metadata({b"gpbandits": json.dumps(header).encode()}), path)


@pytest.mark.parametrize("indexed", [False, True], ids=["without an index", "in an older version's index"])
def test_status_and_report_agree_on_cells_of_an_older_version_and_name_the_remedy(
    tmp_path, monkeypatch, indexed
):
    monkeypatch.setattr(surveys, "WORTH", 1 if indexed else 500)
    few = parse_study(tomllib.loads(THINNED))
    store = keep_study(tmp_path, few, THINNED.encode())
    run(few, store, 1)
    for path in store.folder.glob("*.parquet"):
        as_an_older_version_wrote_it(path)
    if indexed:
        with monkeypatch.context() as older:
            older.setattr(surveys, "reader", lambda: "older")
            surveys.note(store.folder, store.survey(few).keys)
    known = store.survey(few)
    assert known.valid == set()
    assert all("did not count lost, " in each for each in known.faults.values())
    assert all("run the study again" in each for each in known.faults.values())
    with pytest.raises(ValueError, match="did not count lost, "):
        write_report(tmp_path, figures=False)
    assert run(few, store, 1) == []
    assert len(store.survey(few).valid) == len(list(few.cells()))
    assert write_report(tmp_path, figures=False).is_file()

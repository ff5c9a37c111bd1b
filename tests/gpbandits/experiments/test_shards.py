"""Jobs of an array share a study in one folder, take over what others left, and end cleanly at SIGTERM."""

from __future__ import annotations

import os
import signal

import pytest
from slow_runs import PATIENCE, held_elsewhere, started, stored, until

from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, run
from gpbandits.experiments.backends import Shard, shard_of

GP = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 5, "num_arms": 8})
STUDY = Study("s", 7, (GP,), (AgentEntry("random", "random"),), block_size=1)


def array(scheduler, *values):
    """The variables of a job in an array: index, first, last and step."""
    return dict(zip(scheduler, values, strict=False))


SLURM = [f"SLURM_ARRAY_TASK_{name}" for name in ("ID", "MIN", "MAX", "STEP")]
SGE = [f"SGE_TASK_{name}" for name in ("ID", "FIRST", "LAST", "STEPSIZE")]


@pytest.mark.parametrize(
    ("text", "variables", "share"),
    [
        ("3/20", {}, (3, 20)),
        ("1/1", {}, (1, 1)),
        # sbatch --array=0-19, =5-9 and =10-30:10
        ("auto", array(SLURM, "0", "0", "19"), (1, 20)),
        ("auto", array(SLURM, "9", "5", "9"), (5, 5)),
        ("auto", array(SLURM, "20", "10", "30", "10"), (2, 3)),
        # qsub -t 1-8
        ("auto", array(SGE, "8", "1", "8", "1"), (8, 8)),
        # bsub -J "name[1-4]", with SGE's variable of a job that is in no array
        ("auto", {"LSB_JOBINDEX": "2", "LSB_JOBINDEX_END": "4", "SGE_TASK_ID": "undefined"}, (2, 4)),
        ("auto/6", {"PBS_ARRAY_INDEX": "6"}, (6, 6)),
        ("auto/6", {"PBS_ARRAYID": "1"}, (1, 6)),
    ],
)
def test_a_share_is_read_from_the_option_or_from_the_scheduler(text, variables, share):
    assert shard_of(text, variables) == Shard(*share)


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        ("0/3", {}, "with i from 1 to n"),
        ("4/3", {}, "with i from 1 to n"),
        ("3", {}, "with i from 1 to n"),
        ("a/b", {}, "with i from 1 to n"),
        ("auto", {}, "must run in a job of an array"),
        ("auto", {"SGE_TASK_ID": "undefined", "LSB_JOBINDEX": "0"}, "must run in a job of an array"),
        ("auto", {"PBS_ARRAY_INDEX": "2"}, "must be auto/n in an array of PBS"),
        ("auto/3", {"PBS_ARRAY_INDEX": "0"}, "with i from 1 to n"),
        ("auto", {"SLURM_ARRAY_TASK_ID": "0"}, "needs whole numbers in SLURM_ARRAY_TASK_ID, "),
        ("auto", {"LSB_JOBINDEX": "x", "LSB_JOBINDEX_END": "4"}, "needs whole numbers in LSB_JOBINDEX, "),
        ("auto", {"LSB_JOBINDEX": "5", "LSB_JOBINDEX_END": "4"}, "with i from 1 to n"),
        ("auto/9", {"LSB_JOBINDEX": "2", "LSB_JOBINDEX_END": "4"}, "must be auto in an array of 4 jobs"),
    ],
)
def test_a_share_that_cannot_be_is_named(text, variables, message):
    with pytest.raises(ValueError, match=message):
        shard_of(text, variables)


@pytest.mark.parametrize("number", [1, 2, 3, 10])
def test_shares_begin_apart_and_each_job_takes_every_cell_in_the_end(number):
    orders = [Shard(i, number).ordered(range(7)) for i in range(1, number + 1)]
    assert all(sorted(order) == list(range(7)) for order in orders)
    own = [order[: len(range(i, 7, number))] for i, order in enumerate(orders)]
    assert sorted(each for share in own for each in share) == list(range(7))


def test_a_job_of_its_share_alone_ends_with_it(tmp_path):
    cells = list(STUDY.cells())
    for i, indices in ((1, (0, 2, 4, 6)), (2, (1, 3, 5))):
        store = Store(tmp_path / str(i))
        assert run(STUDY, store, 1, shard=Shard(i, 2, only=True)) == []
        assert [store.holds(cell) for cell in cells] == [j in indices for j in range(7)]


@pytest.mark.long
def test_a_job_leaves_cells_that_others_compute_and_takes_those_that_nobody_does(tmp_path):
    store, cells = Store(tmp_path), list(STUDY.cells())
    with held_elsewhere(tmp_path, store.path(cells[1]).stem):
        assert run(STUDY, store, 1, shard=Shard(1, 2)) == []
        assert [store.holds(cell) for cell in cells] == [True, False, *[True] * 5]
    assert run(STUDY, store, 1, shard=Shard(2, 2)) == []
    assert all(map(store.holds, cells))


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("send", "number", "code"),
    [(os.killpg, signal.SIGTERM, 143), (os.kill, signal.SIGINT, 130)],  # schedulers signal all processes
)
def test_a_signal_ends_a_job_cleanly_and_the_next_one_takes_over(tmp_path, workers, send, number, code):
    variables = array(SLURM, "1", "0", "1")
    job = started(tmp_path, "--shard", "auto", workers=workers, PAUSE="0.05", **variables)
    until(lambda: stored(tmp_path))
    send(job.pid, number)
    out, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == code
    assert "of 12 cells are kept; run the command again to continue" in out
    assert "Traceback" not in out + err
    left = stored(tmp_path)
    assert 0 < len(left) < 12
    assert not list((tmp_path / "out" / "cells").glob("*.txt"))  # no cell has failed
    other = started(tmp_path, "--shard", "1/2")
    out, err = other.communicate(timeout=PATIENCE)
    assert other.returncode == 0, out + err
    assert set(left) < set(stored(tmp_path))
    assert len(stored(tmp_path)) == 12
    assert "12 trials of 10 rounds" in out  # the last job prints the tables
    assert (tmp_path / "out" / "results").is_dir()


@pytest.mark.long
def test_a_job_that_ends_before_the_others_says_what_is_missing(tmp_path):
    first = started(tmp_path, "--shard", "1/2", PAUSE="0.03")
    second = started(tmp_path, "--shard", "2/2", PAUSE="0.05")
    said = [job.communicate(timeout=PATIENCE) for job in (first, second)]
    assert [job.returncode for job in (first, second)] == [0, 0], said
    assert len(stored(tmp_path)) == 12
    texts = [out for out, _ in said]
    early = [text for text in texts if "cells are missing, which other jobs compute or will" in text]
    late = [text for text in texts if "12 trials of 10 rounds" in text]
    assert len(early) + len(late) == 2
    assert late

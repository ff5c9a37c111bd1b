"""Runs that are killed, starved of disk, doubled or spread over a cluster leave a store that is right."""

from __future__ import annotations

import errno
import json
import math
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from players import FirstArm, Slow
from slow_runs import PATIENCE, held_elsewhere, is_alive, started, stored, until

from gpbandits.experiments import Store, Study, run, write_tables
from gpbandits.experiments.backends import local
from gpbandits.experiments.cluster import dask
from gpbandits.experiments.locks import is_locked, locked
from gpbandits.experiments.store import count_all
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry
from gpbandits.experiments.work import CellTask

GP = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 8, "num_arms": 20})
RKHS = EnvironmentEntry("GPBandit-RKHS-v0", "RKHS", {"horizon": 8, "num_arms": 20})
AGENTS = (AgentEntry("gp-ucb", "GP-UCB"), AgentEntry("random", "random"))
SLOWLY = (AgentEntry("players:Slow", "slow"),)
MANY = 30  # trials, where there must be time to disturb a run


class Fatal(FirstArm):
    def reset(self, seed):
        os._exit(1)


class Standing(Slow):
    """An agent that stops its process, the first times that it is reset."""

    def __init__(self, setting, times):
        super().__init__(setting)
        self.times = times

    def reset(self, seed):
        super().reset(seed)
        if Path(os.environ["NOTES"]).read_text().count("\n") <= self.times:
            os.kill(os.getpid(), signal.SIGSTOP)


def study(trials: int = 4, agents: tuple[AgentEntry, ...] = AGENTS, block_size: int = 1) -> Study:
    return Study("s", trials, (GP, RKHS), agents, block_size=block_size)


def tables(which: Study, folder: Path) -> dict[str, bytes]:
    write_tables(folder, Store(folder / "cells").load(which))
    return {path.name: path.read_bytes() for path in (folder / "results").iterdir()}


@pytest.fixture(scope="module")
def forked() -> Callable[..., multiprocessing.Process]:
    """Start a process that has imported everything already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gpbandits.experiments", "gpbandits.evaluation.check"])
    return lambda *arguments: _started(context.Process(target=run, args=arguments))


def _started(process: multiprocessing.Process) -> multiprocessing.Process:
    process.start()
    return process


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    assert run(study(MANY), Store(folder / "cells"), 1) == []
    return tables(study(MANY), folder)


@pytest.mark.long
def test_kills_at_random_lose_and_double_nothing(tmp_path, forked, whole):
    which, store, rng = study(MANY), Store(tmp_path / "cells"), random.Random(0)
    cells, kills = [store.path(cell) for cell in study(MANY).cells()], 0
    store.folder.mkdir()

    def kept() -> int:
        return sum(path.exists() for path in cells)

    while kept() < len(cells):
        enough = kept() + rng.randrange(8)  # a number, not a time: slow machines shall be killed as often
        runs = [forked(which, store, 1) for _ in range(2)]  # two runs of one study at once
        until(lambda enough=enough: kept() >= min(enough, len(cells)))
        time.sleep(rng.uniform(0.0, 0.01))
        for process in runs:
            process.kill()
            process.join()
            kills += process.exitcode == -signal.SIGKILL
    assert kills >= 20
    assert run(which, store, 1) == []
    assert set(store.folder.glob("*.parquet")) == set(cells)
    assert tables(which, tmp_path) == whole


AT_ONCE = """
import os, sys
from pathlib import Path
from slow_runs import until
from test_execution import SLOWLY, Store, run, study
which, ready = study(10, SLOWLY), Path(sys.argv[2])
[Store.metadata(cell) for cell in which.cells()]  # hashing sources takes its time as well
(ready / str(os.getpid())).touch()
until(lambda: len(list(ready.iterdir())) == 2)  # imports take longer than the cells
assert run(which, Store(sys.argv[1]), 1) == []
"""


@pytest.mark.long
def test_two_runs_at_once_share_the_work_and_compute_nothing_twice(tmp_path, monkeypatch):
    for name, value in {"NOTES": str(tmp_path / "notes"), "PAUSE": "0.02"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    ready = tmp_path / "ready"
    ready.mkdir()
    command = [sys.executable, "-c", AT_ONCE, str(tmp_path / "cells"), str(ready)]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(PATIENCE) for process in both] == [0, 0]
    pids = (tmp_path / "notes").read_text().split()
    assert len(pids) == 2 * 10
    assert len(set(pids)) == 2
    assert all(map(Store(tmp_path / "cells").holds, study(10, SLOWLY).cells()))


@pytest.mark.long
def test_a_store_is_readable_while_another_process_writes_it(tmp_path, forked):
    which, store, seen = study(MANY), Store(tmp_path), set()
    store.folder.mkdir(exist_ok=True)
    writer = forked(which, store, 1)
    while writer.is_alive():
        counts = count_all(which, store.survey(which)).values()
        assert all(count.total == MANY for count in counts)
        seen.add(sum(count.done for count in counts))
        for _, result in store.load(which):  # raises where a file is torn
            assert result.num_trials == MANY
    assert writer.exitcode == 0
    assert len(seen) > 3
    assert len(store.load(which)) == 2


@pytest.mark.long
def test_a_full_disk_stops_the_run_says_so_and_leaves_no_torn_file(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    write, room = pq.write_table, iter(range(3))

    def full(table, file, **options):
        if next(room, None) is None:
            file.write(b"torn")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(table, file, **options)

    store = Store(tmp_path / "cells")
    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", full)
        with pytest.raises(OSError, match="No space left on device; fix this and run again") as error:
            run(study(), store, 1)
    assert error.value.errno == errno.ENOSPC
    assert len(list(store.folder.glob("*.parquet"))) == 3
    assert not list(store.folder.glob(".*.part"))
    assert run(study(), store, 1) == []
    assert run(study(), Store(tmp_path / "whole" / "cells"), 1) == []
    assert tables(study(), tmp_path) == tables(study(), tmp_path / "whole")


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_a_cell_that_another_run_computes_comes_last_and_is_waited_for(tmp_path, workers):
    which, store = study(block_size=2), Store(tmp_path)
    cells, order = list(which.cells()), []
    with held_elsewhere(tmp_path, store.path(cells[0]).stem) as holder:

        def report(outcome):
            order.append(outcome.cell)
            if len(order) == len(cells) - 1:
                holder.kill()

        with pytest.warns(UserWarning, match=f"waiting for process {holder.pid} of another run"):
            assert run(which, store, workers, report) == []
    assert (len(order), order[-1]) == (len(cells), cells[0])
    assert all(map(store.holds, cells))


@pytest.mark.long
def test_the_wait_for_another_run_has_the_time_limit_and_names_its_process(tmp_path):
    which, store = study(block_size=2), Store(tmp_path)
    first, *others = which.cells()
    with (
        held_elsewhere(tmp_path, store.path(first).stem) as holder,
        pytest.warns(UserWarning, match=f"waiting for process {holder.pid} of another run"),
    ):
        (failed,) = run(which, store, 1, time_limit=2.0)
    assert failed.cell == first
    assert failed.reason.startswith(f"waited for process {holder.pid} of another run")
    assert store.failure(first) is None  # the other run may finish it
    assert all(map(store.holds, others))


@pytest.mark.long
def test_a_cell_is_held_by_one_process_and_set_free_when_that_is_killed(tmp_path):
    keys = ("ab" * 16, "cd" * 16)
    with held_elsewhere(tmp_path, keys[0]) as holder:
        assert [is_locked(tmp_path, key) for key in keys] == [True, False]
        with locked(tmp_path, keys[0], wait=False) as held, locked(tmp_path, keys[1], wait=False) as other:
            assert (held, other) == (False, True)
        holder.kill()
    with locked(tmp_path, keys[0]):  # would wait for ever if the dead still held it
        assert not is_locked(tmp_path, keys[1])


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a lock")
def test_a_lock_is_seen_where_the_folder_cannot_be_written(tmp_path, monkeypatch):
    keys, opened = ("ab" * 16, "cd" * 16), os.open

    def read_only(path, flags, *mode):
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(path, flags, *mode)

    with held_elsewhere(tmp_path, keys[0]):
        monkeypatch.setattr(os, "open", read_only)
        assert [is_locked(tmp_path, key) for key in keys] == [True, False]


@pytest.mark.long
def test_workers_do_not_outlive_a_killed_run(tmp_path):
    notes = tmp_path / "notes"
    killed = started(tmp_path, workers="2", NOTES=str(notes), PAUSE="0.05")
    until(lambda: notes.exists() and stored(tmp_path))
    workers = set(map(int, notes.read_text().split()))
    assert killed.pid not in workers
    assert any(map(is_alive, workers))
    killed.kill()
    killed.communicate()
    until(lambda: not any(map(is_alive, workers)))


@contextmanager
def cluster_of(workers, processes=True):
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    options = {"processes": processes, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, **options) as made:
        yield made


@pytest.mark.long
@pytest.mark.filterwarnings("default")  # of a library that loses a worker
def test_a_cluster_that_loses_a_worker_in_the_middle_loses_nothing(tmp_path, whole):
    store, finished = Store(tmp_path / "cells"), []
    with cluster_of(2) as cluster:
        lost = min(worker.pid for worker in cluster.workers.values())

        def report(outcome):
            finished.append(str(outcome.cell))
            if len(finished) == 20:
                os.kill(lost, signal.SIGKILL)

        assert run(study(MANY), store, report=report, backend=dask(cluster.scheduler_address)) == []
        assert not is_alive(lost)
    assert len(set(finished)) == len(finished) == 4 * MANY
    assert tables(study(MANY), tmp_path) == whole


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_a_cell_that_kills_the_workers_of_a_cluster_fails(tmp_path):
    of_dask = pytest.importorskip("dask", reason="needs the extra `cluster`")
    store, fatal = Store(tmp_path), Study("s", 1, (GP,), (AgentEntry("test_execution:Fatal", "fatal"),))
    with of_dask.config.set({"distributed.scheduler.allowed-failures": 0}), cluster_of(1) as cluster:
        (outcome,) = run(fatal, store, backend=dask(cluster.scheduler_address))
    assert "all those workers died while running it" in outcome.failure
    assert store.failure(outcome.cell).endswith(outcome.failure)


@pytest.mark.long
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("times", "kept"), [(1, True), (9, False)])
def test_a_cell_of_a_worker_that_stands_still_goes_to_another_and_fails_at_the_second(
    tmp_path, monkeypatch, times, kept
):
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    monkeypatch.setattr("gpbandits.experiments.cluster.SILENCE", 3.0)
    agents = (AgentEntry("test_execution:Standing", "standing", {"times": times}), AGENTS[1])
    which, store = Study("s", 2, (GP,), agents, block_size=2), Store(tmp_path / "cells")
    with (
        cluster_of(2) as made,
        pytest.warns(UserWarning, match="workers that stand still are restarted: tcp://"),
    ):
        failed = run(which, store, backend=dask(made.scheduler_address), time_limit=2.0)
    standing, random_play = which.cells()
    assert [outcome.cell for outcome in failed] == [] if kept else [standing]
    assert all("2 workers stood still" in outcome.reason for outcome in failed)
    assert store.holds(random_play)
    assert store.holds(standing) == kept
    assert (store.failure(standing) is None) == kept
    assert len(set((tmp_path / "notes").read_text().split())) == 2  # processes, none asked a third time


@pytest.fixture
def by_hand(tmp_path):
    """Start a scheduler and a worker as processes of their own; yield the scheduler and its address."""
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    file = tmp_path / "scheduler.json"
    where = ["--scheduler-file", str(file), "--dashboard-address", ":0"]
    roles = (["scheduler", "--host", "127.0.0.1", "--port", "0"], ["worker", "--nthreads", "1"])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    started = [subprocess.Popen([sys.executable, "-m", "dask", *role, *where], **quiet) for role in roles]
    until(lambda: file.exists() and file.read_text().endswith("}"))
    yield started[0], json.loads(file.read_text())["address"]
    for process in reversed(started):
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(PATIENCE)


@pytest.mark.long
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_scheduler_that_died_or_stands_still_is_an_error_that_says_how_to_go_on(
    tmp_path, monkeypatch, by_hand, how
):
    scheduler, address = by_hand
    monkeypatch.setattr("gpbandits.experiments.cluster.GATHERED", 20.0)
    which, store = Study("s", MANY, (GP,), AGENTS[1:], block_size=1), Store(tmp_path / "cells")
    with pytest.raises(ConnectionError, match=rf"{address} is lost; .* run the same command again"):
        run(which, store, report=lambda outcome: scheduler.send_signal(how), backend=dask(address))
    assert any(map(store.holds, which.cells()))
    assert run(which, store, 1) == []


@pytest.mark.long
def test_workers_without_a_heartbeat_for_longer_than_a_cell_may_take_stand_still(tmp_path):
    metrics = pytest.importorskip("distributed.metrics", reason="needs the extra `cluster`")
    from gpbandits.experiments import cluster

    def worker(seconds, *keys):
        tasks = [SimpleNamespace(key=key) for key in keys]
        return SimpleNamespace(last_seen=metrics.time() - seconds, processing=tasks)

    (cell, *_), store = study().cells(), Store(tmp_path)
    task = CellTask(cell, store.path(cell), {}, time_limit=2.0)
    assert task._replace(time_limit=None).longest == math.inf
    assert task._replace(wait=True).longest == task.longest + 2.0 > 2 * 2.0
    workers = {"well": worker(0.0, "a"), "standing": worker(60.0, "b", "c"), "idle": worker(60.0)}
    scheduler = SimpleNamespace(workers=workers)
    assert cluster.silent_workers(50.0, scheduler) == {"standing": {"b", "c"}, "idle": set()}
    assert cluster.silent_workers(math.inf, scheduler) == {}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_of_a_cluster_must_be_processes_of_their_own(tmp_path, workers):
    with (
        cluster_of(workers, processes=False) as threaded,
        pytest.raises(ValueError, match=r"must be processes of their own, .* threads of one process"),
    ):
        run(study(), Store(tmp_path), backend=dask(threaded.scheduler_address))
    assert not list(tmp_path.glob("*.parquet"))


def test_a_process_of_a_cluster_plays_one_cell_at_a_time(tmp_path):
    from gpbandits.experiments import cluster

    (cell, *_), store = study().cells(), Store(tmp_path)
    task = CellTask(cell, store.path(cell), store.metadata(cell))
    with cluster.playing, pytest.raises(ValueError, match="must be processes of their own"):
        cluster.settle_there(task)
    assert not store.holds(cell)


def test_progress_reports_the_regret_of_every_trial(tmp_path):
    outcomes = []
    run(study(block_size=2), Store(tmp_path), report=outcomes.append, backend=local(1))
    ((_, result), _) = Store(tmp_path).load(study(block_size=2))
    told = [outcome.regret for outcome in outcomes if outcome.cell.environment == GP]
    kept = [result.regret[agent.label][block, -1] for block in (slice(0, 2), slice(2, 4)) for agent in AGENTS]
    np.testing.assert_array_equal(np.concatenate(told), np.concatenate(kept))

"""What a killed run leaves in shared memory is removed by the next run of its folder, and nothing else is."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from slow_runs import until

from gpbandits.experiments import Store, Study, locks, run
from gpbandits.experiments.locks import NOTE, tidied
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry

pytestmark = pytest.mark.skipif(not locks.PROCESSES.is_dir(), reason="needs /proc")
STUDY = Study(
    "s",
    1,
    (EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 2, "num_arms": 3}),),
    (AgentEntry("random", "r"),),
)


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """Stands for the shared memory."""
    place = tmp_path / "shared"
    place.mkdir()
    monkeypatch.setattr(locks, "PLACES", (place,))
    return place


def left_by(pid, shared):
    folder = shared / f"joblib_memmapping_folder_{pid}_ab_cd"
    folder.mkdir()
    (folder / "array.pkl").write_bytes(b"x")
    (shared / f"sem.loky-{pid}-abc").write_bytes(b"x")


def test_what_belongs_to_a_run_that_goes_on_stays(tmp_path, shared):
    left_by(os.getpid(), shared)
    with tidied(tmp_path), tidied(tmp_path):
        assert len(list(shared.iterdir())) == 2


@pytest.mark.parametrize(
    ("change", "left"), [({}, 0), ({"world": "elsewhere"}, 2), ({"pid": os.getpid(), "started": 1}, 2)]
)
def test_what_a_killed_run_left_is_removed_and_what_may_be_somebody_elses_stays(
    tmp_path, shared, change, left
):
    own = locks.process_of(os.getpid())
    assert own is not None
    given = {"pid": 2**22 + 5, "started": 7, "world": own.world, **change}
    (tmp_path / NOTE.format(**given)).touch()
    left_by(given["pid"], shared)
    left_by(1, shared)  # of a run elsewhere
    with tidied(tmp_path):
        assert len(list(shared.iterdir())) == 2 + left


PLAY = """
import sys
from pathlib import Path
from gpbandits.experiments import Store, Study, run
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry
environment = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 10**6, "num_arms": 3})
run(Study("s", 4, (environment,), (AgentEntry("random", "r"),), block_size=1), Store(Path(sys.argv[1])), 2)
"""


def left_of(pid: int) -> list[Path]:
    """What lies outside of its folder by the number of a run."""
    patterns = [pattern.format(pid=pid) for pattern in locks.PATTERNS]
    return [path for place in locks.PLACES for pattern in patterns for path in place.glob(pattern)]


@pytest.mark.long
def test_the_next_run_removes_what_a_killed_group_of_processes_left(tmp_path):
    store, code = Store(tmp_path / "cells"), [sys.executable, "-c", PLAY, str(tmp_path / "cells")]
    group = subprocess.Popen(code, start_new_session=True)
    try:
        until(lambda: left_of(group.pid) or group.poll() is not None)
    finally:
        os.killpg(group.pid, signal.SIGKILL)
        group.wait()
    assert left_of(group.pid), "nobody was left to tidy up"
    assert run(STUDY, store, 1) == []
    assert left_of(group.pid) == []


def test_the_next_run_removes_the_unfinished_files_of_killed_savers_and_no_others(tmp_path):
    left, foreign = tmp_path / f".killed.parquet.{'0' * 32}.part", tmp_path / ".download.part"
    for path in (left, foreign):
        path.touch()
        os.utime(path, (0, 0))
    assert run(STUDY, Store(tmp_path), 1) == []
    assert (left.exists(), foreign.exists()) == (False, True)

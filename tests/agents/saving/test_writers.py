"""Files of tuners where writers were killed, and where the file system has no locks."""

import errno
import fcntl
import os
import time
import uuid

import pytest

from agents import Linear, Tuner
from bandit_envs.basics.files import SETTLED


@pytest.fixture
def tuner():
    tuner = Tuner({"x": Linear(0, 1)}, agent="random")
    tuner.ask()
    return tuner


def unfinished(path, age):
    left = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    left.write_bytes(b"{")
    os.utime(left, (time.time() - age,) * 2)
    return left


def test_what_killed_savers_have_left_goes_with_the_next_save_of_the_same_file(tuner, tmp_path):
    path = tmp_path / "t[1].json"
    settled, young = unfinished(path, 2 * SETTLED), unfinished(path, 0.0)
    other = unfinished(tmp_path / "other.json", 2 * SETTLED)
    tuner.save(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, young, other])
    assert not settled.exists()


def test_a_file_that_somebody_writes_stays(tuner, tmp_path):
    path = tmp_path / "t.json"
    alive = unfinished(path, 2 * SETTLED)
    with alive.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        tuner.save(path)
    assert alive.exists()


def test_without_locks_of_the_file_system_a_tuner_is_saved_and_run(tuner, tmp_path, monkeypatch):
    def no_locks(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    tuner.save(tmp_path / "t.json")
    tuner.optimise(lambda x: x, 2, file=tmp_path / "t.json")
    assert len(Tuner.load(tmp_path / "t.json").experiments) == 2

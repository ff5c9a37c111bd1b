"""Files with several writers, with writers that were killed, and on full disks and disks without locks."""

import errno
import fcntl
import os
import resource
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest

import agents
from agents import Linear, Tuner
from agents.rl.policy import Policy
from agents.tuning import PreferenceTuner
from bandit_envs import Setting
from bandit_envs.basics.files import SETTLED

SPACE = {"x": Linear(0, 1)}


def asked_tuner():
    tuner = Tuner(SPACE, agent="random")
    tuner.ask()
    return tuner


def asked_preferences():
    tuner = PreferenceTuner(SPACE, num_arms=8)
    tuner.ask()
    return tuner


def played_agent():
    agent = agents.make("random", Setting(arms=[[0.0], [1.0]]))
    agent.reset(0)
    agent.act(0)
    return agent


def policy():
    return Policy("ppo", {}, False, "context", {}, {})


def needs(kind):
    missing = kind == "policy" and find_spec("torch") is None
    skipped = pytest.mark.skipif(missing, reason="the extra `rl` is not installed")
    return (skipped, pytest.mark.long) if kind == "policy" else (skipped,)  # torch is imported for seconds


SAVERS = {"tuner": asked_tuner, "preferences": asked_preferences, "agent": played_agent, "policy": policy}
LOADERS = {"tuner": Tuner, "preferences": PreferenceTuner, "agent": agents, "policy": Policy}
each_saver = pytest.mark.parametrize("kind", [pytest.param(kind, marks=needs(kind)) for kind in SAVERS])


@pytest.fixture
def tuner():
    return asked_tuner()


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


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_without_locks_of_the_file_system_a_tuner_is_saved_and_run(tuner, tmp_path, monkeypatch, number):
    def no_locks(*arguments):
        raise OSError(number, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    tuner.save(tmp_path / "t.json")
    tuner.optimise(lambda x: x, 2, file=tmp_path / "t.json")
    assert len(Tuner.load(tmp_path / "t.json").experiments) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


@pytest.fixture
def full_disk(monkeypatch):
    """Make every write to an open file fail, as on a full disk, while the context is open."""

    def fill():
        def no_space(*arguments):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", no_space)
        monkeypatch.setattr(os, "fsync", no_space)

    return fill


@each_saver
def test_a_full_disk_keeps_the_old_file_and_no_lock(kind, tmp_path, full_disk, monkeypatch):
    path, saver = tmp_path / "t.json", SAVERS[kind]()
    saver.save(path)
    old = path.read_bytes()
    full_disk()
    with pytest.raises(OSError, match="No space left"):
        saver.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert [each.name for each in tmp_path.iterdir()] == ["t.json"]
    saver.save(path)


def test_a_run_whose_file_cannot_grow_ends_keeps_what_it_saved_and_frees_its_file(tmp_path):
    path, tuner = tmp_path / "t.json", Tuner(SPACE, agent="random")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**12, limits[1]))  # writes fail halfway, as on a full disk
    try:
        with pytest.raises(OSError, match="File too large"):
            tuner.optimise(lambda x: x, 1000, file=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert 5 < len(Tuner.load(path).experiments) <= len(tuner.experiments)
    assert [each.name for each in tmp_path.iterdir()] == ["t.json"]


@each_saver
def test_a_link_stays_and_its_target_is_replaced(kind, tmp_path):
    target, link = tmp_path / "folder" / "t.json", tmp_path / "link.json"
    target.parent.mkdir()
    link.symlink_to(target)
    SAVERS[kind]().save(link)
    SAVERS[kind]().save(link)
    assert link.is_symlink()
    assert not target.is_symlink()
    LOADERS[kind].load(target)
    assert [each.name for each in target.parent.iterdir()] == ["t.json"]


@each_saver
@pytest.mark.parametrize("other", [*SAVERS, "text"])
def test_a_file_of_another_kind_is_not_replaced(kind, other, tmp_path):
    path = tmp_path / "t.json"
    if other == kind:
        return
    if other == "text":
        path.write_text("a letter")
    else:
        SAVERS[other]().save(path)
    old = path.read_bytes()
    with pytest.raises(ValueError, match=r"path must be new, or a file .*t\.json"):
        SAVERS[kind]().save(path)
    assert path.read_bytes() == old


@each_saver
def test_a_pipe_or_a_circle_of_links_is_refused(kind, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    for name in ("pipe", "one"):
        with pytest.raises(ValueError, match="path must be new or a regular file"):
            SAVERS[kind]().save(tmp_path / name)


@each_saver
@pytest.mark.parametrize("path", [[1], {}, 3, None, "a\0b"])
def test_what_is_no_path_is_refused_by_savers_and_loaders(kind, path):
    for call in (SAVERS[kind]().save, LOADERS[kind].load):
        with pytest.raises(ValueError, match="path must be the path of a file"):
            call(path)


@each_saver
def test_while_one_saver_writes_another_of_the_file_is_refused(kind, tmp_path, monkeypatch):
    """Between the check of one and its writing nobody else's check and writing can happen."""
    path, outcomes = tmp_path / "t.json", []
    SAVERS[kind]().save(path)
    replace = os.replace

    def meanwhile(*arguments):
        monkeypatch.setattr(os, "replace", replace)
        try:
            SAVERS[kind]().save(path)
            outcomes.append("saved")
        except ValueError as error:
            outcomes.append(str(error))
        replace(*arguments)

    monkeypatch.setattr(os, "replace", meanwhile)
    SAVERS[kind]().save(path)
    assert len(outcomes) == 1
    assert "must be free" in outcomes[0]


ANSWERING = """
from agents.tuning import PreferenceTuner

def answer(path):
    '''Answer a question of a file as one of several persons, and return its ticket once it is saved.'''
    while True:
        tuner = PreferenceTuner.load(path)
        ticket, _ = tuner.ask()
        tuner.tell(ticket, "first")
        try:
            tuner.save(path)
        except ValueError:
            continue
        return ticket
"""


def require_kept(path, tickets):
    assert sorted(tickets) == list(range(8))
    assert [each.outcome for each in PreferenceTuner.load(path).questions] == [1.0] * 8


@pytest.mark.long
def test_no_acknowledged_answer_of_eight_threads_is_lost(tmp_path):
    """All give the same answers: one that is acknowledged is a question's only one."""
    path, known = tmp_path / "t.json", {}
    exec(ANSWERING, known)
    PreferenceTuner(SPACE, num_arms=4).save(path)
    with ThreadPoolExecutor(8) as pool:
        require_kept(path, list(pool.map(known["answer"], [path] * 8)))


FORKING = """
import os, sys
for _ in range(8):
    if os.fork() == 0:
        print(answer(sys.argv[1]), flush=True)
        os._exit(0)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_no_acknowledged_answer_of_eight_processes_is_lost(tmp_path):
    path = tmp_path / "t.json"
    PreferenceTuner(SPACE, num_arms=4).save(path)
    command = [sys.executable, "-c", ANSWERING + FORKING, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=True)
    require_kept(path, list(map(int, done.stdout.split())))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_copy_of_a_tuner_that_runs_does_not_write_its_file(tmp_path):
    path, tuner = tmp_path / "t.json", Tuner(SPACE, agent="random")

    def f(x):
        child = os.fork()
        if child == 0:
            try:
                tuner.save(path)
            except ValueError:
                os._exit(7)
            os._exit(0)
        return float(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    tuner.optimise(f, 1, file=path)
    assert tuner.experiments[0].value == 7.0


def test_a_lock_that_a_killed_process_left_frees_the_file(tuner, tmp_path):
    (tmp_path / ".t.json.lock").write_text("process 1 on another")
    tuner.save(tmp_path / "t.json")
    assert [each.name for each in tmp_path.iterdir()] == ["t.json"]


def test_a_saver_waits_for_another_process_a_moment(tuner, tmp_path):
    path = tmp_path / "t.json"
    lock = (tmp_path / ".t.json.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    freeing = threading.Timer(0.1, lock.close)
    freeing.start()
    tuner.save(path)
    freeing.join()
    assert path.exists()


@each_saver
def test_names_of_any_length_that_a_disk_takes_are_saved(kind, tmp_path):
    path = tmp_path / ("é" * 125 + ".json")
    SAVERS[kind]().save(path)
    LOADERS[kind].load(path)
    assert len(list(tmp_path.iterdir())) == 1

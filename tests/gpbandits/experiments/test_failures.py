"""Whatever an agent does, it costs its own cells alone, and the run says so at its end."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from study_cases import called

from gpbandits.experiments import Store, Study, check_study, run
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry
from gpbandits.experiments.work import Outcome

GP = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 5, "num_arms": 5})
LIMIT = 0.3  # seconds


class RudeError(BaseException):
    """Neither an Exception nor an exit."""


class UnspeakableError(Exception):
    """An error whose message is an error."""

    def __str__(self):
        raise SystemExit(3)


def raises(kind: Callable[..., BaseException], *arguments: object) -> Callable[[], None]:
    def act() -> None:
        raise kind(*arguments)

    return act


def catch_what_can_be_caught() -> None:
    while True:
        with suppress(Exception):
            time.sleep(60.0)


def loop() -> None:
    while True:
        pass


MISCHIEF: dict[str, Callable[[], object]] = {
    "exit 0": lambda: sys.exit(0),
    "exit 5": lambda: sys.exit(5),
    "exit with text": lambda: sys.exit("farewell"),
    "base exception": raises(RudeError, "no Exception"),
    "generator exit": raises(GeneratorExit),
    "cancelled": raises(asyncio.CancelledError),
    "surrogates": raises(RuntimeError, "half a pair: \udc80"),
    "no message": raises(UnspeakableError),
    "long message": raises(RuntimeError, "a" * 10**7),
    "group": raises(BaseExceptionGroup, "several", [RudeError(), ValueError()]),
}
HANGING: dict[str, Callable[[], object]] = {
    "sleep": lambda: time.sleep(60.0),
    "loop": loop,
    "catching": catch_what_can_be_caught,
}


class Mischievous:
    """An agent that plays arm 0 until, in the given method, it does something else."""

    def __init__(self, setting, kind, where="act"):
        self.kind, self.where = kind, where
        self._perhaps("__init__")

    def reset(self, seed):
        self._perhaps("reset")

    def act(self, observation):
        self._perhaps("act")
        return 0

    def update(self, observation, action, reward, info):
        self._perhaps("update")

    def _perhaps(self, where):
        if where == self.where:
            (MISCHIEF | HANGING | UNSTOPPABLE)[self.kind]()


def deaf() -> None:
    """Hang as compiled code does, which no signal interrupts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    time.sleep(60.0)


def lower(limit: int) -> None:
    """Keep this process from writing, or opening, any file from now on."""
    resource.setrlimit(limit, (0, 0))


# What no signal interrupts: compiled code, code that holds Python's lock, and a process that is stopped.
STANDING: dict[str, Callable[[], object]] = {
    "deaf": deaf,
    "holding": lambda: sum(repeat(0)),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}
OF_WORKERS: dict[str, Callable[[], object]] = {
    "keyboard interrupt": raises(KeyboardInterrupt),
    "size of files": lambda: lower(resource.RLIMIT_FSIZE),
    "number of files": lambda: lower(resource.RLIMIT_NOFILE),
}
UNSTOPPABLE: dict[str, Callable[[], object]] = {
    **STANDING,
    **OF_WORKERS,
    "death": lambda: os._exit(3),
    "ctrl-c": lambda: os.kill(os.getpid(), signal.SIGINT),
}


def study_of(kind: str, where: str = "act") -> Study:
    mischievous = AgentEntry("test_failures:Mischievous", kind, {"kind": kind, "where": where})
    return Study("s", 3, (GP,), (mischievous, AgentEntry("random", "random")), block_size=1)


def assert_its_own_cells_alone(failed: list[Outcome], which: Study, store: Store) -> None:
    mischievous, harmless = (which.cells_of(GP, agent) for agent in which.agents)
    assert [outcome.cell for outcome in failed] == mischievous
    assert all(map(store.holds, harmless))
    assert all(store.failure(cell) for cell in mischievous)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", MISCHIEF)
@pytest.mark.parametrize("where", ["reset", "act", "update"])
def test_mischief_costs_its_own_cells_alone(tmp_path, kind, where):
    which, store = study_of(kind, where), Store(tmp_path)
    assert_its_own_cells_alone(run(which, store, 1), which, store)


@pytest.mark.long
@pytest.mark.parametrize("kind", HANGING)
def test_a_cell_that_hangs_fails_at_its_time_limit(tmp_path, kind):
    which, store = study_of(kind), Store(tmp_path)
    failed = run(which, store, 1, time_limit=LIMIT)
    assert_its_own_cells_alone(failed, which, store)
    assert all("OverdueError: the cell took longer than its time limit" in each.reason for each in failed)


@pytest.mark.long
@pytest.mark.parametrize("kind", STANDING)
def test_what_no_signal_interrupts_ends_with_its_process(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("gpbandits.experiments.backends.MORE", 0.5)
    which, store = replace(study_of(kind), trials=1), Store(tmp_path)
    failed = run(which, store, 2, time_limit=3.0)  # the other cell takes far less, on a busy machine too
    assert_its_own_cells_alone(failed, which, store)
    assert "time limit" in failed[0].reason


@pytest.mark.long
@pytest.mark.parametrize("kind", [*MISCHIEF, *OF_WORKERS])
def test_processes_survive_mischief(tmp_path, kind):
    which, store = study_of(kind), Store(tmp_path)
    failed = run(which, store, 2)
    assert_its_own_cells_alone(sorted(failed, key=lambda each: each.cell.first_trial), which, store)


@pytest.mark.long
def test_a_signal_that_an_agent_sends_to_its_worker_as_ctrl_c_does_costs_nothing(tmp_path):
    which, store = study_of("ctrl-c"), Store(tmp_path)
    assert run(which, store, 2) == []
    assert all(map(store.holds, which.cells()))


def test_a_long_message_is_cut_where_it_is_kept_and_where_it_is_listed(tmp_path):
    which, store = replace(study_of("long message"), trials=1), Store(tmp_path)
    (failed,) = run(which, store, 1)
    assert len(failed.reason) < 1000
    assert len(store.failure(failed.cell)) < 100_000
    assert "RuntimeError: aaa" in store.failure(failed.cell)
    with pytest.raises(ValueError, match="characters are left out") as caught:
        check_study(study_of("long message", "__init__"))
    assert len(str(caught.value)) < 100_000


@pytest.mark.long
@pytest.mark.parametrize("cores", [1, 2])
def test_an_agent_that_ends_its_process_costs_its_own_cell_alone_also_where_that_is_the_last(
    tmp_path, monkeypatch, cores
):
    monkeypatch.setattr("gpbandits.experiments.backends.cpu_count", lambda: cores)
    which, store = replace(study_of("death"), trials=1), Store(tmp_path)
    for _ in range(2):  # at first two cells, then the one that failed
        (failed,) = run(which, store)
        assert failed.reason.startswith("the process that computed it died")
        assert_its_own_cells_alone([failed], which, store)


def test_ctrl_c_is_no_failure_of_an_agent(tmp_path, monkeypatch):
    monkeypatch.setitem(MISCHIEF, "ctrl-c", raises(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run(study_of("ctrl-c"), Store(tmp_path), 1)
    assert not list(tmp_path.glob("*.failed.txt"))


@pytest.mark.parametrize("kind", MISCHIEF)
def test_a_constructor_that_raises_whatever_it_likes_is_named_before_anything_is_computed(kind):
    with pytest.raises(ValueError, match=f"agent '{kind}' for 'GP' cannot be made"):
        check_study(study_of(kind, "__init__"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", HANGING)
def test_a_constructor_that_hangs_is_named_at_the_time_limit(kind):
    with pytest.raises(ValueError, match=f"agent '{kind}' for 'GP' cannot be made: .* time limit of 0.3 s"):
        check_study(study_of(kind, "__init__"), time_limit=LIMIT)


def test_so_is_an_environment_that_hangs(monkeypatch):
    monkeypatch.setitem(gym.registry, "Hanging-v0", EnvSpec("Hanging-v0", lambda: time.sleep(60.0)))
    which = Study("s", 1, (EnvironmentEntry("Hanging-v0", "slow"),), (AgentEntry("random", "random"),))
    with pytest.raises(ValueError, match=r"environment 'slow' cannot be made: .* time limit of 0.3 s"):
        check_study(which, time_limit=LIMIT)


def test_an_id_without_its_version_is_refused_before_anything_is_written():
    which = Study("s", 1, (EnvironmentEntry("GPBandit-GP", "GP"),), (AgentEntry("random", "random"),))
    with pytest.raises(ValueError, match=r"environment 'GP' cannot be made: id must be .* such as .*-v0"):
        check_study(which)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_time_limit_is_above_0(tmp_path, limit):
    with pytest.raises(ValueError, match="time_limit must be a number of seconds above 0"):
        run(study_of("exit 0"), Store(tmp_path), 1, time_limit=limit)


@pytest.mark.long
def test_a_run_ends_with_a_list_of_what_failed_and_code_1(tmp_path, monkeypatch, capsys, without_figures):
    monkeypatch.chdir(tmp_path)
    agents = "\n".join(
        f'[[agents]]\nname = "test_failures:Mischievous"\nlabel = "{kind}"\noptions = {{ kind = "{kind}" }}'
        for kind in (*MISCHIEF, "loop")
    )
    environment = (
        '[[environments]]\nid = "GPBandit-GP-v0"\nlabel = "GP"\nkwargs = { horizon = 5, num_arms = 5 }'
    )
    random = '[[agents]]\nname = "random"'
    Path("study.toml").write_text(f'[study]\nname = "s"\ntrials = 1\n{environment}\n{agents}\n{random}\n')
    arguments = ("study.toml", "--out", "out", "--workers", 1, "--time-limit", LIMIT)
    code, out, err = called(capsys, "run", *arguments)
    assert code == 1
    assert "random" in out
    head, _, listed = err.partition(f"{1 + len(MISCHIEF)} cells failed")
    assert "Traceback" in head
    for kind in (*MISCHIEF, "loop"):
        assert f"  {kind} on GP, trials 0 to 0: " in listed
    assert "SystemExit: 5" in listed
    assert r"half a pair: \udc80" in listed
    assert called(capsys, "status", "out")[0] == 0

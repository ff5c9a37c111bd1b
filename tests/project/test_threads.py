"""Loops run their linear algebra on one thread, whatever the shell says, and leave it as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from players import FirstArm
from threadpoolctl import threadpool_info

from bandit_envs import BanditVectorEnv, make
from bandit_envs.basics.threads import one_thread
from bandit_envs.problem.problem import Problem
from gpbandits import Integer, Tuner, check_agent, evaluate, threads

SMALL = {"num_arms": 3, "horizon": 2}


def in_use() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


class Watching(FirstArm):
    seen: ClassVar[list[set[int]]] = []

    def __init__(self, setting):
        Watching.seen.append(in_use())

    def act(self, observation):
        Watching.seen.append(in_use())
        return 0

    @property
    def track(self):
        """What an isolated agent says of itself."""
        return str(in_use())


def by_evaluate():
    evaluate("GPBandit-GP-v0", {"watching": Watching}, trials=1, env_kwargs=SMALL)


def by_check_agent():
    check_agent(Watching, {"small": lambda: make("GPBandit-GP-v0", **SMALL)})


def by_a_tuner():
    tuner = Tuner({"x": Integer(0, 2)}, agent=Watching)
    tuner.tell(tuner.ask()[0], 1.0)
    tuner.ask()


def by_a_vector_reset():
    draw = Problem.draw

    def watched(self, *args):
        Watching.seen.append(in_use())
        return draw(self, *args)

    Problem.draw = watched
    BanditVectorEnv("gp", 2, **SMALL).reset(seed=0)
    Problem.draw = draw


LOOPS = {name.removeprefix("by_"): loop for name, loop in globals().items() if name.startswith("by_")}


def report() -> dict[str, list[list[int]]]:
    """Of each loop, the numbers of threads before, within and after it."""
    found = {}
    for name, loop in LOOPS.items():
        Watching.seen, before = [], in_use()
        loop()
        found[name] = [sorted(each) for each in (before, set().union(*Watching.seen), in_use())]
    return found


@pytest.fixture(scope="module")
def reported() -> dict[str, list[list[int]]]:
    code = "import json, test_threads; print(json.dumps(test_threads.report()))"
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, list(Path(__file__).parents)[:3]))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_runs_on_one_thread_and_leaves_their_number_as_it_was(loop, reported):
    assert reported[loop] == [[2], [1], [2]]


@pytest.mark.parametrize("loop", LOOPS.values())
def test_a_loop_runs_on_as_many_threads_as_the_user_says(loop, monkeypatch):
    monkeypatch.setattr(Watching, "seen", [])
    with threads(3):
        loop()
    assert set().union(*Watching.seen) == {3}


@pytest.mark.long
def test_an_isolated_agent_computes_on_as_many_threads_as_the_user_says():
    with threads(3):
        result = evaluate("GPBandit-GP-v0", {"watching": Watching}, trials=1, env_kwargs=SMALL, isolate=True)
    assert result.tracks["watching"] == "{3}"


def test_an_error_gives_the_threads_back():
    before = in_use()

    def fail():
        with threads(max(before) + 1):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert in_use() == before


def test_a_block_within_a_block_keeps_the_number_that_was_said():
    with threads(2):
        with one_thread():
            assert in_use() == {2}
        with threads(1):
            assert in_use() == {1}
        assert in_use() == {2}


@pytest.mark.parametrize("number", [0, -1, 1.5, "two", None, True])
def test_a_number_of_threads_is_a_positive_integer(number):
    with pytest.raises(ValueError, match="threads must be a positive integer"), threads(number):
        pass

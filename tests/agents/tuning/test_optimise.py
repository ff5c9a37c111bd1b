"""A tuner that runs its experiments itself loses none but those that were running."""

import os
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from agents import Integer, Linear, Tuner

SPACE = {"x": Linear(0, 1), "y": Linear(0, 1)}


def value(x, y):
    return x - (y - 0.5) ** 2


def test_one_worker_asks_and_tells_in_turn():
    tuner, by_hand = (Tuner(SPACE, seed=3) for _ in range(2))
    best = tuner.optimise(value, 8)
    for _ in range(8):
        ticket, parameters = by_hand.ask()
        by_hand.tell(ticket, value(**parameters))
    assert tuner.experiments == by_hand.experiments
    assert best == by_hand.best


@pytest.mark.parametrize(
    ("returned", "constraints", "told"),
    [
        (np.float32(0.5), (), {"value": 0.5}),
        ((0.5, {"heat": -1}), ("heat",), {"value": 0.5, "costs": {"heat": -1.0}}),
        ({"value": 0.5, "std": 0.1, "spent": 2.0}, (), {"value": 0.5, "std": 0.1, "spent": 2.0}),
    ],
    ids=["number", "pair", "dict"],
)
def test_f_returns_what_tell_takes(returned, constraints, told):
    budget = 100.0 if "spent" in told else None
    agent = "gp-bucb" if budget else None
    tuner = Tuner(SPACE, constraints=constraints, cost_budget=budget, agent=agent)
    tuner.optimise(lambda x, y: returned, 2)
    for each in tuner.experiments:
        assert {name: getattr(each, name) for name in told} == told


def test_one_that_only_fails_is_warned_of():
    with pytest.warns(UserWarning, match="all 3 experiments failed, the last with ZeroDivisionError"):
        best = Tuner(SPACE).optimise(lambda x, y: 1 / 0, 3)
    assert best is None


def test_threads_run_side_by_side_and_never_too_many():
    running, most, lock = [0], [0], threading.Lock()

    def counted(x, y):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        return value(x, y)

    tuner = Tuner(SPACE, max_pending=3)
    tuner.optimise(counted, 12, workers=3, backend="threads")
    assert [each.state for each in tuner.experiments] == ["told"] * 12
    assert most[0] == 3


@pytest.mark.long
def test_processes_take_lambdas_and_outlive_those_that_die(tmp_path):
    here, dead = os.getpid(), str(tmp_path / "dead")

    def computes(x, y):
        assert os.getpid() != here
        try:
            open(dead, "x").close()  # of all that may come first, one does
        except FileExistsError:
            return x + y
        os._exit(3)

    tuner = Tuner(SPACE, agent="random")
    tuner.optimise(computes, 4, workers=2)
    failed = [each for each in tuner.experiments if each.state == "failed"]
    assert len(tuner.experiments) == 4
    assert len(failed) == 1
    assert "process died" in failed[0].reason


def test_what_was_interrupted_is_done_first(tmp_path):
    calls = []

    def interrupted(x, y):
        calls.append((x, y))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return value(x, y)

    path = tmp_path / "t.json"
    tuner = Tuner(SPACE, seed=2)
    with pytest.raises(KeyboardInterrupt):
        tuner.optimise(interrupted, 8, file=path)
    for each in (tuner, Tuner.load(path)):
        assert [line.state for line in each.experiments] == [*["told"] * 3, "pending"]
    loaded, whole = Tuner.load(path), Tuner(SPACE, seed=2)
    loaded.optimise(interrupted, 5)
    assert calls[4] == calls[3]
    whole.optimise(value, 8)
    assert loaded.experiments == whole.experiments


KILLED = """
import sys, time
from agents import Linear, Tuner

def waits(x):
    time.sleep(0.05)
    return x

if __name__ == "__main__":
    tuner = Tuner({"x": Linear(0, 1)}, agent="random", seed=1)
    tuner.optimise(waits, 1000, 2, backend="threads", file=sys.argv[1])
"""


@pytest.fixture
def running(tmp_path):
    """Another process that runs experiments of a file, and the file."""
    script, path = tmp_path / "run.py", tmp_path / "t.json"
    script.write_text(KILLED)
    root = str(Path(__file__).parents[3])
    run = subprocess.Popen(
        [sys.executable, str(script), str(path)], cwd=root, env={**os.environ, "PYTHONPATH": root}
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 2000):
        time.sleep(0.05)
    yield run, path
    run.kill()
    run.wait()


def told(path):
    return sum(each.state == "told" for each in Tuner.load(path).experiments)


@pytest.mark.long
def test_a_file_that_another_process_runs_is_refused_by_its_name_and_loses_nothing(running):
    run, path = running
    other = Tuner.load(path)
    for attempt in (partial(other.optimise, lambda x: x, 1, file=path), partial(other.save, path)):
        with pytest.raises(ValueError, match=rf"process {run.pid} on .* wait for it.*Optuna"):
            attempt()
    assert len(other.experiments) == len(Tuner.load(path).experiments[: len(other.experiments)])
    before = told(path)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and told(path) == before:
        time.sleep(0.05)
    assert told(path) > before


def test_no_tuner_overwrites_the_experiments_of_another(tmp_path):
    path = tmp_path / "t.json"
    Tuner(SPACE, seed=1).optimise(value, 3, file=path)
    fresh = Tuner(SPACE, seed=2)
    with pytest.raises(ValueError, match=r"3 experiments that saving would lose.*Tuner\.load"):
        fresh.optimise(value, 2, file=path)
    assert not fresh.experiments
    one, two = Tuner.load(path), Tuner.load(path)
    one.optimise(value, 1, file=path)
    with pytest.raises(ValueError, match="4 experiments that saving would lose"):
        two.optimise(value, 1, file=path)
    with pytest.raises(ValueError, match=r"path must be .* 4 experiments that saving would lose"):
        two.save(path)
    one.optimise(value, 1, file=path)
    one.save(path)
    assert told(path) == 5


def test_a_folder_that_does_not_exist_is_named_not_a_file_beside_the_tuners(tmp_path):
    with pytest.raises(ValueError, match=r"path must be in a folder that exists, got '.*/none/t.json'"):
        Tuner(SPACE).save(tmp_path / "none" / "t.json")


@pytest.mark.parametrize("missing", range(4))
def test_what_another_tuner_was_told_of_the_same_experiments_is_not_overwritten(tmp_path, missing):
    news = [
        lambda tuner: tuner.tell(0, 1.0),
        lambda tuner: tuner.drop(1),
        lambda tuner: tuner.fail(2, "it broke"),
        lambda tuner: tuner.tell(3, 2.0),
    ]
    path, tuner = tmp_path / "t.json", Tuner(SPACE)
    tuner.ask(4)
    tuner.save(path)
    other = Tuner.load(path)
    for each in news:
        each(tuner)
    tuner.save(path)
    for each in news[:missing] + news[missing + 1 :]:
        each(other)
    with pytest.raises(ValueError, match="4 experiments that saving would lose"):
        other.optimise(value, 1, file=path)
    news[missing](other)
    assert other.optimise(value, 1, file=path) is not None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_a_kill_at_any_moment_damages_nothing_and_frees_the_file(running, seed):
    run, path = running
    time.sleep(np.random.default_rng(seed).uniform(0.0, 0.3))
    run.kill()
    run.wait()
    tuner, before = Tuner.load(path), told(path)
    assert before >= 2
    assert 0 <= len(tuner.pending) <= 2
    more = len(tuner.pending) + 1
    tuner.optimise(lambda x: x, more, file=path)
    assert not Tuner.load(path).pending
    assert told(path) == before + more
    assert not list(path.parent.glob(".*.lock"))


def test_it_ends_when_the_budget_is_spent():
    tuner = Tuner(SPACE, cost_budget=5.0, agent="gp-bucb")
    tuner.optimise(lambda x, y: {"value": x, "spent": 2.0}, 10)
    assert len(tuner.experiments) == 3
    assert tuner.left == -1.0


def test_times_and_contexts_go_with_it():
    hours = iter(range(100))
    tuner = Tuner(SPACE, contexts={"oven": Integer(1, 2)}, clock=10.0)
    other = tuner.ask({"oven": 1}, time=-5.0)[0]
    again = tuner.ask({"oven": 2}, time=-4.0)[0]
    tuner.optimise(value, 3, context={"oven": 2}, time=lambda: float(next(hours)))
    assert list(tuner.pending) == [other]
    assert tuner.experiments[again].state == "told"
    assert [each.context["time"] for each in tuner.experiments] == [-5.0, -4.0, 0.0, 1.0]


def answers(result):
    return lambda: Tuner(SPACE).optimise(lambda x, y: result, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Tuner(SPACE).optimise(lambda x: x, 3), "f must be a function that takes x, y by keyword"),
        (lambda: Tuner(SPACE).optimise(value, 0), "n must be a positive integer"),
        (lambda: Tuner(SPACE).optimise(value, 1, context=5), "context must be"),
        (lambda: Tuner(SPACE).optimise(value, 3, 0), "workers must be a positive integer"),
        (lambda: Tuner(SPACE).optimise(value, 3, 10**12), "workers must be .* integer of at most 1024"),
        (lambda: Tuner(SPACE, max_pending=2).optimise(value, 3, "2"), "workers must be a positive integer"),
        (lambda: Tuner(SPACE, max_pending=2).optimise(value, 3, 4), "at most max_pending, which is 2"),
        (lambda: Tuner(SPACE).optimise(value, 3, 2, backend="dask"), "backend must be"),
        (lambda: Tuner(SPACE, clock=1.0).optimise(value, 3), "returns the time"),
        (lambda: Tuner(SPACE).optimise(value, 3, time=time.time), "returns the time"),
        (lambda: Tuner(SPACE).optimise(value, 3, target="low"), "target must be None or a finite number"),
        (lambda: Tuner(SPACE).optimise(value, 3, target=float("nan")), "target must be"),
        (lambda: Tuner(SPACE).optimise(value, 3, callback=3), "callback must be None or a function"),
        (lambda: Tuner(SPACE).optimise(value, 3, progress=1), "progress must be None, True or False"),
        (answers(None), "what f returns must be a number"),
        (answers("0.5"), "what f returns must be a number"),
        (answers({"loss": 3}), "what f returns must be a number"),
        (answers((1, 2, 3)), "what f returns must be a number"),
    ],
)
def test_what_cannot_be_run_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["value", "heat", "std"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_values_costs_and_deviations_that_are_none_are_failures(name, number):
    calls = []

    def fails(x, y):
        calls.append(x)
        told = {"value": x, "costs": {"heat": y}} if name == "heat" else {"value": x, "std": 0.1}
        if len(calls) % 2 == 0:
            told |= {"costs": {"heat": number}} if name == "heat" else {name: number}
        return told

    tuner = Tuner(SPACE, constraints=["heat"] if name == "heat" else (), seed=1)
    tuner.optimise(fails, 6)
    assert [each.reason for each in tuner.experiments] == [None, f"its {name} was {number}"] * 3


def test_a_file_is_one_by_whatever_path_it_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    path, tuner, fresh = tmp_path / "t.json", Tuner(SPACE, agent="random"), Tuner(SPACE)

    def again(x, y):
        for other in (tmp_path / "folder" / ".." / "t.json", tmp_path / "link" / "t.json"):
            for attempt in (partial(fresh.optimise, value, 1, file=other), partial(fresh.save, other)):
                with pytest.raises(ValueError, match="this process holds already"):
                    attempt()
        tuner.save(path)  # the one that runs may
        return value(x, y)

    tuner.optimise(again, 1, file=path)


@pytest.mark.parametrize("file", [[1], 3, "no/folder/t.json"])
def test_a_file_that_cannot_be_is_refused_before_anything_is_asked(file):
    tuner = Tuner(SPACE)
    with pytest.raises((ValueError, FileNotFoundError), match="file"):
        tuner.optimise(value, 2, file=file)
    assert not tuner.experiments

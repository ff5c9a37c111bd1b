"""A run ends at its target, reports each experiment, and loses no value that a function has returned."""

import os
import signal
import threading
import time

import pytest

import agents
from agents import Linear, Tuner

SPACE = {"x": Linear(0, 1)}


def square(x):
    return (x - 0.3) ** 2


@pytest.mark.parametrize("goal", ["minimise", "maximise"])
@pytest.mark.parametrize("workers", [1, 3])
def test_no_experiment_starts_once_the_target_is_reached(goal, workers):
    sign, tuner = 1 if goal == "minimise" else -1, Tuner(SPACE, goal=goal)
    best = tuner.optimise(lambda x: sign * square(x), 40, workers, backend="threads", target=sign * 1e-3)
    reached = [each for each in tuner.experiments if each.value is not None and sign * each.value <= 1e-3]
    assert sign * best.value <= 1e-3
    assert 1 <= len(reached) <= workers
    assert len(tuner.experiments) < 40
    assert not tuner.pending


def test_a_target_under_constraints_is_reached_by_what_keeps_them():
    tuner = Tuner(SPACE, constraints=["c"], agent="random")
    tuner.optimise(lambda x: (x, {"c": x - 0.5}), 30, target=0.2)
    *before, last = tuner.experiments
    assert 0.2 <= last.value <= 0.5
    assert all(each.value < 0.2 or each.value > 0.5 for each in before)


@pytest.mark.parametrize("workers", [1, 2])
def test_each_experiment_is_reported_after_it_was_saved(workers, tmp_path):
    file, seen = tmp_path / "t.json", []

    def report(experiment):
        seen.append(experiment)
        assert experiment in agents.load(file).experiments

    def f(x):
        if len(seen) == 2:
            raise FloatingPointError("cold")
        return x

    tuner = Tuner(SPACE, agent="random")
    tuner.optimise(f, 5, workers, backend="threads", file=file, callback=report)
    assert sorted(seen) == sorted(tuner.experiments)
    assert {each.state for each in seen} == {"told", "failed"}


def test_a_callback_may_end_a_run():
    tuner = Tuner(SPACE, agent="random")
    tuner.optimise(square, 20, callback=lambda each: each.ticket == 3)
    assert len(tuner.experiments) == 4


def test_progress_is_a_line_an_experiment(capsys):
    tuner = Tuner(SPACE, agent="random")
    tuner.optimise(square, 3, progress=True)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert [line.split(":")[0] for line in lines] == ["1/3", "2/3", "3/3"]
    assert lines[-1].endswith(f"best {tuner.best.value:.6g}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "low"}, "target must be None or a finite number"),
        ({"target": float("nan")}, "target must be"),
        ({"callback": 3}, "callback must be None or a function"),
        ({"progress": 1}, "progress must be True or False"),
    ],
)
def test_impossible_reports_are_refused_before_the_first_experiment(options, message):
    tuner = Tuner(SPACE)
    with pytest.raises(ValueError, match=message):
        tuner.optimise(square, 3, **options)
    assert tuner.experiments == []


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_while_a_value_is_told_and_saved_loses_none(tmp_path, monkeypatch):
    file, tuner = tmp_path / "t.json", Tuner(SPACE, agent="random")
    tell = Tuner.tell

    def interrupted(self, ticket, *args, **kwargs):
        interrupt()
        tell(self, ticket, *args, **kwargs)

    monkeypatch.setattr(Tuner, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tuner.optimise(square, 5, file=file)
    (told,) = agents.load(file).experiments
    assert told.state == "told"
    assert told.value == square(told.parameters["x"])


def test_ctrl_c_waits_for_threads_and_keeps_their_values():
    tuner, begun = Tuner(SPACE, agent="random"), threading.Barrier(3)

    def slow(x):
        begun.wait()
        time.sleep(0.2)
        return x

    def later():
        begun.wait()
        interrupt()

    threading.Thread(target=later).start()
    with pytest.raises(KeyboardInterrupt):
        tuner.optimise(slow, 6, 2, backend="threads")
    assert [each.state for each in tuner.experiments] == ["told", "told"]
    assert not tuner.pending

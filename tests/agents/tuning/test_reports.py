"""A run ends at its target, reports each experiment, and loses no value that a function has returned."""

import contextlib
import fcntl
import logging
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from itertools import count

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


def test_a_callback_may_end_a_run():
    tuner = Tuner(SPACE, agent="random")
    tuner.optimise(square, 20, callback=lambda each: each.ticket == 3)
    assert len(tuner.experiments) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_is_logged_without_a_handler_of_ours_and_reported_after_it_was_saved(workers, caplog, tmp_path):
    file, seen, calls = tmp_path / "t.json", [], count()

    def report(experiment):
        seen.append(experiment)
        assert experiment in agents.load(file).experiments

    def f(x):
        if next(calls) == 1:
            raise FloatingPointError("cold")
        return x

    tuner = Tuner(SPACE, agent="random", goal="minimize")
    with caplog.at_level("INFO", logger="gpbandits"):
        tuner.optimise(f, 4, workers, backend="threads", file=file, callback=report)
    assert sorted(seen) == sorted(tuner.experiments)
    assert {each.state for each in seen} == {"told", "failed"}
    first, *each, last = caplog.messages
    assert {record.name for record in caplog.records} == {"gpbandits.tuner"}
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert first == "4 experiments over x, to minimise"
    assert [line.partition(":")[0] for line in each] == ["1/4", "2/4", "3/4", "4/4"]
    assert any("failed FloatingPointError: cold at x=" in line for line in each)
    assert last == f"4 of 4 experiments were run, best {tuner.best_value:.6g}"
    assert not logging.getLogger("gpbandits.tuner").handlers


ON_TERMINAL = """
import logging, sys
from gpbandits import Tuner

def f(x):
    print("heard", flush=True)
    return x if x < 0.9 else 1 / 0

if __name__ == "__main__":
    logging.basicConfig(level=sys.argv[1], stream=sys.stdout)
    tuner = Tuner({"x": (0.0, 1.0)}, agent="random")
    tuner.optimise(f, 8, progress=None if sys.argv[2] == "default" else False)
"""


def shown_on_terminal(*argv, columns=80):
    """Return what a script writes to a terminal, without colours, and to its output, a pipe."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    call = [sys.executable, "-c", ON_TERMINAL, *argv]
    run = subprocess.Popen(call, stderr=terminal, stdout=subprocess.PIPE, env={**known, "TERM": "xterm"})
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal on Linux
        while more := os.read(master, 4096):
            shown += more
    os.close(master)
    out, _ = run.communicate()
    assert run.returncode == 0, shown
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()), out.decode()


@pytest.mark.long
def test_a_terminal_shows_a_bar_with_the_best_value_and_failures_in_80_columns():
    shown, out = shown_on_terminal("WARNING", "default")
    last = [line for line in re.split("[\r\n]+", shown) if line.strip()][-1]
    assert re.search(r"8/8 +best 0\.\d+(, \d failed)? +left 0:00:00", last), shown
    assert max(map(len, re.split("[\r\n]+", shown))) <= 80
    assert out == "heard\n" * 8


@pytest.mark.long
@pytest.mark.parametrize(("level", "progress"), [("WARNING", "off"), ("INFO", "default")])
def test_a_bar_is_off_where_asked_and_where_a_log_has_a_line_an_experiment(level, progress):
    shown, out = shown_on_terminal(level, progress)
    assert shown == ""
    assert out.count("INFO:gpbandits.tuner:") == (0 if level == "WARNING" else 10)


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

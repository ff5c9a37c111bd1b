"""A tuner is before a call or after it, whatever interrupts the call, and nobody edits its history."""

import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from players import FirstArm, ask_and_tell

import agents
from agents import Categorical, Integer, Tuner

SPACE = {"x": Integer(1, 9), "kind": Categorical(["a", "b"])}
PACKAGE = str(Path(agents.__file__).parent)
TUNING = str(Path(agents.__file__).parent / "tuning")


class Interruption(BaseException):
    """What Ctrl-C raises, for a test."""


def interrupted(call, after, within=TUNING):
    """Whether so many lines of some modules were reached, where the call is interrupted."""
    left = [after]

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(within):
            return None
        if event == "line":
            left[0] -= 1
            if left[0] < 0:
                raise Interruption
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Interruption:
        return True
    finally:
        sys.settrace(before)
    return False


def value(parameters):
    return -((parameters["x"] - 4) ** 2) - (parameters["kind"] == "a")


def started(agent, told=4):
    tuner = Tuner(SPACE, agent=agent, seed=3)
    ask_and_tell(tuner, value, told)
    tuner.ask()
    tuner.ask()
    tuner.tell(told, 0.5)
    return tuner


CALLS = {
    "ask": lambda tuner: tuner.ask(),
    "ask(3)": lambda tuner: tuner.ask(3),
    "tell": lambda tuner: tuner.tell(5, 0.25),
    "drop": lambda tuner: tuner.drop(5),
    "fail": lambda tuner: tuner.fail(5, "it melted"),
    "add": lambda tuner: tuner.add({"x": 2, "kind": "b"}, 1.0),
}
LEARNING = ("gp-bucb", {"initial": 2, "refit_every": 2})


def goes_on(tuner, rounds=2):
    return ask_and_tell(tuner, value, rounds)


def assert_before_or_after(agent, name, lines, within):
    """Interrupt a call after each of some numbers of lines; the tuner goes on as one that was not."""
    start = started(agent)
    call, before = CALLS[name], start.experiments
    done = deepcopy(start)
    call(done)
    after, ends = done.experiments, {False: goes_on(deepcopy(start)), True: goes_on(deepcopy(done))}
    for line in lines:
        tuner = deepcopy(start)
        if not interrupted(lambda tuner=tuner: call(tuner), line, within):
            return line
        assert tuner.experiments in (before, after)
        happened = tuner.experiments == after
        assert goes_on(tuner) == ends[happened]
    return None


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupted_call_has_happened_or_has_not(name):
    assert assert_before_or_after("random", name, range(1000), TUNING) > 0


@pytest.mark.parametrize("agent", ["gp-bucb", LEARNING], ids=["plain", "learning"])
def test_so_has_one_that_is_interrupted_inside_the_agent(agent):
    lines = np.random.default_rng(0).integers(250, size=2).tolist()
    assert assert_before_or_after(agent, "ask", lines, PACKAGE) is None


class Fails(FirstArm):
    """Plays at random, and fails when it is told to."""

    now = False

    def __init__(self, setting):
        self.num_arms = len(setting.arms)

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)

    def act(self, observation):
        arm = int(self.rng.integers(self.num_arms))
        if Fails.now:
            raise RuntimeError("no idea")
        return arm


def test_a_question_that_failed_was_never_asked(tmp_path, monkeypatch):
    path = f"{__name__}:Fails"
    failing, other = Tuner(SPACE, agent=path), Tuner(SPACE, agent=path)
    assert goes_on(failing) == goes_on(other)
    monkeypatch.setattr(Fails, "now", True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no idea"):
            failing.ask()
    monkeypatch.setattr(Fails, "now", False)
    assert failing.pending == {}
    failing.save(tmp_path / "tuner.json")
    loaded = Tuner.load(tmp_path / "tuner.json", trust=True)
    assert goes_on(loaded) == goes_on(failing) == goes_on(other)


def test_what_a_tuner_hands_out_are_copies():
    options = {"window": 5}
    tuner = Tuner(SPACE, agent=("gp-ucb-sdf", options), contexts={"size": Integer(1, 3)}, constraints=[])
    context = {"size": 2}
    _, first = tuner.ask(context)
    tuner.tell(0, 1.0)
    tuner.ask(context)
    known, waiting = tuner.experiments, tuner.pending
    handed = [first, tuner.best.parameters, tuner.best.context, tuner.pending[1], context, options]
    handed += [tuner.recommend({"size": 2}).parameters, tuner.experiments[0].parameters, tuner.plan.agent[1]]
    copies = deepcopy(known), deepcopy(waiting)
    for each in handed[:-1]:
        each["x"] = 100
    assert (tuner.experiments, tuner.pending) == copies
    assert tuner.plan.agent == ("gp-ucb-sdf", {"window": 5})

"""A loaded tuner goes on without choosing again, and a question costs as much after many results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, representatives
from tuner_cases import content_of

from agents import Integer, Linear, Tuner
from agents.agent.gp_agent import GPAgent
from agents.box import search
from agents.model.hyperparameters import Fitter
from agents.posteriors import decomposition
from agents.posteriors.play_factor import PlayFactor
from agents.real.choice import IN_CONTEXTS
from agents.saving.files import read, write
from agents.tuning.running import FORM

SPACES = {
    "box": {"x": Linear(0, 1), "y": Linear(0, 1)},
    "set": {"x": Integer(1, 6), "y": Integer(1, 3)},
}
BRIEF = {"search": {"candidates": 8, "starts": 1, "steps": 2}}
LEARNS = {"refit_every": 3, "initial": 2}
LEARNING = ("gp-bucb", LEARNS)


def value(parameters: dict[str, Any]) -> float:
    return -((parameters["x"] - 0.3) ** 2) - (parameters["y"] - 0.6) ** 2


def tuned(tuner: Tuner, rounds: int) -> list[dict[str, Any]]:
    """Go on for some rounds, of which one experiment is always running; what was asked."""
    asked = []
    for _ in range(rounds):
        ticket, parameters = tuner.ask()
        asked.append(parameters)
        if ticket:
            each = tuner.pending[ticket - 1]
            tuner.tell(ticket - 1, value(each), dict.fromkeys(tuner.plan.constraints, each["x"] - 0.5))
    return asked


def named(*chosen: str) -> list[Any]:
    """An agent of each shape, as it is and learning its kernel; in long runs but for the chosen ones."""
    return [
        pytest.param(
            (name, options),
            id=f"{name}{' that learns' if LEARNS.items() <= options.items() else ''}",
            marks=[] if name in chosen else pytest.mark.long,
        )
        for name in dict.fromkeys([*chosen, *representatives(BATCHED)])
        for options in (BRIEF, BRIEF | LEARNS)
    ]


def tuner_of(space: str, agent: Any) -> Tuner:
    """One whose agent resumes from notes; others are no case of this file."""
    try:
        tuner = Tuner(SPACES[space], agent=agent, seed=4, num_arms=20, budget=20)
        tuner.ask()
    except (ValueError, ModuleNotFoundError) as error:
        pytest.skip(f"does not play here: {error}")
    if content_of(tuner)["notes"] is None:
        pytest.skip("is asked again what it was asked")
    return tuner


def assert_goes_on(tuner: Tuner, path: Any) -> None:
    tuned(tuner, 7)
    tuner.save(path)
    loaded = Tuner.load(path)
    assert loaded.experiments == tuner.experiments
    assert tuned(loaded, 4) == tuned(tuner, 4)


@pytest.mark.parametrize("agent", named("gp-bucb"))
def test_on_a_box_it_asks_what_the_other_asks(agent, tmp_path):
    assert_goes_on(tuner_of("box", agent), tmp_path / "t.json")


@pytest.mark.parametrize("agent", named("gp-ts"))
def test_on_a_set_too(agent, tmp_path):
    assert_goes_on(tuner_of("set", agent), tmp_path / "t.json")


def test_and_under_constraints(tmp_path):
    agent = ("constrained-ei", {"hallucinate": True, **BRIEF})
    assert_goes_on(Tuner(SPACES["box"], agent=agent, constraints=["cost"]), tmp_path / "t.json")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("constraints", [(), ("cost",)])
def test_loading_neither_searches_nor_fits_nor_factorises(constraints, tmp_path, monkeypatch):
    tuner = Tuner(SPACES["box"], constraints=constraints)
    tuned(tuner, 12)
    tuner.save(tmp_path / "t.json")

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("this was done before")

    for name in ("rows", "gain"):
        monkeypatch.setattr(PlayFactor, name, property(never))
    monkeypatch.setattr(GPAgent, "act", never)
    monkeypatch.setattr(Fitter, "fit", never)
    Tuner.load(tmp_path / "t.json")


def test_a_file_without_notes_is_played_again(tmp_path):
    tuner, path = Tuner(SPACES["set"], agent=LEARNING), tmp_path / "t.json"
    tuned(tuner, 8)
    tuner.save(path)
    content = read(path, FORM)
    assert content.pop("notes")
    write(path, FORM, content)
    assert tuned(Tuner.load(path), 4) == tuned(tuner, 4)


STATE = {"bit_generator": "PCG64", "state": {"state": -1, "inc": 0}, "has_uint32": 0, "uinteger": 0}
FORGED = [3, {}, {"found": []}, {"samples": 1}, {"samples": [["x"]]}, {"samples": [{}]}, {"samples": [STATE]}]
FORGED += [{"samples": [STATE | {"bit_generator": "MT19937"}]}, {"samples": []}]


@pytest.mark.parametrize("notes", FORGED, ids=str)
def test_notes_that_are_none_are_refused(notes, tmp_path):
    tuner, path = Tuner(SPACES["set"], agent=LEARNING), tmp_path / "t.json"
    tuned(tuner, 5)
    tuner.save(path)
    content = read(path, FORM)
    notes = {**content["notes"], **notes} if notes and notes != 3 and "samples" in notes else notes
    write(path, FORM, {**content, "notes": notes})
    with pytest.raises(ValueError, match=r"notes|play again"):
        Tuner.load(path)


@pytest.mark.parametrize(
    "forge",
    [
        lambda found: found[:-1],
        lambda found: [*found, found[-1]],
        lambda found: [*found[:-1], found[-1][-2:]],
    ],
    ids=["too few", "too many", "too short"],
)
def test_other_fits_than_were_made_are_refused(forge, tmp_path):
    tuner, path = Tuner(SPACES["box"], agent=("gp-bucb", BRIEF | LEARNS)), tmp_path / "t.json"
    tuned(tuner, 12)
    tuner.save(path)
    content = read(path, FORM)
    found = content["notes"]["found"]
    assert found[-1]
    write(path, FORM, {**content, "notes": {**content["notes"], "found": forge(found)}})
    with pytest.raises(ValueError, match=r"play again.*fit"):
        Tuner.load(path)


def test_on_a_set_only_questions_since_the_last_fit_are_asked_again(tmp_path, monkeypatch):
    tuner = Tuner(SPACES["set"], agent=LEARNING, standardise=False)
    tuned(tuner, 11)
    tuner.save(tmp_path / "t.json")
    act, asked = GPAgent.act, []
    monkeypatch.setattr(GPAgent, "act", lambda *given: asked.append(1) or act(*given))
    Tuner.load(tmp_path / "t.json")
    assert 0 < len(asked) <= LEARNS["refit_every"]


def test_an_agent_that_is_told_a_history_fits_once(monkeypatch):
    fit, fits = Fitter.fit, []
    monkeypatch.setattr(Fitter, "fit", lambda *given: fits.append(1) or fit(*given))
    tuner = Tuner(SPACES["set"], agent=LEARNING)
    for _ in range(20):
        tuner.add({"x": 1, "y": 2}, 1.0)
    tuner.ask()
    assert len(fits) == 1


def informed(results: int, agent: Any = None) -> Tuner:
    """Return a tuner with past results, whose agent has observed them."""
    rng = np.random.default_rng(0)
    tuner = Tuner({"x": Linear(0, 1), "y": Linear(0, 1)}, agent=agent, budget=results + 20)
    for x, y in rng.random((results, 2)):
        tuner.add({"x": x, "y": y}, np.sin(5 * x) + y + 0.1 * rng.standard_normal())
    for _ in range(5):  # the first questions observe the history and learn a kernel
        question(tuner)
    return tuner


def question(tuner: Tuner) -> None:
    ticket, parameters = tuner.ask()
    tuner.tell(ticket, parameters["y"])


def calls(action: Callable[[], object], module: str = "") -> int:
    """Return how many functions an action calls, of modules whose names begin like this."""
    count = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and str(frame.f_globals.get("__name__", "")).startswith(module)

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_loading_a_tuner_takes_time_in_proportion_to_its_results(tmp_path):
    found = []
    for results in (150, 300):
        tuner = Tuner({"x": Linear(0, 1), "y": Linear(0, 1)}, agent="random", budget=results)
        for _ in range(results):
            question(tuner)
        tuner.save(tmp_path / "tuner.json")
        found.append(calls(lambda: Tuner.load(tmp_path / "tuner.json")))
    assert found[1] < 2.2 * found[0]


def test_the_tuner_itself_does_as_much_after_many_results_as_after_few(monkeypatch):
    monkeypatch.setattr(search, "climbed", lambda unit_surface, starts, steps: None)  # their number varies
    few, many = (calls(partial(question, informed(results)), "agents.tuning.") for results in (30, 120))
    assert few == many


def test_a_question_factorises_the_plays_only_where_the_kernel_was_learnt(monkeypatch):
    tuner, done, found = informed(40, IN_CONTEXTS), [], []
    factor, fit = decomposition.dpotrf, Fitter.fit
    monkeypatch.setattr(decomposition, "dpotrf", lambda *a, **b: done.append("factor") or factor(*a, **b))
    monkeypatch.setattr(Fitter, "fit", lambda *a, **b: done.append("fit") or fit(*a, **b))
    for _ in range(10):
        done.clear()
        question(tuner)
        found.append((done.count("fit"), done.count("factor")))
    assert sorted(set(found)) == [(0, 0), (1, 1)]

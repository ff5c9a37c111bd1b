"""A question and a report cost as much after many results as after few, apart from linear algebra."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from agents import Linear, Tuner
from agents.box import search
from agents.model.hyperparameters import Fitter
from agents.posteriors import decomposition
from agents.real.choice import IN_CONTEXTS


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

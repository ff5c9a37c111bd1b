"""A question and a report cost as much after many results as after few, apart from linear algebra."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest

from agents import Linear, Tuner
from agents.box import search
from agents.posteriors import decomposition
from agents.real.best_at_end import IN_CONTEXTS


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


def fits(tuner: Tuner) -> int:
    assert tuner._player is not None
    return len(tuner._player.agent.assumptions.fits)


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
    tuner, factorised = informed(40, IN_CONTEXTS), []
    factor = decomposition._factor
    monkeypatch.setattr(decomposition, "_factor", lambda *given: factorised.append(1) or factor(*given))
    found = []
    for _ in range(10):
        before, fitted = len(factorised), fits(tuner)
        question(tuner)
        found.append((fits(tuner) - fitted, len(factorised) - before))
    assert sorted(set(found)) == [(0, 0), (1, 1)]


@pytest.mark.parametrize(("rows", "share"), [(search.FULL, 1.0), (2 * search.FULL, 0.5)])
def test_under_more_plays_there_are_fewer_candidates(rows, share):
    class Flat:
        """Surface of equal scores, of which only the first candidates are returned."""

        low, anchors = np.zeros(2), np.empty((0, 2))

        class acquisition:
            pass

        def survey(self, unit):
            return search.Pool(unit, unit, np.zeros(len(unit)))

    Flat.acquisition.rows = rows
    pool = search.QuasiRandom(64)(Flat(), np.random.default_rng(0))
    assert len(pool.arms) == 64 * share


def test_a_factor_has_few_spare_rows():
    tuner = informed(100, IN_CONTEXTS)
    assert tuner._player is not None
    factor = tuner._player.agent.belief.mean_posterior.factor(0)
    assert factor.triangle.shape == (factor.used, factor.used)
    assert len(factor.rows.values) <= 1.25 * factor.used


def test_results_and_experiments_have_one_factor_while_nothing_is_pending():
    tuner = informed(100, IN_CONTEXTS)
    assert tuner._player is not None
    belief = tuner._player.agent.belief
    assert belief.mean_posterior is not belief.std_posterior
    assert belief.mean_posterior.factor(0).leads(belief.std_posterior.factor(0))
    (first, _), (second, parameters) = tuner.ask(2)
    tuner.tell(second, parameters["y"])
    tuner.ask()
    assert not belief.mean_posterior.factor(0).leads(belief.std_posterior.factor(0))
    tuner.tell(first, 0.0)

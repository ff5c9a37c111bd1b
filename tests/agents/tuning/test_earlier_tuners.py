"""Tuners that begin with the results of earlier ones, or of tables."""

import numpy as np
import pandas as pd
import pytest
from players import ask_and_tell

from agents import Categorical, Linear, Log, Tuner

PARAMETERS = {"rate": Log(1e-4, 1.0), "width": Linear(0.0, 2.0), "kind": Categorical(["a", "b"])}


def loss(rate, width, kind):
    """Return a loss with its least value at rate .01, width 1.4 and kind b."""
    return (np.log10(rate) + 2.0) ** 2 + 3.0 * (width - 1.4) ** 2 + (kind == "a")


def earlier(function=loss, count=25, seed=1):
    tuner, rng = Tuner(PARAMETERS, goal="minimise"), np.random.default_rng(seed)
    for _ in range(count):
        values = {
            "rate": 10.0 ** rng.uniform(-4, 0),
            "width": rng.uniform(0, 2),
            "kind": rng.choice(["a", "b"]),
        }
        tuner.add(values, 5.0 + 10.0 * function(**values))
    return tuner


def table(tuner):
    return [{**each.parameters, "value": each.value} for each in tuner.experiments]


def best_after(number, like, seed, **options):
    tuner = Tuner(PARAMETERS, goal="minimise", seed=seed, like=like, **options)
    ask_and_tell(tuner, lambda parameters: loss(**parameters), number)
    return tuner.best_value


@pytest.mark.parametrize("options", [{}, {"noise_std": 0.0}, {"num_arms": 10**4}])
def test_an_earlier_tuner_helps_the_first_questions(options):
    like = [earlier()]
    helped = [best_after(6, like, seed, **options) for seed in range(6)]
    alone = [best_after(6, [], seed, **options) for seed in range(6)]
    assert np.mean(helped) < 0.5 * np.mean(alone)


def test_tuners_frames_and_lists_of_dicts_ask_the_same():
    like = earlier()
    first = Tuner(PARAMETERS, goal="minimise", like=[like]).ask()
    assert Tuner(PARAMETERS, goal="minimise", like=[table(like)]).ask() == first
    assert Tuner(PARAMETERS, goal="minimise", like=[pd.DataFrame(table(like))]).ask() == first


def test_a_saved_tuner_still_knows_them(tmp_path):
    tuner = Tuner(PARAMETERS, goal="minimise", like=[earlier()])
    ask_and_tell(tuner, lambda parameters: loss(**parameters), 7)
    tuner.save(tmp_path / "tuner.json")
    assert Tuner.load(tmp_path / "tuner.json").ask() == tuner.ask()


ROWS = table(earlier(count=4))
WRONG = {
    "no list": (3.0, "like must be a list"),
    "text": ("earlier", "like must be a list"),
    "empty": ([[]], r"like\[0\] must be a tuner, a frame or a list"),
    "one row": ([ROWS[:1]], r"like\[0\] must be at least 3"),
    "nothing in common": ([[{"depth": 1.0, "value": 2.0}] * 4], r"like\[0\], row 0 must be exactly"),
    "one too many": ([[{**row, "depth": 3} for row in ROWS]], r"like\[0\], row 0 must be exactly"),
    "no value": ([[{**row, "value": None} for row in ROWS]], r"like\[0\], row 0: value must be a finite"),
    "infinite": ([[{**row, "value": np.inf} for row in ROWS]], r"like\[0\], row 0: value must be a finite"),
    "no choice": ([[{**row, "kind": "z"} for row in ROWS]], r"like\[0\]\['kind'\]"),
    "other goal": ([Tuner(PARAMETERS)], r"like\[0\] must be a tuner with the goal 'minimise'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_earlier_task_is_refused_by_name(name):
    given, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        Tuner(PARAMETERS, goal="minimise", like=given)


@pytest.mark.parametrize(
    "options",
    [{"agent": "gp-ucb"}, {"contexts": {"day": Linear(0, 1)}}, {"constraints": ["c"]}, {"cost_budget": 9.0}],
)
def test_where_it_cannot_be_used_it_is_refused(options):
    with pytest.raises(ValueError, match="like must be left out but with the default agent"):
        Tuner(PARAMETERS, goal="minimise", like=[earlier()], **options)


def test_values_all_equal_or_far_apart_tell_nothing_and_break_nothing():
    equal = [{**row, "value": 3.0} for row in table(earlier())]
    huge = [{**row, "value": 1e300 * (i % 2)} for i, row in enumerate(table(earlier()))]
    for rows in (equal, huge):
        assert np.isfinite(best_after(7, [rows], 0))

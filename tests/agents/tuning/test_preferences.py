"""A tuner that asks which of two is better: pairs, late answers, ties, an incumbent, files and errors."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import agents
from agents import Categorical, Linear
from agents.saving.files import read, write
from agents.tuning import PreferenceTuner
from agents.tuning.preferences import FORM

SPACE = {"x": Linear(-1.0, 1.0), "film": Categorical(["colour", "grey"])}


def liked(values):
    """What a person who likes x near 0.5 in colour thinks of it."""
    return -4.0 * (values["x"] - 0.5) ** 2 - (values["film"] == "grey")


def judge(pair):
    left, right = map(liked, pair)
    return "first" if left > right else "second" if right > left else "tie"


def run(tuner, count):
    asked = []
    for _ in range(count):
        ticket, pair = tuner.ask()
        tuner.tell(ticket, judge(pair))
        asked.append(pair)
    return asked


def tuner(**options):
    return PreferenceTuner(SPACE, num_arms=32, budget=60, **options)


@pytest.mark.parametrize("agent", ["maxminlcb", ("rucb", {"width": 1.0}), "double-ts"])
def test_it_finds_what_a_consistent_person_likes(agent):
    here = tuner(agent=agent)
    run(here, 60)
    best = here.recommend()
    assert liked(best.parameters) > sorted(map(liked, here.points))[-4]
    assert best.std > 0


def test_a_question_is_of_two_different_points():
    assert all(left != right for left, right in run(tuner(agent=("maxminlcb", {"width": 0.0})), 40))


def test_an_incumbent_is_asked_for_until_it_loses():
    here, champion = tuner(incumbent=True), None
    for _ in range(20):
        ticket, pair = here.ask()
        assert champion in (None, pair[0])
        outcome = judge(pair)
        here.tell(ticket, outcome)
        champion = pair[1] if outcome == "second" else pair[0]


def test_answers_come_late_and_in_any_order_and_a_tie_is_half_a_win_of_each():
    stds = []
    for order, dropped in (((3, 0, 2), True), ((0, 2, 3), False)):
        here = tuner(agent="double-ts")
        tickets = [ticket for ticket, _ in here.ask(4)]
        if dropped:
            here.drop(tickets[1])
        for i in order:
            here.tell(tickets[i], "tie")
        mean, std = here.utilities()
        np.testing.assert_allclose(mean, 0.0, atol=1e-9)
        stds.append(std)
    np.testing.assert_allclose(*stds, rtol=1e-9)


def test_the_incumbent_of_a_loaded_tuner_is_the_winner_of_the_last_answer(tmp_path):
    here = tuner(agent="double-ts", incumbent=True, seed=1)
    asked = here.ask(3)
    for ticket in (2, 0, 1):
        here.tell(ticket, "first")
    here.save(tmp_path / "tuner.json")
    again = agents.load(tmp_path / "tuner.json")
    assert again.ask() == (following := here.ask())
    assert following[1][0] == asked[1][1][0]


@pytest.mark.parametrize("incumbent", [False, True])
def test_a_question_that_the_tuner_would_not_ask_is_found_when_it_is_loaded(incumbent, tmp_path):
    here = tuner(incumbent=incumbent, seed=3)
    run(here, 6)
    here.save(tmp_path / "tuner.json")
    assert agents.load(tmp_path / "tuner.json").questions == here.questions
    first, second = here.questions[4].pair
    other = next(i for i in range(len(here.points)) if i not in (first, second))
    here.questions[4] = dataclasses.replace(here.questions[4], pair=(first, other))
    here.save(tmp_path / "other.json")
    with pytest.raises(ValueError, match="question 4 is of the points"):
        agents.load(tmp_path / "other.json")


LACKS = [(part, None) for part in ("order", "added", "questions", "plan", "parameters")]


@pytest.mark.parametrize(
    ("part", "given"), [*LACKS, *(("order", each) for each in ([0], [0, 1, 2, 2], [0, 1, 3], "0"))]
)
def test_a_file_that_lacks_something_or_has_an_impossible_order_of_answers_is_damaged(part, given, tmp_path):
    here = tuner(agent="double-ts", incumbent=True)
    run(here, 3)
    here.ask()
    here.save(path := tmp_path / "tuner.json")
    content = {**read(path, FORM), part: given}
    if given is None:
        del content[part]
    path.unlink()
    write(path, FORM, content)
    with pytest.raises(ValueError, match="is damaged" if given is None else "order|damaged"):
        agents.load(path)


def test_answers_in_a_file_are_not_overwritten_by_a_tuner_that_lacks_them(tmp_path):
    path = tmp_path / "tuner.json"
    tuner().save(path)
    one, other, third = (agents.load(path) for _ in range(3))
    run(one, 2)
    one.save(path)
    with pytest.raises(ValueError, match="2 questions that saving would lose"):
        third.save(path)  # without questions
    other.tell(other.ask()[0], "first")
    other.ask()  # two questions too, one without an answer
    with pytest.raises(ValueError, match="2 questions that saving would lose"):
        other.save(path)
    run(one, 1)
    one.save(path)
    assert len(agents.load(path).questions) == 3


def test_an_equal_answer_of_somebody_else_counts_too(tmp_path):
    """Else the second of two who answer alike would save what is there already, and one answer be lost."""
    path = tmp_path / "tuner.json"
    tuner().save(path)
    one, other = agents.load(path), agents.load(path)
    for each in (one, other):
        each.tell(each.ask()[0], "first")
    one.save(path)
    with pytest.raises(ValueError, match="1 questions that saving would lose"):
        other.save(path)
    one.save(path)


def test_a_recommendation_changes_no_question():
    one, other = tuner(), tuner()
    asked = []
    for _ in range(10):
        asked += run(one, 1)
        one.recommend(anywhere=True)
    assert asked == run(other, 10)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: tuner(agent="gp-ucb"), "agent must be an agent of duels"),
        (lambda: tuner(agent="random"), "agent must be an agent of duels"),
        (lambda: tuner(incumbent=1), "incumbent must be True or False"),
        (lambda: tuner(seed=-1), "seed must be"),
        (lambda: PreferenceTuner(SPACE, num_arms=1), "num_arms must be"),
        (lambda: PreferenceTuner({"film": Categorical(["grey"])}), "at least two different points"),
        (lambda: tuner().ask(0), "n must be None or a positive integer"),
        (lambda: tuner().add(ONE, OTHER, "left"), "winner must be 'first' or 'second' or 'tie'"),
        (lambda: tuner().add(ONE, ONE, "tie"), "second must be other parameters"),
        (lambda: tuner().add(ONE, {"x": 3.0, "film": "grey"}, "tie"), "a number in"),
        (lambda: tuner().tell(0, "first"), "ticket must be of a question"),
        (lambda: told("left"), "winner must be 'first' or 'second' or 'tie'"),
        (lambda: tuner().recommend(), "needs an answer"),
    ],
)
def test_what_is_impossible_is_refused_by_its_name(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def told(winner):
    here = tuner()
    ticket, _ = here.ask()
    here.tell(ticket, winner)


def test_utilities_are_log_odds_against_the_best_and_answers_narrow_them():
    here = tuner()
    prior = here.utilities()[1]
    run(here, 20)
    mean, std = here.utilities()
    best = here.points.index(here.recommend(anywhere=True).parameters)
    assert mean[best] == std[best] == 0.0
    assert (mean <= 0.0).all()
    others = np.delete(np.arange(len(mean)), best)
    assert (std[others] > 0.0).all()
    assert std.mean() < prior.mean()
    wins = 2 * sum(liked(here.points[best]) > liked(here.points[i]) for i in others)
    assert wins > len(others)


ONE, OTHER = {"x": 0.123, "film": "colour"}, {"x": -0.456, "film": "grey"}


def test_several_questions_at_once_are_those_asked_one_by_one():
    together, single = tuner(agent="double-ts", seed=2), tuner(agent="double-ts", seed=2)
    assert together.ask(4) == [single.ask() for _ in range(4)]
    assert together.pending == single.pending
    assert list(together.pending) == [0, 1, 2, 3]


def test_what_was_asked_and_answered_is_listed():
    here = tuner()
    (first, pair), (second, _), (third, _) = here.ask(3)
    here.tell(first, "second")
    here.drop(second)
    here.add(ONE, OTHER, "tie")
    assert list(here.pending) == [third]
    assert [each.state for each in here.experiments] == ["told", "dropped", "pending", "told"]
    assert here.experiments[0][:3] == (first, *pair)
    assert here.experiments[3] == (None, ONE, OTHER, "told", "tie")
    frame = here.to_frame()
    assert list(frame) == ["ticket", "first x", "first film", "second x", "second film", "state", "winner"]
    assert list(frame["winner"]) == ["second", None, None, "tie"]
    assert frame["ticket"].isna().tolist() == [False, False, False, True]
    assert repr(here) == "PreferenceTuner(x, film, agent='maxminlcb': 2 told, 1 pending, 1 dropped)"


@pytest.mark.parametrize("known", [True, False])
def test_comparisons_from_elsewhere_are_learnt_from_and_saved(known, tmp_path):
    here = tuner(incumbent=True, seed=4)
    best, worst = (here.points[3], here.points[9]) if known else (ONE, OTHER)
    run(here, 2)
    before = here.utilities()[1].size
    for _ in range(6):
        here.add(best, worst, "first")
    assert here.utilities()[0].size == before + (0 if known else 2)
    mean, _ = here.utilities()
    assert mean[here.points.index(best)] > mean[here.points.index(worst)]
    run(here, 3)
    here.save(tmp_path / "t.json")
    again = agents.load(tmp_path / "t.json")
    assert again.experiments == here.experiments
    assert run(again, 4) == run(here, 4)


def test_an_answer_comes_once():
    here = tuner()
    ticket, _ = here.ask()
    here.tell(ticket, "first")
    with pytest.raises(ValueError, match="without answer"):
        here.tell(ticket, "second")

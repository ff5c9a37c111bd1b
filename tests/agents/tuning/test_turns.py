"""Asking in turn and at once: batches, runs elsewhere, threads, costs of experiments, and a clock."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import agents
from agents import Categorical, Integer, Linear, Log, Tuner
from agents.tuning.space import Time
from agents.tuning.workers import UnsharedLock

SPACES = {
    "box": {"x": Linear(0, 1), "y": Linear(0, 1)},
    "set": {"n": Integer(1, 9), "kind": Categorical(["a", "b"])},
}


def value(parameters):
    return sum(each for each in parameters.values() if not isinstance(each, str))


def informed(space, agent=None, **options):
    tuner = Tuner(SPACES[space], agent=agent, seed=5, **options)
    for i, (ticket, parameters) in enumerate(tuner.ask(7)):
        if i % 3 == 2:
            tuner.fail(ticket)
        else:
            tuner.tell(ticket, value(parameters), dict.fromkeys(tuner.plan.constraints, -1.0))
    return tuner


@pytest.mark.sampled(4)
@pytest.mark.parametrize("agent", [None, "gp-ts", "random", "constrained-ei"])
@pytest.mark.parametrize("space", SPACES)
def test_n_at_once_are_n_one_by_one(space, agent):
    options = {"constraints": ["cost"]} if agent == "constrained-ei" else {}
    together, alone = (informed(space, agent, **options) for _ in range(2))
    batch = together.ask(4)
    assert batch == [alone.ask() for _ in range(4)]
    assert together.pending == alone.pending == dict(batch)
    assert together.ask() == alone.ask()


def test_pending_experiments_keep_a_batch_apart():
    """Without them the four questions of an agent that is certain of its answer would be one and the same."""
    batch = informed("box").ask(4)
    points = np.array([list(parameters.values()) for _, parameters in batch])
    distances = np.abs(points[:, None] - points).max(axis=2) + np.eye(4)
    assert distances.min() > 1e-3


def test_a_context_may_stand_first_or_second():
    context = {"size": 2}
    first, second, third = (
        Tuner(SPACES["set"], contexts={"size": Integer(1, 3)}, seed=1, agent="gp-ucb") for _ in range(3)
    )
    assert first.ask(context) == second.ask(context=context) == third.ask(1, context)[0]
    assert first.experiments[0].context == context


def test_more_than_may_run_are_refused_as_a_whole():
    tuner = Tuner(SPACES["set"], max_pending=3)
    with pytest.raises(RuntimeError, match="n is 4, and max_pending is 3; ask for fewer"):
        tuner.ask(4)
    tuner.ask(2)
    with pytest.raises(RuntimeError, match="2 experiments are pending, 2 more are asked for"):
        tuner.ask(2)
    assert list(tuner.pending) == [0, 1]
    tuner.ask(1)
    with pytest.raises(RuntimeError, match="3 experiments are pending, and max_pending is 3; tell or"):
        tuner.ask()
    tuner.drop(1)
    assert tuner.ask()[0] == 3


MIXED = {"rate": Log(1e-5, 1e-1), "depth": Integer(1, 12)}
CHOSEN = {"rate": 1e-3, "depth": 4}


def test_what_runs_elsewhere_is_not_asked_for_too():
    tuner = Tuner({"x": Categorical(["a", "b"])}, agent=("gp-bucb", {"width": 1e3}), standardise=False)
    tuner.start({"x": "b"})
    assert tuner.ask()[1] == {"x": "a"}


def test_an_experiment_that_was_started_and_told_is_one_that_was_added():
    started, added = (Tuner(MIXED, seed=3) for _ in range(2))
    started.tell(started.start(CHOSEN), 0.5)
    added.add(CHOSEN, 0.5)
    assert started.experiments[0][1:] == added.experiments[0][1:]
    assert started.ask()[1] == added.ask()[1]


CUBE = {f"x{i}": Linear(0, 1) for i in range(3)}


def test_what_is_told_while_another_thread_asks_is_kept():
    tuner = Tuner(CUBE, seed=0)
    questions = tuner.ask(30)
    for ticket, parameters in questions[:20]:
        tuner.tell(ticket, sum(parameters.values()))
    asking = threading.Thread(target=tuner.ask, args=(3,))
    asking.start()
    for ticket, _ in questions[20:]:
        tuner.tell(ticket, 1.0)
    asking.join()
    assert [each.state for each in tuner.experiments] == [*["told"] * 30, *["pending"] * 3]


@pytest.mark.long
def test_many_threads_each_tell_what_they_asked(tmp_path):
    tuner = Tuner(CUBE, agent="random")

    def work(number):
        for i in range(10):
            ticket, parameters = tuner.ask()
            if i % 5 == 4:
                tuner.fail(ticket)
            else:
                tuner.tell(ticket, sum(parameters.values()))
            tuner.save(tmp_path / f"{number}.json")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not tuner.pending
    assert len(tuner.experiments) == 80
    for each in tuner.experiments:
        assert each.state in ("failed", "told")
        assert each.value is None or each.value == sum(each.parameters.values())


def test_a_thread_may_take_its_lock_again_and_copies_have_their_own():
    lock = UnsharedLock()
    for other in (copy.deepcopy(lock), pickle.loads(pickle.dumps(lock))):
        assert other.lock is not lock.lock
        assert all(other.lock.acquire(blocking=False) for _ in range(2))
    tuner = Tuner(CUBE, agent="random", seed=1)
    tuner.tell(tuner.ask()[0], 1.0)
    again = pickle.loads(pickle.dumps(tuner))
    assert again.ask() == copy.deepcopy(tuner).ask() == tuner.ask()


LINE = {"x": Linear(0.0, 1.0)}


def run(unit: float = 1.0, agent: Any = None, rounds: int = 10, slope: float = 9.0) -> Tuner:
    """Experiments that cost ten times as much on the right, where nothing is better."""
    tuner = Tuner(LINE, agent=agent, cost_budget=30 * unit, num_arms=50, seed=1)
    for _ in range(rounds):
        if tuner.left <= 0:  # type: ignore[operator]
            break
        ticket, values = tuner.ask()
        x = values["x"]
        tuner.tell(ticket, min(x, 1 - x), spent=unit * (1.0 + slope * x))
    return tuner


@pytest.mark.parametrize("agent", [None, "ratio-ucb", ("pbgi", {"halving": True})])
def test_the_unit_of_the_costs_does_not_matter_and_the_budget_ends_the_questions(agent):
    tuner, other = run(agent=agent), run(unit=1024.0, agent=agent)
    asked = [each.parameters["x"] for each in tuner.experiments]
    assert asked == [each.parameters["x"] for each in other.experiments]
    assert tuner.left == 30 - sum(each.spent for each in tuner.experiments)  # type: ignore[misc]
    while tuner.left > 0:  # type: ignore[operator]
        tuner.tell(tuner.ask()[0], 0.0, spent=7.0)
    with pytest.raises(RuntimeError, match="the cost_budget of 30 is spent"):
        tuner.ask()


def test_what_experiments_cost_changes_what_is_asked_next():
    steep, flat = run(rounds=7), run(rounds=7, slope=0.0)
    asked, others = ([each.parameters["x"] for each in tuner.experiments] for tuner in (steep, flat))
    assert asked[:5] == others[:5]  # the first ones are uniform
    assert asked[5:] != others[5:]


def test_one_is_a_question_and_a_list_of_one_is_a_list():
    tuner, other = informed("set"), informed("set")
    assert tuner.ask(1) == [other.ask()]


@pytest.mark.parametrize("agent", [None, "gp-ts"])
def test_a_saved_tuner_knows_which_experiments_it_was_not_asked_for(agent, tmp_path):
    tuner = Tuner(MIXED, agent=agent, seed=1)
    for i in range(6):
        ticket, parameters = tuner.ask() if i % 2 else (tuner.start({**CHOSEN, "depth": i + 1}), CHOSEN)
        tuner.tell(ticket, -parameters["rate"])
    ticket = tuner.start(CHOSEN)
    tuner.save(tmp_path / "tuner.json")
    loaded = agents.load(tmp_path / "tuner.json")
    assert loaded.pending == tuner.pending == {ticket: CHOSEN}
    assert [loaded.ask() for _ in range(3)] == [tuner.ask() for _ in range(3)]


HOURS = 40.0


def peak(time):
    """Where the best x is, which wanders from 0.2 to 0.8."""
    return 0.2 + 0.6 * time / HOURS


def lost(tuner, clock):
    """Mean loss of the last ten of forty questions, one an hour."""
    losses = []
    for hour in range(int(HOURS)):
        ticket, parameters = tuner.ask(time=float(hour)) if clock else tuner.ask()
        loss = (parameters["x"] - peak(hour)) ** 2
        losses.append(loss)
        tuner.tell(ticket, -10.0 * loss)
    return float(np.mean(losses[-10:]))


@pytest.mark.long
def test_a_clock_follows_a_peak_that_wanders():
    followed = np.mean([lost(Tuner(LINE, clock=HOURS, seed=seed), True) for seed in range(3)])
    without = np.mean([lost(Tuner(LINE, seed=seed), False) for seed in range(3)])
    assert followed < 0.01  # within 0.1 of the peak
    assert followed < without / 2


def test_the_time_is_a_context():
    timed = Tuner(LINE, clock=HOURS, seed=3)
    assert timed.ask(time=2.5)[1] == Tuner(LINE, clock=HOURS, seed=3).ask({"time": 2.5})[1]
    assert timed.experiments[0].context == {"time": 2.5}
    assert Time(HOURS).features(50.0) == 1.25  # later than was thought


@pytest.mark.sampled(1)
@pytest.mark.parametrize("parameters", [LINE, {"n": Integer(1, 9)}], ids=["continuous", "finite"])
@pytest.mark.parametrize("constraints", [(), ("heat",)], ids=["free", "constrained"])
def test_all_goes_together_and_through_a_file(parameters, constraints, tmp_path):
    contexts = {"oven": Integer(1, 2)}
    tuner = Tuner(parameters, contexts=contexts, clock=HOURS, constraints=constraints, seed=2)
    noise = {} if constraints else {"std": 0.1}
    costs = dict.fromkeys(constraints, -0.5)

    def play(tuner, first):
        asked = []
        for hour in range(first, first + 4):
            batch = tuner.ask(2, {"oven": 1 + hour % 2}, time=float(hour))
            asked += batch
            for ticket, chosen in batch:
                value = float(next(iter(chosen.values())))
                if ticket % 5 == 4:
                    tuner.fail(ticket, "cold")
                else:
                    tuner.tell(ticket, value, costs, **noise)
        return asked

    some = {name: kind.at(0.3) for name, kind in parameters.items()}
    tuner.add(some, 0.3, costs, {"oven": 1}, time=-1.0, **noise)
    play(tuner, 0)
    tuner.ask(2, {"oven": 2}, time=4.0)
    tuner.start(some, {"oven": 2}, time=4.5)
    tuner.save(tmp_path / "t.json")
    loaded = Tuner.load(tmp_path / "t.json")
    assert loaded.experiments == tuner.experiments
    assert loaded.experiments[1].std == (None if constraints else 0.1)
    assert play(loaded, 5) == play(tuner, 5)
    assert loaded.recommend({"oven": 2}, time=9.0) == tuner.recommend({"oven": 2}, time=9.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Tuner(LINE, clock=HOURS).ask(), "time must be a number where the tuner has a clock"),
        (lambda: Tuner(LINE).ask(time=3.0), "time must be None without a `clock`"),
        (lambda: Tuner(LINE, clock=HOURS).ask({"time": 1.0}, time=2.0), "without 'time' where time is given"),
        (lambda: Tuner(LINE, clock=HOURS).ask(time=float("nan")), "finite number, in the unit of the clock"),
        (lambda: Tuner(LINE, clock=HOURS).recommend(anywhere=True), "time must be a number"),
        (lambda: Tuner(LINE, clock=HOURS).add({"x": 0.5}, 1.0), "time must be a number"),
        (lambda: Tuner(LINE, clock=HOURS).start({"x": 0.5}), "time must be a number"),
        (lambda: Tuner(LINE, clock=0.0), "clock must be a positive time"),
        (lambda: Tuner(LINE, clock=1, contexts={"time": Linear(0, 1)}), "contexts must be without 'time'"),
        (lambda: Tuner({"x": Time(3.0)}), "one of Linear, Log, Integer, Categorical"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_times_that_are_none_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.long
def test_what_is_recommended_depends_on_when():
    tuner = Tuner(LINE, clock=HOURS, seed=0)
    lost(tuner, True)
    early, late = (tuner.recommend(anywhere=True, time=time).parameters["x"] for time in (5.0, HOURS))
    assert early < 0.45
    assert late > 0.6

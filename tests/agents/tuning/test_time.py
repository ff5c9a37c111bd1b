"""A tuner with a clock follows what drifts, and goes with all else that a tuner is told."""

import numpy as np
import pytest

from agents import Integer, Linear, Tuner
from agents.tuning.space import Time

LINE = {"x": Linear(0, 1)}
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
    """Batches, failures, times, contexts, told noise, past data and costs."""
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


def test_costs_of_experiments_are_counted_with_all_that(tmp_path):
    tuner = Tuner(LINE, cost_budget=10.0, clock=HOURS, agent=("gp-bucb", {"initial": 2}))
    for ticket, parameters in tuner.ask(3, time=1.0):
        tuner.tell(ticket, parameters["x"], spent=2.0, std=0.1)
    tuner.fail(tuner.ask(time=2.0)[0], "cold", spent=1.0)
    tuner.save(tmp_path / "t.json")
    loaded = Tuner.load(tmp_path / "t.json")
    assert loaded.left == tuner.left == 3.0
    assert loaded.ask(time=3.0) == tuner.ask(time=3.0)


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

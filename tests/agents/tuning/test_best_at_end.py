"""What a tuner promises: exact values once, no harm by penalties or heavy tails, the best at the end."""

import numpy as np
import pytest

from agents import Categorical, Integer, Linear, Tuner
from agents.tuning.feasibility import NothingLeft

SQUARE = {"x": Linear(0, 1), "y": Linear(0, 1)}
SETS = {
    "integers": {"n": Integer(1, 36)},
    "grid": {"n": Integer(1, 6), "m": Integer(1, 6)},
    "choices": {"k": Categorical([f"k{i}" for i in range(9)]), "n": Integer(1, 4)},
}
EXACT = {"known noise": {"noise_std": 0.0}, "no repeats": {"repeats": False}}


def tuned(f, space, n, seed=0, **options):
    """Return a tuner that has minimised a function; infinite values are failures."""
    tuner = Tuner(space, goal="minimise", seed=seed, budget=n, **{"noise_std": 0.0, **options})
    for _ in range(n):
        ticket, parameters = tuner.ask()
        value = f(**parameters)
        if np.isinf(value):
            tuner.fail(ticket)
        else:
            tuner.tell(ticket, float(value))
    return tuner


def drawn(**parameters):
    """A value of its own for every point of a set."""
    return np.random.default_rng([ord(each) for each in repr(parameters)]).standard_normal()


@pytest.mark.parametrize("agent", [None, ("gp-ucb", {"width": 1.0})], ids=["default", "named"])
@pytest.mark.parametrize("exact", EXACT.values(), ids=EXACT)
@pytest.mark.parametrize("space", SETS.values(), ids=SETS)
def test_as_many_questions_as_points_are_all_points(space, exact, agent):
    tuner = tuned(drawn, space, 36, agent=agent, **{"noise_std": None, **exact})
    asked = {tuple(each.parameters.values()) for each in tuner.experiments}
    assert len(asked) == 36
    assert tuner.best.value == min(drawn(**each.parameters) for each in tuner.experiments)


def test_once_all_was_tried_a_value_may_be_asked_again_unless_that_is_ruled_out():
    tuner = tuned(drawn, SETS["grid"], 36)
    assert tuner.ask()[1] in [each.parameters for each in tuner.experiments]
    with pytest.raises(NothingLeft, match="all were tried"):
        tuned(drawn, SETS["grid"], 37, repeats=False)


@pytest.mark.parametrize("exact", EXACT.values(), ids=EXACT)
@pytest.mark.parametrize("agent", [None, ("gp-ucb", {"width": 1.0}), "gp-ts"], ids=str)
def test_the_recommendation_of_exact_values_is_the_best(exact, agent):
    tuner = tuned(lambda x, y: np.exp(9 * (x + y)), SQUARE, 14, agent=agent, **{"noise_std": None, **exact})
    assert tuner.recommend().parameters == tuner.best.parameters


def bowl(centre):
    return lambda x, y: (x - centre[0]) ** 2 + (y - centre[1]) ** 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("penalty", [1e3, 1e9])
def test_a_penalty_costs_no_more_than_a_failure(penalty):
    """Medians of five searches, within a factor of two or a thousandth of the range."""

    def regret(penalty, seed):
        inside = bowl(np.random.default_rng(seed).uniform(0.2, 0.5, 2))
        return tuned(lambda x, y: penalty if x + y > 1.1 else inside(x, y), SQUARE, 30, seed).best.value

    failed, told = (np.median([regret(each, s) for s in range(5)]) for each in (np.inf, penalty))
    assert told < max(2.0 * failed, 1e-3)


def advised(options, penalty):
    """Return the regret of what is recommended after 40 experiments, of which a third cost a penalty."""
    tuner, regrets = Tuner(SQUARE, goal="minimise", seed=0, budget=40, **options), []
    for t in range(40):
        given = {name: float(t % 3) for name in options.get("contexts", ())}
        ticket, parameters = tuner.ask(*([given] if given else []))
        x, y = parameters.values()
        inside = bowl((0.2 + 0.2 * given.get("c", 1.0), 0.4))(x, y)
        tuner.tell(
            ticket, penalty if x + y > 1.1 else inside, {"g": x - 0.6} if "constraints" in options else None
        )
    for c in (0.0, 1.0, 2.0) if "contexts" in options else (1.0,):
        found = tuner.recommend({"c": c}) if "contexts" in options else tuner.recommend()
        regrets.append(bowl((0.2 + 0.2 * c, 0.4))(*found.parameters.values()))
    return float(np.mean(regrets))


@pytest.mark.long
@pytest.mark.parametrize("options", [{"contexts": {"c": Linear(0, 2)}}, {"constraints": ["g"]}], ids=str)
def test_nor_does_it_hide_the_minimum_in_contexts_or_under_limits(options):
    """Taken as it is a penalty of 1e3 left regrets of .1 and more."""
    assert max(advised(options, penalty) for penalty in (1e3, 1e9)) < 0.03


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_a_heavy_tail_does_not_hide_the_minimum(seed):
    """TPE has a log-loss of .007."""
    inside = bowl(np.random.default_rng([seed, 1]).uniform(0.2, 0.8, 2))
    tuner = tuned(lambda x, y: np.exp(12 * inside(x, y)), SQUARE, 40, seed)
    assert np.log(tuner.best.value) < 0.007


@pytest.mark.parametrize("space", [SQUARE, {"n": Integer(1, 30), "m": Integer(1, 30)}], ids=["box", "set"])
@pytest.mark.parametrize(("unit", "shift"), [(2.0**-30, 0.0), (2.0**30, 0.0), (1.0, 2.0**6)])
def test_questions_have_no_unit(space, unit, shift):
    """Powers of two are exact; a shift rounds the last digits."""

    def f(**parameters):
        x, y = parameters.values()
        return np.sin(5 * x) + (y - 0.3) ** 2

    plain = tuned(f, space, 14)
    other = tuned(lambda **parameters: unit * f(**parameters) + shift, space, 14)
    for one, two in zip(plain.experiments, other.experiments, strict=True):
        assert list(one.parameters.values()) == pytest.approx(list(two.parameters.values()), abs=1e-4)

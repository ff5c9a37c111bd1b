"""What the default agent makes of few values and exact ones, its first questions, the best at the end."""

from types import SimpleNamespace

import numpy as np
import pytest
from players import ask_and_tell

from agents import Categorical, Integer, Linear, Log, Tuner
from agents.real.choice import BEST, LEARNING
from agents.tuning.availability import SAME
from agents.tuning.feasibility import BESIDE, FeasibilityFilter, NothingLeft, runs

SQUARE = {"x": Linear(0, 1), "y": Linear(0, 1)}


def hill(x, y):
    return 1 - (x - 0.3) ** 2 - (y - 0.6) ** 2


def wave(x, y):
    return np.sin(5 * x) + np.cos(4 * y)


def after_a_plateau(unit, constraints=()):
    """What is asked for once values, and costs, stop being all 0."""
    tuner = Tuner(SQUARE, seed=1, constraints=constraints)
    asked = []
    for i in range(14):
        ticket, parameters = tuner.ask()
        known = unit if i >= 9 else 0.0
        tuner.tell(ticket, known * hill(**parameters), dict.fromkeys(constraints, known * parameters["x"]))
        asked.append(list(parameters.values()))
    return np.array(asked)


@pytest.mark.long
@pytest.mark.parametrize("constraints", [(), ("c",)], ids=["free", "constrained"])
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_equal_values_say_nothing_of_the_unit_of_those_to_come(unit, constraints):
    """Powers of two are exact, so that no rounding differs."""
    alike, other = (after_a_plateau(each, constraints) for each in (1.0, unit))
    np.testing.assert_allclose(other, alike, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_hill_on_a_plateau_is_found(seed):
    """Of a plateau alone a fit would learn that the function is constant."""
    tuner = Tuner(SQUARE, seed=seed)
    tuner.optimise(lambda x, y: max(0.0, 1 - ((x - 0.42) ** 2 + (y - 0.55) ** 2) / 0.03), 40)
    assert tuner.best.value > 0.9


def advised(rounds, seed):
    rng, tuner = np.random.default_rng([seed, 1]), Tuner(SQUARE, seed=seed)
    ask_and_tell(tuner, lambda parameters: wave(**parameters) + 0.1 * rng.standard_normal(), rounds)
    return tuner.recommend()


@pytest.mark.long
def test_intervals_of_few_values_cover():
    """A binomial count: at 95 % six of 24 misses or more have a probability below 1e-3."""
    for rounds in (5, 8, 12):
        answers = [advised(rounds, seed) for seed in range(24)]
        misses = 0
        for each in answers:
            low, high = each.interval
            misses += not low <= wave(**each.parameters) <= high
        assert misses < 6


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_twenty_categories_is_found(seed):
    values = np.random.default_rng(seed).standard_normal(20)
    tuner = Tuner({"kind": Categorical([f"k{i}" for i in range(20)])}, seed=seed)
    tuner.optimise(lambda kind: values[int(kind[1:])], 40)
    assert tuner.best.value == values.max()


SPACES = {"box": SQUARE, "set": {"kind": Categorical(list("abcdefgh"))}}


def told(space, n=10, **options):
    def value(parameters):
        return sum(ord(each) if isinstance(each, str) else each for each in parameters.values())

    tuner = Tuner(SPACES[space], seed=0, **options)
    ask_and_tell(tuner, value, n)
    return tuner


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", [{}, {"constraints": ("c",)}, {"noise_std": 0.1}], ids=str)
@pytest.mark.parametrize("space", SPACES)
def test_nothing_runs_twice_at_a_time(space, options):
    tuner = told(space, **options)
    features = [tuner.plan.parameters.features(each) for _, each in tuner.ask(6)]
    distance = np.abs(np.array(features)[:, None] - features).max(axis=2) + np.eye(6)
    assert distance.min() > 1e-6


def test_what_is_asked_instead_is_the_nearest_point_that_differs_from_all_running_ones_and_likely_succeeds():
    likely = SimpleNamespace(probability=lambda x: np.where(x[:, 0] < 0.5, 1.0, 0.1), highest=1.0)
    judge, points = FeasibilityFilter(Tuner(SQUARE).plan.parameters), np.full((5, 2), 0.48)
    points[:, 0] = at, similar, unlikely, near, far = 0.48, 0.48 + BESIDE / 2, 0.505, 0.45, 0.1
    judge.set(likely, np.zeros(0), 0.9)
    for running, found in (((at,), near), ((at, near, far), similar), ((at, similar, near, far), unlikely)):
        taken = points[np.isin(points[:, 0], running)]
        assert judge.beside(points[0], taken, points)[0] == found
    assert judge.beside(points[0], points, points) is None
    assert runs(points[0], [points[4], points[0] + 1e-9])
    assert not runs(points[0], points[1:])


def test_the_default_is_the_one_of_its_setting():
    assert Tuner(SQUARE).plan.agent == Tuner(SQUARE, noise_std=0.1).plan.agent == BEST
    for given in ({"contexts": {"z": Linear(0, 1)}}, {"constraints": ["c"]}, {"cost_budget": 3.0}):
        (_, options) = Tuner(SQUARE, **given).plan.agent
        assert {name: options[name] for name in LEARNING} == LEARNING
    (_, options) = Tuner(SQUARE, noise_std=0.1, clock=5.0).plan.agent
    assert options["fit_noise_spread"] == 0


CONTINUOUS = {"x": Linear(0, 1), "rate": Log(1e-5, 1e-1)}


def first(space, seed, tell, number=5, **options):
    tuner, asked = Tuner(space, seed=seed, **options), []
    for _ in range(number):
        ticket, parameters = tuner.ask()
        if tell == "told":
            tuner.tell(ticket, 1.0, {"c": -1.0} if options.get("constraints") else None)
        elif tell == "failed" and ticket < 2:
            tuner.fail(ticket)
        asked.append(parameters)
    return asked


@pytest.mark.parametrize("tell", ["told", "pending"])
@pytest.mark.parametrize("extra", [{}, {"k": Categorical(["a", "b"])}])
def test_first_plays_differ_in_every_continuous_coordinate(tell, extra):
    for seed in range(8):
        asked = first({**CONTINUOUS, **extra}, seed, tell)
        for name in CONTINUOUS:
            assert len({each[name] for each in asked}) == 5


SETS = {
    "choices": ({"k": Categorical(["a", "b", "c"])}, 3),
    "integers": ({"n": Integer(1, 5)}, 5),
    "both": ({"n": Integer(1, 2), "k": Categorical(["a", "b"])}, 4),
    "more than arms": ({"n": Integer(1, 9)}, 5),
}


@pytest.mark.parametrize("tell", ["told", "pending", "failed"])
@pytest.mark.parametrize(("space", "number"), SETS.values(), ids=SETS)
def test_first_plays_of_a_set_are_different(space, number, tell):
    for seed in range(6):
        asked = first(space, seed, tell, number, num_arms=4 if space == SETS["more than arms"][0] else 1024)
        assert len({tuple(each.values()) for each in asked}) == number


def test_more_questions_than_fit_beside_each_other_are_different():
    """In one dimension 50 points lie 0.02 apart."""
    points = [each["x"] for _, each in Tuner({"x": Linear(0, 1)}).ask(90)]
    assert len({round(x, 9) for x in points}) == 90


def test_once_all_of_a_set_run_some_run_twice():
    tuner = told("set", 2)
    kinds = [each["kind"] for _, each in tuner.ask(12)]
    assert set(kinds) == set("abcdefgh")


def test_a_named_agent_asks_what_it_would_in_its_loop():
    tuner = told("set", agent=("gp-ucb", {"width": 0.0}))
    assert len({each["kind"] for _, each in tuner.ask(5)}) == 1


GRIDS = {
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
@pytest.mark.parametrize("space", GRIDS.values(), ids=GRIDS)
def test_as_many_questions_as_points_are_all_points(space, exact, agent):
    tuner = tuned(drawn, space, 36, agent=agent, **{"noise_std": None, **exact})
    asked = {tuple(each.parameters.values()) for each in tuner.experiments}
    assert len(asked) == 36
    assert tuner.best.value == min(drawn(**each.parameters) for each in tuner.experiments)


def test_once_all_was_tried_a_value_may_be_asked_again_unless_that_is_ruled_out():
    tuner = tuned(drawn, GRIDS["grid"], 36)
    assert tuner.ask()[1] in [each.parameters for each in tuner.experiments]
    with pytest.raises(NothingLeft, match="all were tried"):
        tuned(drawn, GRIDS["grid"], 37, repeats=False)


@pytest.mark.parametrize("exact", EXACT.values(), ids=EXACT)
@pytest.mark.parametrize("agent", [None, ("gp-ucb", {"width": 1.0}), "gp-ts"], ids=str)
def test_the_recommendation_of_exact_values_is_the_best(exact, agent):
    tuner = tuned(lambda x, y: np.exp(9 * (x + y)), SQUARE, 14, agent=agent, **{"noise_std": None, **exact})
    assert tuner.recommend().parameters == tuner.best.parameters


def bowl(centre):
    return lambda x, y: (x - centre[0]) ** 2 + (y - centre[1]) ** 2


@pytest.mark.long
@pytest.mark.parametrize("penalty", [1e3, 1e9])
def test_a_penalty_costs_no_more_than_a_failure(penalty):
    """Medians of five searches, within a factor of two or a thousandth of the range."""

    def regret(penalty, seed):
        inside = bowl(np.random.default_rng(seed).uniform(0.2, 0.5, 2))
        return tuned(lambda x, y: penalty if x + y > 1.1 else inside(x, y), SQUARE, 30, seed).best.value

    failed, told = (np.median([regret(each, s) for s in range(5)]) for each in (np.inf, penalty))
    assert told < max(2.0 * failed, 1e-3)


def regret_of_advice(options, penalty, seed):
    """Return the regret of what is recommended after 40 experiments, of which a third cost a penalty."""
    tuner, regrets = Tuner(SQUARE, goal="minimise", seed=seed, budget=40, **options), []
    middle = np.random.default_rng(seed).uniform(0.2, 0.5)
    for t in range(40):
        given = {name: float(t % 3) for name in options.get("contexts", ())}
        ticket, parameters = tuner.ask(*([given] if given else []))
        x, y = parameters.values()
        inside = bowl((0.2 + 0.2 * given.get("c", 1.0), middle))(x, y)
        if x + y > 1.1 and penalty == np.inf:
            tuner.fail(ticket)
            continue
        costs = {"g": x - 0.6} if "constraints" in options else None
        tuner.tell(ticket, penalty if x + y > 1.1 else inside, costs)
    for c in (0.0, 1.0, 2.0) if "contexts" in options else (1.0,):
        found = tuner.recommend({"c": c}) if "contexts" in options else tuner.recommend()
        regrets.append(bowl((0.2 + 0.2 * c, middle))(*found.parameters.values()))
    return float(np.mean(regrets))


@pytest.mark.long
@pytest.mark.parametrize("options", [{"contexts": {"c": Linear(0, 2)}}, {"constraints": ["g"]}], ids=str)
def test_nor_does_it_in_contexts_or_under_limits(options):
    """Medians of eight searches; taken as it is a penalty of 1e3 left .1 and more."""
    failed, told = (
        np.median([regret_of_advice(options, penalty, s) for s in range(8)]) for penalty in (np.inf, 1e9)
    )
    assert told < max(2.0 * failed, 1e-4)


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


def test_points_that_were_tried_are_those_within_a_rounding_of_one():
    judge, tried = FeasibilityFilter(Tuner(SQUARE).plan.parameters), np.array([[0.25, 0.5], [0.75, 0.5]])
    judge.set(None, np.zeros(0), 0.0, over=tried)
    near = tried + np.array([0.9 * SAME, -0.9 * SAME])
    far = tried + np.array([0.0, 1.1 * SAME])
    np.testing.assert_array_equal(judge.chance(np.vstack([tried, near, far])), [-1.0] * 4 + [1.0] * 2)

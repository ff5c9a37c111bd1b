"""Parameters by name: what a kernel sees of them, and which values come back."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import Categorical, Integer, Linear, Log
from agents.tuning import parameters
from agents.tuning.scale import Scale
from agents.tuning.space import Space

UNIT = st.floats(0.0, 1.0)
FINITE = st.floats(-1e6, 1e6)


@st.composite
def linear(draw):
    low = draw(FINITE)
    span = draw(st.floats(1e-3, 1e6))
    return Linear(
        low, low + span, step=draw(st.none() | st.floats(0.01, 0.9).map(lambda share: share * span))
    )


@st.composite
def log(draw):
    low = draw(st.floats(1e-9, 1e6))
    return Log(low, low * draw(st.floats(1.1, 1e9)))


@st.composite
def integer(draw):
    with_log = draw(st.booleans())
    low = draw(st.integers(1 if with_log else -1000, 1000))
    span = draw(st.integers(0, 1000))
    return Integer(low, low + span, log=with_log, step=draw(st.integers(1, max(span, 1))))


CHOICES = st.lists(st.text(max_size=3) | st.none() | st.integers(2, 9), min_size=1, max_size=5, unique=True)
categorical = st.builds(Categorical, CHOICES)
OF_KIND = {"Linear": linear(), "Log": log(), "Integer": integer(), "Categorical": categorical}
KINDS = st.one_of([OF_KIND[name] for name in parameters.KINDS])  # a new kind needs its strategy here
SPACES = st.dictionaries(st.text(max_size=3), KINDS, min_size=1, max_size=4).map(
    lambda kinds: Space("parameters", kinds)
)


@pytest.mark.long
@given((linear() | log()).filter(lambda kind: kind.levels is None), UNIT)
def test_features_of_numbers_are_their_quantiles(kind, quantile):
    assert kind.features(kind.at(quantile))[0] == pytest.approx(quantile, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "levels"),
    [
        (Linear(0, 1, step=0.25), [0.0, 0.25, 0.5, 0.75, 1.0]),
        (Linear(1, 2, step=0.4), [1.0, 1.4, 1.8]),
        (Integer(16, 64, step=16), [16, 32, 48, 64]),
        (Integer(1, 9, log=True, step=4), [1, 5, 9]),
        (Linear(0.3, 0.3), [0.3]),
        (Log(2.0, 2.0), [2.0]),
        (Integer(3, 3), [3]),
        (Categorical(["only"]), ["only"]),
    ],
)
def test_a_parameter_with_steps_or_a_constant_has_these_values_alone(kind, levels):
    assert list(kind.levels) == levels
    space = Space("parameters", {"x": kind})
    assert space.size == len(levels)
    assert {kind.at(u) for u in np.linspace(0.0, 1.0, 101).tolist()} == set(levels)
    snapped = space.snap(np.random.default_rng(0).random((200, kind.width)))
    assert {space.values(row)["x"] for row in snapped} == set(levels)
    assert [space.check({"x": level}) for level in levels] == [{"x": level} for level in levels]


@given(integer(), UNIT)
def test_the_nearest_integer_is_that_of_python_arithmetic(kind, share):
    """To the last bit, so that questions stay as they are."""
    span, value = kind.high - kind.low, kind.low + (kind.high - kind.low) * share
    if kind.log:
        value = kind.low * (kind.high / kind.low) ** share
    if kind.step == 1:
        assert kind.value(np.array([share])) == min(max(round(value), kind.low), kind.high)
        place = (kind.value(np.array([share])) - kind.low) / (span or 1)
        if not kind.log:
            assert kind.snap(np.array([[share]]))[0, 0] == place


@pytest.mark.parametrize("kind", [Integer(3, 7), Categorical(["a", "b", "c", "d", "e"])])
def test_levels_without_a_scale_are_equally_likely(kind):
    values = [kind.at(u) for u in (np.arange(1000) + 0.5) / 1000]
    assert [values.count(level) for level in kind.levels] == [200] * 5


def test_levels_of_a_logarithmic_integer_are_as_likely_as_their_share_of_the_scale():
    kind = Integer(1, 100, log=True)
    values = [kind.at(u) for u in (np.arange(10_000) + 0.5) / 10_000]
    for level in (1, 2, 10, 100):
        share = math.log((level + 0.5) / (level - 0.5)) / math.log(100.5 / 0.5)
        assert values.count(level) / 10_000 == pytest.approx(share, abs=2e-4)


def test_two_categories_are_a_distance_of_one_apart():
    kind = Categorical(["a", "b", "c"])
    for one, other in ("ab", "ac", "bc"):
        assert np.linalg.norm(kind.features(one) - kind.features(other)) == pytest.approx(1.0)


@given(SPACES, st.data())
def test_a_point_of_a_space_comes_back_from_its_features(space, data):
    point = {name: kind.at(data.draw(UNIT)) for name, kind in space.kinds.items()}
    space.check(point)
    features = space.features(point)
    assert features.shape == (space.dim,)
    assert ((features >= 0) & (features <= 1)).all()
    back = space.values(features)
    space.check(back)
    np.testing.assert_allclose(space.features(back), features, rtol=0, atol=1e-9)


@given(SPACES, st.integers(0, 2**32 - 1))
def test_snapped_features_are_those_of_the_nearest_possible_point(space, seed):
    features = np.random.default_rng(seed).random((5, space.dim))
    snapped = space.snap(features)
    expected = np.array([space.features(space.values(row)) for row in features])
    np.testing.assert_allclose(snapped, expected, rtol=0, atol=1e-6)  # a narrow range far from 0
    np.testing.assert_allclose(space.snap(snapped), snapped, rtol=0, atol=1e-9)
    moved = ~space.continuous
    np.testing.assert_array_equal(snapped[:, ~moved], features[:, ~moved])
    widths = [kind.width for kind in space.kinds.values()]
    assert np.bincount(space.parameter_of_feature).tolist() == widths


@given(SPACES, st.integers(1, 40))
def test_a_space_is_spread_over_possible_points(space, number):
    points = space.spread(number)
    assert len(points) == min(number, space.size)
    for point in points:
        space.check(point)


def test_a_small_discrete_space_is_spread_over_all_its_points():
    space = Space("parameters", {"a": Integer(1, 3), "b": Categorical([None, "x"])})
    assert space.spread(6) == [{"a": a, "b": b} for a in (1, 2, 3) for b in (None, "x")]


@given(SPACES)
def test_a_space_is_data(space):
    assert Space.from_data("parameters", space.to_data()).kinds == space.kinds


@given(st.lists(st.floats(-1e3, 1e3), max_size=8), FINITE)
def test_minimising_is_maximising_the_negative_exactly(values, value):
    down, up = Scale.of("minimise", values), Scale.of("maximise", [-each for each in values])
    assert down.reward(value) == up.reward(-value)
    assert down.value(down.reward(value)) == -up.value(up.reward(-value))
    assert down.value(down.reward(value)) == pytest.approx(value, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("size", [2.0**-1000, 1.0, 2.0**1000])  # squares of the others are no numbers
def test_a_scale_gives_its_values_mean_zero_and_deviation_one(size):
    values = [3.0 * size, -size, 7.5 * size, 2.0 * size]
    rewards = [Scale.of("minimise", values).reward(value) for value in values]
    assert np.mean(rewards) == pytest.approx(0.0, abs=1e-12)
    assert np.std(rewards, ddof=1) == pytest.approx(1.0)


def test_a_tail_is_drawn_near_in_its_order_and_only_where_that_is_asked_for():
    near = [0.1 * i for i in range(9)]  # median .4, root mean square above it .27
    plain, tamed = (Scale.of("maximise", near, tames) for tames in (False, True))
    assert [*map(plain.reward, near)] == [*map(tamed.reward, near)]
    far = Scale.of("maximise", [*near, -1e9], True)
    rewards = [far.reward(value) for value in (-1e300, -1e9, -1e3, -2.0, -0.4, *near)]
    assert rewards == sorted(rewards)
    assert rewards[0] > rewards[-1] - 12.0
    assert far.value(far.reward(0.5)) == pytest.approx(0.5)
    assert Scale.of("minimise", [-each for each in [*near, -1e9]], True).reward(1e3) == far.reward(-1e3)
    for unit, penalty in ((1e-300, -1e100), (1.0, -1e200), (1.0, -1e307)):
        wide = Scale.of("maximise", [*(unit * each for each in near), penalty], True)
        assert np.isfinite(wide.reward(-1e307))
        assert wide.reward(unit * near[-1]) - wide.reward(0.0) == pytest.approx(
            far.reward(near[-1]) - far.reward(0.0)
        )
    equal = Scale.of("maximise", [1.0] * 8 + [-5.0], True)  # nothing above the median says what far is
    assert equal.reward(-5.0) < equal.reward(1.0)


WRONG = {
    "empty range": (lambda: Linear(1.0, 0.5), "low <= high, got \\(1.0, 0.5\\)"),
    "step of zero": (lambda: Linear(0, 1, step=0.0), "step of a Linear must be None or a positive number"),
    "step beyond": (lambda: Linear(0, 1, step=2.0), "step of a Linear must be at most high - low"),
    "half a step": (lambda: Integer(0, 9, step=0.5), "step of an? Integer must be a positive integer"),
    "infinite": (lambda: Linear(0.0, math.inf), "finite numbers"),
    "text": (lambda: Linear("0", "1"), "finite numbers"),
    "log of zero": (lambda: Log(0.0, 1.0), "low of a Log must be positive, got 0.0"),
    "fraction": (lambda: Integer(1, 2.5), "high of an Integer must be an integer of at most 2.*, got 2.5"),
    "log integer": (lambda: Integer(0, 5, log=True), "must be positive, got 0"),
    "integers": (lambda: Integer(5, 4), "low <= high"),
    "no choice": (lambda: Categorical([]), "at least one"),
    "letters": (lambda: Categorical("ab"), "choices must be a list"),
    "equal choices": (lambda: Categorical([1, True]), "different from each other"),
    "not a number": (lambda: Categorical([math.nan, 1.0]), "a choice must be text, a finite number"),
    "objects": (lambda: Categorical([np, "a"]), "a choice must be text"),
    "wide": (lambda: Linear(-1e308, 1e308), "high - low of a Linear must be finite"),
    "wide log": (lambda: Log(1e-300, 1e300), "high / low of a Log must be at most 300 decades"),
    "large": (
        lambda: Integer(0, 10**20),
        r"high of an Integer must be an integer of at most 2\*\*53 in size",
    ),
}


@pytest.mark.parametrize(("build", "message"), WRONG.values(), ids=WRONG)
def test_impossible_parameters_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


VALUES = {
    "below": (Linear(0, 1), -0.1, r"a number in \[0, 1\], got -0.1"),
    "nan": (Log(1, 2), math.nan, "a number in"),
    "fraction": (Integer(1, 3), 1.5, "an integer in 1..3, got 1.5"),
    "boolean": (Integer(0, 3), True, "an integer in 0..3, got True"),
    "between steps": (Linear(0, 1, step=0.25), 0.3, "0 and a multiple of the step 0.25, got 0.3"),
    "integer between steps": (Integer(1, 9, step=4), 3, r"an integer in 1..9 in steps of 4, got 3"),
    "unknown": (Categorical(["a", "b"]), "c", "one of 'a', 'b', got 'c'"),
    "unhashable": (Categorical(["a", "b"]), [], "one of 'a', 'b'"),
}


@pytest.mark.parametrize(("kind", "value", "message"), VALUES.values(), ids=VALUES)
def test_impossible_values_are_refused_by_name(kind, value, message):
    with pytest.raises(ValueError, match=r"parameters\['x'\] must be " + message):
        Space("parameters", {"x": kind}).check({"x": value})


@pytest.mark.parametrize("values", [{}, {"x": 0.5, "y": 1}, 3, {"y": 0.5}])
def test_a_point_has_every_name_and_no_other(values):
    with pytest.raises(ValueError, match=r"parameters must be .*'x'"):
        Space("parameters", {"x": Linear(0, 1)}).check(values)


def test_a_large_space_is_covered_evenly():
    features = np.array(
        [list(p.values()) for p in Space("p", {"a": Linear(0, 1), "b": Linear(0, 1)}).spread(256)]
    )
    cells, counts = np.unique((features * 16).astype(int), axis=0, return_counts=True)
    assert len(cells) == 256  # a (0, 8, 2)-net has one point in each of 16 x 16 cells
    assert (counts == 1).all()

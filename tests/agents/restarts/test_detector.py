"""The change-point test equals its definition, finds clear changes and seldom any other."""

import numpy as np
import pytest
import references
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, RationalQuadratic

from agents.kernels.amplitude import order_of
from agents.restarts.detector import ChangePointDetector, calibrate, detect
from agents.restarts.tails import MOST_NODES, Indexed, TestRates, best_ridge
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import OnColumns, TableKernel

MATERN = Matern(1.0, nu=2.5)
NOISE = 0.05
NEVER = float("inf")


@pytest.fixture(scope="module")
def gram() -> Gram:
    return Gram(MATERN, np.linspace(0.0, 5.0, 200)[:, None])


def draw(gram, rng):
    return rng.standard_normal(len(gram.root)) @ gram.root


def sequence(gram, seed, lengths):
    """Points and noisy values of one function after another."""
    rng = np.random.default_rng(seed)
    points = [rng.integers(gram.size, size=length) for length in lengths]
    values = [draw(gram, rng)[x] + NOISE * rng.standard_normal(len(x)) for x in points]
    return np.concatenate(points), np.concatenate(values)


@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_the_statistics_of_all_tails_equal_the_formula_after_every_sample(gram, ridge):
    point, value = sequence(gram, 0, [12, 13])
    indexed = ChangePointDetector.on_points(gram, ridge=ridge, theta=NEVER)
    anywhere = ChangePointDetector.on_features(MATERN, gram.points, ridge=ridge, theta=NEVER)
    for i, (x, y) in enumerate(zip(point.tolist(), value, strict=True), start=1):
        assert not indexed.append(x, y)
        assert not anywhere.append(gram.points[x], y)
        features = gram.points[point[:i]]
        slow = references.change_statistics(MATERN, features, value[:i], gram.points, 5.0, ridge, 6 / 7)
        assert len(slow) == i // 2
        for detector in (indexed, anywhere):
            np.testing.assert_allclose(detector.latest[:, 0], slow, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("centred", [False, True])
def test_samples_that_come_late_count_in_the_order_in_which_they_were_taken(gram, centred):
    point, value = sequence(gram, 1, [20, 20])
    order = np.random.default_rng(2).permutation(40)
    options = {"centred": centred, "theta": NEVER}
    late = ChangePointDetector.on_points(gram, **options)
    for count, i in enumerate(order, start=1):
        late.insert(float(i), int(point[i]), value[i])
        known = np.sort(order[:count])
        prompt = ChangePointDetector.on_points(gram, **options)
        for j in known:
            prompt.append(int(point[j]), value[j])
        np.testing.assert_allclose(late.latest, prompt.latest, atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize("features", [False, True], ids=["on points", "on features"])
def test_a_centred_response_is_less_the_mean_of_each_tail(gram, features):
    point, value = sequence(gram, 10, [11, 12])
    responses = np.column_stack([value, value + 3.0, value])
    options = {"num_responses": 3, "centred": [True, True, False], "theta": NEVER, "ridge": 0.5}
    detector = (
        ChangePointDetector.on_features(MATERN, gram.points, **options)
        if features
        else ChangePointDetector.on_points(gram, **options)
    )
    for i, (x, y) in enumerate(zip(point.tolist(), responses, strict=True), start=1):
        detector.append(gram.points[x] if features else x, y)
        given = MATERN, gram.points[point[:i]], value[:i], gram.points, 5.0, 0.5, 6 / 7
        centred, plain = (references.change_statistics(*given, centred=switch) for switch in (True, False))
        expected = np.column_stack([centred, centred, plain]).reshape(i // 2, 3)
        np.testing.assert_allclose(detector.latest, expected, atol=1e-9, rtol=1e-9)
    assert not np.allclose(detector.latest[:, 0], detector.latest[:, 2])


def test_a_level_raises_no_alarm_where_responses_are_centred(gram):
    point = np.random.default_rng(12).integers(gram.size, size=40)
    plain, centred = (
        ChangePointDetector.on_points(gram, ridge=5.0, centred=switch) for switch in (False, True)
    )
    assert detect(plain, point.tolist(), np.full(40, 30.0))
    assert not detect(centred, point.tolist(), np.full(40, 30.0))
    level = np.where(np.arange(40) < 20, 1.5, -1.5)
    found = detect(centred, point.tolist(), level)
    assert 20 <= found[0].sample <= 26  # a step from one level to another still does


def test_a_clear_change_raises_one_alarm_soon(gram):
    rng = np.random.default_rng(4)
    point = rng.integers(gram.size, size=60)
    level = np.where(np.arange(60) < 30, 1.5, -1.5)
    value = level + NOISE * rng.standard_normal(60)
    detector = ChangePointDetector.on_points(gram, ridge=10.0)
    first, *others = detect(detector, point.tolist(), value)
    assert not others
    assert 30 <= first.sample <= 36
    assert first.sample - 2 * first.alarm.half < 30  # its tail reaches back before the change
    assert first.alarm.statistic > first.alarm.threshold
    assert first.alarm.threshold == pytest.approx(2.6 * first.alarm.half ** (-6 / 7))


def test_the_alarm_is_the_tail_furthest_above_its_threshold(gram):
    point, value = sequence(gram, 5, [25, 25])
    detector = ChangePointDetector.on_points(gram, ridge=10.0)
    while not detector.append(int(point[detector.count]), value[detector.count]):
        pass
    assert detector.alarm is not None
    excess = detector.latest[:, 0] / (2.6 * np.arange(1.0, len(detector.latest) + 1) ** (-6 / 7))
    assert detector.alarm.half == np.argmax(excess) + 1
    assert detector.alarm.statistic / detector.alarm.threshold == pytest.approx(excess.max())


@pytest.mark.long
def test_false_alarms_of_a_run_are_as_many_as_the_formula_sheet_says():
    # T = 1200 and K = 4: at xi^2 = 3 four periods of sqrt(3 * 300) = 30 uniform samples.
    gram = Gram(MATERN, np.linspace(0.0, 5.0, 100)[:, None])
    runs, counts = 40, {4.0: (1.7, 5.0), 5.0: (1.2, 3.0), 10.0: (0.05, 0.8)}
    for ridge, (least, most) in counts.items():
        detector = ChangePointDetector.on_points(gram, ridge=ridge)
        periods = [sequence(gram, seed, [30]) for seed in range(4 * runs)]
        alarms = sum(len(detect(detector, point.tolist(), value)) for point, value in periods)
        assert least < alarms / runs < most


def test_after_a_reset_a_detector_is_as_new(gram):
    point, value = sequence(gram, 6, [30])
    used, new = (ChangePointDetector.on_points(gram, theta=NEVER) for _ in range(2))
    for x, y in zip(point[::-1].tolist(), value, strict=True):
        used.append(x, y)
    used.reset()
    assert (used.count, used.alarm, len(used.latest)) == (0, None, 0)
    for x, y in zip(point.tolist(), value, strict=True):
        used.append(x, y)
        new.append(x, y)
        np.testing.assert_array_equal(used.latest, new.latest)


def test_the_unit_of_the_responses_and_the_volume_decide_nothing(gram):
    point, value = sequence(gram, 7, [20, 20, 20])
    plain = detect(ChangePointDetector.on_points(gram), point.tolist(), value)
    assert plain
    scaled = Gram(ConstantKernel(9.0) * MATERN, gram.points)
    for detector, values in (
        (ChangePointDetector.on_points(gram, volume=1.0), value),
        (ChangePointDetector.on_points(scaled), 3.0 * value),
    ):
        found = detect(detector, point.tolist(), values)
        assert [each.sample for each in found] == [each.sample for each in plain]


def test_responses_of_other_variances_have_thresholds_in_proportion(gram):
    point, value = sequence(gram, 7, [20, 20, 20])
    plain = detect(ChangePointDetector.on_points(gram), point.tolist(), value)
    two = ChangePointDetector.on_points(gram, num_responses=2, variance=[1.0, 9.0])
    np.testing.assert_allclose(two.rates.threshold(1), [2.6, 23.4])
    for response, values in ((0, [value, 0.0 * value]), (1, [0.0 * value, 3.0 * value])):
        found = detect(two, point.tolist(), np.column_stack(values))
        assert [each.sample for each in found] == [each.sample for each in plain]
        assert {each.alarm.response for each in found} == {response}


def test_many_points_are_integrated_over_evenly_spread_ones():
    gram = Gram(MATERN, np.linspace(0.0, 5.0, 3 * MOST_NODES)[:, None])
    fine = Indexed(gram).of(100, [])[0]
    assert len(fine) == MOST_NODES
    every_third = MATERN(gram.points[[100]], gram.points[::3])[0]
    np.testing.assert_allclose(fine, every_third, atol=1e-15)


@pytest.mark.parametrize(
    ("kernel", "order"),
    [
        (Matern(1.0, nu=1.5), 1.5),
        (RBF(0.2), np.inf),
        (RationalQuadratic(1.0, 1.0), np.inf),
        (ConstantKernel(2.0) * Matern(nu=0.5) + DotProduct(), 0.5),
        (OnColumns(Matern(nu=1.5), [0]) * OnColumns(RBF(), [1]), 1.5),
        (TableKernel(np.eye(3)), 2.5),
    ],
)
def test_a_kernel_is_as_smooth_as_its_roughest_part(kernel, order):
    assert order_of(kernel) == order


def test_ridge_and_threshold_fall_at_the_papers_rate():
    rates = TestRates.of(MATERN, 1, ridge=4.0)
    assert rates.penalty(10) == pytest.approx(10 * 4.0 * 10 ** (-6 / 7))
    np.testing.assert_allclose(rates.threshold(10), [2.6 * 10 ** (-6 / 7)])
    assert TestRates.of(MATERN, 3).exponent == pytest.approx(8 / 9)
    assert TestRates.of(RBF(), 3).exponent == 1.0
    assert TestRates.of(RBF(), 1, smoothness=0.5).exponent == pytest.approx(2 / 3)
    assert TestRates.of(MATERN, 1, reading="theory").ridge == 1.0
    assert TestRates.of(MATERN, 1, volume=1.0, variance=4.0).theta == pytest.approx(2.6 / 5 * 4)


@pytest.mark.long
def test_the_calibrated_threshold_keeps_its_false_alarm_rate():
    gram = Gram(MATERN, np.linspace(0.0, 5.0, 60)[:, None])
    theta = calibrate(gram, NOISE, 20, 0.2, runs=300, ridge=2.0, seed=1)
    assert theta == calibrate(gram, NOISE, 20, 0.2, runs=300, ridge=2.0, seed=1)
    detector = ChangePointDetector.on_points(gram, ridge=2.0, theta=theta)
    alarmed = [
        bool(detect(detector, x.tolist(), y)) for x, y in (sequence(gram, s, [20]) for s in range(300))
    ]
    assert abs(np.mean(alarmed) - 0.2) < 0.1  # four deviations of 300 runs, as many of the calibration
    assert calibrate(gram, NOISE, 20, 0.02, runs=300, ridge=2.0, seed=1) > theta


def test_cross_validation_leaves_out_one_sample_at_a_time(gram):
    point, value = sequence(gram, 8, [25])
    x, candidates = gram.points[point], [0.001, 0.05, 1.0, 20.0]
    errors = []
    for c in candidates:
        penalty = 25 * c * 25 ** (-6 / 7)
        error = 0.0
        for i in range(25):
            rest = np.arange(25) != i
            weights = np.linalg.solve(MATERN(x[rest]) + penalty * np.eye(24), value[rest])
            error += (value[i] - float(MATERN(x[[i]], x[rest])[0] @ weights)) ** 2
        errors.append(error)
    found = best_ridge(MATERN(x), value[:, None], TestRates.of(MATERN, 1), candidates)
    assert found == candidates[np.argmin(errors)]


def test_only_the_response_beyond_its_own_threshold_raises_the_alarm(gram):
    point, value = sequence(gram, 3, [30, 30])
    detector = ChangePointDetector.on_points(gram, num_responses=2, theta=[NEVER, 2.6])
    found = detect(detector, point.tolist(), np.column_stack([value, np.zeros(60)]))
    assert not found
    found = detect(detector, point.tolist(), np.column_stack([np.zeros(60), value]))
    assert {each.alarm.response for each in found} == {1}


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda gram: ChangePointDetector.on_points(gram, theta=0.0), "theta"),
        (lambda gram: ChangePointDetector.on_points(gram, theta=[1.0, 2.0]), "theta"),
        (lambda gram: ChangePointDetector.on_points(gram, ridge=-1.0), "ridge"),
        (lambda gram: ChangePointDetector.on_points(gram, volume=0.0), "volume"),
        (lambda gram: ChangePointDetector.on_points(gram, smoothness=0.0), "smoothness"),
        (lambda gram: ChangePointDetector.on_points(gram, num_responses=0), "num_responses"),
        (lambda gram: ChangePointDetector.on_points(gram, reading="practice"), "reading"),
        (lambda gram: ChangePointDetector.on_points(gram, centred=1), "centred"),
        (lambda gram: ChangePointDetector.on_points(gram, num_responses=2, centred=[True]), "centred"),
        (lambda gram: ChangePointDetector.on_points(gram).append(0, [1.0, 2.0]), "y"),
        (lambda gram: ChangePointDetector.on_points(gram).append(0, np.nan), "y"),
        (lambda gram: ChangePointDetector.on_points(gram).append(200, 1.0), "x"),
        (lambda gram: ChangePointDetector.on_points(gram).append(-1, 1.0), "x"),
        (lambda gram: ChangePointDetector.on_features(MATERN, gram.points[:, 0]), "nodes"),
        (lambda gram: ChangePointDetector.on_features(MATERN, gram.points).append([1, 2], 1.0), "x"),
        (lambda gram: calibrate(gram, NOISE, 20, 1.5), "rate"),
        (lambda gram: calibrate(gram, NOISE, 1, 0.5), "samples"),
        (lambda gram: calibrate(gram, NOISE, 20, 0.5, seed=-1), "seed"),
    ],
)
def test_a_wrong_argument_is_named(gram, make, named):
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        make(gram)

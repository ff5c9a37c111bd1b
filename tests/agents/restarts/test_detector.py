"""The change-point test equals its definition, and finds clear changes and seldom any other."""

import numpy as np
import pytest
import references
from players import started
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, RationalQuadratic

import agents
from agents.kernels.amplitude import order_of
from agents.model.rounds import Delivery
from agents.restarts.detector import (
    MOST_SIMULATED_ALONE,
    ChangePointDetector,
    calibrate,
    largest_statistics,
)
from agents.restarts.on_alarm import uniform_rounds
from agents.restarts.tails import (
    CROSS_VALIDATED,
    MOST_NODES,
    FeatureCovariates,
    Indexed,
    TestRates,
    best_ridge,
    due,
)
from bandit_envs import Setting
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import OnColumns, TableKernel
from bandit_envs.problem.decisions import unit_grid

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


def detect(detector, x, y):
    """The samples that raised an alarm, with it, of a detector that is reset first and after each."""
    detector.reset()
    found = []
    for i, (where, what) in enumerate(zip(x, y, strict=True)):
        if detector.append(where, what):
            found.append((i, detector.alarm))
            detector.reset()
    return found


def on_features(nodes, **options):
    return ChangePointDetector(FeatureCovariates(MATERN, nodes), **options)


@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_the_statistics_of_all_tails_equal_the_formula_after_every_sample(gram, ridge):
    point, value = sequence(gram, 0, [12, 13])
    indexed = ChangePointDetector.on_points(gram, ridge=ridge, theta=NEVER)
    anywhere = on_features(gram.points, ridge=ridge, theta=NEVER)
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
        on_features(gram.points, **options) if features else ChangePointDetector.on_points(gram, **options)
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
    (first, _), *_ = detect(centred, point.tolist(), level)
    assert 20 <= first <= 26  # a step from one level to another still does


def test_a_clear_change_raises_one_alarm_soon(gram):
    rng = np.random.default_rng(4)
    point = rng.integers(gram.size, size=60)
    level = np.where(np.arange(60) < 30, 1.5, -1.5)
    value = level + NOISE * rng.standard_normal(60)
    detector = ChangePointDetector.on_points(gram, ridge=10.0)
    ((first, alarm),) = detect(detector, point.tolist(), value)
    assert 30 <= first <= 36
    assert first - 2 * alarm.half < 30  # its tail reaches back before the change
    assert alarm.statistic > alarm.threshold == pytest.approx(2.6 * alarm.half ** (-6 / 7))


def test_the_alarm_is_the_tail_furthest_above_its_threshold(gram):
    point, value = sequence(gram, 5, [25, 25])
    detector = ChangePointDetector.on_points(gram, ridge=10.0)
    while not detector.append(int(point[detector.count]), value[detector.count]):
        pass
    assert detector.alarm is not None
    excess = detector.latest[:, 0] / (2.6 * np.arange(1.0, len(detector.latest) + 1) ** (-6 / 7))
    assert detector.alarm.half == np.argmax(excess) + 1
    assert detector.alarm.statistic / detector.alarm.threshold == pytest.approx(excess.max())


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


def test_the_unit_of_the_responses_decides_nothing(gram):
    point, value = sequence(gram, 7, [20, 20, 20])
    plain = detect(ChangePointDetector.on_points(gram), point.tolist(), value)
    assert plain
    scaled = ChangePointDetector.on_points(Gram(ConstantKernel(9.0) * MATERN, gram.points))
    assert [i for i, _ in detect(scaled, point.tolist(), 3.0 * value)] == [i for i, _ in plain]


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
    assert TestRates.of(Matern(nu=0.5), 1).exponent == pytest.approx(2 / 3)
    assert TestRates.of(MATERN, 1, reading="theory").ridge == 1.0
    assert TestRates.of(MATERN, 1, variance=4.0).theta == pytest.approx(2.6 * 4)


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
    assert not detect(detector, point.tolist(), np.column_stack([value, np.zeros(60)]))
    found = detect(detector, point.tolist(), np.column_stack([np.zeros(60), value]))
    assert {alarm.response for _, alarm in found} == {1}


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda gram: ChangePointDetector.on_points(gram, theta=0.0), "theta"),
        (lambda gram: ChangePointDetector.on_points(gram, theta=[1.0, 2.0]), "theta"),
        (lambda gram: ChangePointDetector.on_points(gram, ridge=-1.0), "ridge"),
        (lambda gram: ChangePointDetector.on_points(gram, num_responses=0), "num_responses"),
        (lambda gram: ChangePointDetector.on_points(gram, reading="practice"), "reading"),
        (lambda gram: ChangePointDetector.on_points(gram, centred=1), "centred"),
        (lambda gram: ChangePointDetector.on_points(gram, num_responses=2, centred=[True]), "centred"),
        (lambda gram: ChangePointDetector.on_points(gram).append(0, [1.0, 2.0]), "y"),
        (lambda gram: ChangePointDetector.on_points(gram).append(0, np.nan), "y"),
        (lambda gram: ChangePointDetector.on_points(gram).append(200, 1.0), "x"),
        (lambda gram: ChangePointDetector.on_points(gram).append(-1, 1.0), "x"),
        (lambda gram: on_features(gram.points[:, 0]), "nodes"),
        (lambda gram: on_features(gram.points).append([1, 2], 1.0), "x"),
        (lambda gram: calibrate(gram, NOISE, 20, 1.5), "rate"),
        (lambda gram: calibrate(gram, NOISE, 1, 0.5), "samples"),
        (lambda gram: calibrate(gram, NOISE, 20, 0.5, seed=-1), "seed"),
    ],
)
def test_a_wrong_argument_is_named(gram, make, named):
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        make(gram)


# The ridge by cross-validation on the samples of a detector (Avanesov 2020, Remark 3.1)

POINTS = np.linspace(0.0, 5.0, 60)[:, None]
OF_AGENTS = {
    "gp-ucb-cpd": {"ridge": CROSS_VALIDATED, "theta": NEVER},
    "gp-agent": {"restart": "cpd", "restart_options": {"ridge": CROSS_VALIDATED, "theta": NEVER}},
}


@pytest.fixture(scope="module")
def few():
    return Gram(MATERN, POINTS)


def shown(detector, point, value):
    for x, y in zip(point.tolist(), value, strict=True):
        detector.append(x, y)
    return detector


def test_it_is_chosen_whenever_there_are_twice_as_many_samples():
    assert [count for count in range(100) if due(count)] == [8, 16, 32, 64]


@pytest.mark.parametrize("centred", [False, True])
def test_statistics_are_those_of_the_ridge_that_predicts_best(few, centred):
    point, value = sequence(few, 0, [40])
    value += 5.0 * centred
    adaptive = shown(
        ChangePointDetector.on_points(few, ridge=CROSS_VALIDATED, theta=NEVER, centred=centred), point, value
    )
    seen = value[:32] - centred * value[:32].mean()
    best = best_ridge(MATERN(few.points[point[:32]]), seen[:, None], TestRates.of(MATERN, 1))
    assert adaptive.rates.ridge == best < 0.1  # the noise variance is 0.0025
    fixed = shown(ChangePointDetector.on_points(few, ridge=best, theta=NEVER, centred=centred), point, value)
    np.testing.assert_allclose(adaptive.latest, fixed.latest, rtol=1e-9)


def test_the_unit_of_the_responses_decides_no_ridge(few):
    point, value = sequence(few, 0, [40])
    scaled = Gram(ConstantKernel(1e6) * MATERN, POINTS)
    plain, large = (ChangePointDetector.on_points(prior, ridge=CROSS_VALIDATED) for prior in (few, scaled))
    assert shown(plain, point, value).rates.ridge == shown(large, point, 1e3 * value).rates.ridge


def test_a_threshold_is_calibrated_for_the_ridge_that_a_sequence_chooses_alone(few, monkeypatch):
    simulated = []

    def noted(detector, x, y):
        simulated.append((detector.num_responses, len(x)))
        return np.ones(y.shape)

    monkeypatch.setattr("agents.restarts.detector.largest_statistics", noted)
    calibrate(few, NOISE, 100, 0.1, runs=3, ridge=CROSS_VALIDATED)
    assert simulated == [(1, MOST_SIMULATED_ALONE)] * 3


@pytest.mark.parametrize("name", OF_AGENTS)
def test_agents_take_it_as_an_option(name):
    setting = Setting(arms=POINTS, horizon=100, kernel=MATERN, noise_std=NOISE, may_change=True)
    agent = started(agents.make(name, setting, **OF_AGENTS[name]))
    point, value = sequence(Gram(MATERN, POINTS), 0, [8])
    trial, t = np.zeros(8, dtype=np.int64), np.arange(8)
    agent.restart.watch.receive(Delivery(trial, point, t, t, value, np.empty((8, 0))))
    (detector,) = agent.restart.watch.detectors
    assert detector.rates.ridge == best_ridge(MATERN(POINTS[point]), value[:, None], TestRates.of(MATERN, 1))


def test_a_reset_forgets_the_choice(few):
    detector = shown(ChangePointDetector.on_points(few, ridge=CROSS_VALIDATED), *sequence(few, 0, [40]))
    detector.reset()
    assert detector.rates.ridge == 5.0


# Thresholds on long sequences and of many points

RATE = 0.1
RIDGES = [NOISE**2, 5.0]  # the defaults of gp-agent and of gp-ucb-cpd


@pytest.fixture(scope="module")
def fewest():
    return Gram(MATERN, np.linspace(0.0, 5.0, 40)[:, None])


@pytest.mark.parametrize("ridge", RIDGES)
def test_what_is_extrapolated_is_about_what_is_simulated(fewest, ridge, monkeypatch):
    simulated, shorter = (calibrate(fewest, NOISE, m, RATE, runs=60, ridge=ridge) for m in (48, 24))
    monkeypatch.setattr("agents.restarts.detector.MOST_SIMULATED", 24)
    extrapolated = calibrate(fewest, NOISE, 48, RATE, runs=60, ridge=ridge)
    assert shorter < extrapolated
    assert extrapolated == pytest.approx(simulated, rel=0.3)  # a deviation of each is 15 %


def test_the_threshold_of_a_run_is_that_of_all_its_uniform_rounds(fewest, monkeypatch):
    monkeypatch.setattr("agents.restarts.detector.MOST_SIMULATED", 8)
    setting = Setting(arms=fewest.points, horizon=600, kernel=fewest.kernel, noise_std=NOISE)
    agent = started(agents.make("gp-ucb-cpd", setting, false_alarm_rate=RATE))
    theta = float(np.max(agent.restart.watch.detectors[0].rates.theta))
    assert theta == calibrate(fewest, NOISE, uniform_rounds(600), RATE)


@pytest.mark.long
@pytest.mark.parametrize("ridge", RIDGES)
def test_the_rate_of_false_alarms_holds_in_a_run_of_17000_rounds(fewest, ridge):
    samples = uniform_rounds(17_000)
    theta = calibrate(fewest, NOISE, samples, RATE, ridge=ridge)
    largest = [stationary(fewest, samples, rng, ridge) for rng in np.random.default_rng(5).spawn(10)]
    # Four deviations of the 400 stationary here and of the 200 of the calibration would be 0.1.
    assert np.mean(np.concatenate(largest) > theta) < RATE + 0.05


def stationary(fewest, samples, rng, ridge, together=40):
    """The largest statistic * n^e of stationary stationary at the same points, (together,)."""
    point = rng.integers(fewest.size, size=samples)
    truth = np.array([fewest.white(rng) for _ in range(together)]) @ fewest.root
    value = truth[:, point].T + NOISE * rng.standard_normal((samples, together))
    detector = ChangePointDetector.on_points(fewest, num_responses=together, ridge=ridge, theta=np.inf)
    return largest_statistics(detector, point.tolist(), value)[-1]


@pytest.fixture
def _many(monkeypatch):
    """More than 20 points are many."""
    monkeypatch.setattr("bandit_envs.kernels.definite.SLOW", 20)
    for name, few in {"DENSE_LIMIT": 20, "TRIED": 20, "QUICK": 0.0}.items():
        monkeypatch.setattr(f"bandit_envs.kernels.gram.{name}", few)


@pytest.mark.parametrize("kernel", [2.0 * RBF(0.3), Matern(0.4, nu=1.5)], ids=["factors", "torus"])
@pytest.mark.usefixtures("_many")
def test_a_threshold_on_many_points_is_calibrated_without_their_covariance(kernel):
    fewest = Gram(kernel, unit_grid(64, 2))
    assert 0.0 < calibrate(fewest, 0.1, 12, 0.2, runs=20) < np.inf
    assert not {"dense", "root"} & vars(fewest).keys()

"""Kernel and noise are learnt by the marginal likelihood, and all that follows from them follows."""

import numpy as np
import pytest
import references
from agent_cases import LEARNING as LEARNERS
from agent_cases import in_turn, takes
from players import at_once, each_round
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import agents
import bandit_envs
from agents.acquisition.by_name import unit_of
from agents.beliefs.imputed import FILL_INS
from agents.kernels.amplitude import unit_kernel
from agents.model.hyperparameters import Fitter, Learning, Sample, likelihood, prior_precision
from agents.model.model import Model
from agents.posteriors import FORMS
from agents.registry import resolve_agent
from bandit_envs import Decisions, Problem, Setting
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample, delays
from gpbandits import evaluate

HERE = np.zeros(1, dtype=int)
LEARNING = {"refit_every": 7, "kernel": "rbf", "length_scale": 0.5}


def values_at(points, rng, num_points=30, size=60):
    """Noisy values of a wave at random points, most of them repeated."""
    point = rng.integers(num_points, size=size)
    return point, np.sin(9 * points[point, 0]) + 0.1 * rng.normal(size=size)


@pytest.mark.parametrize(
    "kernel",
    [
        ConstantKernel(0.7) * RBF(0.2),
        make_kernel("matern52", [0.3, 0.6]) + make_kernel("linear"),
        make_kernel("rational_quadratic") * make_kernel("rbf"),
    ],
    ids=["rbf", "sum", "product"],
)
def test_the_likelihood_of_condensed_values_is_scikit_learns_of_single_ones(kernel):
    rng = np.random.default_rng(0)
    features = rng.random((30, 2))
    point, value = values_at(features, rng)
    raw = GaussianProcessRegressor(kernel + WhiteKernel(0.05), alpha=0.0, optimizer=None)
    raw.fit(features[point], value)
    sample = Sample.of(features, point, value)
    for _ in range(5):
        theta = raw.kernel_.theta + rng.normal(size=len(raw.kernel_.theta)) * 0.5
        height, slope = raw.log_marginal_likelihood(theta, eval_gradient=True)
        mine = likelihood(theta, kernel, sample)
        np.testing.assert_allclose(mine[0], -height, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(mine[1], -slope, rtol=1e-7, atol=1e-7)


def test_a_fit_starts_where_the_last_one_ended_and_is_at_least_as_likely_as_its_start():
    rng = np.random.default_rng(2)
    features = np.linspace(0, 1, 30)[:, None]
    point, value = values_at(features, rng)
    fitter, sample = Fitter(RBF(0.5), 0.1, 1.0, Learning()), Sample.of(features, point, value)
    heights = []
    for restarts in (0, 0, 3):
        best = fitter.fit(features, point, value, restarts, rng)
        theta = np.append(best.kernel.theta, np.log(best.noise_variance))
        heights.append(likelihood(theta, best.kernel, sample)[0])
    assert heights[0] >= heights[1] - 1e-9
    assert heights[1] >= heights[2] - 1e-9


KERNELS = {
    "amplitude": lambda square: ConstantKernel(square, (1e-4 * square, 1e4 * square)) * RBF([0.3, 0.5]),
    "fixed": lambda square: ConstantKernel(square, "fixed") * RBF(0.3),
}


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**10, 1e-3, 1e3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("with_mean", [False, True])
def test_a_fit_does_not_see_the_unit_of_the_values(kernel, unit, with_mean):
    rng = np.random.default_rng(7)
    features = rng.random((30, 2))
    point, value = values_at(features, rng)
    plain, scaled = (
        Fitter(KERNELS[kernel](one**2), 0.01 * one**2, one**2, Learning(spread=1.0), with_mean).fit(
            features, point, one * (value + 0.5), 1, np.random.default_rng(1)
        )
        for one in (1.0, unit)
    )
    exact = np.frexp(unit)[0] == 0.5  # then nothing is rounded otherwise
    tolerance = 0.0 if exact else 1e-4  # of where a descent ends
    lengths = [found.kernel.k2.length_scale for found in (plain, scaled)]
    np.testing.assert_allclose(lengths[1], lengths[0], rtol=tolerance)
    np.testing.assert_allclose(scaled.noise_variance / unit**2, plain.noise_variance, rtol=tolerance)
    np.testing.assert_allclose(scaled.centre / unit, plain.centre, rtol=tolerance)
    amplitudes = [found.kernel.k1.constant_value for found in (plain, scaled)]
    np.testing.assert_allclose(amplitudes[1] / unit**2, amplitudes[0], rtol=max(tolerance, 1e-12))


@pytest.mark.parametrize("deviation", [1e-3, 1.0, 1e3])
def test_a_kernel_in_its_own_units_may_be_learnt_in_any(deviation):
    term = ConstantKernel(deviation**2, "fixed") * RBF(0.2)
    kernel = unit_kernel(term + term, deviation)
    low, high = kernel.bounds.T
    assert ((low < kernel.theta) & (kernel.theta < high)).all()


class Recorder:
    """Plays an agent in an environment and keeps what arrived."""

    def __init__(self, name, rounds=40, seed=3, delay=None, **options):
        problem = Problem(
            Decisions(np.linspace(0, 1, 60)[:, None]),
            GPSample(),
            make_kernel("matern52", 0.15),
            delay=delay or delays.Immediate(),
            horizon=rounds,
        )
        env = bandit_envs.make(problem)
        observation, _ = env.reset(seed=seed)
        self.agent = agents.make(name, env, **options)
        self.agent.reset(5)
        self.played, self.round, self.value = [], [], []
        for action, _, info, _ in each_round(env, self.agent, observation, rounds):
            self.played.append(action)
            self.round += info["feedback_step"][info["feedback_mask"]].tolist()
            self.value += info["feedback_reward"][info["feedback_mask"]].tolist()


@pytest.mark.parametrize("form", [None, *FORMS])
def test_after_a_fit_the_posterior_is_that_of_the_new_kernel_on_the_same_data(form):
    seen = Recorder("igp-ucb", form=form, **LEARNING)
    model, belief = seen.agent.model, seen.agent.belief
    assert model.kernel != make_kernel("rbf", 0.5)
    point = np.array(seen.played)[seen.round]
    gram = model.kernel(model.setting.arms)
    mean, covariance = references.posterior(gram, model.noise_variance, point, np.array(seen.value))
    np.testing.assert_allclose(belief.mean(HERE)[0], mean, atol=1e-8)
    np.testing.assert_allclose(belief.std(HERE)[0] ** 2, np.diag(covariance), atol=1e-8)
    gain = references.information_gain(gram, model.noise_variance, point)
    np.testing.assert_allclose(belief.gain, gain, atol=1e-8)


def test_rule_width_and_ties_follow_the_learnt_noise_and_amplitude():
    seen = Recorder("igp-ucb", **LEARNING)
    model, agent = seen.agent.model, seen.agent
    assert model.noise_std**2 == pytest.approx(model.noise_variance)
    deviation = np.sqrt(model.kernel.diag(np.zeros((1, 1)))[0])
    assert agent.rule.width.noise_std == pytest.approx(model.noise_std / deviation)
    assert unit_of(agent.rule, agent.model) == pytest.approx(deviation)
    kernel_ucb = Recorder("kernel-ucb", **LEARNING).agent
    assert kernel_ucb.rule.width.noise_variance == kernel_ucb.model.relative_variance


class Hopeless(RBF):
    """A kernel whose likelihood cannot be computed."""

    def __call__(self, X, Y=None, eval_gradient=False):
        if eval_gradient:
            raise ValueError("no gradient here")
        return super().__call__(X, Y)


class NotANumber(RBF):
    """A kernel whose likelihood is not finite."""

    def __call__(self, X, Y=None, eval_gradient=False):
        if not eval_gradient:
            return super().__call__(X, Y)
        return np.full((len(X), len(X)), np.nan), np.full((len(X), len(X), 1), np.nan)


@pytest.mark.parametrize("kernel", [Hopeless(0.2), NotANumber(0.2)], ids=["raises", "nan"])
def test_a_fit_that_fails_keeps_the_old_values_and_is_counted(kernel):
    learning = Recorder("gp-ucb", kernel=kernel, refit_every=8)
    fixed = Recorder("gp-ucb", kernel=kernel, form="pairs")
    assert learning.agent.failed_fits == 5
    assert learning.agent.model.kernel is kernel
    assert learning.played == fixed.played


@pytest.mark.parametrize("name", ["gp-ucb", "gp-bucb", "gp-ucb-sdf", "gp-ts-sdf"])
@pytest.mark.parametrize("source", ["arrived", "all"])
def test_fits_under_delay_use_what_arrived_or_all_plays(name, source):
    patient = {"window": 40} if "sdf" in name else {}  # else they would discard what comes late
    seen = Recorder(name, delay=delays.PoissonDelay(5.0), fit_on=source, **patient, **LEARNING)
    belief = seen.agent.belief
    point, value, _ = seen.agent.assumptions.sample(seen.agent)
    shifted = np.array(seen.value) - belief.prior_mean[0, 0]
    in_time = np.argsort(seen.round)
    if source == "arrived":
        np.testing.assert_array_equal(point, np.array(seen.played)[np.sort(seen.round)])
        np.testing.assert_allclose(value, shifted[in_time])
    else:
        np.testing.assert_array_equal(point, seen.played)
        pending = np.setdiff1d(np.arange(40), seen.round)
        assert len(pending)
        assumed = 0.0 if "sdf" in name else belief.mean_posterior.mean_of(0 * pending, point[pending])
        np.testing.assert_allclose(value[pending], assumed)
    assert seen.agent.failed_fits == 0


@pytest.mark.parametrize("source", ["arrived", "all"])
@pytest.mark.parametrize("most", [2, 7, 1000])
def test_a_fit_looks_at_the_latest_values_alone_where_their_number_is_bounded(source, most, monkeypatch):
    looked_at = []

    def fit(self, features, point, value, restarts, rng, weight):
        looked_at.append(point)

    monkeypatch.setattr(Fitter, "fit", fit)
    options = LEARNING | {"fit_on": source, "fit_most": most}
    rounds = 5 * LEARNING["refit_every"]  # so that the last fit saw everything
    seen = Recorder("gp-bucb", rounds=rounds, delay=delays.PoissonDelay(5.0), **options)
    rows = seen.agent.book.rows(np.zeros(1, dtype=np.int64))
    point = rows.point if source == "all" else rows.point[rows.arrived >= 0]
    np.testing.assert_array_equal(looked_at[-1], point[-most:])


def test_what_the_belief_discards_is_no_evidence():
    seen = Recorder("gp-ucb-sdf", delay=delays.PoissonDelay(5.0), window=4, **LEARNING)
    _, value, _ = seen.agent.assumptions.sample(seen.agent)
    assert 0 < len(value) < len(seen.value)
    total = seen.agent.belief.mean_posterior.statistics(0).total.sum()  # a censored play counts as 0
    np.testing.assert_allclose(value.sum(), total)


def test_a_fit_weighs_plays_by_the_noise_that_is_published_of_them():
    setting = Setting(
        arms=np.linspace(0, 1, 20)[:, None], horizon=9, kernel=make_kernel("rbf"), noise_std=0.2
    )
    agent = agents.make("gp-ucb", setting, refit_every=5)
    agent.reset(0)
    told = [0.1, np.nan, 0.4]
    for t, std in enumerate(told):
        agent.update(np.zeros(1), agent.act(np.zeros(1)), 0.0, at_once(t, 1.0, std=std))
    *_, weight = agent.assumptions.sample(agent)
    np.testing.assert_allclose(weight, [4.0, 1.0, 0.25])  # (R / R_i)^2


@pytest.mark.sampled(1)
@pytest.mark.parametrize("fill_in", FILL_INS)
def test_fill_ins_are_renewed_under_the_new_kernel(fill_in):
    seen = Recorder("gp-ucb-sdf", delay=delays.PoissonDelay(5.0), fill_in=fill_in, fit_on="all", **LEARNING)
    assert seen.agent.failed_fits == 0
    if fill_in == "mean":  # in the last round of the 40 nothing was fitted; 35 was the last fit
        belief = seen.agent.belief
        np.testing.assert_allclose(
            belief.mean_posterior.mean_at(None), belief.delivered.mean_at(None), atol=1e-8
        )  # filling in the mean is hallucination


def contextual(horizon=14):
    decisions = Decisions(np.linspace(0, 1, 15)[:, None], np.linspace(0, 1, 3)[:, None])
    kernel = make_kernel("rbf", [0.5, 0.2])
    return Problem(decisions, GPSample(), kernel, delay=delays.PoissonDelay(2.0), horizon=horizon)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "source"), in_turn(LEARNERS, ["all", "arrived"]))
def test_a_batch_that_learns_equals_single_trials(name, source):
    options = {"refit_every": 6, "fit_on": source}
    if not takes(name, **options):
        pytest.skip(f"fits are not made on {source}")
    alone = resolve_agent((name, options))
    batch, singles = (
        evaluate(contextual(), {"it": agent}, trials=2).actions["it"]
        for agent in ((name, options), lambda setting: alone(setting))
    )
    np.testing.assert_array_equal(batch, singles)


def test_the_learnt_mean_is_the_generalised_least_squares_one_and_its_slopes_are_right():
    rng = np.random.default_rng(5)
    features, kernel = rng.random((15, 2)), ConstantKernel(0.7) * RBF([0.2, 0.4])
    value = 3.0 + rng.normal(size=15)
    sample = Sample.of(features, np.arange(15), value)
    theta = np.append(kernel.theta, np.log(0.02))
    inverse = np.linalg.inv(kernel(features) + 0.02 * np.eye(15))
    expected = inverse.sum(axis=0) @ value / inverse.sum()
    loss, slopes, centre = likelihood(theta, kernel, sample, with_mean=True)
    np.testing.assert_allclose(centre, expected, rtol=1e-10)
    shifted = Sample.of(features, np.arange(15), value - expected)
    np.testing.assert_allclose(loss, likelihood(theta, kernel, shifted)[0], rtol=1e-10)
    for j, shift in enumerate(1e-5 * np.eye(len(theta))):
        up, down = (likelihood(theta + sign * shift, kernel, sample, True)[0] for sign in (1, -1))
        np.testing.assert_allclose(slopes[j], (up - down) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["gp-ucb", "gp-bucb"])
def test_a_learnt_mean_is_taken_out_of_all_that_was_observed(name):
    setting = Setting(arms=np.linspace(0, 1, 30)[:, None], horizon=40, kernel=RBF(0.2), noise_std=0.1)
    agent = agents.make(name, setting, refit_every=10, fit_mean=True, width=1.0)
    agent.reset(0)
    rng, seen = np.random.default_rng(0), {}
    for t in range(20):
        arm = agent.act(np.zeros(1))
        reward = 50.0 + np.sin(9 * arm / 29) + 0.1 * rng.normal()
        seen.setdefault(arm, []).append(reward)
        agent.update(np.zeros(1), arm, reward, at_once(t, reward))
    mean = agent.model.prior_mean
    assert abs(mean - 50.0) < 2.0
    tally = agent.belief.mean_posterior.statistics(0)
    for arm, plays, total in zip(*tally, strict=True):
        np.testing.assert_allclose(total, np.sum(seen[arm]) - plays * mean, atol=1e-9)


@pytest.mark.parametrize(
    ("spreads", "precision"),
    [
        ({"spread": 0.5}, [0.0, 4.0, 4.0, 0.0]),
        ({"amplitude_spread": 0.5, "noise_spread": 0.25}, [4.0, 0.0, 0.0, 16.0]),
        ({"noise_spread": 0.0}, [0.0] * 4),  # a known noise is no hyperparameter
        ({}, [0.0] * 4),
    ],
)
def test_the_prior_pulls_hyperparameters_by_their_own_spreads(spreads, precision):
    found = prior_precision(ConstantKernel(2.0) * RBF([0.3, 0.5]), Learning(**spreads))
    np.testing.assert_array_equal(found, precision)


def test_a_noise_that_is_known_is_not_learnt():
    rng = np.random.default_rng(0)
    features, noise = rng.random((30, 1)), 0.04
    given = features, np.arange(30), np.sin(6 * features[:, 0]), 1, np.random.default_rng(1)
    held = Fitter(RBF(0.3), noise, 1.0, Learning(noise_spread=0.0)).fit(*given)
    free = Fitter(RBF(0.3), noise, 1.0, Learning()).fit(*given)
    assert held is not None
    assert free is not None
    assert held.noise_variance == pytest.approx(noise, rel=1e-12)
    assert free.noise_variance < 1e-4


@pytest.mark.long
def test_a_known_process_is_recovered():
    """Averaged over draws, log length-scale and log noise are within four standard errors of the truth."""
    features, draws = np.linspace(0, 1, 120)[:, None], 12
    prior, found = Gram(make_kernel("matern52", 0.15), features), []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal(len(prior.root)) @ prior.root
        point = rng.integers(120, size=300)
        fitter = Fitter(make_kernel("matern52", 0.4), 0.1, 1.0, Learning())
        best = fitter.fit(features, point, truth[point] + 0.2 * rng.normal(size=300), 1, rng)
        assert best is not None
        found.append([np.log(best.kernel.k2.length_scale), np.log(best.noise_variance)])
    found = np.array(found)
    error = found.mean(axis=0) - np.log([0.15, 0.2**2])
    assert np.all(np.abs(error) < 4 * found.std(axis=0, ddof=1) / np.sqrt(draws))
    # A noise variance from 300 values has relative error sqrt(2/300): the fit is not just vaguely centred.
    assert found[:, 1].std(ddof=1) < 2 * np.sqrt(2 / 300)


def test_no_evidence_is_no_failure():
    never = Recorder("gp-ucb", delay=delays.Constant(39), **LEARNING).agent
    assert never.assumptions.fits[:-1] == [None] * (len(never.assumptions.fits) - 1)
    assert never.failed_fits == 0
    assert never.model.kernel == make_kernel("rbf", 0.5)


def test_a_batch_counts_failures_for_each_trial():
    setting = Setting(arms=np.linspace(0, 1, 20)[:, None], horizon=10, kernel=make_kernel("rbf"))
    agent = agents.gp_ucb(setting, num_trials=3, refit_every=5)
    agent.reset([1, 2, 3])
    assert agent.failed_fits.tolist() == [0, 0, 0]


def test_values_that_are_all_the_same_teach_nothing():
    fitter = Fitter(RBF(0.3), 0.01, 1.0, Learning())
    before = fitter.latest.copy()
    rng = np.random.default_rng(1)
    assert fitter.fit(np.linspace(0, 1, 6)[:, None], np.arange(6), np.full(6, 0.7), 1, rng) is None
    np.testing.assert_array_equal(fitter.latest, before)


def test_boxes_have_the_prior_and_finite_sets_do_not():
    box = Setting(low=np.zeros(2), high=np.ones(2))
    assert Model.of(box, refit_every=5).learning.spread == 3**0.5
    assert Model.of(box, refit_every=5, fit_spread=np.inf).learning.spread == np.inf
    grid = Setting(arms=np.linspace(0, 1, 5)[:, None])
    assert Model.of(grid, refit_every=5).learning.spread == np.inf
    with pytest.raises(ValueError, match="fit_spread"):
        Model.of(grid, refit_every=5, fit_spread=0.0)
    with pytest.raises(ValueError, match="fit_noise_spread must be 0 or positive"):
        Model.of(grid, refit_every=5, fit_noise_spread=-1.0)

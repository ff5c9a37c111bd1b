"""What a model assumes: noise that is given, published, in the kernel or grown, and first scales on a box."""

import math

import agent_cases
import numpy as np
import pytest
import references
from agent_cases import BATCHED, of_each_shape
from players import at_once
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

import agents
from agents.model.defaults import NOISE_FLOOR, SMALLEST_NOISE
from agents.model.hyperparameters import Fitter, Learning
from agents.model.model import Model
from agents.posteriors.select import FORMS, posterior
from bandit_envs import Decisions, Problem, Setting
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import OnColumns, make_kernel
from bandit_envs.laws import Gaussian, GPSample
from bandit_envs.problems import build
from gpbandits import evaluate

ARMS = np.linspace(0, 1, 12)[:, None]
SETTING = Setting(arms=ARMS, horizon=10, kernel=RBF(0.2))


@pytest.mark.parametrize("deviation", [1e-3, 1.0, 1e3])
def test_a_noise_variance_that_is_given_is_assumed_or_refused(deviation):
    kernel = ConstantKernel(deviation**2) * RBF(0.2)
    given = 1e-9 * deviation**2
    assert Model.of(SETTING, kernel=kernel, noise_variance=given).noise_variance == given
    several = np.array([1e-2, 1e-9]) * deviation**2
    np.testing.assert_array_equal(
        Model.of(SETTING, kernel=kernel, noise_variance=several).noise_variance, several
    )
    message = r"noise_variance must be at least 1e-10 of the prior variance, .* got .*; leave it out"
    for small in (1e-11 * deviation**2, np.array([1.0, 1e-11]) * deviation**2):
        with pytest.raises(ValueError, match=message):
            Model.of(SETTING, kernel=kernel, noise_variance=small)


@pytest.mark.parametrize(
    "name", of_each_shape(name for name in BATCHED if agent_cases.takes(name, noise_variance=0.01))
)
def test_no_agent_raises_a_noise_variance_unsaid(name):
    with pytest.raises(ValueError, match="noise_variance must be at least"):
        agents.make(name, SETTING, noise_variance=1e-12)
    model = getattr(agents.make(name, SETTING, noise_variance=1e-9), "model", None)
    assert model is None or model.noise_variance == 1e-9


@pytest.mark.parametrize("form", FORMS)
def test_the_smallest_noise_variance_is_exact_in_every_form(form):
    """Of 60 observations of 12 arms, whose matrix has a condition of 1e11."""
    rng = np.random.default_rng(0)
    gram = Gram(RBF(0.2), ARMS)
    point, value = rng.integers(0, len(ARMS), 60), rng.standard_normal(len(ARMS))
    values = value[point] + np.sqrt(SMALLEST_NOISE) * rng.standard_normal(60)
    known = posterior(gram, SMALLEST_NOISE, 1, 60, form)
    for x, y in zip(point, values, strict=True):
        known.observe(np.zeros(1, dtype=np.int64), np.array([x]), np.array([y]))
    total = np.bincount(point, values, len(ARMS))
    mean, variance = references.exact_posterior(gram.dense, SMALLEST_NOISE, np.bincount(point), total)
    np.testing.assert_allclose(known.mean_at(None)[0], mean, rtol=0, atol=1e-8)
    deviation = np.sqrt(np.maximum(known.variance_at(None)[0], 0.0))
    np.testing.assert_allclose(deviation, np.sqrt(variance), rtol=1e-3)


# --- WhiteKernel ---

NOISY = {
    "a sum": (RBF(0.2) + WhiteKernel(0.04), RBF(0.2), 0.04),
    "on the left": (WhiteKernel(0.04) + RBF(0.2), RBF(0.2), 0.04),
    "several": (RBF(0.2) + WhiteKernel(0.03) + Matern(0.3) + WhiteKernel(0.01), RBF(0.2) + Matern(0.3), 0.04),
    "scaled": (ConstantKernel(4.0) * (RBF(0.2) + WhiteKernel(0.01)), ConstantKernel(4.0) * RBF(0.2), 0.04),
    "a factor": (RBF(0.2) + ConstantKernel(4.0) * WhiteKernel(0.01), RBF(0.2), 0.04),
}


@pytest.mark.parametrize(("kernel", "signal", "noise"), NOISY.values(), ids=NOISY.keys())
def test_a_white_term_of_a_kernel_is_the_noise(kernel, signal, noise):
    of_option = Model.of(SETTING, kernel=kernel)
    of_setting = Model.of(Setting(arms=ARMS, horizon=10, kernel=kernel))
    for model in (of_option, of_setting):
        np.testing.assert_allclose(model.kernel(ARMS), signal(ARMS), rtol=1e-15)
        assert model.noise_variance == pytest.approx(noise, rel=1e-12)
        assert model.noise_std == pytest.approx(np.sqrt(noise), rel=1e-12)


def test_noise_that_is_given_twice_must_agree():
    noisy = RBF(0.2) + WhiteKernel(0.04)
    model = Model.of(SETTING, kernel=noisy, noise_std=0.2)
    assert model.noise_variance == pytest.approx(0.04)
    assert Model.of(SETTING, kernel=noisy, noise_variance=0.04).noise_variance == 0.04
    message = r"{} must agree with the WhiteKernel in kernel, which has {}, got 0.5; give one of them alone"
    with pytest.raises(ValueError, match=message.format("noise_std", "0.2")):
        Model.of(SETTING, kernel=noisy, noise_std=0.5)
    with pytest.raises(ValueError, match=message.format("noise_variance", "0.04")):
        Model.of(SETTING, kernel=noisy, noise_variance=0.5)
    with pytest.raises(ValueError, match=message.format("noise_std", "0.2")):
        Setting(arms=ARMS, kernel=noisy, noise_std=0.5)
    assert Setting(arms=ARMS, kernel=noisy).noise_std == pytest.approx(0.2)


@pytest.mark.parametrize(
    "kernel", [RBF(0.2) * (RBF(0.5) + WhiteKernel(0.1)), OnColumns(RBF(0.2) + WhiteKernel(0.1), [0])], ids=str
)
def test_a_white_term_that_is_neither_noise_nor_independent_arms_is_refused(kernel):
    for call in (
        lambda: Model.of(SETTING, kernel=kernel),
        lambda: Setting(arms=ARMS, kernel=kernel),
        lambda: Problem(Decisions(ARMS), GPSample(), kernel),
    ):
        with pytest.raises(
            ValueError, match=r"kernel must have a WhiteKernel as a term of its sum.*got .*White"
        ):
            call()


def test_a_white_term_plays_as_its_noise_does():
    problem = Problem(Decisions(ARMS), GPSample(), RBF(0.2), noise=Gaussian(0.2), horizon=20)
    entrants = {
        "white": ("gp-ucb", {"kernel": RBF(0.2) + WhiteKernel(0.04)}),
        "told": ("gp-ucb", {"kernel": RBF(0.2), "noise_std": 0.2}),
    }
    result = evaluate(problem, entrants, trials=3)
    np.testing.assert_array_equal(result.actions["white"], result.actions["told"])


def model(kernel, dim=1, **options):
    arms = np.random.default_rng(0).random((9, dim))
    setting = Setting(arms=arms, horizon=100, kernel=make_kernel(kernel, [0.2] * dim), noise_std=0.3)
    return Model.of(setting, **options)


@pytest.mark.parametrize(("kernel", "nu"), [("matern32", 1.5), ("matern52", 2.5), ("rbf", np.inf)])
@pytest.mark.parametrize("dim", [1, 2])
def test_lambda_grows_as_the_smoothness_says(kernel, nu, dim):
    chosen = model(kernel, dim, noise_variance="smoothness")
    growth = 1.0 if np.isinf(nu) else 100.0 ** (dim / (2 * nu + 2 * dim))
    assert chosen.noise_variance == pytest.approx(0.09 * growth, rel=1e-12)
    assert chosen.noise_std == 0.3


def test_it_grows_from_the_noise_of_each_trial():
    chosen = model("matern52", noise_variance="smoothness", noise_std=np.array([0.1, 0.2]))
    np.testing.assert_allclose(chosen.noise_variance, np.array([0.01, 0.04]) * 100.0 ** (1 / 7), rtol=1e-12)


def test_it_grows_from_the_noise_that_a_kernel_says():
    kernel = Matern(0.2, nu=2.5) + WhiteKernel(0.04)
    chosen = Model.of(model("rbf").setting, kernel=kernel, noise_variance="smoothness")
    assert chosen.noise_variance == pytest.approx(0.04 * 100.0 ** (1 / 7), rel=1e-12)
    assert chosen.noise_std == pytest.approx(0.2, rel=1e-12)


@pytest.mark.parametrize("deviation", [1e-3, 1.0, 1e3])
def test_a_noiseless_problem_is_modelled_with_the_floor(deviation):
    kernel = ConstantKernel(deviation**2) * RBF(0.2)
    noiseless = Setting(arms=ARMS, horizon=10, kernel=kernel, noise_std=0.0)
    assert Model.of(noiseless).noise_variance == pytest.approx(NOISE_FLOOR * deviation**2, rel=1e-12)


@pytest.mark.parametrize(
    "kernel", [WhiteKernel(2.0), ConstantKernel(2.0) * WhiteKernel(), OnColumns(WhiteKernel(), [0])]
)
def test_independent_arms_stay_what_they_are(kernel):
    model = Model.of(SETTING, kernel=kernel, noise_std=0.1)
    assert model.kernel is kernel
    assert model.noise_variance == pytest.approx(0.01)


def test_a_problem_has_its_noise_in_its_noise_law():
    noisy = RBF(0.2) + WhiteKernel(0.04)
    with pytest.raises(ValueError, match=r"kernel must be without the WhiteKernel.*noise=Gaussian\(0.2\)"):
        Problem(Decisions(ARMS), GPSample(), noisy)
    with pytest.raises(ValueError, match=r'constraints\["kernel"\] must be .*constraint_noise_std=0.2'):
        build("constrained", {"constraints": {"law": "gp", "kernel": noisy}})


@pytest.mark.parametrize(
    "name", of_each_shape(name for name in BATCHED if agent_cases.takes(name, kernel=RBF(0.2)))
)
def test_no_agent_takes_a_white_term_for_signal(name):
    model = getattr(agents.make(name, SETTING, kernel=RBF(0.2) + WhiteKernel(0.04)), "model", None)
    if model is not None:  # between two sets scikit-learn's WhiteKernel is 0, on the diagonal it is not
        np.testing.assert_allclose(model.kernel(ARMS, ARMS).diagonal(), model.kernel.diag(ARMS), rtol=1e-15)


# --- where hyperparameters are learnt on a box, first scales and noise are modes of BoTorch's priors ---


def box(dim: int, side: float = 1.0, **facts: object) -> Setting:
    return Setting(low=np.zeros(dim), high=side * np.ones(dim), horizon=30, **facts)


@pytest.mark.parametrize("dim", [1, 2, 6, 20, 100])
def test_a_random_pair_is_correlated_alike_in_every_dimension(dim):
    kernel = Model.of(box(dim, side=7.0), refit_every=5).kernel
    typical = np.zeros((2, dim))
    typical[1] = 7.0 / math.sqrt(6.0)  # two uniform points are sqrt(d / 6) sides apart
    assert kernel(typical)[0, 1] == pytest.approx(math.exp(-1.0 / (12.0 * 0.2048**2)), rel=1e-3)


def test_each_side_of_a_box_has_its_own_length_scale():
    sides = np.array([1.0, 10.0, 0.0])
    kernel = Model.of(Setting(low=[0.0, 0.0, 2.0], high=[1.0, 10.0, 2.0]), refit_every=5).kernel
    share = math.exp(math.sqrt(2.0) - 3.0) * math.sqrt(3.0)
    np.testing.assert_allclose(kernel.length_scale, share * np.where(sides > 0, sides, 10.0))


def test_a_noise_that_is_withheld_starts_at_the_mode_of_its_prior():
    model = Model.of(box(2), refit_every=5)
    assert model.noise_variance == pytest.approx(math.exp(-5.0))
    assert model.learning is not None
    assert model.learning.noise_spread == 3.0


@pytest.mark.parametrize(
    ("setting", "options"),
    [
        (box(2), {}),
        (box(2, kernel=make_kernel("rbf"), noise_std=0.1), {"refit_every": 5}),
        (Setting(arms=np.random.default_rng(0).random((9, 2))), {"refit_every": 5}),
    ],
)
def test_what_is_given_published_or_not_learnt_stays(setting, options):
    model = Model.of(setting, **options)
    usual = 0.2 if setting.continuous else 0.2 * np.ptp(setting.arms, axis=0).max()
    np.testing.assert_allclose(model.kernel.length_scale, usual)
    assert model.noise_std == 0.1
    assert model.learning is None or math.isinf(model.learning.noise_spread)


# Length-scales of the first two features, the median of the others and the noise that BoTorch 0.18's
# SingleTaskGP finds for these values; the more
# features do nothing, the flatter is the likelihood: of the length-scales with the tolerance at the end.
FOUND_BY_BOTORCH = {
    2: (0.3590, 0.5390, None, 0.009420, 1e-3),
    20: (0.362, 0.539, 6.56, 0.00327, 0.02),
    100: (3.208, 1.019, 3.00, 0.006305, 0.1),
}


@pytest.mark.parametrize("dim", FOUND_BY_BOTORCH)
def test_a_fit_of_standardised_values_finds_what_botorch_finds(dim):
    rng = np.random.default_rng(0)
    x = rng.random((30, dim))
    y = np.sin(3.0 * x[:, 0]) + x[:, 1] ** 2 + 0.05 * rng.standard_normal(30)
    model = Model.of(box(dim), refit_every=5)
    assert model.learning is not None
    botorch = {"amplitude_spread": 1e-3, "noise_spread": 1.0}
    learning = Learning(spread=model.learning.spread, **botorch)
    fitter = Fitter(ConstantKernel() * model.kernel, float(model.noise_variance), 1.0, learning, True)
    found = fitter.fit(x, np.arange(30), (y - y.mean()) / y.std(ddof=1), 0, rng)
    assert found is not None
    scales = found.kernel.get_params()["k2__length_scale"]
    first, second, median, noise, tolerance = FOUND_BY_BOTORCH[dim]
    np.testing.assert_allclose([*scales[:2], found.noise_variance], [first, second, noise], rtol=tolerance)
    assert median is None or np.median(scales[2:]) == pytest.approx(median, rel=tolerance)


def test_a_white_kernel_is_a_given_noise():
    model = Model.of(box(2), kernel=RBF(0.3) + WhiteKernel(0.04), refit_every=5)
    assert model.noise_variance == pytest.approx(0.04)
    assert model.learning is not None
    assert math.isinf(model.learning.noise_spread)


def test_agents_that_scale_themselves_start_there_too():
    agent = agents.make("gp-bucb", box(6), refit_every=50)
    agent.reset(0)
    for t in range(6):
        action = agent.act(np.zeros(1))
        value = float(action[0] + 0.5 * action[1])
        agent.update(np.zeros(1), action, value, at_once(t, value))
    scales = agent.model.kernel.get_params()["k2__length_scale"]
    np.testing.assert_allclose(scales, math.exp(math.sqrt(2.0) - 3.0) * math.sqrt(6.0) * np.ones(6))

"""The noise that a model assumes: given, published, in the kernel, or grown with the smoothness."""

import agent_cases
import numpy as np
import pytest
import references
from agent_cases import BATCHED, of_each_shape
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

import agents
from agents.model.defaults import NOISE_FLOOR, SMALLEST_NOISE
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

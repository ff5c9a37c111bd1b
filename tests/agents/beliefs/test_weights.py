"""Plays whose noise is known count for as much as they tell: lambda is a precision for each play."""

from functools import partial

import numpy as np
import pytest
from agent_cases import EACH
from players import each_round, play
from scipy.stats import binomtest

import agents
from agents.beliefs.base import Belief
from agents.beliefs.delivered import Delivered, Gathered
from agents.beliefs.eliminating import Eliminating
from agents.beliefs.imputed import Hallucinated
from agents.beliefs.ridges import Ridges
from agents.model.hyperparameters import Sample, likelihood
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.posteriors import FORMS
from agents.widths.bounded_norm import PlainBand
from bandit_envs import BanditVectorEnv, Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problems import build
from gpbandits.theory.coverage import play_bands

ARMS = np.linspace(0.0, 1.0, 20)[:, None]
PROFILE = 0.2 + 0.8 * ARMS[:, 0]
NOISE = 0.3
SETTING = Setting(
    arms=ARMS, horizon=40, kernel=make_kernel("matern52"), noise_std=NOISE, noise_profile=PROFILE, max_delay=5
)
PLAIN_BAND = partial(Eliminating, band_of=lambda model: PlainBand(1.0, NOISE, NOISE**2))
WEIGHING = {"delivered": Delivered, "gathered": Gathered, "hallucinated": Hallucinated}
WEIGHING |= {"ridges": Ridges, "eliminating": PLAIN_BAND}
HERE = np.zeros(1, dtype=np.int64)


def plays(count: int = 25) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points that repeat, values, and deviations of single values."""
    rng = np.random.default_rng(0)
    return rng.integers(20, size=count), rng.normal(size=count), rng.uniform(0.05, 0.6, count)


def told(belief: Belief, stds: np.ndarray | None = None) -> Belief:
    """The belief after all plays, their values, and perhaps their deviations."""
    point, value, _ = plays()
    for i in range(len(point)):
        belief.play(point[i : i + 1])
        weight = () if stds is None else ((NOISE / stds[i : i + 1]) ** 2,)
        belief.receive(Delivery.of_values(HERE, point[i : i + 1], value[i : i + 1], *weight))
    return belief


def textbook(setting: Setting, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean, deviation and gain under noise diag(variances)."""
    point, value, _ = plays()
    k = setting.kernel(ARMS)
    among = k[np.ix_(point, point)] + np.diag(variances)
    across = np.linalg.solve(among, k[point])
    gain = 0.5 * (np.linalg.slogdet(among)[1] - np.log(variances).sum())
    return value @ across, np.sqrt(np.diag(k) - np.einsum("px,px->x", k[point], across)), gain


def assert_is(belief: Belief, expected: tuple[np.ndarray, np.ndarray, float]) -> None:
    mean, std, gain = expected
    np.testing.assert_allclose(belief.mean(HERE)[0], mean, atol=1e-7)
    np.testing.assert_allclose(belief.std(HERE)[0], std, atol=1e-6)
    np.testing.assert_allclose(belief.gain[0], gain, rtol=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", WEIGHING)
def test_noise_by_arm_gives_the_posterior_of_a_diagonal_in_place_of_lambda(kind, form):
    belief = told(WEIGHING[kind](Model.of(SETTING, form=form), 1))
    assert_is(belief, textbook(SETTING, (NOISE * PROFILE[plays()[0]]) ** 2))


def test_bands_of_ridges_are_those_of_rows_divided_by_their_noise():
    point, value, _ = plays()
    belief = told(Ridges(Model.of(SETTING), 1))
    rows = PROFILE[point]
    k = SETTING.kernel(ARMS)[np.ix_(point, point)] / np.outer(rows, rows)
    y = value / rows

    def q(a: float) -> float:
        return a * y @ np.linalg.solve(k + a * np.eye(len(y)), y)

    for fit in belief.fits:
        np.testing.assert_allclose(fit.misfit[0], q(fit.noise[0]) - q(NOISE**2), atol=1e-8)


@pytest.mark.parametrize("kind", ["hallucinated", "eliminating"])
def test_a_play_that_never_yields_a_value_counts_no_longer(kind):
    belief = told(WEIGHING[kind](Model.of(SETTING), 1))
    before = belief.std(HERE).copy()
    belief.play(np.array([7]))
    assert (belief.std(HERE) < before - 1e-3).any()
    belief.drop(HERE, np.array([7]), np.ones(1, dtype=np.int64))
    np.testing.assert_allclose(belief.std(HERE), before, atol=1e-8)


def test_the_likelihood_is_that_of_the_values_one_by_one():
    point, value, stds = plays()
    weight = (NOISE / stds) ** 2
    kernel, theta = make_kernel("matern52", 0.3), np.log([0.3, NOISE**2])
    sample = Sample.of(ARMS, point, value, weight)
    loss, slopes = likelihood(theta, kernel, sample)[:2]
    among = kernel(ARMS)[np.ix_(point, point)] + np.diag(stds**2)
    expected = 0.5 * value @ np.linalg.solve(among, value) + 0.5 * np.linalg.slogdet(among)[1]
    np.testing.assert_allclose(loss, expected + 0.5 * len(point) * np.log(2 * np.pi), rtol=1e-9)
    for i in range(2):
        step = 1e-5 * np.eye(2)[i]
        up, down = (likelihood(theta + s, kernel, sample)[0] for s in (step, -step))
        np.testing.assert_allclose(slopes[i], (up - down) / 2e-5, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", EACH)
def test_an_agent_declares_whether_told_noise_matters_to_it(name):
    features = agents.features(name)
    if not features.finite or features.on_policy or name == "random":
        assert not features.noise
        return
    late = {"max_delay": 5, "delay": PoissonDelay(1.0)}
    alike = Setting(arms=ARMS, horizon=40, kernel=SETTING.kernel, noise_std=NOISE, **late)
    alone = agents.make(name, alike)
    weighs = getattr(alone.reset(0) or alone, "weighs", False)
    assert weighs == features.noise


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ei", "dmm-ucb"])
def test_on_a_box_what_arrives_is_weighed(name):
    noise = {"law": "by-arm", "std": 0.4, "quietest": 0.1}
    problem = build("rkhs", {"noise": noise, "continuous": True, "num_arms": 30, "horizon": 6})
    env = BanditVectorEnv(problem, 1, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=[0])
    agent = agents.make(name, env.setting, 1)
    agent.reset([0])
    weights = []
    for action, *_ in each_round(env, agent, observation, problem.horizon):
        weights.append((0.1 + 0.9 * (action[0, 0] + 1.0) / 2.0) ** -2.0)
    seen = agent.agents[0].belief.mean_posterior.statistics(0)
    np.testing.assert_allclose(seen.plays.sum(), np.sum(weights))


BY_ARM = {"law": "by-arm", "std": 0.5, "quietest": 0.1}


@pytest.mark.parametrize(
    ("agent", "features"),
    [
        (("gp-ucb", {"width": "amm"}), {}),
        (("gp-ucb", {"width": "amm"}), {"delay": {"law": "poisson", "mean": 3}, "num_contexts": 2}),
        (("dmm-ucb", {}), {}),
    ],
)
def test_bands_of_known_variances_hold_as_often_as_promised(agent, features):
    problem = build("rkhs", {"rkhs_norm": 1.5, "num_arms": 30, "noise": BY_ARM, "horizon": 40, **features})
    failed = int(play_bands(problem, agent, 12).failed.sum())
    assert binomtest(failed, 12).proportion_ci(0.99).low <= 0.1


def test_the_band_fails_where_the_noise_is_taken_for_that_of_the_quietest_arm():
    problem = build(
        "rkhs", {"rkhs_norm": 1.5, "num_arms": 30, "noise": BY_ARM | {"declared": False}, "horizon": 60}
    )
    taken = ("gp-ucb", {"width": "amm", "noise_std": 0.05})
    assert play_bands(problem, taken, 12).failed.mean() > 0.5


def test_elimination_that_knows_the_noise_of_each_arm_keeps_the_best_and_strikes_off_more():
    """VA-PE (Iwazaki & Takeno 2025)."""
    left, stayed = [], []
    for declared in (True, False):
        noise = BY_ARM | {"declared": declared}
        problem = build(
            "rkhs", {"rkhs_norm": 1.5, "num_arms": 25, "noise": noise, "horizon": 200, "points": "grid"}
        )
        env = BanditVectorEnv(problem, 8, autoreset_mode="Disabled")
        observation, _ = env.reset(seed=list(range(8)))
        agent = agents.make("bpe", env.setting, 8)
        agent.reset(list(range(8)))
        play(env, agent, observation, problem.horizon)
        active = agent.belief.active(np.zeros(8, dtype=np.int64))
        means = np.array([trial.means[0, 0] for trial in env.simulator.trials])
        stayed.append(active[np.arange(8), means.argmax(axis=1)].all())
        left.append(active.mean())
    assert all(stayed)
    assert left[0] < left[1]


@pytest.mark.parametrize("kind", WEIGHING)
def test_noise_told_play_by_play_gives_the_same(kind):
    alike = Setting(arms=ARMS, horizon=40, kernel=SETTING.kernel, noise_std=NOISE, max_delay=5)
    stds = plays()[2]
    assert_is(told(WEIGHING[kind](Model.of(alike), 1), stds), textbook(alike, stds**2))
    assert_is(told(WEIGHING[kind](Model.of(SETTING), 1), stds), textbook(alike, stds**2))

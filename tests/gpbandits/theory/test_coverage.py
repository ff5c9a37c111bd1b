"""Bands contain the function as often as promised, and regret stays under its bound, with delays too."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import references
from cases import DELAYED
from scipy.stats import binomtest, poisson
from sklearn.gaussian_process.kernels import ConstantKernel

from agents.registry import resolve_agent
from agents.restarts.base import growing_lengths
from agents.widths.bounded_norm import AMMWidth, SelfNormalisedWidth
from bandit_envs import BanditEnv, Decisions, Problem, make
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import RecordedValues, UniformNoise, delays
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.problems.synthetic import synthetic
from gpbandits.evaluation import evaluate, trial_seeds
from gpbandits.theory.coverage import Bands, play_bands
from gpbandits.theory.regret import delayed_bound, gp_ucb_bound, igp_ucb_bound

TRIALS, HORIZON, DELTA, NORM, NOISE = 200, 200, 0.1, 1.5, 0.5
SET: dict[str, Any] = {"kernel": "matern52", "num_arms": 40, "horizon": HORIZON}
PAPER = 1.0 + 2.0 / HORIZON  # the noise variance of Chowdhury & Gopalan's theorems
ALLOWED = DELTA + 4.0 * np.sqrt(DELTA * (1.0 - DELTA) / TRIALS)  # four standard errors

FROM_PRIOR = synthetic(function="gp", noise_std=NOISE, **SET)
FROM_BALL = synthetic(function="rkhs", rkhs_norm=NORM, noise_std=NOISE, **SET)
BOUNDED = synthetic(function="rkhs", rkhs_norm=NORM, noise={"law": "uniform", "std": NOISE}, **SET)


class Case(NamedTuple):
    """An agent, with the functions and the noise that its theorem is about."""

    problem: Problem
    agent: str
    options: dict[str, Any]

    def but(self, **options: Any) -> "Case":
        return self._replace(options={**self.options, **options})


def self_normalised(noise_variance: float) -> Case:
    return Case(FROM_BALL, "gp-ucb", {"width": "self-normalised", "noise_variance": noise_variance})


# The noise of variance R^2 is uniform on +-sqrt(3) R, so sqrt(lambda) bounds it where lambda = 3 R^2.
THEOREM_1 = Case(FROM_PRIOR, "gp-ucb", {"width": "finite-set"})
THEOREM_3 = Case(BOUNDED, "gp-ucb", {"width": "rkhs", "gamma": "bound", "noise_variance": 3 * NOISE**2})
IGP_UCB = Case(FROM_BALL, "igp-ucb", {"noise_variance": PAPER})
GP_TS = Case(FROM_BALL, "gp-ts", {"noise_variance": PAPER})
LAMBDAS = (0.01, NOISE**2, 1.0, 5.0)
SELF_NORMALISED = {f"self-normalised, lambda = {x:g}": self_normalised(x) for x in LAMBDAS}
AMM = {
    f"AMM, lambda = {x:g}": Case(FROM_BALL, "gp-ucb", {"width": "amm", "noise_variance": x}) for x in LAMBDAS
}
DMM = {
    f"DMM, lambda = {x:g}": Case(FROM_BALL, "dmm-ucb", {"ratios": (0.1, 1.0, 10.0), "noise_variance": x})
    for x in LAMBDAS
}
BANDS_OF_THE_BALL = {**SELF_NORMALISED, **AMM, **DMM}
UCB_THEOREMS = {"Theorem 1": THEOREM_1, "Theorem 3": THEOREM_3, "IGP-UCB": IGP_UCB, **BANDS_OF_THE_BALL}
THEOREMS = {**UCB_THEOREMS, "GP-TS": GP_TS}
NARROW = "Theorem 3, no gamma and a norm too small"
TOO_NARROW = {
    "Theorem 1, beta / 5": THEOREM_1.but(beta_scale=0.2),
    NARROW: THEOREM_3.but(gamma=0.0, rkhs_bound=NORM / 5),
    "IGP-UCB, noise and norm too small": IGP_UCB.but(noise_std=NOISE / 10, rkhs_bound=NORM / 10),
    "GP-TS, noise and norm too small": GP_TS.but(noise_std=NOISE / 10, rkhs_bound=NORM / 10),
    "self-normalised, noise and norm too small": self_normalised(NOISE**2).but(
        noise_std=NOISE / 10, rkhs_bound=NORM / 10
    ),
    "AMM, noise and norm too small": AMM["AMM, lambda = 1"].but(noise_std=NOISE / 10, rkhs_bound=NORM / 10),
    "DMM, noise and norm too small": DMM["DMM, lambda = 1"].but(noise_std=NOISE / 10, rkhs_bound=NORM / 10),
}


def few_first(names: Iterable[str], *few: str) -> list[Any]:
    """A few by default, and all in the long run."""
    return [pytest.param(name, marks=[] if name in few else pytest.mark.long) for name in names]


@cache
def bands_of(name: str) -> Bands:
    case = (THEOREMS | TOO_NARROW)[name]
    return play_bands(case.problem, (case.agent, {"delta": DELTA, **case.options}), TRIALS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", few_first([*THEOREMS, *TOO_NARROW], "Theorem 1", "AMM, lambda = 0.25"))
def test_the_band_contains_the_function_as_often_as_promised_where_its_theorem_holds_and_else_does_not(name):
    bands = bands_of(name)
    assert bands.ratio.shape == (TRIALS, HORIZON)
    assert (bands.failed.mean() <= ALLOWED) == (name in THEOREMS)


@pytest.mark.parametrize("name", few_first([*UCB_THEOREMS, NARROW], "Theorem 1", "AMM, lambda = 0.25"))
def test_regret_stays_under_the_bound_of_a_theorems_width_in_every_round_and_not_of_a_small_one(name):
    bands = bands_of(name)
    bound = gp_ucb_bound(np.arange(1, HORIZON + 1), bands.width, bands.gain, bands.noise_variance)
    assert (np.mean((bands.regret > bound).any(axis=1)) <= ALLOWED) == (name != NARROW)


@pytest.mark.long
def test_regret_of_igp_ucb_stays_under_its_own_bound_at_the_horizon():
    bands = bands_of("IGP-UCB")
    bound = igp_ucb_bound(np.array(HORIZON), bands.width[:, -1], bands.gain[:, -1])
    assert np.mean(bands.regret[:, -1] > bound) <= ALLOWED


@pytest.mark.long
@pytest.mark.parametrize(
    ("noise_variance", "width", "share"),
    [(0.01, AMMWidth, 0.012), (0.01, SelfNormalisedWidth, 0.008), (1.0, AMMWidth, 0.054)],
    ids=["AMM", "self-normalised", "AMM, lambda = 100 R^2"],
)
def test_the_band_of_one_arm_fails_as_seldom_as_was_seen(noise_variance, width, share):
    trials, size, t = 4000, 0.1, np.arange(2000)  # f = B = R on k(x, x) = 1
    values = size + size * np.random.default_rng(0).standard_normal((trials, len(t)))
    sums = np.column_stack([np.zeros(trials), np.cumsum(values, axis=1)[:, :-1]])
    std = np.sqrt(noise_variance / (t + noise_variance))
    half = width(size, size, noise_variance)(t + 1, 0.5 * np.log1p(t / noise_variance)) * std
    failures = (np.abs(sums / (t + noise_variance) - size) > half).any(axis=1).sum()
    interval = binomtest(int(failures), trials).proportion_ci(0.999)
    assert interval.high <= DELTA
    assert interval.low <= share <= interval.high


@pytest.mark.long
def test_the_band_of_several_regularisations_holds_as_often_as_promised():
    bands = play_bands(FROM_BALL, ("dmm-ucb", {"delta": DELTA, "ratios": (0.1, 1.0, 10.0)}), 40)
    assert binomtest(int(bands.failed.sum()), 40).proportion_ci(0.99).low <= DELTA
    amm = play_bands(FROM_BALL, ("gp-ucb", {"delta": DELTA, "width": "amm"}), 40)
    assert np.median(bands.factor) > np.median(amm.factor)  # it is narrower


def test_bands_are_those_of_the_textbook():
    problem = synthetic(function="gp", kernel="matern52", num_arms=12, horizon=15, noise_std=NOISE)
    bands = play_bands(problem, "gp-ucb", trials=2)
    actions = evaluate(problem, ["gp-ucb"], trials=2).actions["gp-ucb"]
    for i in range(2):
        ratio, gain = textbook(problem, actions[i], trial=i)
        np.testing.assert_allclose(bands.ratio[i], ratio, rtol=1e-6)  # 1e-9 prior deviations are forgiven
        np.testing.assert_allclose(bands.gain[i], gain, rtol=1e-9)


def test_bands_of_batches_are_those_of_the_textbook():
    problem = synthetic(
        function="rkhs", rkhs_norm=NORM, kernel="matern52", num_arms=12, horizon=40, noise_std=NOISE
    )
    bands = play_bands(problem, "bpe", trials=2)
    actions = evaluate(problem, ["bpe"], trials=2).actions["bpe"]
    ends = np.cumsum(growing_lengths(40))
    assert np.isnan(bands.width).all()
    for i in range(2):
        ratio = textbook_of_batches(problem, actions[i], i, ends)
        np.testing.assert_allclose(bands.ratio[i, ends[:-1] - 1], ratio, rtol=1e-6)
        assert np.count_nonzero(bands.ratio[i]) == len(ratio)


def textbook_of_batches(problem: Problem, actions: Any, trial: int, ends: Any) -> list[float]:
    """Ratios of error to split band from the values of each batch but the last, from the definitions."""
    env = BanditEnv(problem)
    env.reset(seed=trial_seeds(0, trial)[0])
    f, gram = env.simulator.trials[0].means[0, 0], Gram(problem.kernel, problem.decisions.points).dense
    values = np.array([env.step(int(action))[1] for action in actions])
    quantile, ratios, start = np.sqrt(2.0 * np.log(2.0 * len(f) * len(ends) / DELTA)), [], 0
    for end in ends[:-1]:
        played, start, since = actions[start:end], end, start
        mean, covariance = references.posterior(gram, NOISE**2, played, values[since:end])
        shifted = gram[np.ix_(played, played)] + NOISE**2 * np.eye(len(played))
        norm = np.linalg.norm(np.linalg.solve(shifted, gram[played]), axis=0)
        bias = np.sqrt(np.maximum(np.diag(covariance) - NOISE**2 * norm**2, 0.0))
        ratios.append(np.max(np.abs(mean - f) / (NORM * bias + NOISE * norm * quantile)))
    return ratios


def textbook(problem: Problem, actions: Any, trial: int) -> tuple[list[float], list[float]]:
    """Ratios of error to band before each play, and information gains after it, from the definitions."""
    env = BanditEnv(problem)
    env.reset(seed=trial_seeds(0, trial)[0])
    f, gram = env.simulator.trials[0].means[0, 0], Gram(problem.kernel, problem.decisions.points).dense
    played, values, ratios, gains = np.empty(0, dtype=np.int64), np.empty(0), [], []
    for t, action in enumerate(actions, start=1):
        mean, covariance = references.posterior(gram, NOISE**2, played, values)
        width = references.finite_set_width(len(f), t, DELTA)
        ratios.append(np.max(np.abs(mean - f) / np.sqrt(np.diag(covariance))) / width)
        played, values = np.append(played, action), np.append(values, env.step(int(action))[1])
        gains.append(references.information_gain(gram, NOISE**2, played))
    return ratios, gains


def test_bands_are_looked_at_without_changing_what_is_played():
    bands = play_bands(FROM_BALL, "gp-ts", trials=3, seed=5)
    result = evaluate(FROM_BALL, ["gp-ts"], trials=3, seed=5)
    np.testing.assert_array_equal(bands.regret, result.regret["gp-ts"])


def test_an_agent_without_a_band_is_one_clear_error():
    with pytest.raises(ValueError, match="confidence band"):
        play_bands(FROM_BALL, "gp-ei", trials=2)


def test_the_band_of_an_agent_that_scales_its_rewards_is_in_the_rewards_unit():
    """CONFIG takes rewards in prior stds, 50 of their units: a mean in those would be many stds away."""
    kernel = ConstantKernel(2500.0) * make_kernel("rbf", 0.2)
    problem = synthetic(function="gp", kernel=kernel, noise_std=5.0, num_arms=12, horizon=30)
    for agent in (("config", {"standardize": False}), ("gp-ucb", {"width": 2.0})):
        bands = play_bands(problem, agent, trials=3, seed=1)
        assert np.median(bands.ratio[:, 10:]) < 3.0


@pytest.mark.parametrize("name", ["laplace-ucb", "laplace-ts"])
def test_bands_of_log_odds_are_not_compared_with_probabilities(name):
    problem = make("GPBandit-Clicks-v0", num_arms=6, horizon=5).get_wrapper_attr("problem")
    with pytest.raises(
        ValueError, match="agent must be one whose band is of the mean reward, not of log-odds"
    ):
        play_bands(problem, name, trials=2)


FEW_TRIALS, ROUNDS, LITTLE, MEAN = 100, 150, 0.1, 4.0
OF_VALUES = NORM + np.sqrt(3.0) * LITTLE  # of |y|, as |f| <= ||f|| and the noise is uniform
MOST_FAILED = DELTA + 4.0 * np.sqrt(DELTA * (1.0 - DELTA) / FEW_TRIALS)  # four standard errors


@dataclass(frozen=True)
class PositiveExpansion(FunctionLaw):
    """f = sum_i a_i k(x_i, .) with a_i >= 0, so f >= 0 without a shift, of a stated norm."""

    def draw(self, gram, rng):
        weights = rng.exponential(size=gram.size) * (rng.random(gram.size) < 0.1)
        weights[rng.integers(gram.size)] += 1.0
        values = gram.dense @ weights
        norm = np.sqrt(weights @ values)
        return Drawn(values / norm * NORM, NORM)


LATE = Problem(
    Decisions(np.linspace(0, 1, 40)[:, None]),
    PositiveExpansion(),
    make_kernel("matern52"),
    noise=UniformNoise(LITTLE),
    delay=delays.PoissonDelay(MEAN),
    horizon=ROUNDS,
)
OF_DELAYS = {"width": "delayed", "noise_variance": 1.05, "prior_mean": 0.0, "reward_bound": OF_VALUES}


@pytest.mark.long
@pytest.mark.parametrize("name", ["gp-ucb-sdf", "gp-ts-sdf"])
@pytest.mark.parametrize("window", [2, 6])
def test_the_band_contains_what_arrives_of_the_function(name, window):
    arriving = float(poisson.cdf(window, MEAN))
    bands = play_bands(LATE, (name, {**OF_DELAYS, "window": window}), FEW_TRIALS, arriving=arriving)
    assert bands.failed.mean() <= MOST_FAILED


@pytest.mark.parametrize("case", DELAYED)
def test_the_default_bound_of_the_theorems_width_bounds_shifted_rewards(case):
    env = case.make()
    if isinstance(env.unwrapped.problem.reward, RecordedValues):
        pytest.skip("measurements follow no law that could bound them")
    env.reset(seed=3)
    setting, trial = env.get_wrapper_attr("setting"), env.unwrapped.simulator.trials[0]
    if setting.duel:
        pytest.skip("duels have no rewards that could be shifted")
    agent = resolve_agent(("gp-ucb-sdf", {"width": "delayed"}))(setting)
    agent.reset(0)
    largest = max(trial.means[version][0].max() for version in np.unique(trial.version).tolist())
    assert largest - agent.belief.prior_mean.min() <= agent.belief.reward_bound


def test_the_band_without_its_bias_and_noise_does_not_contain_the_function_itself():
    narrow = {**OF_DELAYS, "window": 2, "reward_bound": 0.0, "width": 0.5}
    assert play_bands(LATE, ("gp-ucb-sdf", narrow), FEW_TRIALS, arriving=1.0).failed.mean() > MOST_FAILED


@pytest.mark.sampled(1)
@pytest.mark.parametrize("window", [2, 6])
def test_regret_stays_under_the_bound_of_theorem_2(window):
    arriving = float(poisson.cdf(window, MEAN))
    agent = ("gp-ucb-sdf", {**OF_DELAYS, "window": window})
    bands = play_bands(LATE, agent, FEW_TRIALS, arriving=arriving)
    rounds = np.arange(1, ROUNDS + 1)
    beta = NORM + (LITTLE + OF_VALUES) * np.sqrt(2 * (bands.gain[:, -1] + 1 + np.log(2 / DELTA)))
    for i in range(FEW_TRIALS):
        bound = delayed_bound(
            rounds,
            np.full(ROUNDS, beta[i]),
            bands.gain[i],
            1.05,
            window=window,
            reward_bound=OF_VALUES,
            arrival_probability=arriving,
        )
        assert (bands.regret[i] <= bound).all()

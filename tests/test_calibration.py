"""The confidence bands contain the function as often as promised, and regret stays under its bound."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import references
from sklearn.gaussian_process.kernels import Matern

from agents.gain_tables import upper_bound
from agents.regret_bounds import gp_ucb_bound, igp_ucb_bound
from agents.widths import FiniteSetWidth, ImprovedWidth, RKHSWidth, SelfNormalisedWidth, Width
from bandit_envs.gram import Gram
from bandit_envs.types import Floats

TRIALS, HORIZON, POINTS, DELTA, NORM = 100, 40, 30, 0.1, 1.5
GRAM = Gram(Matern(0.2, nu=2.5), np.linspace(0.0, 1.0, POINTS)[:, None])
PAPER = 1.0 + 2.0 / HORIZON  # the noise variance of IGP-UCB's theorem
ALLOWED = DELTA + 4.0 * np.sqrt(DELTA * (1.0 - DELTA) / TRIALS)  # four standard errors


@dataclass(frozen=True)
class Case:
    """A width with the functions and the noise that its theorem is about."""

    width: Width
    noise_variance: float
    draw: Callable[[np.random.Generator], Floats]
    noise: Callable[[np.random.Generator], float]


def from_prior(rng: np.random.Generator) -> Floats:
    return rng.standard_normal(len(GRAM.root)) @ GRAM.root


def from_ball(rng: np.random.Generator) -> Floats:
    weights = rng.standard_normal(POINTS) * (rng.random(POINTS) < 0.2) + 1e-6
    return GRAM.dense @ weights * NORM / np.sqrt(weights @ GRAM.dense @ weights)


def gaussian(std: float):
    return lambda rng: std * rng.standard_normal()


def uniform(half_width: float):
    return lambda rng: half_width * rng.uniform(-1.0, 1.0)


GAMMA = upper_bound(GRAM, 0.1, HORIZON)
CASES = {
    "Srinivas Theorem 1": Case(FiniteSetWidth(POINTS, DELTA), 0.1, from_prior, gaussian(np.sqrt(0.1))),
    "Srinivas Theorem 3": Case(RKHSWidth(NORM, GAMMA, DELTA), 0.1, from_ball, uniform(np.sqrt(0.1))),
    "IGP-UCB": Case(ImprovedWidth(NORM, 0.5, delta=DELTA), PAPER, from_ball, gaussian(0.5)),
    "GP-TS": Case(ImprovedWidth(NORM, 0.5, delta=DELTA, union=2), PAPER, from_ball, gaussian(0.5)),
    "self-normalised": Case(
        SelfNormalisedWidth(NORM, 0.5, 0.05, delta=DELTA), 0.05, from_ball, gaussian(0.5)
    ),
}


def play(case: Case, seed: int) -> tuple[bool, Floats, Floats, Floats]:
    """Play one trial by the textbook: did the band ever fail, and regret, width and gain by round, (T,)."""
    rng = np.random.default_rng(seed)
    f, played, values = case.draw(rng), np.empty(0, dtype=np.int64), np.empty(0)
    failed, regret, widths, gains = False, [], [], []
    for t in range(1, HORIZON + 1):
        mean, covariance = references.posterior(GRAM.dense, case.noise_variance, played, values)
        std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        gain = references.information_gain(GRAM.dense, case.noise_variance, played)
        width = case.width(np.array([t]), np.array([gain]))[0]
        failed |= bool(np.any(np.abs(f - mean) > width * std + 1e-9))
        x = int(np.argmax(mean + width * std))
        played, values = np.append(played, x), np.append(values, f[x] + case.noise(rng))
        regret.append(f.max() - f[x])
        widths.append(width)
        gains.append(references.information_gain(GRAM.dense, case.noise_variance, played))
    return failed, np.cumsum(regret), np.array(widths), np.array(gains)


@pytest.fixture(scope="module", params=sorted(CASES))
def case_and_trials(request):
    case = CASES[request.param]
    return case, [play(case, seed) for seed in range(TRIALS)]


def test_the_band_contains_the_function_as_often_as_promised(case_and_trials):
    _, trials = case_and_trials
    assert np.mean([failed for failed, *_ in trials]) <= ALLOWED


def test_regret_stays_under_the_bound_of_its_width(case_and_trials):
    case, trials = case_and_trials
    rounds = np.arange(1, HORIZON + 1)
    exceeded = [
        np.any(regret > gp_ucb_bound(rounds, width, gain, case.noise_variance))
        for _, regret, width, gain in trials
    ]
    assert np.mean(exceeded) <= ALLOWED


def test_regret_of_igp_ucb_stays_under_its_own_bound_at_the_horizon():
    trials = [play(CASES["IGP-UCB"], seed) for seed in range(TRIALS)]
    horizon = np.array([HORIZON])
    exceeded = [
        regret[-1] > igp_ucb_bound(horizon, width[-1:], gain[-1:])[0] for _, regret, width, gain in trials
    ]
    assert np.mean(exceeded) <= ALLOWED


def test_a_fifth_of_beta_or_a_norm_too_small_loses_the_guarantee():
    small = Case(SelfNormalisedWidth(0.05, 0.02, 0.05, delta=DELTA), 0.05, from_ball, gaussian(0.5))
    fifth = Case(FiniteSetWidth(POINTS, DELTA, scale=0.2), 0.1, from_prior, gaussian(np.sqrt(0.1)))
    for case in (small, fifth):
        assert np.mean([play(case, seed)[0] for seed in range(30)]) > DELTA

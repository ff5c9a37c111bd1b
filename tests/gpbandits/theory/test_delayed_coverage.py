"""The band of censored feedback contains rho_m f, and regret stays under Theorem 2 of Verma et al. (2022)."""

from dataclasses import dataclass

import numpy as np
import pytest
from cases import DELAYED
from scipy.stats import poisson

from agents.registry import resolve_agent
from bandit_envs import Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import RecordedValues, UniformNoise, delays
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw
from gpbandits.theory.coverage import play_bands
from gpbandits.theory.regret import delayed_bound

TRIALS, HORIZON, DELTA, NORM, NOISE, MEAN = 100, 150, 0.1, 1.5, 0.1, 4.0
BOUND = NORM + np.sqrt(3.0) * NOISE  # of |y|, as |f| <= ||f|| and the noise is uniform
ALLOWED = DELTA + 4.0 * np.sqrt(DELTA * (1.0 - DELTA) / TRIALS)  # four standard errors


@dataclass(frozen=True)
class PositiveExpansion(FunctionLaw):
    """f = sum_i a_i k(x_i, .) with a_i >= 0, so f >= 0 without a shift, of a stated norm."""

    def draw(self, gram, rng):
        weights = rng.exponential(size=gram.size) * (rng.random(gram.size) < 0.1)
        weights[rng.integers(gram.size)] += 1.0
        values = gram.dense @ weights
        norm = np.sqrt(weights @ values)
        return Drawn(values / norm * NORM, NORM)


PROBLEM = Problem(
    Decisions(np.linspace(0, 1, 40)[:, None]),
    PositiveExpansion(),
    make_kernel("matern52"),
    noise=UniformNoise(NOISE),
    delay=delays.PoissonDelay(MEAN),
    horizon=HORIZON,
)
OPTIONS = {"width": "delayed", "noise_variance": 1.05, "prior_mean": 0.0, "reward_bound": BOUND}


@pytest.mark.long
@pytest.mark.parametrize("name", ["gp-ucb-sdf", "gp-ts-sdf"])
@pytest.mark.parametrize("window", [2, 6])
def test_the_band_contains_what_arrives_of_the_function(name, window):
    arriving = float(poisson.cdf(window, MEAN))
    bands = play_bands(PROBLEM, (name, {**OPTIONS, "window": window}), TRIALS, arriving=arriving)
    assert bands.failed.mean() <= ALLOWED


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
    narrow = {**OPTIONS, "window": 2, "reward_bound": 0.0, "width": 0.5}
    assert play_bands(PROBLEM, ("gp-ucb-sdf", narrow), TRIALS, arriving=1.0).failed.mean() > ALLOWED


@pytest.mark.sampled(1)
@pytest.mark.parametrize("window", [2, 6])
def test_regret_stays_under_the_bound_of_theorem_2(window):
    arriving = float(poisson.cdf(window, MEAN))
    agent = ("gp-ucb-sdf", {**OPTIONS, "window": window})
    bands = play_bands(PROBLEM, agent, TRIALS, arriving=arriving)
    rounds = np.arange(1, HORIZON + 1)
    beta = NORM + (NOISE + BOUND) * np.sqrt(2 * (bands.gain[:, -1] + 1 + np.log(2 / DELTA)))
    for i in range(TRIALS):
        bound = delayed_bound(
            rounds,
            np.full(HORIZON, beta[i]),
            bands.gain[i],
            1.05,
            window=window,
            reward_bound=BOUND,
            arrival_probability=arriving,
        )
        assert (bands.regret[i] <= bound).all()

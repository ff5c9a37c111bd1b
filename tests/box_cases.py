"""What tests on boxes share: plays, what is believed after them, and rounds whose feedback comes at once."""

from typing import Any, cast

import numpy as np
from players import at_once
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from agents.acquisition.by_name import Starting
from agents.acquisition.randomised import IRGPUCB, FiniteSize
from agents.acquisition.rules import (
    UCB,
    ExpectedImprovement,
    PosteriorMean,
    PosteriorVariance,
    ProbabilityOfImprovement,
    RandomUCB,
)
from agents.beliefs.surface import Surface
from agents.box.acquisition_surface import AcquisitionSurface, BoxView
from agents.kernels.visited import Visited, VisitedGram
from agents.posteriors import SufficientStatistics
from agents.posteriors.play_factor import PlayFactor
from agents.widths.base import FixedWidth
from bandit_envs import Setting

KERNEL = ConstantKernel(1.7) * Matern([0.4, 0.7], nu=2.5)
NOISE = 0.01
HERE = np.zeros(1)
RULES = {
    "UCB": UCB(FixedWidth(1.3)),
    "EI": ExpectedImprovement(0.1),
    "PI": ProbabilityOfImprovement(0.1),
    "random UCB": RandomUCB(FixedWidth(1.3)),
    "IRGP-UCB": IRGPUCB(FiniteSize(100)),
    "mean": PosteriorMean(),
    "deviation": PosteriorVariance(),
    "first rounds": Starting(3, PosteriorVariance(), UCB(FixedWidth(1.3))),
    "later rounds": Starting(2, PosteriorVariance(), UCB(FixedWidth(1.3))),
}


def plays(count=12, seed=0, dim=2):
    rng = np.random.default_rng(seed)
    x = rng.random((count, dim))
    return x, np.sin(5.0 * x.sum(axis=1)) + 0.1 * rng.normal(size=count)


def factor_of(x, y, kernel=KERNEL, noise=NOISE):
    visited = Visited(x.shape[1])
    factor = PlayFactor(
        VisitedGram(kernel, visited), noise, SufficientStatistics(np.empty(0, int), np.empty(0), np.empty(0))
    )
    for point, value in zip(x, y, strict=True):
        factor.append(visited.index(point), float(value))
    return factor


def surface_of(x, y, kernel=KERNEL, mean=0.0):
    factor = factor_of(x, y - mean, kernel)
    return Surface(kernel, factor, factor, mean)


def view_of_round(age, incumbent, bias=0.0):
    """A view without arms, for rules that ask neither the belief nor the objective."""
    return BoxView(
        cast(Any, None),
        cast(Any, None),
        np.array([[age]]),
        np.zeros((1, 1)),
        np.array([[bias]]),
        incumbent[:, None],
        draw=lambda: [np.random.default_rng(5)],
        maximise=lambda: np.array([[0.3]]),
    )


def landscape_of(rule, surface, age=3, rng=None):
    facts = view_of_round(age, np.array([0.3]), bias=0.2)
    return AcquisitionSurface(rule, surface, np.empty(0), facts, rng or np.random.default_rng(0))


def feed(agent, value_of, rounds, observation=HERE):
    actions = []
    for t in range(rounds):
        action = agent.act(observation)
        agent.update(observation, action, 0.0, at_once(t, value_of(agent.setting.to_point(action))))
        actions.append(action)
    return actions


SETTING = Setting(low=np.array([-1.0, 0.0]), high=np.array([1.0, 5.0]), horizon=60, noise_std=0.05)

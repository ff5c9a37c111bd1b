"""Loops of expected improvement on the unit box: this package, scikit-learn and BoTorch, timed apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

import agents
from bandit_envs import Setting
from bandit_envs.problem.feedback import delivery

BOUNDS = (0.05, 10.0)  # of length-scales, in box widths
Observe = Callable[[np.ndarray], float]


class Turn(NamedTuple):
    """A method after a round."""

    spent: float  # CPU seconds so far
    recommend: Callable[[], np.ndarray]  # -> (d,)


class Clock:
    """Adds up the CPU time of what a method does itself."""

    def __init__(self) -> None:
        self.spent = 0.0

    def __enter__(self) -> None:
        self._start = time.process_time()

    def __exit__(self, *error: object) -> None:
        self.spent += time.process_time() - self._start


def gpbandits(
    observe: Observe, first: np.ndarray, rounds: int, refit: int, seed: int, **options: Any
) -> Iterator[Turn]:
    """GP-EI of this package, refitting with warm starts; with options of its model."""
    kernel = Matern([0.5] * first.shape[1], BOUNDS, nu=2.5)
    return agent_of({"kernel": kernel, "fit_mean": True, **options}, observe, first, rounds, refit, seed)


def agent_of(
    options: dict[str, Any], observe: Observe, first: np.ndarray, rounds: int, refit: int, seed: int
) -> Iterator[Turn]:
    """GP-EI with options of its model."""
    return played("gp-ei", {"refit_every": refit, **options}, observe, first, rounds, seed)


def default_of_tuner(
    observe: Observe, first: np.ndarray, rounds: int, refit: int, seed: int
) -> Iterator[Turn]:
    """The agent that a Tuner has by default, which decides itself when it learns."""
    return played("gp-agent", {"goal": "best"}, observe, first, rounds, seed)


def played(
    name: str, options: dict[str, Any], observe: Observe, first: np.ndarray, rounds: int, seed: int
) -> Iterator[Turn]:
    """Play an agent of this package; the first points are given."""
    dim = first.shape[1]
    setting = Setting(low=np.zeros(dim), high=np.ones(dim), horizon=rounds)
    agent = agents.make(name, setting, **options)
    agent.reset(seed)
    clock, nothing = Clock(), np.zeros(1)
    for t in range(rounds):
        with clock:
            action = setting.to_action(first[t]) if t < len(first) else agent.act(nothing)
        value = observe(setting.to_point(action))
        info = delivery(t, np.array([t]), np.array([value]), np.empty((1, 0)), 0)
        with clock:
            agent.update(nothing, action, value, info)
        yield Turn(clock.spent, lambda: agent.recommend().point)


def scikit_learn(observe: Observe, first: np.ndarray, rounds: int, refit: int, seed: int) -> Iterator[Turn]:
    """The usual loop: GaussianProcessRegressor, 512 candidates, L-BFGS-B with finite differences from 4."""
    rng, dim = np.random.default_rng(seed), first.shape[1]
    kernel = ConstantKernel() * Matern([0.5] * dim, BOUNDS, nu=2.5) + WhiteKernel(1e-2, (1e-6, 1e2))
    x, y, clock, kept = np.empty((0, dim)), np.empty(0), Clock(), kernel

    def fitted(renew: bool) -> GaussianProcessRegressor:
        optimizer = "fmin_l_bfgs_b" if renew else None
        restarts = int(renew)
        model = GaussianProcessRegressor(
            kept, optimizer=optimizer, normalize_y=True, n_restarts_optimizer=restarts, random_state=seed
        )
        return model.fit(x, y)

    for t in range(rounds):
        with clock:
            if t < len(first):
                point = first[t]
            else:
                model = fitted(renew=t == len(first) or t % refit == 0)
                kept = model.kernel_
                best = float(model.predict(x).max())
                point = lowest(minus_expected_improvement(model, best), dim, rng)
        x, y = np.vstack([x, point]), np.append(y, observe(point))
        yield Turn(
            clock.spent, lambda: lowest(lambda at: -fitted(False).predict(np.atleast_2d(at)), dim, rng)
        )


def lowest(loss: Callable[[np.ndarray], np.ndarray], dim: int, rng: np.random.Generator) -> np.ndarray:
    unit = rng.random((512, dim))
    starts = unit[np.argsort(loss(unit))[:4]]
    ends = [minimize(loss, each, method="L-BFGS-B", bounds=[(0, 1)] * dim).x for each in starts]
    return min(ends, key=lambda end: float(loss(end)[0]))


def minus_expected_improvement(model: GaussianProcessRegressor, best: float) -> Callable:
    def loss(x: np.ndarray) -> np.ndarray:
        mean, std = model.predict(np.atleast_2d(x), return_std=True)
        z = (mean - best) / np.maximum(std, 1e-12)
        return -std * (z * ndtr(z) + np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))

    return loss


def botorch(
    observe: Observe, first: np.ndarray, rounds: int, refit: int, seed: int, noisy_rule: bool = False
) -> Iterator[Turn]:
    """BoTorch's SingleTaskGP with its default priors, LogExpectedImprovement and optimize_acqf."""
    import torch
    from botorch.acquisition import LogExpectedImprovement, PosteriorMean, qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dim = first.shape[1]
    bounds = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.float64)
    x, y = torch.empty((0, dim), dtype=torch.float64), torch.empty((0, 1), dtype=torch.float64)
    state, clock = None, Clock()

    def model_now() -> SingleTaskGP:
        model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
        if state is not None:
            model.load_state_dict(state, strict=False)
        return model

    def highest(rule: object) -> torch.Tensor:
        return optimize_acqf(rule, bounds, q=1, num_restarts=4, raw_samples=512)[0][0].detach()

    for t in range(rounds):
        with clock:
            if t < len(first):
                point = torch.tensor(first[t])
            else:
                model = model_now()
                if state is None or t % refit == 0:
                    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
                    state = {k: v for k, v in model.state_dict().items() if "outcome_transform" not in k}
                model.eval()
                if noisy_rule:
                    rule = qLogNoisyExpectedImprovement(model, x, prune_baseline=True)
                else:
                    rule = LogExpectedImprovement(model, best_f=model.posterior(x).mean.max())
                point = highest(rule)
        x = torch.vstack([x, point])
        y = torch.vstack([y, torch.tensor([[observe(point.numpy())]], dtype=torch.float64)])
        yield Turn(clock.spent, lambda: highest(PosteriorMean(model_now().eval())).numpy())


METHODS: dict[str, Callable[..., Iterator[Turn]]] = {
    "gpbandits": gpbandits,
    "scikit-learn": scikit_learn,
    "botorch": botorch,
    "botorch-nei": partial(botorch, noisy_rule=True),
}
MODULES = {"gpbandits": "agents", "scikit-learn": "sklearn", "botorch": "botorch", "botorch-nei": "botorch"}

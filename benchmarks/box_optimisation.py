"""Simple regret and time on boxes: this package, a loop on scikit-learn, and BoTorch where it is installed.

    python benchmarks/box_optimisation.py --rounds 100 --seeds 3
    python benchmarks/box_optimisation.py --speed        # d = 6, T = 200, refit every 10
    python benchmarks/box_optimisation.py --table docs/results/boxes.csv

All model f by a Gaussian process with one length-scale a dimension, a learnt constant mean and learnt
noise (Matern 5/2; BoTorch its own default kernel and priors), and maximise (log) expected improvement, but
for `botorch-nei`, which is BoTorch with qLogNoisyExpectedImprovement. All refit every `--refit` rounds, begin
with the same random plays and meet the same noise. Two simple regrets, of the noiseless function: of the best
point *played*, and of the point that a method would *recommend* at the end, where its posterior mean is
largest in the box. Time is that of one thread, without the recommendation.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core for everybody

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

import agents
from bandit_envs import Setting
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems.benchmarks import (
    ackley_values,
    branin_values,
    hartmann3_values,
    hartmann6_values,
)

# name -> function, d, largest value, noise as a share of a typical deviation
PROBLEMS = {
    "branin": (branin_values, 2, -0.39788736, 50.0),
    "ackley": (ackley_values, 2, 0.0, 3.0),
    "hartmann3": (hartmann3_values, 3, 3.86277979, 1.0),
    "hartmann6": (hartmann6_values, 6, 3.32236801, 0.4),
}
NOISE = 0.05  # of that deviation, in the noisy runs
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


def gpbandits(observe: Observe, first: np.ndarray, rounds: int, refit: int, seed: int) -> Iterator[Turn]:
    """GP-EI of this package, refitting with warm starts."""
    dim = first.shape[1]
    setting = Setting(low=np.zeros(dim), high=np.ones(dim), horizon=rounds)
    kernel = Matern([0.5] * dim, BOUNDS, nu=2.5)
    agent = agents.make("gp-ei", setting, kernel=kernel, refit_every=refit, fit_mean=True)
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


class Run(NamedTuple):
    """What a method achieved."""

    played: float  # simple regret of the best point played
    recommended: float  # of the point of the largest posterior mean
    milliseconds: float  # of CPU a round


def play(method: str, problem: str, noisy: bool, rounds: int, refit: int, seed: int) -> Run:
    """One run of a method on a problem; all methods have the same first plays and the same noise."""
    function, dim, best, deviation = PROBLEMS[problem]
    noise = NOISE * deviation * np.random.default_rng([seed, 1]).standard_normal(rounds) * noisy
    first = np.random.default_rng([seed, 2]).random((2 * (dim + 1), dim))
    means: list[float] = []

    def value_of(point: np.ndarray) -> float:
        return float(function(np.asarray(point)[None])[0])

    def observe(point: np.ndarray) -> float:
        means.append(value_of(point))
        return means[-1] + noise[len(means) - 1]

    *_, last = METHODS[method](observe, first, rounds, refit, seed)
    return Run(best - max(means), best - value_of(last.recommend()), 1e3 * last.spent / rounds)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--refit", type=int, default=10)
    options.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    options.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options.add_argument("--noise", nargs="+", default=["none", "noisy"], choices=["none", "noisy"])
    options.add_argument("--speed", action="store_true", help="only this package, d = 6 and 200 rounds")
    options.add_argument("--table", type=Path, help="a CSV file for the medians, which docs/boxes.md prints")
    chosen = options.parse_args()
    if chosen.speed:
        chosen.rounds, chosen.problems, chosen.methods = 200, ["hartmann6"], ["gpbandits"]
    present = [name for name in chosen.methods if find_spec(MODULES[name])]
    for name in set(chosen.methods) - set(present):
        print(f"{name} is not installed: left out")
    warnings.simplefilter("ignore")  # the other libraries' advice on bounds and scaling
    found: dict[tuple[str, str], dict[str, list[Run]]] = {}
    print("median and worst simple regret of the best point played and of the recommended point")
    print(f"{'problem':<10} {'noise':<6} {'method':<13}{'played':>9} {'worst':>9}", end="")
    print(f"{'recommended':>12} {'worst':>9} {'ms/round':>9}")
    for problem in chosen.problems:
        for noise in chosen.noise:
            for method in present:
                seeds = range(chosen.seeds)
                runs = [
                    play(method, problem, noise == "noisy", chosen.rounds, chosen.refit, s) for s in seeds
                ]
                found.setdefault((problem, noise), {})[method] = runs
                print(f"{problem:<10} {noise:<6} {method:<13}{row(runs)}", flush=True)
    if chosen.table is not None:
        with chosen.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(table(found, present))


def row(runs: list[Run]) -> str:
    played, recommended, milliseconds = np.array(runs).T
    return (
        f"{np.median(played):>9.1e} {played.max():>9.1e}"
        f"{np.median(recommended):>12.1e} {recommended.max():>9.1e} {milliseconds.mean():>9.1f}"
    )


def table(found: dict[tuple[str, str], dict[str, list[Run]]], methods: list[str]) -> Iterator[list[str]]:
    """Medians of the played and of the recommended point, a line a problem; the last has milliseconds."""
    yield ["problem", "noise", *methods]
    for (problem, noise), runs in found.items():
        yield [problem, noise, *(medians(runs[method]) for method in methods)]
    cost = {
        method: [run.milliseconds for runs in found.values() for run in runs[method]] for method in methods
    }
    yield ["ms a round", "", *(f"{min(each):.0f}-{max(each):.0f}" for each in cost.values())]


def medians(runs: list[Run]) -> str:
    """Of the simple regrets, "3.3e-05 / 3.0e-06"."""
    played, recommended, _ = np.median(np.array(runs), axis=0)
    return f"{played:.1e} / {recommended:.1e}"


if __name__ == "__main__":
    main()

"""Simple regret and time on boxes: this package, a loop on scikit-learn, and BoTorch where it is installed.

    python benchmarks/box_optimisation.py --rounds 100 --seeds 3
    python benchmarks/box_optimisation.py --speed        # d = 6, T = 200, refit every 10

All model f by a Gaussian process with one length-scale a dimension, a learnt constant mean and learnt
noise (Matern 5/2; BoTorch its own default kernel and priors), and maximise (log) expected improvement; all
refit every `--refit` rounds and begin with as many random plays. Regret is that of the best point played,
of the noiseless function; time is that of one thread.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core for everybody

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

import agents
from bandit_envs import Setting
from bandit_envs.problems.benchmarks import ackley_values, branin_values, hartmann3_values, hartmann6_values

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


def gpbandits(observe: Observe, dim: int, rounds: int, refit: int, seed: int) -> Iterator[float]:
    """GP-EI of this package, refitting with warm starts; yields the CPU seconds so far after each round."""
    setting = Setting(low=np.zeros(dim), high=np.ones(dim), horizon=rounds)
    agent = agents.make(
        "gp-ei",
        setting,
        kernel=Matern([0.5] * dim, BOUNDS, nu=2.5),
        refit_every=refit,
        fit_mean=True,
        initial=first_plays(dim),
    )
    agent.reset(seed)
    spent, nothing = 0.0, np.zeros(1)
    for t in range(rounds):
        start = time.process_time()
        action = agent.act(nothing)
        spent += time.process_time() - start
        value = observe(setting.to_point(action))
        info = {
            "feedback_mask": np.array([True]),
            "feedback_step": np.array([t]),
            "feedback_reward": np.array([value]),
        }
        start = time.process_time()
        agent.update(nothing, action, value, info)
        spent += time.process_time() - start
        yield spent


def scikit_learn(observe: Observe, dim: int, rounds: int, refit: int, seed: int) -> Iterator[float]:
    """The usual loop: GaussianProcessRegressor, 512 candidates, L-BFGS-B with finite differences from 4."""
    rng, first = np.random.default_rng(seed), first_plays(dim)
    kernel = ConstantKernel() * Matern([0.5] * dim, BOUNDS, nu=2.5) + WhiteKernel(1e-2, (1e-6, 1e2))
    x, y, spent, model = np.empty((0, dim)), np.empty(0), 0.0, None
    for t in range(rounds):
        start = time.process_time()
        if t < first:
            point = rng.random(dim)
        else:
            renew = model is None or t % refit == 0
            optimizer = "fmin_l_bfgs_b" if renew else None
            prior = kernel if model is None else model.kernel_
            model = GaussianProcessRegressor(
                prior,
                optimizer=optimizer,
                normalize_y=True,
                n_restarts_optimizer=int(renew),
                random_state=seed,
            ).fit(x, y)
            best = model.predict(x).max()
            unit = rng.random((512, dim))
            loss = minus_expected_improvement(model, best)
            starts = unit[np.argsort(loss(unit))[:4]]
            ends = [minimize(loss, s, method="L-BFGS-B", bounds=[(0, 1)] * dim).x for s in starts]
            point = min(ends, key=lambda end: float(loss(end)[0]))
        spent += time.process_time() - start
        x, y = np.vstack([x, point]), np.append(y, observe(point))
        yield spent


def minus_expected_improvement(model: GaussianProcessRegressor, best: float) -> Callable:
    def loss(x: np.ndarray) -> np.ndarray:
        mean, std = model.predict(np.atleast_2d(x), return_std=True)
        z = (mean - best) / np.maximum(std, 1e-12)
        return -std * (z * ndtr(z) + np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))

    return loss


def botorch(observe: Observe, dim: int, rounds: int, refit: int, seed: int) -> Iterator[float]:
    """BoTorch's SingleTaskGP with its default priors, LogExpectedImprovement and optimize_acqf."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    bounds = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.float64)
    x, y = torch.empty((0, dim), dtype=torch.float64), torch.empty((0, 1), dtype=torch.float64)
    state, spent = None, 0.0
    for t in range(rounds):
        start = time.process_time()
        if t < first_plays(dim):
            point = torch.rand(dim, dtype=torch.float64)
        else:
            model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
            if state is not None:
                model.load_state_dict(state, strict=False)
            if state is None or t % refit == 0:
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
                state = {k: v for k, v in model.state_dict().items() if "outcome_transform" not in k}
            model.eval()
            best = model.posterior(x).mean.max()
            rule = LogExpectedImprovement(model, best_f=best)
            point = optimize_acqf(rule, bounds, q=1, num_restarts=4, raw_samples=512)[0][0].detach()
        spent += time.process_time() - start
        x = torch.vstack([x, point])
        y = torch.vstack([y, torch.tensor([[observe(point.numpy())]], dtype=torch.float64)])
        yield spent


METHODS = {"gpbandits": gpbandits, "scikit-learn": scikit_learn, "botorch": botorch}
MODULES = {"gpbandits": "agents", "scikit-learn": "sklearn", "botorch": "botorch"}


def first_plays(dim: int) -> int:
    return 2 * (dim + 1)


def play(
    method: str, problem: str, noisy: bool, rounds: int, refit: int, seed: int
) -> tuple[np.ndarray, float]:
    """Simple regret after each round, (rounds,), and CPU milliseconds a round."""
    function, dim, best, deviation = PROBLEMS[problem]
    noise = NOISE * deviation * np.random.default_rng([seed, 1]).standard_normal(rounds) * noisy
    means: list[float] = []

    def observe(point: np.ndarray) -> float:
        means.append(float(function(np.asarray(point)[None])[0]))
        return means[-1] + noise[len(means) - 1]

    *_, spent = METHODS[method](observe, dim, rounds, refit, seed)
    return best - np.maximum.accumulate(means), 1e3 * spent / rounds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--refit", type=int, default=10)
    options.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    options.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options.add_argument("--speed", action="store_true", help="only this package, d = 6 and 200 rounds")
    chosen = options.parse_args()
    if chosen.speed:
        chosen.rounds, chosen.problems, chosen.methods = 200, ["hartmann6"], ["gpbandits"]
    present = [
        name
        for name in chosen.methods
        if name == "gpbandits" or find_spec(name.replace("scikit-learn", "sklearn"))
    ]
    for name in set(chosen.methods) - set(present):
        print(f"{name} is not installed: left out")
    warnings.simplefilter("ignore")  # the other libraries' advice on bounds and scaling
    print(f"{'problem':<10} {'noise':<6} {'method':<13} {'median regret':>13} {'worst':>10} {'ms/round':>9}")
    for problem in chosen.problems:
        for noisy in (False, True):
            for method in present:
                runs = [
                    play(method, problem, noisy, chosen.rounds, chosen.refit, seed)
                    for seed in range(chosen.seeds)
                ]
                final = np.array([regret[-1] for regret, _ in runs])
                cost = np.mean([each for _, each in runs])
                label = f"{problem:<10} {'noisy' if noisy else 'none':<6} {method:<13}"
                print(f"{label} {np.median(final):>13.2e} {final.max():>10.2e} {cost:>9.1f}", flush=True)


if __name__ == "__main__":
    main()

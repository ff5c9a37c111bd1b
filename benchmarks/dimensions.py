"""Expected improvement in 2 to 100 dimensions by the prior on length-scales, beside BoTorch.

    python benchmarks/dimensions.py --write

The first 20 of 60 plays are the same random points for all; hyperparameters are learnt in every fifth round
after these. Branin's function has both its dimensions, Hartmann's has six of d = 6 to 100, and the
others do nothing; of `bowl`, -|x - c|^2, all dimensions count. Values have mean 0 and standard deviation 1 at
random points, in which the simple regret of the best point played is stated; their noise has 0.05.

`gp-ei` plays with the default on boxes, the mode of BoTorch's prior; with one length-scale that starts at 0.2
of a side in every dimension; and with the kernel and the priors of a `Tuner` in contexts. Beside it stands
what a `Tuner` plays by default, which decides when it learns. BoTorch plays LogEI on its default model. All
kernels but those of a `Tuner` are squared exponential.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core for everybody

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from box_methods import Turn, agent_of, botorch, default_of_tuner
from sklearn.gaussian_process.kernels import Matern
from tables import write

from agents.real.choice import LEARNING
from agents.tuning.plan import LENGTH_SCALE, LENGTH_SCALE_BOUNDS
from bandit_envs.basics.types import Floats
from bandit_envs.problems.benchmarks import branin_values, hartmann6_values

DIMENSIONS = (2, 6, 10, 20, 50, 100)
FIRST, ROUNDS, REFIT = 20, 60, 5
NOISE = 0.05  # of the standard deviation of the values at random points
HEADER = ["function", "d", "method", "seeds", "median", "lower", "upper", "ms"]


class Function(NamedTuple):
    """A function on the unit box, and its largest value."""

    values: Callable[[Floats], Floats]  # (n, d) -> (n,)
    best: float


def functions(dim: int) -> dict[str, Function]:
    """Return the functions of so many dimensions."""
    few = Function(branin_values, -0.39788736) if dim == 2 else Function(hartmann6_values, 3.32236801)
    active = 2 if dim == 2 else 6
    centre = np.random.default_rng(dim).uniform(0.2, 0.8, dim)
    return {
        "few count": Function(lambda x: few.values(x[:, :active]), few.best),
        "bowl": Function(lambda x: -np.square(x - centre).sum(axis=1), 0.0),
    }


def of_tuner(dim: int) -> dict[str, Any]:
    """Return the kernel and the priors of a Tuner with so many parameters."""
    scales = np.full(dim, LENGTH_SCALE * np.sqrt(dim))
    priors = {name: value for name, value in LEARNING.items() if name != "refit_every"}
    return {"kernel": Matern(scales, LENGTH_SCALE_BOUNDS, nu=2.5), **priors}


PRIORS: dict[str, Callable[[int], dict[str, Any]]] = {
    "gp-ei": lambda dim: {},
    "gp-ei, 0.2 of a side": lambda dim: {"length_scale": 0.2, "noise_std": 0.1},
    "gp-ei, priors of the tuner": of_tuner,
}


def ours(options: Callable[[int], dict[str, Any]], *run: Any) -> Iterator[Turn]:
    """Play `gp-ei` with options."""
    first = run[1]
    return agent_of({"fit_mean": True, **options(first.shape[1])}, *run)


METHODS: dict[str, Callable[..., Iterator[Turn]]] = {
    **{name: partial(ours, options) for name, options in PRIORS.items()},
    "the tuner's default": default_of_tuner,
}
if find_spec("botorch"):
    METHODS["BoTorch LogEI"] = botorch


def play(method: str, function: Function, dim: int, seed: int) -> tuple[float, float]:
    """Return the simple regret of the best point played, and milliseconds a round."""
    rng = np.random.default_rng([seed, dim])
    usual = function.values(np.random.default_rng(0).random((1000, dim)))
    mean, deviation = float(usual.mean()), float(usual.std())
    first, noise = rng.random((FIRST, dim)), NOISE * rng.standard_normal(ROUNDS)
    means: list[float] = []

    def observe(point: Floats) -> float:
        means.append((float(function.values(np.asarray(point)[None])[0]) - mean) / deviation)
        return means[-1] + noise[len(means) - 1]

    *_, last = METHODS[method](observe, first, ROUNDS, REFIT, seed)
    return (function.best - mean) / deviation - max(means), 1e3 * last.spent / (ROUNDS - FIRST)


def main() -> None:
    """Play all, print a row each, and write them where asked."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
    options.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")  # the other library's advice on scaling
    rows = []
    for dim in chosen.dimensions:
        for name, function in functions(dim).items():
            for method in chosen.methods:
                runs = np.array([play(method, function, dim, seed) for seed in range(chosen.seeds)])
                lower, median, upper = np.quantile(runs[:, 0], [0.25, 0.5, 0.75])
                numbers = (f"{each:.3g}" for each in (median, lower, upper, runs[:, 1].mean()))
                rows.append([name, dim, method, chosen.seeds, *numbers])
                print(*rows[-1], sep=", ", flush=True)
    if chosen.write:
        write("dimensions", HEADER, rows)


if __name__ == "__main__":
    main()

"""Regret on boxes whose model is not published: `gp-agent`, agents that learn one, and TPE.

    python benchmarks/unknown_boxes.py --write

The score is 1 - regret / that of random play, in 10 trials of 150 rounds.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core for everybody

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from tables import measure

from agents.real.choice import LEARNING
from bandit_envs import Problem
from bandit_envs.problems import benchmarks, build
from gpbandits import evaluate

UNKNOWN: dict[str, Any] = {"continuous": True, "publish_model": False, "horizon": 150}


def sampled(dim: int, length_scale: float, **unknown: Any) -> Problem:
    """Return a sample of a Gaussian process."""
    return build("gp", {"dim": dim, "kernel": "matern52", "length_scale": length_scale, **unknown})


BOXES: dict[str, Callable[..., Problem]] = {
    "Rosenbrock, 2-d": benchmarks.rosenbrock,
    "Branin, 2-d": benchmarks.branin,
    "Ackley, 2-d": benchmarks.ackley,
    "Matern 5/2, 2-d, length .3": partial(sampled, 2, 0.3),
    "Matern 5/2, 2-d, length .15": partial(sampled, 2, 0.15),
    "Hartmann, 3-d": benchmarks.hartmann3,
    "Matern 5/2, 4-d, length .6": partial(sampled, 4, 0.6),
    "Hartmann, 6-d": benchmarks.hartmann6,
}
LEARNT = {"initial": 5, **LEARNING}
AGENTS: dict[str, Any] = {
    "gp-agent": "gp-agent",
    "gp-bucb, width 1, learnt": ("gp-bucb", {"width": 1.0, **LEARNT}),
    "gp-ei, learnt": ("gp-ei", LEARNT),
    "optuna-tpe": "optuna-tpe",
}


def scores(name: str, trials: int) -> Iterator[str]:
    """Yield the mean score of each agent on a box, with its standard error."""
    found = evaluate(BOXES[name](**UNKNOWN), {"random": "random", **AGENTS}, trials=trials).regret
    usual = found["random"][:, -1].mean()
    for label in AGENTS:
        score = 1.0 - found[label][:, -1] / usual
        yield f"{score.mean():.3f} ± {score.std(ddof=1) / np.sqrt(trials):.3f}"


def rows(runs: int) -> Iterator[list[str]]:
    """Yield a row a box."""
    for name in BOXES:
        yield [name, *scores(name, runs)]


if __name__ == "__main__":
    measure(__doc__, "unknown_boxes", ["box", *AGENTS], rows, 10)

"""What a tuner finds: agents that could be its default, on functions with many maxima.

    python benchmarks/tuning.py --write

Each run asks for 40 experiments, one after the other, and then for the parameters to use. Regrets are shares
of what the average point gives away: 0 is the best point of all, 1 the average one. "best" is the best
experiment without its noise, "recommended" the point to use, "a round" the mean over all experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.stats import qmc
from tables import measure

from agents import Integer, Linear, Tuner
from agents.real.choice import LEARNING
from bandit_envs.basics.types import Floats
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.statistics import bootstrap_interval

EXPERIMENTS = 40
HEADER = ["problem", "agent", "best", "recommended", "a round"]
LEARNT = {"initial": 5, **LEARNING}  # as a Tuner does
WIDTHS = (1.0, 2.0, 3.0)
AGENTS: dict[str, Any] = {f"gp-bucb, width {w:g}": ("gp-bucb", {"width": w, **LEARNT}) for w in WIDTHS}
AGENTS |= {"gp-ei": ("gp-ei", LEARNT), "gp-agent": None}  # the last as a Tuner takes it where none is named
Function = Callable[[Floats], Floats]  # (n, d) in the unit box -> (n,), to be maximised


class Task(NamedTuple):
    """A function for each seed, the dimension, the noise, and the levels of a grid, 0 for a box."""

    function: Callable[[int], Function]
    dim: int
    noise: float
    levels: int = 0


def branin(x: Floats) -> Floats:
    a, b = 15 * x[:, 0] - 5, 15 * x[:, 1]
    square = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
    return -square - 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) - 10


def ackley(x: Floats) -> Floats:
    z = 20 * (x - 0.37)
    return 20 * np.exp(-0.2 * np.sqrt((z**2).mean(axis=1))) + np.exp(np.cos(2 * np.pi * z).mean(axis=1))


def hartmann(x: Floats) -> Floats:
    """In six dimensions."""
    rates = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14]])
    rates = np.vstack([rates, [[3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]])
    peaks = np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991]])
    peaks = np.vstack([peaks, [[2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]])
    distance = (rates * (x[:, None] - 1e-4 * peaks) ** 2).sum(axis=2)
    return np.exp(-distance) @ [1.0, 1.2, 3.0, 3.2]


def sample(dim: int, length_scale: float, number: int = 2000) -> Callable[[int], Function]:
    """Of a Gaussian process with a Matern 5/2 kernel, by random Fourier features."""

    def draw(seed: int) -> Function:
        rng = np.random.default_rng([seed, 2])
        spread = np.sqrt(5.0 / rng.chisquare(5.0, size=(number, 1)))  # of Student's t, 5 degrees of freedom
        frequencies = rng.standard_normal((number, dim)) * spread / length_scale
        phases, weights = rng.uniform(0, 2 * np.pi, number), rng.standard_normal(number)
        return lambda x: np.sqrt(2 / number) * np.cos(x @ frequencies.T + phases) @ weights

    return draw


TASKS = {
    "sample in 2-d": Task(sample(2, 0.3), 2, 0.1),
    "sample in 4-d": Task(sample(4, 0.5), 4, 0.1),
    "sample on a 10 x 10 grid": Task(sample(2, 0.3), 2, 0.1, levels=10),
    "Branin": Task(lambda _: branin, 2, 2.0),
    "Ackley in 2-d": Task(lambda _: ackley, 2, 0.1),
    "Hartmann in 6-d": Task(lambda _: hartmann, 6, 0.02),
}


def scale(task: Task, function: Function) -> tuple[float, float]:
    """The largest value, and how far the average one lies below it."""
    points = qmc.Sobol(task.dim, scramble=False).random(2**13)
    if task.levels:
        axes = np.meshgrid(*[np.linspace(0, 1, task.levels)] * task.dim)
        points = np.column_stack([axis.ravel() for axis in axes])
    values = function(points)
    best = float(values.max())
    for start in points[np.argsort(values)[-10:]] if not task.levels else ():
        found = minimize(lambda x: -function(x[None])[0], start, bounds=[(0, 1)] * task.dim)
        best = max(best, -float(found.fun))
    return best, best - float(values.mean())


def run(task: Task, agent: Any, seed: int) -> tuple[float, float, float]:
    """The regrets of the best experiment, of what is recommended, and of the average experiment."""
    function, rng = task.function(seed), np.random.default_rng([seed, 1])
    best, spread = scale(task, function)
    kind, unit = (Integer(1, task.levels), task.levels - 1) if task.levels else (Linear(0, 1), 1)

    def value(given: Mapping[str, float]) -> float:
        point = np.array([[given[name] for name in names]])
        return float(function((point - kind.low) / unit)[0])

    names = [f"x{i}" for i in range(task.dim)]
    tuner = Tuner(dict.fromkeys(names, kind), agent=agent, seed=seed, budget=EXPERIMENTS)
    tuner.optimise(lambda **given: value(given) + task.noise * rng.standard_normal(), EXPERIMENTS)
    told = [value(each.parameters) for each in tuner.experiments]
    shown = max(told), value(tuner.recommend().parameters), float(np.mean(told))
    first, second, third = ((best - each) / spread for each in shown)
    return first, second, third


def rows(runs: int) -> Iterator[list[str]]:
    """A line for each problem and agent."""
    for title, task in TASKS.items():
        for label, agent in AGENTS.items():
            found = Parallel(n_jobs=2)(delayed(run)(task, agent, seed) for seed in range(runs))
            exact = (
                np.round(np.array(found, dtype=float), 9) + 0.0
            )  # not the last bit of a difference that is none
            yield [title, label, *(text(bootstrap_interval(each)) for each in exact.T)]


if __name__ == "__main__":
    measure(__doc__, "tuning", HEADER, rows, 30)

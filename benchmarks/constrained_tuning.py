"""What a tuner finds under constraints: agents that could be its default, on problems that are known.

    python benchmarks/constrained_tuning.py --write

Each run asks for 40 experiments, one after the other, and then for the parameters to use. "infeasible" counts
runs whose recommendation truly violates a cost; regret is that of the others, as a share of the spread of the
feasible values: 0 is the best feasible point, 1 the average one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tables import measure

from agents import Categorical, Integer, Linear, Log, Tuner
from agents.real.choice import LEARNING

EXPERIMENTS = 40
HEADER = ["problem", "agent", "infeasible", "median regret", "mean regret"]
AGENTS: dict[str, Any] = {
    "constrained-ei, learnt": ("constrained-ei", {"hallucinate": True, **LEARNING}),
    "constrained-ei": ("constrained-ei", {"hallucinate": True}),
    "config": ("config", {}),
    "dual, learnt": ("gp-agent", {"constraint": "dual", "initial": 5, **LEARNING}),
    "dual": ("gp-agent", {"constraint": "dual", "initial": 5}),
}


@dataclass(frozen=True)
class Task:
    """Parameters, and the noiseless value and costs of an experiment."""

    parameters: dict[str, Any]
    value: Callable[..., float]
    costs: Callable[..., dict[str, float]]
    noise: float
    named: tuple[str, ...] = ("g",)
    fails: Callable[..., bool] = lambda **_: False


def branin(x: float, y: float) -> float:
    a = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return -(a**2) - 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) - 10


TASKS = {
    "two discs": Task(
        {"x": Linear(0, 6), "y": Linear(0, 6)},
        lambda x, y: -np.sin(x) - y,
        lambda x, y: {"g": np.sin(x) * np.sin(y) + 0.95},
        0.01,
    ),
    "oven": Task(
        {
            "temp": Linear(300, 1000),
            "rate": Log(1e-5, 1e-1),
            "stage": Integer(1, 6),
            "gas": Categorical(["air", "argon"]),
        },
        lambda temp, rate, stage, gas: (
            1e4
            * (
                0.5 * (gas == "argon")
                - (np.log10(rate) + 3) ** 2
                - ((temp - 700) / 200) ** 2
                - 0.1 * (stage - 3) ** 2
            )
        ),
        lambda temp, **_: {"energy": (temp - 850) / 100},
        500.0,
        ("energy",),
        lambda temp, gas, **_: temp > 900 and gas == "air",
    ),
    "Branin in a disc": Task(
        {"x": Linear(-5, 10), "y": Linear(0, 15)},
        branin,
        lambda x, y: {"g": (x - 2.5) ** 2 + (y - 7.5) ** 2 - 50},
        1.0,
    ),
    "two costs": Task(
        {name: Linear(0, 1) for name in "abcd"},
        lambda a, b, c, d: a + 2 * b + c - 3 * (d - 0.5) ** 2,
        lambda a, b, c, d: {"sum": a + b - 1.0, "product": 8 * b * c - 1.0},
        0.05,
        ("sum", "product"),
    ),
}


def scale(task: Task, number: int = 20_000) -> tuple[float, float]:
    """The best feasible value among random points, and how far the average feasible one lies below it."""
    rng = np.random.default_rng(0)
    places = {name: rng.uniform(size=(number, kind.width)) for name, kind in task.parameters.items()}
    feasible = []
    for i in range(number):
        given = {name: kind.value(places[name][i]) for name, kind in task.parameters.items()}
        if allowed(task, given):
            feasible.append(task.value(**given))
    best = max(feasible)
    return best, best - float(np.mean(feasible))


def allowed(task: Task, given: dict[str, Any]) -> bool:
    return max(task.costs(**given).values()) <= 0 and not task.fails(**given)


def found(task: Task, agent: Any, seed: int) -> dict[str, Any]:
    """The parameters that a tuner recommends in the end."""
    rng = np.random.default_rng([seed, 1])

    def experiment(**given: Any) -> tuple[float, dict[str, float]]:
        if task.fails(**given):
            raise RuntimeError("failed")
        return task.value(**given) + task.noise * rng.standard_normal(), task.costs(**given)

    tuner = Tuner(task.parameters, agent=agent, constraints=task.named, seed=seed, budget=EXPERIMENTS)
    tuner.optimise(experiment, EXPERIMENTS)
    return tuner.recommend().parameters


def rows(runs: int) -> Iterator[list[str]]:
    """A line for each problem and agent."""
    for title, task in TASKS.items():
        best, spread = scale(task)
        for label, agent in AGENTS.items():
            ends = [found(task, agent, seed) for seed in range(runs)]
            regret = [(best - task.value(**each)) / spread for each in ends if allowed(task, each)]
            median, mean = (f"{f(regret):.3f}" if regret else "-" for f in (np.median, np.mean))
            yield [title, label, str(runs - len(regret)), median, mean]


if __name__ == "__main__":
    measure(__doc__, "constrained_tuning", HEADER, rows, 12)

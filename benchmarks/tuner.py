"""What a question of `Tuner` costs after many results: without a fit and with one, a report, and memory.

    python benchmarks/tuner.py [--runs 10] [--write]

Results are past data; then questions and reports alternate, with some experiments pending. Times are medians
of the processor's, memory is what the tuner keeps (`tracemalloc`). The first row is the bare loop of
`benchmarks/step.py` in the same process, since machines differ.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core

import gc
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from step import CASES, play
from tables import measure

from agents import Linear, Tuner

HEADER = ["dimensions, results, pending", "question (ms)", "with a fit (ms)", "report (us)", "kept (MB)"]
BARE = CASES["GP-UCB, SE"]
SIZES = [(d, n, m) for d in (1, 6) for n in (10, 100, 1000) for m in (0, 19)] + [(6, 3000, 0)]


def value(parameters: dict[str, float], rng: np.random.Generator) -> float:
    """Return a noisy value."""
    x = np.array(list(parameters.values()))
    return float(-((x - 0.3) ** 2).sum() + 0.1 * np.sin(9.0 * x[0]) + 0.01 * rng.standard_normal())


def informed(dim: int, results: int, rng: np.random.Generator) -> Tuner:
    """Return a tuner with past results, which has been asked nothing yet."""
    space = {f"x{i}": Linear(0, 1) for i in range(dim)}
    tuner = Tuner(space, budget=results + 100)
    for _ in range(results):
        past = {name: float(rng.random()) for name in space}
        tuner.add(past, value(past, rng))
    return tuner


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds of a call, and its result."""
    start = time.process_time()
    returned = call()
    return time.process_time() - start, returned


def fits(tuner: Tuner) -> int:
    """Return how often the agent has learnt its kernel."""
    return len(tuner._player.agent.notes()["found"])  # type: ignore[union-attr]


def cells(dim: int, results: int, pending: int, runs: int) -> Iterator[str]:
    """Yield the median milliseconds of a question, without and with a fit, and microseconds of a report."""
    rng = np.random.default_rng(0)
    tuner = informed(dim, results, rng)
    running = deque(tuner.ask(pending + 1))
    asked: dict[bool, list[float]] = {False: [], True: []}
    told = []
    while len(asked[True]) < runs // 5 or len(asked[False]) < runs:
        ticket, parameters = running.popleft()
        told.append(timed(lambda: tuner.tell(ticket, value(parameters, rng)))[0])  # noqa: B023
        before = fits(tuner)
        taken, question = timed(tuner.ask)
        running.append(question)
        asked[fits(tuner) > before].append(taken)
    yield from (f"{1e3 * np.median(asked[fitted]):.1f}" for fitted in (False, True))
    yield f"{1e6 * np.median(told):.0f}"


def kept(dim: int, results: int, pending: int) -> str:
    """Return the megabytes that a tuner keeps, which grow with its history."""
    tracemalloc.start()
    tuner = informed(dim, results, np.random.default_rng(0))
    tuner.ask(pending + 1)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return f"{size / 1e6:.1f}"


def rows(runs: int) -> Iterator[list[str]]:
    """Yield the bare loop, then a row a size."""
    rounds = 300
    (trial,) = play(BARE, rounds).trials
    bare = min(timed(lambda: BARE.loop(trial))[0] for _ in range(5)) / rounds
    yield [f"a round of the bare loop: {1e6 * bare:.1f} us", "", "", "", ""]
    for dim, results, pending in SIZES:
        label = f"{dim}, {results}, {pending}"
        yield [label, *cells(dim, results, pending, runs), kept(dim, results, pending)]


if __name__ == "__main__":
    measure(__doc__, "tuner", HEADER, rows, 10)

"""What a round costs by this package, scikit-learn, BoTorch and GPy, side by side, and whether they agree.

    pip install -e '.[peers]'
    python benchmarks/peers.py [--write] [--repeats R] [--workloads W1 W4]

`--write` renews docs/results/peers.json and docs/performance.md, which explain the workloads.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one thread for everybody

import argparse
import platform
import statistics
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import box_optimisation
from peer_loops import FIRST, Choice, Loop, Played, ask, distance, grid, middles, play
from peer_models import LIBRARIES, Library, installed
from peer_page import OURS, Findings, Growth, Row, growth_line, multiple, write


class Workload(NamedTuple):
    """A loop, and in which of its rounds others are asked."""

    what: str
    loop: Loop
    asked: int  # others' costs are averaged over the rounds up to this one
    timed: int  # at so many of them
    checked: int  # arms are compared in all rounds up to this one, and where others are timed


FINITE = {
    "W1": Workload("GP-UCB on 1000 points of a line, T = 1000", Loop(grid(1000), 1000), 1000, 3, 40),
    "W2": Workload("GP-UCB on 10,000 points of a square, T = 300", Loop(grid(10_000, 2), 300), 300, 2, 8),
    "W3": Workload(
        "GP-UCB, 25 trials of 30,000 rounds on 100 points; the others' cost is that of the first 200 rounds "
        "of one trial, and grows with every play",
        Loop(grid(100), 30_000, trials=25),
        200,
        4,
        100,
    ),
    "W5": Workload(
        "Thompson sampling on 1000 points of a line, T = 1000; draws differ, so that posteriors are compared",
        Loop(grid(1000), 1000, thompson=True),
        1000,
        2,
        0,
    ),
}
BOXES = {"W4, d = 2": "branin", "W4, d = 6": "hartmann6"}
BOX = (
    "expected improvement on a box, with hyperparameters learnt every 10 rounds, T = 40 (priors and searches "
    "differ: see `benchmarks/box_optimisation.py`)"
)
BOX_METHODS = {OURS: "gpbandits", "scikit-learn": "scikit-learn", "BoTorch": "botorch"}
BOX_ROUNDS, REFIT, SEEDS = 40, 10, 20
LONG = ("W3",)  # played once


def finite(name: str, workload: Workload, libraries: Sequence[Library], repeats: int) -> Iterator[Row]:
    """One line a way of playing on a finite set."""
    loop, rounds = workload.loop, middles(workload.asked, workload.timed)
    peers = {library.name: library.make() for library in libraries}
    played = play(loop._replace(rounds=10))  # to warm up, as is the next line
    for peer in peers.values():
        ask(peer, loop, played, FIRST)
    costs: dict[str, list[float]] = {way: [] for way in (OURS, *peers)}
    choices: dict[str, list[Choice]] = {}
    for _ in range(repeats):
        played = play(loop)
        costs[OURS].append(played.microseconds)
        for way, peer in peers.items():
            choices[way] = [ask(peer, loop, played, t) for t in rounds]
            costs[way].append(statistics.mean(choice.microseconds for choice in choices[way]))
    yield row(name, OURS, costs, "")
    for way, peer in peers.items():
        if loop.thompson:
            error = max(distance(peer, loop, played, t) for t in rounds)
            check = f"mean and deviation differ by {error:.0e} at most"
        else:
            early = {t: ask(peer, loop, played, t) for t in range(FIRST, workload.checked)}
            check = agreement(early | dict(zip(rounds, choices[way], strict=True)), played)
        yield row(name, way, costs, check)


def agreement(choices: dict[int, Choice], played: Played) -> str:
    """In how many rounds the same arm is chosen, and by how much the first other choice is better."""
    other = [t for t, choice in choices.items() if choice.arm != played.arms[t, 0]]
    same = f"{len(choices) - len(other)} of {len(choices)} arms agree"
    if not other:
        return same
    first = choices[min(other)]
    return f"{same}; in round {min(other)} arm {first.arm} scores {first.gap:.0e} more than ours"


def boxes(name: str, problem: str, repeats: int) -> Iterator[Row]:
    """One line a way of playing on a box, seed by seed; of few seeds, regret would say nothing."""
    present = {library.name for library in installed()} | {OURS}
    methods = {way: method for way, method in BOX_METHODS.items() if way in present}
    costs: dict[str, list[float]] = {way: [] for way in methods}
    regret: dict[str, list[float]] = {way: [] for way in methods}
    for seed in range(max(repeats, SEEDS)):
        for way, method in methods.items():
            run = box_optimisation.play(method, problem, True, BOX_ROUNDS, REFIT, seed)
            costs[way].append(1e3 * run.milliseconds)
            regret[way].append(run.played)
    for way in methods:
        low, median, high = statistics.quantiles(regret[way], n=4)
        spread = f"quartiles {low:.2g} and {high:.2g} of {len(regret[way])} seeds"
        yield row(name, way, costs, f"median simple regret {median:.2g}, {spread}")


def row(name: str, way: str, costs: dict[str, list[float]], check: str) -> Row:
    """Medians over repeats; a ratio is that of one repeat."""
    ratio = [each / ours for each, ours in zip(costs[way], costs[OURS], strict=True)]
    return Row(
        name, way, statistics.median(costs[way]), (statistics.median(ratio), min(ratio), max(ratio)), check
    )


def growth(libraries: Sequence[Library], repeats: int) -> Iterator[Growth]:
    """How the cost of a round grows."""
    yield measured("points N", {n: Loop(grid(n), 200) for n in (250, 1000, 4000)}, repeats)
    yield measured("rounds T", {t: Loop(grid(1000), t) for t in (250, 1000, 4000)}, repeats)
    yield measured("trials B", {b: Loop(grid(100), 200, trials=b) for b in (1, 8, 64)}, repeats)
    found = {
        box_optimisation.PROBLEMS[problem][1]: statistics.median(
            1e3 * box_optimisation.play("gpbandits", problem, True, BOX_ROUNDS, REFIT, seed).milliseconds
            for seed in range(repeats)
        )
        for problem in ("branin", "hartmann3", "hartmann6")
    }
    yield Growth(OURS, "dimensions d of a box", list(found), list(found.values()))
    loop = Loop(grid(1000), 1000)
    played, rounds = play(loop), [250, 500, 1000 - 1]
    for library in libraries:
        peer = library.make()
        costs = [
            statistics.median(ask(peer, loop, played, t).microseconds for _ in range(repeats)) for t in rounds
        ]
        yield Growth(library.name, "plays before", rounds, costs)


def measured(size: str, loops: dict[int, Loop], repeats: int) -> Growth:
    """Ours at several sizes, taken in turns; a round is that of all trials."""
    costs: dict[int, list[float]] = {each: [] for each in loops}
    for _ in range(repeats):
        for each, loop in loops.items():
            costs[each].append(loop.trials * play(loop).microseconds)
    return Growth(OURS, size, list(loops), [statistics.median(each) for each in costs.values()])


def machine() -> str:
    """The processor and its cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def left_out(libraries: Sequence[Library]) -> list[str]:
    """What is not measured, and why."""
    absent = [each.name for each in LIBRARIES if each not in libraries]
    return [f"{name}: it is not installed." for name in absent] + [
        f"{each.name} in W4: it has no search for the best point of a box."
        for each in libraries
        if each.name not in BOX_METHODS
    ]


def main() -> None:
    names = [*FINITE, "W4"]
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--workloads", nargs="+", default=sorted(names), choices=names)
    options.add_argument("--write", action="store_true", help="keep the results, and the page that says them")
    chosen = options.parse_args()
    if chosen.write and set(chosen.workloads) != set(names):
        options.error("--write needs all workloads")
    warnings.simplefilter("ignore")  # the other libraries' advice on scaling
    libraries = installed()
    print(*left_out(libraries), sep="\n")
    rows = []
    for name in sorted(chosen.workloads):
        repeats = 1 if name in LONG else chosen.repeats
        if name in FINITE:
            found = finite(name, FINITE[name], libraries, repeats)
        else:
            found = (each for label, problem in BOXES.items() for each in boxes(label, problem, repeats))
        for each in found:
            rows.append(each)
            print(*each[:3], multiple(each.ratio), each.check, sep=" | ", flush=True)
    grown = []
    for each in growth(libraries, chosen.repeats):
        grown.append(each)
        print(growth_line(each), flush=True)
    if chosen.write:
        versions = {"Python": platform.python_version()}
        distributions = ("numpy", "scipy", *(library.distribution for library in libraries))
        versions |= {each: version(each) for each in distributions}
        what = {name: each.what for name, each in FINITE.items()} | {"W4": BOX}
        write(Findings(machine(), versions, dict(sorted(what.items())), rows, grown, left_out(libraries)))


if __name__ == "__main__":
    main()

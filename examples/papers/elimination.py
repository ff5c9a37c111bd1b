"""From which horizon on striking off arms beats an upper confidence bound: both up to T = 10^6.

Functions of RKHS norm 2 on 100 points of [0, 1], noise of deviation 0.1, length-scale 0.2. An agent that
strikes off arms knows T and plays each horizon anew; AMM-UCB does not, and is looked at on its way. All play
the same trials. docs/elimination.md says what one sees.

    python examples/papers/elimination.py --out elimination.png --table elimination.csv
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.types import Floats
from bandit_envs.problems.synthetic import rkhs
from gpbandits import evaluate
from gpbandits.evaluation.formats import COLOURS, MARKERS
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, significant_signs

KERNELS = {"rbf": "SE", "matern52": "Matérn 5/2"}
BOUND = "AMM-UCB"
ELIMINATING = ("bpe", "phased-elimination")
HORIZONS = (1_000, 10_000, 100_000, 1_000_000)


class Run(NamedTuple):
    """Regret of an agent at a horizon in each trial."""

    kernel: str
    agent: str
    horizon: int
    regret: Floats  # (B,)


def play(kernel: str, horizons: list[int], trials: int, kept: list[Run]) -> Iterator[Run]:
    """AMM-UCB on its way to the last horizon, and the others at each of them; what is kept is not played."""
    yield from _played(kernel, BOUND, horizons, trials, kept)
    for horizon in horizons:
        for agent in ELIMINATING:
            yield from _played(kernel, agent, [horizon], trials, kept)


def _played(kernel: str, agent: str, rounds: list[int], trials: int, kept: list[Run]) -> Iterator[Run]:
    known = {run.horizon: run for run in kept if run[:2] == (kernel, agent) and len(run.regret) == trials}
    if known.keys() >= set(rounds):
        yield from (known[at] for at in rounds)
        return
    problem = rkhs(
        kernel=kernel, rkhs_norm=2.0, noise_std=0.1, points="grid", num_arms=100, horizon=rounds[-1]
    )
    spec = ("gp-ucb", {"width": "amm"}) if agent == BOUND else agent
    result = evaluate(problem, {agent: spec}, trials=trials, checkpoints=rounds)
    for column, at in enumerate(rounds):
        yield Run(kernel, agent, at, result.regret[agent][:, column])


def as_markdown(runs: list[Run]) -> list[str]:
    """The lines of the table in docs/elimination.md: a kernel and a horizon each."""
    found = {run[:3]: run for run in runs}
    lines = []
    for kernel, horizon in sorted({(run.kernel, run.horizon) for run in runs}):
        bound = found[kernel, BOUND, horizon]
        others = [_multiple(found.get((kernel, agent, horizon)), bound) for agent in ELIMINATING]
        cells = [KERNELS[kernel], f"{horizon:,}", _text(bootstrap_interval(bound.regret)), *others]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _multiple(run: Run | None, bound: Run) -> str:
    """Mean regret, and how many times that of AMM-UCB at the same horizon it is."""
    if run is None:
        return "not played"
    times = run.regret.mean() / bound.regret.mean()
    return f"{_text(bootstrap_interval(run.regret))}, {times:.1f} times"


def verdicts(runs: list[Run]) -> list[str]:
    """Say from which horizons on agents have less regret than AMM-UCB (sign flips, Holm)."""
    found = {run[:3]: run.regret for run in runs}
    tests = [run[:3] for run in runs if run.agent in ELIMINATING]
    signs = significant_signs([(found[test], found[test[0], BOUND, test[2]]) for test in tests])
    less = dict(zip(tests, signs == -1, strict=True))
    return [_verdict(less, kernel, agent) for kernel, agent in dict.fromkeys(test[:2] for test in tests)]


def _verdict(less: dict[tuple[str, str, int], bool], kernel: str, agent: str) -> str:
    horizons = sorted(at for *key, at in less if key == [kernel, agent])
    losing = [at for at in horizons if not less[kernel, agent, at]]
    winning = [at for at in horizons if at > max(losing, default=0)]
    never = f"no less regret up to T = {horizons[-1]:,}"
    said = f"less regret from T = {winning[0]:,} on" if winning else never
    return f"{KERNELS[kernel]}, `{agent}`: {said}"


def _text(interval: Interval) -> str:
    return "{:.4g} [{:.4g}, {:.4g}]".format(*map(float, interval))


def write(runs: list[Run], path: Path) -> None:
    """Keep the numbers, a trial a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("kernel", "agent", "horizon", "trial", "regret"))
        for run in runs:
            lines.writerows((*run[:3], trial, f"{value:.6g}") for trial, value in enumerate(run.regret))


def read(path: Path) -> list[Run]:
    """Read what `write` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    return [
        Run(kernel, agent, int(horizon), np.array([float(line[-1]) for line in part]))
        for (kernel, agent, horizon), part in groupby(lines, key=lambda line: tuple(line[:3]))
    ]


def draw(runs: list[Run], path: Path) -> None:
    """Regret over the horizon, one panel a kernel."""
    kernels = list(dict.fromkeys(run.kernel for run in runs))
    figure = Figure(figsize=(4.2 * len(kernels), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, kernel in zip(figure.subplots(1, len(kernels), squeeze=False)[0], kernels, strict=True):
        for agent, colour, marker in zip((BOUND, *ELIMINATING), COLOURS, MARKERS, strict=False):
            own = sorted((run for run in runs if run[:2] == (kernel, agent)), key=lambda run: run.horizon)
            mean, low, high = bootstrap_interval(np.stack([run.regret for run in own], axis=1))
            at = [run.horizon for run in own]
            axes.errorbar(at, mean, (mean - low, high - mean), color=colour, marker=marker, label=agent)
        axes.set(xscale="log", yscale="log", title=KERNELS[kernel], xlabel="horizon $T$", ylabel="$R_T$")
        axes.grid(color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def _joined(kept: list[Run], runs: list[Run]) -> list[Run]:
    """What was kept of other kernels, agents and horizons, and what is new."""
    return list(({run[:3]: run for run in kept} | {run[:3]: run for run in runs}).values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--horizons", type=int, nargs="+", default=list(HORIZONS))
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--out", type=Path, default=Path("elimination.png"), help="the figure")
    parser.add_argument("--table", type=Path, help="a CSV of the numbers; what it holds is not played again")
    options = parser.parse_args()
    kept = read(options.table) if options.table is not None and options.table.exists() else []
    runs: list[Run] = []
    for kernel in options.kernels:
        for run in play(kernel, sorted(options.horizons), options.trials, kept):
            runs.append(run)
            print(run.kernel, run.agent, run.horizon, _text(bootstrap_interval(run.regret)), flush=True)
            if options.table is not None:  # at once: the longest runs take a quarter of an hour each
                write(_joined(kept, runs), options.table)
    print("\n".join([*as_markdown(runs), *verdicts(runs)]))
    draw(runs, options.out)


if __name__ == "__main__":
    main()

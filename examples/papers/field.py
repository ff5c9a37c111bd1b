"""Who plays GPBandit-Composite-v0 best: constraints x restarts x beliefs of gp-agent on all 16 subsets of it.

Wherever a feature is off its part has nothing to choose. Regret is to the best feasible arm, and violation
pays for it, so every comparison has two columns. docs/field.md says what one sees. With --box the same is
played in a box, where a round costs a search: fewer rounds, contexts and changes.

    python examples/papers/field.py --table docs/results/field.csv --out docs/figures/field.png
    python examples/papers/field.py --box --subsets 1 --trials 3 --table docs/results/field_box.csv
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.types import Floats
from gpbandits import evaluate
from gpbandits.evaluation.formats import COLOURS, MARKERS
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, significant_signs

ARMS = {"horizon": 900, "delay": {"law": "constant", "rounds": 30}}  # else those of the environment
BOX = {
    "continuous": True,
    "horizon": 150,
    "num_contexts": 3,
    "num_segments": 2,
    "delay": {"law": "constant", "rounds": 8},
}
SWITCHES = ("constraints", "changes", "delay", "context")  # of the environment; None is off
CONSTRAINTS = ("config", "rpol", "pdcbo", "dual", "multiplicative")
RESTARTS = ("evidence", "cpd", "never")
BELIEFS = ("delivered", "hallucinated")
WHOLE = " + ".join(SWITCHES)
METRICS = ("hard", "regret")
WORDS = {-1: "less", 1: "more", 0: "no significant difference"}
FLIPS = 100_000  # random ones a test: the least p-value times the number of tests must stay below 0.05


class Run(NamedTuple):
    """An entrant on a subset of the features, in each trial."""

    subset: str
    constraint: str
    restart: str
    belief: str
    regret: Floats  # (B,) at the end
    hard: Floats  # (B,) hard violation
    alarms: Floats  # (B,)


def subsets() -> list[tuple[str, ...]]:
    """Of the features that are on, the most first."""
    sizes = range(len(SWITCHES), -1, -1)
    return list(chain.from_iterable(combinations(SWITCHES, size) for size in sizes))


def entrants(on: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Constraint, restart and belief; of one that has nothing to do there is only one."""
    constraints = CONSTRAINTS if "constraints" in on else ("none",)
    restarts = (*RESTARTS, "oracle") if "changes" in on else RESTARTS
    return list(product(constraints, restarts, BELIEFS if "delay" in on else BELIEFS[:1]))


def environment(on: tuple[str, ...], place: dict[str, Any]) -> dict[str, Any]:
    """The keywords of one subset; of contexts and changes that are off, the number goes too."""
    off = [name for name in SWITCHES if name not in on]
    counts = {"changes": "num_segments", "context": "num_contexts"}
    left_out = {counts[name] for name in off if name in counts}
    return {key: value for key, value in place.items() if key not in left_out} | dict.fromkeys(off)


def play(on: tuple[str, ...], trials: int, place: dict[str, Any]) -> Iterator[Run]:
    """All entrants on the same trials of one subset, on arms or in a box."""
    names = entrants(on)
    specs = {
        " + ".join(each): ("gp-agent", dict(zip(("constraint", "restart", "belief"), each, strict=True)))
        for each in names
    }
    keywords = environment(on, place)
    result = evaluate("GPBandit-Composite-v0", specs, trials=trials, env_kwargs=keywords)
    for each, label in zip(names, specs, strict=True):
        hard = result.hard_violation[label][:, -1] if "constraints" in on else np.zeros(trials)
        alarms = result.alarms.get(label) or [[]] * trials
        count = np.array([len(rounds) for rounds in alarms], dtype=float)
        yield Run(" + ".join(on) or "nothing", *each, result.regret[label][:, -1], hard, count)


def ranking(runs: list[Run], subset: str = WHOLE) -> list[str]:
    """The lines of the page's first table: entrants on a subset by their mean hard violation."""
    own = sorted((run for run in runs if run.subset == subset), key=lambda run: run.hard.mean())
    return [
        f"| {run.constraint} | {run.restart} | {run.belief} | {_text(bootstrap_interval(run.hard))} "
        f"| {_text(bootstrap_interval(run.regret))} | {run.alarms.mean():.3g} |"
        for run in own
    ]


class Match(NamedTuple):
    """One choice of a part against another, all other parts alike."""

    part: str
    one: str
    other: str


MATCHES = (
    *(Match("constraint", "config", other) for other in CONSTRAINTS[1:]),
    *(Match("restart", "evidence", other) for other in ("cpd", "never", "oracle")),
    Match("belief", "delivered", "hallucinated"),
)


def standings(runs: list[Run]) -> dict[tuple[Match, str], str]:
    """Say whether the one has less or more on average over its pairs, and in how many: less, more, neither.

    The averages of all matches are tested together by sign flips with Holm's correction; so are all pairs.
    """
    found = {run[:4]: run for run in runs}
    pairs: dict[tuple[Match, str], list[tuple[Floats, Floats]]] = defaultdict(list)
    for match, metric, run in product(MATCHES, METRICS, runs):
        rival = found.get(run._replace(**{match.part: match.other})[:4])
        if getattr(run, match.part) == match.one and rival is not None and _is_judged(run, metric):
            pairs[match, metric].append((getattr(run, metric), getattr(rival, metric)))
    averages = significant_signs([tuple(np.mean(own, axis=0)) for own in pairs.values()])
    single = significant_signs([pair for own in pairs.values() for pair in own], flips=FLIPS)
    parts = np.split(single, np.cumsum([len(own) for own in pairs.values()])[:-1])
    return {
        test: f"{WORDS[int(average)]}: {' / '.join(str(np.count_nonzero(part == sign)) for sign in WORDS)}"
        for test, average, part in zip(pairs, averages, parts, strict=True)
    }


def champions(runs: list[Run]) -> list[str]:
    """The lines of the table of subsets: who has least where nobody observes changes, beside the default.

    What is least is hard violation where there are constraints, and regret where there are none.
    """
    rows = []
    for subset in dict.fromkeys(run.subset for run in runs):
        own = [run for run in runs if run.subset == subset and run.restart != "oracle"]
        least = min(own, key=lambda run: getattr(run, _judged_by(subset)).mean())
        rows.append((subset, least, next(run for run in own if _is_default(run))))
    pairs = [
        [getattr(run, _judged_by(subset)) for run in (default, least)] for subset, least, default in rows
    ]
    words = ["no" if sign == 0 else "yes" for sign in significant_signs(pairs)]
    return [
        f"| {subset} | {_entrant(least)} | {' | '.join((*_both(least), *_both(default)))} "
        f"| {'the same' if default is least else word} |"
        for (subset, least, default), word in zip(rows, words, strict=True)
    ]


def _judged_by(subset: str) -> str:
    return "hard" if "constraints" in subset else "regret"


def _is_default(run: Run) -> bool:
    """Whether `gp-agent` is composed so where nobody says otherwise."""
    belief = "hallucinated" if "delay" in run.subset else "delivered"
    return run.constraint in ("config", "none") and run[2:4] == ("evidence", belief)


def _entrant(run: Run) -> str:
    """The parts that have something to do."""
    shown = {
        run.constraint: "constraints" in run.subset,
        run.restart: True,
        run.belief: "delay" in run.subset,
    }
    return " + ".join(part for part, works in shown.items() if works)


def _both(run: Run) -> tuple[str, str]:
    """Hard violation and regret of an entrant."""
    hard = _text(bootstrap_interval(run.hard)) if "constraints" in run.subset else "-"
    return hard, _text(bootstrap_interval(run.regret))


def _is_judged(run: Run, metric: str) -> bool:
    return metric == "regret" or run.constraint != "none"


def matches(runs: list[Run]) -> list[str]:
    """The lines of the page's second table: less, more, no significant difference, by either metric."""
    said = standings(runs)
    return [
        f"| {match.one} against {match.other} | {' | '.join(said[match, metric] for metric in METRICS)} |"
        for match in MATCHES
    ]


def false_alarms(runs: list[Run]) -> list[str]:
    """The lines of the page's third table: runs without a change in which an alarm was raised."""
    lines = []
    for restart in RESTARTS[:2]:
        still = [run.alarms for run in runs if run.restart == restart and "changes" not in run.subset]
        if still:
            every = np.concatenate(still)
            lines.append(f"| {restart} | {int((every > 0).sum())} of {len(every)} |")
    return lines


def _text(interval: Interval) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, interval))


def write(runs: list[Run], path: Path) -> None:
    """Keep the numbers, a trial a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("subset", "constraint", "restart", "belief", "trial", "regret", "hard", "alarms"))
        for run in runs:
            for trial, (regret, hard, alarms) in enumerate(zip(*run[4:], strict=True)):
                lines.writerow((*run[:4], trial, f"{regret:.5g}", f"{hard:.5g}", f"{alarms:.0f}"))


def read(path: Path) -> list[Run]:
    """Read what `write` wrote."""
    found: dict[tuple[str, ...], list[list[float]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for *key, _, regret, hard, alarms in list(csv.reader(file))[1:]:
            found.setdefault(tuple(key), []).append([float(regret), float(hard), float(alarms)])
    return [Run(*key, *np.array(rows).T) for key, rows in found.items()]  # type: ignore[arg-type]


def draw(runs: list[Run], path: Path) -> None:
    """Hard violation and regret of all entrants where everything is on, a colour a constraint."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    own = [run for run in runs if run.subset == WHOLE]
    _scatter(left, own, "constraint", CONSTRAINTS)
    _scatter(right, own, "restart", (*RESTARTS, "oracle"))
    left.set_ylabel("hard violation")
    figure.savefig(path, dpi=150)


def _scatter(axes: Axes, runs: list[Run], part: str, names: tuple[str, ...]) -> None:
    for name, colour, marker in zip(names, COLOURS, MARKERS, strict=False):
        means = [(run.regret.mean(), run.hard.mean()) for run in runs if getattr(run, part) == name]
        axes.plot(*np.transpose(means), marker, linestyle="", color=colour, markersize=5, label=name)
    axes.set(xlabel="regret", title=f"by {part}", ylim=(0, None))
    axes.grid(color="0.9", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("field.png"), help="the figure")
    parser.add_argument(
        "--table", type=Path, default=Path("field.csv"), help="what it holds is not played again"
    )
    parser.add_argument("--box", action="store_true", help="play the continuous form")
    parser.add_argument(
        "--subsets", type=int, default=len(subsets()), help="how many, those with most on first"
    )
    options = parser.parse_args()
    runs = read(options.table) if options.table.exists() else []
    for on in subsets()[: options.subsets]:
        if any(run.subset == (" + ".join(on) or "nothing") for run in runs):
            continue
        runs += play(on, options.trials, BOX if options.box else ARMS)
        write(runs, options.table)
        print(runs[-1].subset, flush=True)
    tables: list[Callable[[list[Run]], list[str]]] = [ranking, champions, matches, false_alarms]
    print("\n\n".join("\n".join(table(runs)) for table in tables))
    draw(runs, options.out)


if __name__ == "__main__":
    main()

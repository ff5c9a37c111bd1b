"""Print the marks of docs/real.md: scores of agents in each family, from the archived trials.

    python tools/real_marks.py

The first table is of the agents before anything was tuned, on the tasks that they played, the second of
`gp-agent` beside them, the third of its regret beside that of the sheet from which it was made, the last line
is that of docs/agents.md. `composed` is the `gp-agent` of then.

A score is 1 - loss, the mean over the tasks of a family of what `Standings` says of each; agents count in a
family if they have results on all of its measured tasks. Both halves of the suite are shown. Marks are of the
six trials that had been played when they were written down, and do not move with later ones.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bandit_envs.problems.real import HALVES, halves, tasks
from gpbandits.evaluation import Result
from gpbandits.evaluation.record import Record
from gpbandits.report.entrants import REFERENCE
from gpbandits.report.standings import relative_losses

ARCHIVE = Path(__file__).parents[1] / "docs" / "results" / "real"
AGENT, BEFORE = "gp-agent", "composed"
MARKED = 6  # trials, the first ones, of the marks
# Share of the distance from the best of ours, local search and TPE to 1 that a family's mark closes.
SHARES = {"repeat": 0.5, "laboratory": 0.45, "limit": 0.45, "late": 0.4, "everything": 0.35}
SHARES |= {"datasets": 0.3, "changes": 0.25, "budget": 0.6}
# Tasks on which `composed` was played after `gp-agent` was there: they count in no mark.
LATER = ("parkinsons-late", "naval-budget", "australian-limit", "phoneme-limit", "segment-limit")
LATER += ("blood-transfusion-everything", "slice-everything", "protein-everything")
LATER += ("hpob-5891-9980", "hpob-5965-9946", "hpob-5970-34536", "chromatography", "crossed-barrel")
LATER += ("svm-datasets", "growing-datasets")
# Least mean regret of the design sheet, of agents of then with options or a prototype, mostly in ten trials.
SHEET = {"digits-repeat": 2.34, "digits-late": 3.75, "car-late": 8.65, "green-mixture": 1.28}
SHEET |= {"fullerenes": 2.42, "silver-particles": 10.0, "crossed-barrel": 1307.0, "perovskite": 70.0}
SHEET |= {"lcbench-1-datasets": 7.52}
OURS = ("gp-ucb", "gp-bucb", "gp-ei", BEFORE, "config", "constrained-ei", "pdcbo", "ratio-ucb")
OTHERS = ("local-search", "optuna-tpe", "epsilon-greedy", "lin-ucb", "forest-thompson", "forest-ei")


def scores(trials: int | None = None, archive: Path = ARCHIVE) -> dict[str, dict[str, float]]:
    """Return {task: {agent: score}} of the archived tasks in their order, from the first trials or all."""
    return {
        name: {agent: float(1.0 - loss.mean()) for agent, loss in losses.items()}
        for name, losses in losses_of(trials, archive).items()
    }


def errors() -> dict[str, float]:
    """Return {task: standard error} of the scores of `gp-agent`, over all trials."""
    found = {name: losses[AGENT] for name, losses in losses_of().items() if AGENT in losses}
    return {name: float(loss.std(ddof=1) / len(loss) ** 0.5) for name, loss in found.items()}


@cache
def losses_of(trials: int | None = None, archive: Path = ARCHIVE) -> dict[str, dict[str, Any]]:
    """Return {task: {agent: losses}}, (n,) each, likewise."""
    found = {}
    for name in tasks():
        if (archive / f"{name}.parquet").exists():
            result = Result.load(archive / f"{name}.parquet")
            records = {
                label: Record(*(first(each, trials) for each in own)) for label, own in result.records.items()
            }
            result = dataclasses.replace(result, records=records)
            found[name] = relative_losses(result, REFERENCE)
    return found


def first(values: Any, trials: int | None) -> Any:
    """Return the rows of the first trials of a field of a record, and of each of several under names."""
    if isinstance(values, dict):
        return {name: first(each, trials) for name, each in values.items()}
    return None if values is None else values[:trials]


def before(found: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the scores of agents that were there before, on the tasks that they played."""
    return {
        name: {agent: score for agent, score in own.items() if agent != AGENT}
        for name, own in found.items()
        if BEFORE in own and name not in LATER
    }


def mean_of(names: Iterable[str], found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean score over some tasks of the agents that have results on all of them."""
    each = [found[name] for name in names]
    agents = set.intersection(*map(set, each)) if each else set()
    return {agent: float(np.mean([own[agent] for own in each])) for agent in sorted(agents)}


def as_markdown(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a line a family and half: the best of ours with its name, and the others' scores."""
    lines = []
    for family in dict.fromkeys(task.family for task in tasks().values()):
        own = [name for name in found if tasks()[name].family == family]
        for part in ("both", *HALVES):
            names = [name for name in own if part in ("both", halves()[name])]
            mean = mean_of(names, found)
            ours = {agent: mean[agent] for agent in OURS if agent in mean}
            best = max(ours, key=lambda agent: ours[agent], default="")
            cells = [f"{ours[best]:.3f} ({best})" if best else "-"]
            cells += [f"{mean[agent]:.3f}" if agent in mean else "-" for agent in OTHERS]
            lines += [f"| {family} | {part} | {len(names)} | {' | '.join(cells)} |"] if names else []
    return lines


def beside_marks(
    former: Mapping[str, Mapping[str, float]], today: Mapping[str, float], error: Mapping[str, float]
) -> list[str]:
    """Return a line a family and half: the former agent, the best then, the mark, and today's agent.

    Its standard error is over trials, the tasks being what they are.
    """
    lines = []
    for family in dict.fromkeys(task.family for task in tasks().values()):
        own = [name for name in today if tasks()[name].family == family]
        for part in ("both", *HALVES):
            names = [name for name in own if part in ("both", halves()[name])]
            measured = [name for name in names if name in former]
            mean = mean_of(measured, former)
            rivals = {agent: mean[agent] for agent in (*OURS, *OTHERS[:2]) if agent in mean}
            if not rivals:
                continue
            best = max(rivals, key=lambda agent: rivals[agent])
            share = SHARES.get(family)
            mark = "-" if share is None else f"{rivals[best] + share * (1.0 - rivals[best]):.3f}"
            now = np.mean([today[name] for name in measured])
            unsure = math.hypot(*(error[name] for name in measured)) / len(measured)
            whole = np.mean([today[name] for name in names])
            first = f"{family} | {part} | {len(measured)} | {mean[BEFORE]:.3f} | {rivals[best]:.3f} ({best})"
            last = f"{now:.3f} | {unsure:.3f} | {len(names)} | {whole:.3f}"
            lines.append(f"| {first} | {mark} | {last} |")
    return lines


def beside_sheet(archive: Path = ARCHIVE) -> list[str]:
    """Return a line a task: the regret of `gp-agent` with its standard error, and that of the sheet."""
    lines = []
    for name, regret in SHEET.items():
        own = Result.load(archive / f"{name}.parquet").regret[AGENT][:, -1]
        error = own.std(ddof=1) / len(own) ** 0.5
        lines.append(f"| {name} | {own.mean():.3g} ± {error:.2g} | {regret:.3g} |")
    return lines


def evidence(found: Mapping[str, Mapping[str, float]]) -> str:
    """Return what docs/agents.md says of `gp-agent`: a score a family, and where it is ahead of all others.

    The others are those of the stored leaderboard, but for its former self.
    """
    today = of_today(found)
    rivals = {name: {*found[name]} - {AGENT, BEFORE, REFERENCE} for name in today}
    others = {name: {who: found[name][who] for who in rivals[name]} for name in today if rivals[name]}
    said = []
    for family in dict.fromkeys(tasks()[name].family for name in others):
        names = [name for name in others if tasks()[name].family == family]
        now, best = np.mean([today[name] for name in names]), max(mean_of(names, others).values())
        said.append(f"{family} {now:.2f} ({best:.2f})")
    behind = [name for name in others if today[name] <= max(others[name].values())]
    where = ", ".join(f"{n} of {family}" for family, n in Counter(map(_family, behind)).items())
    ahead = f"It is first on {len(others) - len(behind)} of {len(others)} tasks"
    return f"{', '.join(said)}. {ahead}" + (f", not on {where}." if where else ".")


def _family(task: str) -> str:
    return tasks()[task].family


def of_today(found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return {task: score} of `gp-agent`."""
    return {name: own[AGENT] for name, own in found.items() if AGENT in own}


if __name__ == "__main__":
    every = scores()
    former, now = before(scores(MARKED)), of_today(every)
    print(
        "\n".join(
            [
                *as_markdown(former),
                "",
                *beside_marks(former, now, errors()),
                "",
                *beside_sheet(),
                "",
                evidence(every),
            ]
        )
    )

"""What to do about changes: restarts of gp-agent and agents that forget, wherever functions change.

Every agent plays the same trials. In runs without a change, whose noise is published right, too small or too
large, alarms are counted; all of them are false. Where functions come back, and where none does, evidence
is played with and without an archive. docs/changes.md says what one sees.

    python examples/papers/changes.py --table docs/results/changes.csv --alarms docs/results/false_alarms.csv
    python examples/papers/changes.py --returning docs/results/recurring.csv
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from gpbandits import evaluate
from gpbandits.evaluation.statistics import (
    Interval,
    bootstrap_interval,
    paired_difference,
    significant_signs,
)

DETECTORS = ("evidence", "et", "bocpd", "glr", "cpd")
FORGETTING = ("sw-gp-ucb", "r-gp-ucb", "tv-gp-ucb", "ui-tvbo", "w-gp-ucb")
AGENTS: dict[str, Any] = {
    **{name: ("gp-agent", {"restart": name}) for name in (*DETECTORS, "never", "oracle")},
    **{name: name for name in FORGETTING},
}
BENCH = {"num_arms": 100, "noise_std": 0.1, "horizon": 600, "num_segments": 3}
ENVIRONMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "PiecewiseStationary": ("GPBandit-PiecewiseStationary-v0", {}),
    "GP bench": ("GPBandit-GP-v0", BENCH),
    "noise of 0.3": ("GPBandit-GP-v0", BENCH | {"noise_std": 0.3}),
    "RKHS": ("GPBandit-RKHS-v0", {"horizon": 1200, "num_segments": 3}),
    "Delayed": ("GPBandit-Delayed-v0", {"num_arms": 100, "horizon": 900, "num_segments": 3}),
    "Contextual": ("GPBandit-Contextual-v0", {"horizon": 900, "num_segments": 3}),
    "nine segments": ("GPBandit-PiecewiseStationary-v0", {"num_segments": 9, "horizon": 2700}),
}
ARCHIVE = {
    name: ("gp-agent", {"restart": name}) for name in ("evidence", "evidence-archive", "never", "oracle")
}
SIX = BENCH | {"num_segments": 6}


def _in_turn(segments: int, functions: int) -> dict[str, Any]:
    law = {"law": "recurring", "num_segments": segments, "num_functions": functions}
    return {"num_segments": None, "changes": law}


RETURNING: dict[str, tuple[str, dict[str, Any]]] = {
    "two in turn": ("GPBandit-GP-v0", BENCH | _in_turn(6, 2)),
    "two in more noise": ("GPBandit-GP-v0", BENCH | {"noise_std": 0.3} | _in_turn(6, 2)),
    "three in turn": ("GPBandit-GP-v0", BENCH | {"horizon": 1200} | _in_turn(12, 3)),
    "three of Matern 5/2": ("GPBandit-PiecewiseStationary-v0", {"horizon": 2700} | _in_turn(9, 3)),
    "none returns": ("GPBandit-GP-v0", SIX),
    "none in more noise": ("GPBandit-GP-v0", SIX | {"noise_std": 0.3}),
}
STILL = {"num_arms": 100, "noise_std": 0.1, "horizon": 500}
TOLD = (0.5, 0.7, 1.0, 1.5)  # of the deviation of the noise
STILL_TRIALS = 200
QUICK = ("GP bench", "noise of 0.3")  # where agents that forget are not slow
WORDS = {-1: "less", 1: "more", 0: "no significant difference"}


class Run(NamedTuple):
    """Regret of an agent in an environment at the end of each trial."""

    environment: str
    agent: str
    regret: Floats  # (B,)


class Count(NamedTuple):
    """In how many runs without a change a detector raised an alarm."""

    detector: str
    told: float  # noise, in deviations of the true one
    alarmed: int
    runs: int


def play(environment: str, trials: int) -> Iterator[Run]:
    """Play all agents on the same trials, but a fifth of them with slow ones."""
    name, keywords = (RETURNING | ENVIRONMENTS)[environment]
    agents = ARCHIVE if environment in RETURNING else AGENTS
    slow = {} if environment in QUICK else {label: agents[label] for label in FORGETTING if label in agents}
    quick = {label: spec for label, spec in agents.items() if label not in slow}
    for chosen, number in ((quick, trials), (slow, trials // 5)):
        if chosen:
            result = evaluate(name, chosen, trials=number, env_kwargs=keywords)
            yield from (Run(environment, label, result.regret[label][:, -1]) for label in result.agents)


def count(told: float, trials: int) -> Iterator[Count]:
    """Alarms of all detectors on functions that stay."""
    noise = told * STILL["noise_std"]
    specs = {name: ("gp-agent", {"restart": name, "noise_std": noise}) for name in DETECTORS}
    result = evaluate("GPBandit-GP-v0", specs, trials=trials, env_kwargs=STILL)
    for name in DETECTORS:
        yield Count(name, told, sum(len(alarms) > 0 for alarms in result.alarms[name]), trials)


def as_markdown(runs: list[Run]) -> list[str]:
    """Return a line an agent and one of trials, a column an environment; a star: least but for oracle."""
    means = {run[:2]: run.regret.mean() for run in runs}
    names = list(dict.fromkeys(run.environment for run in runs))
    agents = list(dict.fromkeys(run.agent for run in runs))
    least = {e: min(means[e, a] for a in agents if a != "oracle") for e in names}
    found = {run[:2]: _text(bootstrap_interval(run.regret)) for run in runs}
    cells = {
        agent: [found[e, agent] + (" *" if means[e, agent] == least[e] else "") for e in names]
        for agent in agents
    }
    cells["trials"] = [_trials(runs, name) for name in names]
    return [f"| {label} | {' | '.join(each)} |" for label, each in cells.items()]


def _trials(runs: list[Run], environment: str) -> str:
    """Return the number of trials, and that of agents that forget where it is another."""
    counts = [len(run.regret) for run in runs if run.environment == environment]
    return str(counts[0]) if counts[0] == counts[-1] else f"{counts[0]}, forgetting {counts[-1]}"


def verdicts(runs: list[Run], one: str, others: list[str]) -> list[str]:
    """Say where an agent has significantly less or more regret than others (sign flips, Holm)."""
    found = {run[:2]: run.regret for run in runs}
    names = list(dict.fromkeys(run.environment for run in runs))
    pairs = [_common(found[name, one], found[name, other]) for other in others for name in names]
    rows = zip(others, significant_signs(pairs).reshape(len(others), -1), strict=True)
    return [f"`{one}` against `{other}`: {_listed(names, row)}" for other, row in rows]


def _common(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    trials = min(len(one), len(other))
    return one[:trials], other[:trials]


def _listed(names: list[str], signs: Ints) -> str:
    where = {
        word: [name for name, own in zip(names, signs, strict=True) if own == sign]
        for sign, word in WORDS.items()
    }
    return "; ".join(f"{word}: {', '.join(each)}" for word, each in where.items() if each)


def rivals() -> list[str]:
    """Everybody whom evidence is held against."""
    return [name for name in AGENTS if name not in ("evidence", "oracle")]


def archive_against_none(runs: list[Run]) -> list[str]:
    """Evidence with an archive less evidence without, paired, a line an environment."""
    found = {run[:2]: run.regret for run in runs}
    names = dict.fromkeys(run.environment for run in runs)
    pairs = {name: (found[name, "evidence-archive"], found[name, "evidence"]) for name in names}
    return [f"| {name} | {_text(paired_difference(*pair))} |" for name, pair in pairs.items()]


def alarms_as_markdown(counts: list[Count]) -> list[str]:
    """A line a detector, a column a noise."""
    found = {each[:2]: f"{each.alarmed} of {each.runs}" for each in counts}
    return [f"| {name} | {' | '.join(found[name, told] for told in TOLD)} |" for name in DETECTORS]


def _text(interval: Interval) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, interval))


def write(runs: list[Run], path: Path) -> None:
    """Keep the numbers, a trial a line."""
    lines = [(*run[:2], trial, f"{value:.5g}") for run in runs for trial, value in enumerate(run.regret)]
    _write(path, [("environment", "agent", "trial", "regret"), *lines])


def read(path: Path) -> list[Run]:
    """Read what `write` wrote."""
    found: dict[tuple[str, str], list[float]] = {}
    for environment, agent, _, regret in _lines(path):
        found.setdefault((environment, agent), []).append(float(regret))
    return [Run(*key, np.array(values)) for key, values in found.items()]


def write_counts(counts: list[Count], path: Path) -> None:
    """Keep the counts."""
    _write(path, [Count._fields, *counts])


def read_counts(path: Path) -> list[Count]:
    """Read what `write_counts` wrote."""
    return [Count(name, float(told), int(alarmed), int(runs)) for name, told, alarmed, runs in _lines(path)]


def _write(path: Path, lines: list[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def _lines(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def played(names: Iterable[str], path: Path, trials: int) -> list[Run]:
    """What a table holds, and what it does not hold yet."""
    runs = read(path)
    for name in [each for each in names if each not in {run.environment for run in runs}]:
        runs += play(name, trials)
        write(runs, path)
        print(name, flush=True)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--table", type=Path, default=Path("changes.csv"), help="what it holds is not played")
    parser.add_argument("--alarms", type=Path, default=Path("false_alarms.csv"), help="likewise")
    parser.add_argument("--returning", type=Path, help="play where functions come back instead, likewise")
    options = parser.parse_args()
    if options.returning:
        runs = played(RETURNING, options.returning, options.trials)
        said = verdicts(runs, "evidence-archive", ["evidence"])
        print("\n".join([*as_markdown(runs), *archive_against_none(runs), *said]))
        return
    runs, counts = played(ENVIRONMENTS, options.table, options.trials), read_counts(options.alarms)
    for told in sorted({*TOLD} - {each.told for each in counts}):
        counts += count(told, STILL_TRIALS)
        write_counts(counts, options.alarms)
        print(told, flush=True)
    print("\n".join([*as_markdown(runs), *verdicts(runs, "evidence", rivals())]))
    print("\n".join(alarms_as_markdown(counts)))


if __name__ == "__main__":
    main()

"""What holds on real tasks of what our pages say of samples of Gaussian processes.

The results are those of the former suite, GPBandit-Real-v1, whose leaderboard archived every trial. Variants
of gp-agent were played beside it on the same trials: treatments of late feedback, objectives under
constraints, and restarts where nothing changes, whose alarms are all false. docs/survives.md says what one
sees.

    python examples/papers/survives.py --archive docs/results/real-v1
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from bandit_envs.basics.types import Floats
from bandit_envs.problems.real import Task
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import (
    Interval,
    bootstrap_interval,
    holm,
    significant_signs,
    wilson_interval,
)

FORMER = Path(__file__).parents[2] / "docs" / "results" / "real-v1" / "tasks.toml"
WATCHED = 2000  # most points of a task on which false alarms are counted
TRIALS = 20
PROMISED = 0.1  # false alarms in a run, of all restarts but "bocpd"
VARIANTS: dict[str, dict[str, Any]] = {
    "late": {name: ("gp-agent", {"belief": name}) for name in ("delivered", "censored")},
    "limit": {
        name: ("gp-agent", {"constraint": name}) for name in ("rpol", "pdcbo", "dual", "multiplicative")
    },
    "still": {name: ("gp-agent", {"restart": name}) for name in ("evidence",)},
}
STILL = ("repeat", "laboratory")  # families in which nothing changes
QUANTITIES: dict[str, Metric] = {
    "regret": "regret",
    "budget regret": "budget_regret",
    "hard violation": "hard_violation",
}
WORDS = {-1: "less", 1: "more", 0: "no significant difference"}


class Statement(NamedTuple):
    """A statement says that some agent has less of a quantity than others on tasks of some families."""

    text: str  # what the pages say
    families: tuple[str, ...]
    quantity: str  # of `QUANTITIES`
    one: str
    others: tuple[str, ...]
    variants: str = ""  # of `VARIANTS`, played beside the leaderboard


STATEMENTS = {
    "immediate": Statement(
        "`gp-bucb` has the least regret where feedback is immediate",
        STILL,
        "regret",
        "gp-bucb",
        ("gp-ucb", "gp-ts", "gp-ei", "gp-agent", "optuna-tpe"),
    ),
    "bucb": Statement(
        "`gp-bucb` has the least regret where feedback is late",
        ("late",),
        "regret",
        "gp-bucb",
        ("gp-ucb", "gp-ei", "gp-ucb-sdf", "gp-agent", "optuna-tpe"),
    ),
    "hallucinated": Statement(
        "hallucinating late feedback, as `gp-agent` does, has less regret than waiting for it",
        ("late",),
        "regret",
        "gp-agent",
        ("delivered",),
        "late",
    ),
    "censored": Statement(
        "censoring late feedback has less regret than waiting for it",
        ("late",),
        "regret",
        "censored",
        ("delivered",),
        "late",
    ),
    "budget": Statement(
        "`ratio-ucb` has the least regret under a budget",
        ("budget",),
        "budget regret",
        "ratio-ucb",
        ("gp-ucb", "gp-ei", "gp-bucb", "gp-agent", "ei-per-cost", "optuna-tpe"),
    ),
    "expected": Statement(
        "`constrained-ei` violates least",
        ("limit", "everything"),
        "hard violation",
        "constrained-ei",
        ("config", "pdcbo", "gp-agent", "random"),
    ),
    "config": Statement(
        "`config` violates least",
        ("limit", "everything"),
        "hard violation",
        "config",
        ("constrained-ei", "pdcbo", "gp-agent", "random"),
    ),
    "parts": Statement(
        "`gp-agent` violates less with `config`, its default, than with other constraints",
        ("limit",),
        "hard violation",
        "gp-agent",
        ("rpol", "pdcbo", "dual", "multiplicative"),
        "limit",
    ),
    "evidence": Statement(
        "`gp-agent`, which restarts by `evidence`, has the least regret where rewards change",
        ("changes", "sensors"),
        "regret",
        "gp-agent",
        ("gp-ucb-cpd", "ui-tvbo", "sw-gp-ucb"),
    ),
    "harm": Statement(
        "where nothing changes, `gp-agent` has less regret without a restart than with `evidence`",
        STILL,
        "regret",
        "gp-agent",
        ("evidence",),
        "still",
    ),
}


@cache
def tasks() -> dict[str, Task]:
    """Return the tasks of the former suite by name."""
    rows = tomllib.loads(FORMER.read_text(encoding="utf-8"))
    return {name: Task(**{**row, "tables": tuple(row.get("tables", ()))}) for name, row in rows.items()}


def question_of(task: str) -> str:
    """Return the name in `VARIANTS` of what is played on a task beside the leaderboard, or ""."""
    family = tasks()[task].family
    still = family in STILL and tasks()[task].points <= WATCHED
    return "still" if still else family if family in VARIANTS else ""


def read(folder: Path) -> dict[str, list[Result]]:
    """Return the archived results of each task: the leaderboard's and, if played, the variants'."""
    found = {path.stem: [Result.load(path)] for path in sorted(folder.glob("*.parquet"))}
    for path in (folder / "variants").glob("*.parquet"):
        found[path.stem].append(Result.load(path))
    return {name: found[name] for name in tasks() if name in found}


def finals(results: Iterable[Result], quantity: str) -> dict[str, Floats]:
    """Return a quantity at the end of each trial, (B,), by agent; of one label the last result's."""
    curves = (each.curves(QUANTITIES[quantity]) for each in results)
    return {label: values[:, -1] for each in curves for label, values in each.items()}


def on_tasks(statement: Statement, found: Mapping[str, list[Result]]) -> dict[str, dict[str, Floats]]:
    """Return {task: finals} of the tasks on which a statement is judged."""
    needed = 1 + bool(statement.variants)
    return {
        name: finals(results[:needed], statement.quantity)
        for name, results in found.items()
        if tasks()[name].family in statement.families and len(results) >= needed
    }


def signs_of(statement: Statement, found: Mapping[str, list[Result]]) -> dict[tuple[str, str], int]:
    """Return {(other, task): -1 where the first agent has significantly less, 1 more, else 0}.

    All pairs of a statement are tested together, by sign flips paired by trial with Holm's correction: by all
    2^20 of them, since a share of random ones decides another way about a p-value near the level.
    """
    values = on_tasks(statement, found)
    tests = [(other, name) for other in statement.others for name in values if other in values[name]]
    pairs = [(values[name][statement.one], values[name][other]) for other, name in tests]
    return dict(zip(tests, significant_signs(pairs, flips=2**TRIALS).tolist(), strict=True)) if tests else {}


def as_markdown(statement: Statement, found: Mapping[str, list[Result]]) -> list[str]:
    """Return a line a task, with each agent's mean and 95 % interval; a star marks the least mean."""
    agents, lines = sorted([statement.one, *statement.others]), []
    for name, values in on_tasks(statement, found).items():
        least = min(values[agent].mean() for agent in agents if agent in values)
        cells = [_cell(values.get(agent), least) for agent in agents]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _cell(own: Floats | None, least: float) -> str:
    if own is None:
        return "-"
    return _text(bootstrap_interval(own)) + (" *" if own.mean() == least else "")


def head(statement: Statement) -> str:
    """Return the first line of the table."""
    return f"| {statement.quantity} | {' | '.join(sorted([statement.one, *statement.others]))} |"


def verdicts(statement: Statement, found: Mapping[str, list[Result]]) -> list[str]:
    """Say on which tasks the first agent has significantly less or more than each other."""
    signs = signs_of(statement, found)
    lines = []
    for other in statement.others:
        own = {name: sign for (against, name), sign in signs.items() if against == other}
        where = {word: [n for n, sign in own.items() if sign == code] for code, word in WORDS.items()}
        said = "; ".join(f"{word}: {', '.join(names)}" for word, names in where.items() if names)
        lines.append(f"- `{statement.one}` against `{other}`: {said}")
    return lines


def summary(statement: Statement, found: Mapping[str, list[Result]]) -> str:
    """Return the line of a statement: pairs of a rival and a task, by sign, and what that amounts to."""
    signs = np.array(list(signs_of(statement, found).values()), dtype=np.int64)
    less, more = int((signs < 0).sum()), int((signs > 0).sum())
    return f"| {statement.text} | {less} | {more} | {len(signs) - less - more} | {_word(less, more)} |"


def _word(less: int, more: int) -> str:
    if less and more:
        return "holds in part"
    return "holds" if less else "is reversed" if more else "does not come out"


class Alarms(NamedTuple):
    """In how many of so many runs without a change a restart raised an alarm."""

    task: str
    restart: str
    alarmed: int
    runs: int


def alarms(found: Mapping[str, list[Result]]) -> list[Alarms]:
    """Count the runs with a false alarm."""
    played = {
        name: results[1] for name, results in found.items() if question_of(name) == "still" and results[1:]
    }
    return [
        Alarms(name, restart, sum(len(own) > 0 for own in result.alarms[restart]), result.num_trials)
        for name, result in played.items()
        for restart in VARIANTS["still"]
    ]


def defaults_as_markdown(found: Mapping[str, list[Result]]) -> list[str]:
    """Return a line a late task with a known default: its regret, and of agents the least mean and random's.

    A configuration that is kept has the same regret in every round, however late its results are.
    """
    lines = []
    for name, (board, *_) in found.items():
        task = tasks()[name]
        if task.family != "late" or task.default is None:
            continue
        mean = {label: values.mean() for label, values in finals([board], "regret").items()}
        best = min(mean, key=lambda label: mean[label])
        kept = board.horizon * (task.best - task.default)
        lines.append(f"| {name} | {kept:.3g} | {mean[best]:.3g}, {best} | {mean['random']:.3g} |")
    return lines


def alarms_as_markdown(counts: list[Alarms]) -> list[str]:
    """Return a line a task, with the runs that had an alarm; a dagger marks significantly more than promised.

    Exact binomial tests against a tenth of the runs, all together with Holm's correction.
    """
    worse = dict(zip(counts, _beyond(counts), strict=True))
    lines = []
    for name in dict.fromkeys(each.task for each in counts):
        own = [each for each in counts if each.task == name]
        cells = (f"{each.alarmed} of {each.runs}{' †' if worse[each] else ''}" for each in own)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, f"| all | {' | '.join(_share(counts, restart) for restart in VARIANTS['still'])} |"]


def _beyond(counts: list[Alarms]) -> list[bool]:
    """Return where the share of runs with an alarm is significantly above `PROMISED`."""
    tails = [float(binom.sf(each.alarmed - 1, each.runs, PROMISED)) for each in counts]
    return [p_value <= 0.05 for p_value in holm(tails)]


def _share(counts: list[Alarms], restart: str) -> str:
    """Return the share of all runs with its interval, in %."""
    own = [each for each in counts if each.restart == restart]
    runs = sum(each.runs for each in own)
    share = wilson_interval(np.array(sum(each.alarmed for each in own) / runs), runs)
    return "{:.0f} % [{:.0f}, {:.0f}]".format(*(100 * float(end) for end in share))


def _text(interval: Interval) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, interval))


def page_lines(found: Mapping[str, list[Result]]) -> list[str]:
    """Return all lines that the page has from the results."""
    lines = [summary(each, found) for each in STATEMENTS.values()]
    for each in STATEMENTS.values():
        lines += ["", head(each), *as_markdown(each, found), "", *verdicts(each, found)]
    return [*lines, "", *defaults_as_markdown(found), "", *alarms_as_markdown(alarms(found))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--archive", type=Path, default=FORMER.parent, help="of `leaderboard --archive`")
    options = parser.parse_args()
    print("\n".join(page_lines(read(options.archive))))


if __name__ == "__main__":
    main()

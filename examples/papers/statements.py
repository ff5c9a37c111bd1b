"""What our pages say of samples of Gaussian processes, as statements that real tasks decide.

The results are those that the leaderboard of the real tasks archived; `survives.py` writes the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bandit_envs.basics.types import Floats
from bandit_envs.problems.real import tasks
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import significant_signs
from gpbandits.report.entrants import REFERENCE
from gpbandits.report.standings import relative_losses

ARCHIVE = Path(__file__).parents[2] / "docs" / "results" / "real"
AGENT = "gp-agent"
MOST_FLIPS = 2**20  # all of 20 trials: random ones decide another way about a p-value near the level
LOSS = "loss"
QUANTITIES: dict[str, Metric] = {
    "regret": "regret",
    "budget regret": "budget_regret",
    "hard violation": "hard_violation",
}
IMMEDIATE = ("repeat", "laboratory", "tuning")
MODELFREE = ("local-search", "epsilon-greedy", "lin-ucb", "forest-thompson", "forest-ei")


class Statement(NamedTuple):
    """A statement says that some agent has less of a quantity than others on tasks of some families."""

    text: str  # what the pages say
    families: tuple[str, ...]  # all if empty
    quantity: str  # of `QUANTITIES`, or the loss of the leaderboard
    one: str
    others: tuple[str, ...]  # all others of a task if empty
    stem: str  # of the file of its table


STATEMENTS = (
    Statement("`gp-agent` has the least loss", (), LOSS, AGENT, (), "gp-agent"),
    Statement(
        "`gp-bucb` has the least regret of the agents of papers where feedback is immediate",
        IMMEDIATE,
        "regret",
        "gp-bucb",
        ("gp-ucb", "gp-ts", "gp-ei"),
        "gp-bucb-immediate",
    ),
    Statement(
        "`gp-bucb` has the least regret of the agents of papers where feedback is late",
        ("late",),
        "regret",
        "gp-bucb",
        ("gp-ucb", "gp-ei", "gp-bts", "gp-ucb-sdf"),
        "gp-bucb-late",
    ),
    Statement(
        "`gp-bucb` has less regret than agents without a Gaussian process",
        (*IMMEDIATE, "late"),
        "regret",
        "gp-bucb",
        (*MODELFREE, "optuna-tpe"),
        "gp-bucb-no-process",
    ),
    Statement(
        "`ratio-ucb` has the least regret of the agents of papers under a budget",
        ("budget",),
        "budget regret",
        "ratio-ucb",
        ("gp-ucb", "gp-ei", "gp-bucb", "ei-per-cost"),
        "ratio-ucb",
    ),
    Statement(
        "`constrained-ei` violates least of the agents of papers",
        ("limit", "everything"),
        "hard violation",
        "constrained-ei",
        ("config", "pdcbo"),
        "constrained-ei",
    ),
    Statement(
        "`config` violates least of the agents of papers",
        ("limit", "everything"),
        "hard violation",
        "config",
        ("constrained-ei", "pdcbo"),
        "config",
    ),
)


def read(archive: Path = ARCHIVE) -> dict[str, Result]:
    """Return the archived result of each task."""
    held = {name: archive / f"{name}.parquet" for name in tasks()}
    return {name: Result.load(path) for name, path in held.items() if path.exists()}


def finals(result: Result, quantity: str) -> dict[str, Floats]:
    """Return a quantity at the end of each trial, (B,), by agent that may be compared."""
    if quantity == LOSS:
        values = relative_losses(result, REFERENCE)
    else:
        values = {label: own[:, -1] for label, own in result.curves(QUANTITIES[quantity]).items()}
    return {label: own for label, own in values.items() if result.comparable(label)}


def on_tasks(statement: Statement, found: Mapping[str, Result]) -> dict[str, dict[str, Floats]]:
    """Return {task: finals} of the tasks on which a statement is judged, of its agents alone."""
    judged = {}
    for name, result in found.items():
        if statement.families and tasks()[name].family not in statement.families:
            continue
        values = finals(result, statement.quantity)
        kept = {x: own for x, own in values.items() if x in (statement.one, *(statement.others or values))}
        if statement.one in kept and len(kept) > 1:
            judged[name] = kept
    return judged


def signs_of(statement: Statement, found: Mapping[str, Result]) -> dict[tuple[str, str], int]:
    """Return {(other, task): -1 where the agent has significantly less, 1 more, else 0}, tested together."""
    values = on_tasks(statement, found)
    tests = [(x, name) for name, own in values.items() for x in own if x != statement.one]
    pairs = [(values[name][statement.one], values[name][other]) for other, name in tests]
    if not pairs:
        return {}
    flips = min(MOST_FLIPS, 2 ** max(len(one) for one, _ in pairs))
    return dict(zip(tests, significant_signs(pairs, flips=flips).tolist(), strict=True))


def counts(signs: list[int]) -> tuple[int, int, int]:
    """Return how many are negative, positive and zero."""
    return signs.count(-1), signs.count(1), signs.count(0)

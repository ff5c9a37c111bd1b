"""Write docs/results/log_coverage.csv: how often 95 % intervals from logs hold the true mean reward.

Every case draws logs on one of our environments, whose functions are frozen so that the truth is one number,
and values a policy that does not learn: python tools/log_coverage.py docs/results/log_coverage.csv [logs]
"""

import csv
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.environment.envs import make
from gpbandits import evaluate
from gpbandits.logs import ContextPolicy, LogWarning, PlayLog, value_of
from gpbandits.logs.estimators import ESTIMATORS, LEVEL

LOGS = 1000
METHODS = tuple(ESTIMATORS)
LATE = {"law": "geometric", "mean": 50}


class CoverageCase(NamedTuple):
    """An environment whose logs are drawn, the agent that plays it, and the weights of delivered rewards."""

    name: str
    environment: str
    keywords: dict[str, Any]
    agent: Any = "random"
    delays: str = "kaplan-meier"


GP, CLICKS, CONTEXTS = "GPBandit-GP-v0", "GPBandit-Clicks-v0", "GPBandit-Contextual-v0"
FIVE = {"num_arms": 5, "horizon": 500}
SEVERAL = {"num_arms": 4, "num_contexts": 3, "horizon": 500, "delay": None}
DELAYED = {"delay": LATE, "max_delay": 499}
CASES = [
    CoverageCase("five arms", GP, FIVE),
    CoverageCase("clicks", CLICKS, FIVE),
    CoverageCase("contexts", CONTEXTS, SEVERAL),
    CoverageCase("100 rounds", GP, FIVE | {"horizon": 100}),
    CoverageCase("late, Kaplan-Meier", GP, FIVE | DELAYED),
    CoverageCase("late, delivered only", GP, FIVE | DELAYED, delays="delivered"),
    CoverageCase("late clicks, Kaplan-Meier", CLICKS, FIVE | DELAYED),
    CoverageCase("late contexts, Kaplan-Meier", CONTEXTS, SEVERAL | DELAYED),
    CoverageCase("adaptive log", GP, FIVE, ("epsilon-greedy", {"epsilon": 0.5})),
    CoverageCase("small propensities", GP, FIVE, ("epsilon-greedy", {"epsilon": 0.1})),
]


def policy_of(case: CoverageCase) -> tuple[float, ContextPolicy | Floats]:
    """Return a policy and its true mean reward."""
    problem = make(case.environment, **_frozen(case)).get_wrapper_attr("problem")
    means = problem.draw(0).means.reshape(problem.decisions.num_contexts, -1)  # (Z, A)
    table = np.random.default_rng(0).dirichlet(np.ones(means.shape[1]), len(means))
    truth, known = float((means * table).sum(axis=1).mean()), problem.decisions.contexts
    if len(table) == 1:
        return truth, table[0]
    return truth, ContextPolicy(lambda x: table[((x[:, None] - known) ** 2).sum(axis=2).argmin(axis=1)])


def _frozen(case: CoverageCase) -> dict[str, Any]:
    return {**case.keywords, "function_seed": 0}


def logs_of(case: CoverageCase, count: int) -> Iterator[PlayLog]:
    """Draw logs, in blocks that fit into memory."""
    for first in range(0, count, 100):
        size = min(100, count - first)
        given: dict[str, Any] = {"trials": size, "first_trial": first, "env_kwargs": _frozen(case)}
        yield from evaluate(case.environment, {"it": case.agent}, log=True, **given).logs["it"]


def estimates(case: CoverageCase, policy: Any, log: PlayLog, number: int) -> dict[str, Any]:
    """Return the estimates of a log by method; replay accepts with draws of each log's own."""
    own = {method: number if method == "replay" else 0 for method in METHODS}
    return {
        method: each
        for seed in dict.fromkeys(own.values())
        for method, each in value_of(
            policy,
            log,
            methods=[name for name in METHODS if own[name] == seed],
            delays=case.delays,
            seed=seed,
        ).items()
    }


def coverage(case: CoverageCase, count: int) -> list[dict[str, Any]]:
    """Return a row for each method: the share of intervals with the truth, mean error and median length."""
    truth, policy = policy_of(case)
    logs = enumerate(logs_of(case, count), 1)
    found, rows = [estimates(case, policy, log, number) for number, log in logs], []
    for method in found[0]:
        value, low, high = np.array([each[method] for each in found]).T
        share = float(((low <= truth) & (truth <= high)).mean())
        error = float((value - truth).mean() / value.std())
        length = float(np.median(high - low))
        rows.append(
            {"case": case.name, "method": method, "logs": count, "level": LEVEL, "coverage": share}
            | {"error in stds": round(error, 4), "median length": round(length, 5)}
        )
    return rows


def lines(rows: list[dict[str, str]]) -> list[str]:
    """Return the table of the page: a line a case, a column a method."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    found = ["| logs | " + " | ".join(f"`{method}`" for method in methods) + " |"]
    found.append("|---" * (1 + len(methods)) + "|")
    for case in dict.fromkeys(row["case"] for row in rows):
        shares = [f"{100.0 * float(row['coverage']):.1f} %" for row in rows if row["case"] == case]
        found.append(f"| {case} | " + " | ".join(shares) + " |")
    return found


def main(path: str, count: int = LOGS) -> None:
    """Write the table of all cases."""
    warnings.simplefilter("ignore", LogWarning)
    rows = []
    for case in CASES:
        rows += coverage(case, count)
        print(*(f"{row['case']}: {row['method']} {row['coverage']:.3f}" for row in rows[-5:]), sep="\n")
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))

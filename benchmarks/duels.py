"""Rules of duels on utilities of a known norm, one of them twice the model's: docs/results/duels.csv.

    python benchmarks/duels.py --out docs/results/duels.csv [--trials 100] [--only 3] [--rule POP-BO]
    python benchmarks/duels.py --page docs/results/duels.csv      # prints the page's tables

Thirty arms of [0, 1], a squared-exponential kernel with length-scale 0.2 and variance 1, utilities uniform on
the sphere |f| = B of its space, 300 duels. Bands have 200 trials.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import agents
import bandit_envs
from bandit_envs import Decisions, Problem
from bandit_envs.basics.types import Floats
from bandit_envs.laws import RKHSFunction
from bandit_envs.laws.duels import AgainstBest, WhoWins
from bandit_envs.problem.decisions import unit_grid

ARMS, HORIZON, LAST = 30, 300, 50
BAND_TRIALS = 200  # of a band, whose failures are counted
SIZES = ("3", "6")
UNSHRUNK = 1e-9  # ridge at which weights of a fixed norm are uniform on its sphere


class Rule(NamedTuple):
    """One row of a table: an agent, its options, and the reference's average regret for B = 3 and B = 6."""

    name: str
    agent: str
    options: dict[str, Any]
    reference: tuple[str, str]  # of a program in plain numpy, 20 trials


RULES = (
    Rule("uniform pairs", "random", {}, ("55.14 ± 4.12", "84.27 ± 4.38")),
    Rule("MaxMinLCB, w = 2", "maxminlcb", {"width": 2.0}, ("14.07 ± 1.73", "15.86 ± 1.34")),
    Rule("RUCB-like, w = 1", "rucb", {"width": 1.0}, ("12.8 ± 0.8", "14.0 ± 1.4")),
    Rule("double TS", "double-ts", {}, ("17.05 ± 1.06", "18.60 ± 1.39")),
    Rule("RUCB-like, w = 2", "rucb", {"width": 2.0}, ("14.26 ± 0.93", "14.48 ± 0.86")),
    Rule("MaxMinLCB, w = 1", "maxminlcb", {"width": 1.0}, ("19.56 ± 4.89", "21.22 ± 3.94")),
    Rule("MAP versus challenger, w = 1", "map-challenger", {"width": 1.0}, ("17.74 ± 4.02", "16.60 ± 3.14")),
    Rule("max-info, w = 1", "max-info-duel", {"width": 1.0}, ("9.52 ± 1.36", "12.42 ± 2.00")),
    Rule("MultiSBM, w = 2", "multisbm", {"width": 2.0}, ("-", "-")),
    Rule("MAP versus challenger, w = 2", "map-challenger", {"width": 2.0}, ("-", "-")),
    Rule("MaxMinLCB, mixture band", "maxminlcb", {"width": "mixture"}, ("31.12 ± 2.13", "59.01 ± 3.95")),
    Rule("POP-BO", "pop-bo", {}, ("-", "-")),
    Rule("MR-LPF, w = 0.5", "mr-lpf", {"band": 0.5}, ("-", "-")),
    Rule("MR-LPF, the theorem's beta", "mr-lpf", {}, ("-", "-")),
)
FIELDS = (
    *("bound", "rule", "trials", "average", "average_se", "strong", "weak", "simple", "simple_se"),
    *("stuck", "violated"),
)
HEADS = ("rule", "average regret", "reference", "strong", "weak", "simple regret", "stuck")


class Played(NamedTuple):
    """One trial: sums of regrets, f* - f of the recommendation, and whether it was stuck or a band failed."""

    average: float
    strong: float
    weak: float
    simple: float
    stuck: float
    violated: float


def problem(bound: float) -> Problem:
    """Return the problem of utilities of this norm."""
    decisions = Decisions(unit_grid(ARMS), duel=True)
    law = AgainstBest(RKHSFunction(UNSHRUNK, bound), ARMS)
    return Problem(decisions, law, RBF(0.2), noise=WhoWins(), horizon=HORIZON)


def play(bound: float, rule: Rule, seed: int) -> Played:
    """Play one trial; the truth is looked at for the record alone."""
    env = bandit_envs.make(problem(bound))
    observation, _ = env.reset(seed=seed)
    chance = env.unwrapped.simulator.trials[0].means[0][0]  # type: ignore[attr-defined]
    utility = np.log(chance) - np.log1p(-chance)  # f - f*
    agent = agents.make(rule.agent, env, **rule.options)
    agent.reset(seed)
    sums, pairs, violated = np.zeros(3), [], False
    for _ in range(HORIZON):
        if rule.options.get("width") == "mixture":
            violated = violated or not holds(agent.contest(observation), utility)
        action = agent.act(observation)
        observation, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        pairs.append(action)
        sums += [info["oracle"][key] for key in ("regret", "strong_regret", "weak_regret")]
    best = -utility[agent.recommend().action] if hasattr(agent, "recommend") else np.nan
    last = np.array(pairs[-LAST:])
    stuck = len(np.unique(last)) == 1 and utility[last[0, 0]] < 0.0
    average, strong, weak = sums.tolist()
    return Played(average, strong, weak, float(best), float(stuck), float(violated))


def holds(contest: Any, utility: Floats) -> bool:
    """Return whether a band holds for all pairs."""
    true = utility[:, None] - utility
    return bool(((true >= contest.lower - 1e-9) & (true <= contest.upper + 1e-9)).all())


def rows(trials: int, sizes: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Play the rules of these names."""
    for bound in sizes:
        for rule in (rule for rule in RULES if rule.name in names):
            banded = rule.options.get("width") == "mixture"
            count = max(trials, BAND_TRIALS) if banded else trials
            found = Played(*np.array([play(float(bound), rule, seed) for seed in range(count)]).T)  # type: ignore[arg-type]
            yield {
                **{"bound": bound, "rule": rule.name, "trials": count},
                **{name: f"{np.mean(getattr(found, name)):.4f}" for name in Played._fields},
                **{f"{name}_se": f"{error(getattr(found, name)):.4f}" for name in ("average", "simple")},
                "violated": int(found.violated.sum()) if banded else "",  # type: ignore[attr-defined]
            }


def error(values: Any) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5)


def tables(found: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the lines of a table for each norm."""
    each = {rule.name: rule for rule in RULES}
    made: dict[str, list[str]] = {}
    for row in found:
        head = [f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
        reference = each[row["rule"]].reference[SIZES.index(row["bound"])]
        made.setdefault(row["bound"], head).append(line(row, reference))
    return made


def line(row: dict[str, str], reference: str) -> str:
    """Return a row of the page."""
    average = f"{float(row['average']):.1f} ± {float(row['average_se']):.1f}"
    simple = "-" if row["simple"] == "nan" else f"{float(row['simple']):.3f} ± {float(row['simple_se']):.3f}"
    ends = f"{float(row['strong']):.1f} | {float(row['weak']):.1f}"
    return f"| {row['rule']} | {average} | {reference} | {ends} | {simple} | {float(row['stuck']):.0%} |"


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file of results."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, metavar="CSV")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--only", action="append", choices=SIZES)
    parser.add_argument("--rule", action="append", choices=[rule.name for rule in RULES], help="default: all")
    given = parser.parse_args()
    if given.page:
        for name, lines in tables(read(given.page)).items():
            print(f"**B = {name}**", "", *lines, "", sep="\n")
        return
    with given.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for row in rows(given.trials, given.only or SIZES, given.rule or [rule.name for rule in RULES]):
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()

"""Stopping rules on 400 trials each where the model is right, and where it is not: docs/results/stopping.csv.

    python benchmarks/stopping.py --out docs/results/stopping.csv [--trials 400] [--only prior --only half]
    python benchmarks/stopping.py --page docs/results/stopping.csv      # prints the page's tables

One hundred points, a squared-exponential kernel with length-scale 0.2, noise of 0.1 prior stds, at most 60
rounds. Regret and price are in prior stds; on the tuning table in stds of its accuracies.
"""

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from bandit_envs.environment.envs import make
from gpbandits import evaluate
from gpbandits.evaluation.signals import NEVER, Stopped

ON_LINE = {"num_arms": 100, "length_scale": 0.2, "noise_std": 0.1, "horizon": 60}
LEARNT = {"refit_every": 5, "fit_spread": 3**0.5, "fit_amplitude_spread": 1.0, "fit_noise_spread": 2.0}
PLAYERS = {
    "gp-ei": {"incumbent": "max_mean", "initial": 1},
    "gp-ucb": {"initial": 1},
    "kg-per-cost": {"initial": 1},
}
# Setting -> environment, its keywords, and further options of the agents.
SETTINGS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "prior": ("GPBandit-GP-v0", ON_LINE, {}),
    "rkhs": ("GPBandit-RKHS-v0", ON_LINE, {}),
    "half": ("GPBandit-GP-v0", ON_LINE, {"length_scale": 0.1}),
    "double": ("GPBandit-GP-v0", ON_LINE, {"length_scale": 0.4}),
    "learnt": ("GPBandit-GP-v0", ON_LINE, LEARNT),
    "table": ("GPBandit-Real/digits-repeat-v2", {"horizon": 60}, {**LEARNT, "initial": 5}),
    "constrained": ("GPBandit-Constrained-v0", {"horizon": 60}, {}),
}
UNDER_COSTS: dict[str, dict[str, Any]] = {"config": {}, "constrained-ei": {}}  # players there
REWARD_ALONE = ("gap", "best-arm", "minima-gap")  # rules that are refused there
FIELDS = (
    "setting",
    "player",
    "rule",
    "trials",
    "never",
    "stop",
    "regret",
    "regret_se",
    "promise",
    "broken",
    "stopped",
)
PRICED = ("price", "adjusted", "adjusted_se", "hindsight")


def rules(unit: float) -> dict[str, Any]:
    """The rules, with regret and price in this unit."""
    eps = 0.1 * unit
    priced = {
        f"{short} {price:g}": (name, {"price": price * unit})
        for short, name in (("kg", "knowledge-gradient"), ("ei", "expected-improvement"))
        for price in (0.1, 0.01, 0.001)
    }
    return priced | {
        "gap": ("gap", {"eps": eps}),
        "gap, beta/5": ("gap", {"eps": eps, "beta_scale": 0.2}),
        "best arm, difference": ("best-arm", {"eps": eps, "bands": "difference"}),
        "regret bound 0.9": ("regret-bound", {"eps": eps, "delta": 0.1}),
        "regret bound 0.95": ("regret-bound", {"eps": eps, "delta": 0.05}),
        "minima gap": ("minima-gap", {}),
        "plateau": ("plateau", {}),
    }


def under_costs(unit: float) -> dict[str, Any]:
    """The rules that take costs into account."""
    return {label: rule for label, rule in rules(unit).items() if rule[0] not in REWARD_ALONE}


def unit_of(environment: str, keywords: dict[str, Any]) -> float:
    """One prior std, or where no kernel is published the std of the mean rewards of the arms."""
    env = make(environment, **keywords)
    setting = env.get_wrapper_attr("setting")
    if setting.kernel is not None:
        return 1.0
    env.reset(seed=0)
    return float(np.std(env.unwrapped.simulator.trials[0].means[0, 0]))


def row(rule: Stopped, unit: float) -> dict[str, Any]:
    """Means with standard errors, in the unit."""
    size, stopped, regret = len(rule.after), rule.after != NEVER, rule.regret / unit
    found: dict[str, Any] = {
        "trials": size,
        "never": float((~stopped).mean()),
        "stop": float(np.where(stopped, rule.after, 60).mean()),
        "regret": regret.mean(),
        "regret_se": regret.std(ddof=1) / size**0.5,
        "stopped": int(stopped.sum()),
    }
    if rule.promise is not None and rule.broken is not None:
        found |= {"promise": rule.promise / unit, "broken": int(rule.broken.sum())}
    if rule.price is not None:
        adjusted = rule.adjusted(rule.price) / unit
        found |= {
            "price": rule.price / unit,
            "adjusted": adjusted.mean(),
            "adjusted_se": adjusted.std(ddof=1) / size**0.5,
            "hindsight": rule.hindsight.mean() / unit,
        }
    return {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in found.items()}


SHOWN = {  # rules of the page, with their names there
    "kg 0.01": "knowledge gradient, p = 0.01",
    "ei 0.01": "expected improvement, p = 0.01",
    "regret bound 0.9": "regret bound, 0.1 at 90 %",
    "regret bound 0.95": "regret bound, 0.1 at 95 %",
    "gap": "gap 0.1, Theorem 1's width",
    "gap, beta/5": "gap 0.1, a fifth of beta",
    "best arm, difference": "best arm 0.1, difference bands",
    "minima gap": "minima gap",
    "plateau": "plateau",
}
HEADS = ("plays", "regret", "broken")  # of each player


def tables(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Lines of a table for each setting, with columns for each player."""
    found: dict[str, dict[str, list[str]]] = {}
    players: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["rule"] in SHOWN:
            players.setdefault(row["setting"], {})[row["player"]] = None
            found.setdefault(row["setting"], {}).setdefault(SHOWN[row["rule"]], []).extend(cells(row))
    return {
        setting: [
            joined("rule", *(f"`{player}`: {head}" for player in players[setting] for head in HEADS)),
            "|" + "---|" * (1 + len(HEADS) * len(players[setting])),
            *(joined(rule, *of_players) for rule, of_players in of_rules.items()),
        ]
        for setting, of_rules in found.items()
    }


def cells(row: dict[str, str]) -> tuple[str, ...]:
    """Cells of a player: plays, regret with its standard error, broken promises of the runs that stopped."""
    broken = f"{row['broken']} of {row['stopped']}" if row["promise"] else "-"
    return f"{float(row['stop']):.1f}", f"{float(row['regret']):.4f} ± {float(row['regret_se']):.4f}", broken


def joined(*columns: str) -> str:
    return f"| {' | '.join(columns)} |"


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file of results."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, metavar="CSV")
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", action="append", choices=SETTINGS)
    parser.add_argument("--player", action="append", choices=[*PLAYERS, *UNDER_COSTS], help="by default all")
    given = parser.parse_args()
    if given.page:
        for name, lines in tables(read(given.page)).items():
            print(name, *lines, "", sep="\n")
        return
    with given.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*FIELDS, *PRICED], restval="", lineterminator="\n")
        writer.writeheader()
        for setting in given.only or SETTINGS:
            environment, keywords, options = SETTINGS[setting]
            unit = unit_of(environment, keywords)
            known, asked = (
                (UNDER_COSTS, under_costs(unit)) if setting == "constrained" else (PLAYERS, rules(unit))
            )
            players = {
                name: (name, {**own, **options})
                for name, own in known.items()
                if name in (given.player or known)
            }
            result = evaluate(environment, players, trials=given.trials, env_kwargs=keywords, stopping=asked)
            for player, stopped in result.stopped.items():
                for rule, each in stopped.items():
                    writer.writerow({"setting": setting, "player": player, "rule": rule, **row(each, unit)})
            file.flush()
            print(result.stopping_table())


if __name__ == "__main__":
    main()

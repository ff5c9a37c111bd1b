"""What pending plays count as, where feedback is seven rounds late: docs/results/fantasies.csv.

    python benchmarks/fantasies.py --out docs/results/fantasies.csv

One hundred points, SE kernel with length-scale 0.2, noise of 0.1 prior stds, 200 rounds, 30 trials.
"""

import argparse
import csv
from pathlib import Path

from agents.widths.base import FiniteSetWidth
from gpbandits import evaluate

PLACE = {"num_arms": 100, "length_scale": 0.2, "noise_std": 0.1, "horizon": 200}
LATE = {"delay": {"law": "constant", "rounds": 7}}
RULES = {
    "UCB": {"rule": "ucb", "width": FiniteSetWidth(100, 0.1, 0.2)},  # a fifth of beta
    "EI": {"rule": "ei"},
    "TS": {"rule": "thompson", "width": 1.0},
}
COUNTS = {
    "delivered only": {"belief": "delivered"},
    "mean": {"belief": "hallucinated"},
    "fantasies without noise": {"belief": "fantasised", "belief_options": {"noisy": False}},
    "fantasies": {"belief": "fantasised"},
}
TRIALS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    players = {
        f"{rule}|{count}": ("gp-agent", {**of_rule, **of_belief})
        for rule, of_rule in RULES.items()
        for count, of_belief in COUNTS.items()
    }
    result = evaluate("GPBandit-GP-v0", players, trials=TRIALS, env_kwargs={**PLACE, **LATE})
    with out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rule", "pending plays", "regret", "standard error"])
        for label, regret in result.regret.items():
            final = regret[:, -1]
            error = final.std(ddof=1) / TRIALS**0.5
            writer.writerow([*label.split("|"), f"{final.mean():.2f}", f"{error:.2f}"])


if __name__ == "__main__":
    main()

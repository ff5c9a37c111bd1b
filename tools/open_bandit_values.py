"""Write docs/results/open_bandit.csv: the two policies of the Open Bandit Dataset judge each other.

Each policy is valued from the sample log of the other, beside the mean of its own. The probabilities of
Thompson sampling are those of docs/results/obp.json.

Run as python tools/open_bandit_values.py docs/results/open_bandit.csv
"""

import csv
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from gpbandits.logs import LogWarning, value_of
from gpbandits.logs.estimators import interval
from gpbandits.logs.open_bandit import CAMPAIGNS, open_bandit_log

OTHER = {"bts": "random", "random": "bts"}


def lines(rows: list[dict[str, str]]) -> list[str]:
    """Return the table of the page, in clicks per 1,000 showings."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    found = ["| campaign | policy | " + " | ".join(methods) + " |", "|---" * (2 + len(methods)) + "|"]
    for campaign, policy in dict.fromkeys((row["campaign"], row["policy"]) for row in rows):
        own = [row for row in rows if (row["campaign"], row["policy"]) == (campaign, policy)]
        found.append(f"| {campaign} | {policy} | " + " | ".join(map(_cell, own)) + " |")
    return found


def _cell(row: dict[str, str]) -> str:
    value, low, high = (1000.0 * float(row[name]) for name in ("value", "low", "high"))
    return f"{value:.1f} [{low:.1f}, {high:.1f}]" if np.isfinite(low) else f"{value:.1f} (no interval)"


def main(path: str) -> None:
    """Write a row for each campaign, policy and method."""
    warnings.simplefilter("ignore", LogWarning)
    stored = json.loads((Path(path).parent / "obp.json").read_text())["campaigns"]
    rows = []
    for campaign, items in CAMPAIGNS.items():
        tables = {"bts": np.array(stored[campaign]["bts"]).T, "random": np.full((3, items), 1.0 / items)}
        for policy, table in tables.items():
            own, log = (open_bandit_log(which, campaign) for which in (policy, OTHER[policy]))
            found = value_of(table[log.context[:, 0].astype(int)], log)
            about = {"campaign": campaign, "policy": policy}
            ends = interval(own.mean, own.reward - own.mean)
            rows.append(about | {"method": "own mean", "value": own.mean, "low": ends[0], "high": ends[1]})
            rows += [about | {"method": method} | each._asdict() for method, each in found.items()]
    for row in rows:
        row.update({name: f"{row[name]:.6f}" for name in ("value", "low", "high")})
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1])

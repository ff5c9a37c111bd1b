"""What a process of its own costs an agent: `evaluate(..., isolate=True)` beside `isolate=False`.

    python benchmarks/isolation.py [--table docs/results/isolation.csv]

Prints microseconds a round and trial of both, side by side, and the milliseconds that it takes to start the
process. The machine should be quiet: the numbers are of the wall clock. Runs are so long that the start,
which varies by tenths of a second, does not decide.
"""

import argparse
import csv
import time
from pathlib import Path

from gpbandits import evaluate

KEYWORDS = {"num_arms": 100, "horizon": 3000}
AGENTS = ("random", "gp-ucb", "gp-ts")
TRIALS = 16


def seconds(agent: str, horizon: int, isolate: bool) -> float:
    """Of the wall clock, for the trials of an agent."""
    start = time.perf_counter()
    evaluate(
        "GPBandit-GP-v0", [agent], trials=TRIALS, env_kwargs=KEYWORDS | {"horizon": horizon}, isolate=isolate
    )
    return time.perf_counter() - start


def measured(agent: str) -> dict[str, str | int]:
    """A row of the table."""
    seconds(agent, 2, False)  # imports
    starting = seconds(agent, 1, True) - seconds(agent, 1, False)
    here, apart = (seconds(agent, KEYWORDS["horizon"], isolate) for isolate in (False, True))
    each = 1e6 / (KEYWORDS["horizon"] * TRIALS)
    return {
        "agent": agent,
        "here (us a round and trial)": round(here * each),
        "apart (us a round and trial)": round((apart - starting) * each),
        "start (ms)": round(1000 * starting),
    }


def main() -> None:
    """Print a line an agent, and keep the table where asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, help="a CSV file for the numbers")
    table = parser.parse_args().table
    rows = [measured(agent) for agent in AGENTS]
    for row in rows:
        print(*(f"{name} {value}" for name, value in row.items()), sep="  ")
    if table is not None:
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

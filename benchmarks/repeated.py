"""What playing an arm several times costs in regret: `gp-ucb` with repeat = 2 beside the plain rule.

    python benchmarks/repeated.py [--trials 20] [--write]

On the same functions and noise, 1000 points of a line. `--write` stores the table for `docs/large.md`.
"""

import argparse
from typing import Any

from tables import write

from gpbandits import evaluate

AGENTS = {"gp-ucb": ("gp-ucb", {}), "gp-ucb, repeat=2": ("gp-ucb", {"repeat": 2})}
ROUNDS = (1000, 10_000)
KERNELS = ("rbf", "matern52")
HEADER = ["kernel", "rounds", *AGENTS, "largest standard error"]


def row(kernel: str, rounds: int, trials: int) -> list[str]:
    """Mean cumulative regret of each agent."""
    keywords: dict[str, Any] = {"num_arms": 1000, "kernel": kernel, "horizon": rounds}
    result = evaluate("GPBandit-GP-v0", AGENTS, trials=trials, env_kwargs=keywords, checkpoints=[rounds])
    regret = [result.regret[name][:, -1] for name in AGENTS]
    error = max(each.std(ddof=1) / trials**0.5 for each in regret)
    return [kernel, str(rounds), *(f"{each.mean():.1f}" for each in regret), f"{error:.1f}"]


def main() -> None:
    """Print a line a problem."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = []
    for kernel in KERNELS:
        for rounds in ROUNDS:
            rows.append(row(kernel, rounds, given.trials))
            print("  ".join(rows[-1]), flush=True)
    if given.write:
        write("repeated", HEADER, rows)


if __name__ == "__main__":
    main()

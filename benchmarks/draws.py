"""What large problems cost: seconds and peak memory of a draw, and of rounds that plain agents play on it.

    python benchmarks/draws.py [--rounds 200] [--write]

Each case runs in a process of its own, whose peak resident memory is read when it ends; a small environment
printed first, which is what the imports take. The bounds to hold are 10^5 points in 5 s and 1 GB and 10^6
on a grid in 30 s and 2 GB, in seconds of the processor. `--write` stores the tables of `docs/large.md`.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from tables import write

from gpbandits import evaluate

Case = tuple[str, dict[str, Any]]

SMALL: Case = ("GPBandit-GP-v0", {"num_arms": 100})
DRAWS: list[Case] = [
    SMALL,
    ("GPBandit-GP-v0", {"num_arms": 10**4, "dim": 2, "kernel": "matern52"}),
    ("GPBandit-RKHS-v0", {"num_arms": 10**4, "dim": 2, "kernel": "matern52"}),
    ("GPBandit-GP-v0", {"num_arms": 10**5, "kernel": "matern52"}),
    ("GPBandit-GP-v0", {"num_arms": 10**5, "dim": 3, "kernel": "matern52", "random_features": 512}),
    ("GPBandit-GP-v0", {"num_arms": 316**2, "dim": 2, "length_scale": 0.05}),
    ("GPBandit-RKHS-v0", {"num_arms": 10**5, "dim": 3}),
    ("GPBandit-RKHS-v0", {"num_arms": 10**5, "dim": 3, "kernel": "matern52"}),
    ("GPBandit-GP-v0", {"num_arms": 10**6, "kernel": "matern52"}),
    ("GPBandit-GP-v0", {"num_arms": 10**6, "dim": 2}),
    ("GPBandit-GP-v0", {"num_arms": 10**6, "dim": 2, "kernel": "matern52"}),
    ("GPBandit-GP-v0", {"num_arms": 10**6, "dim": 3}),
    ("GPBandit-GP-v0", {"num_arms": 10**4, "num_contexts": 100, "dim": 2}),
    ("GPBandit-Constrained-v0", {"num_arms": 10**6, "dim": 2, "num_constraints": 2}),
    ("GPBandit-RKHS-v0", {"num_arms": 10**6, "dim": 2, "points": "grid"}),
    ("GPBandit-RKHS-v0", {"num_arms": 10**6, "dim": 2, "points": "grid", "kernel": "matern52"}),
]
GRID: dict[str, Any] = {"num_arms": 10**6, "dim": 2}
PLAYS: list[tuple[Case, str, dict[str, Any], int]] = [  # with an agent, its options, and times as many rounds
    (("GPBandit-GP-v0", GRID), "gp-ucb", {}, 1),
    (("GPBandit-GP-v0", GRID), "gp-ts", {}, 1),
    (("GPBandit-GP-v0", GRID), "gp-ucb", {"repeat": 2}, 500),
    (("GPBandit-GP-v0", {**GRID, "kernel": "matern52"}), "gp-ucb", {}, 1),
    (("GPBandit-GP-v0", {**GRID, "kernel": "matern52"}), "gp-ucb", {"repeat": 2}, 50),
    (("GPBandit-RKHS-v0", {"num_arms": 10**5, "dim": 3}), "gp-ucb", {}, 1),
]


def draw(case: Case) -> float:
    """Seconds of a reset, after the imports."""
    import gymnasium as gym

    gym.make(SMALL[0], **SMALL[1]).reset(seed=0)
    start = time.process_time()
    gym.make(case[0], **case[1], disable_env_checker=True).reset(seed=0)
    return time.process_time() - start


def play(case: Case, agent: str, options: dict[str, Any], rounds: int) -> float:
    """Seconds of so many rounds, without those of the draw."""

    def seconds(horizon: int) -> float:
        start = time.process_time()
        keywords = {**case[1], "horizon": horizon}
        played = {"it": (agent, options)}
        evaluate(case[0], played, trials=1, env_kwargs=keywords, checkpoints=[horizon])
        return time.process_time() - start

    return seconds(rounds + 1) - seconds(1)


def apart(call: str) -> tuple[float, float]:
    """Run a call of this module in another process; return what it returns, and its peak memory in MB."""
    code = f"import draws; draws.report({call})"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=sys.path[0], check=True, stdout=subprocess.PIPE, text=True
    )
    seconds, peak = map(float, run.stdout.splitlines()[-1].split())
    return seconds, peak


def report(seconds: float) -> None:
    """Print what was measured in this process."""
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)


def named(case: Case) -> str:
    """A case in words."""
    options = ", ".join(f"{name}={value!r}" for name, value in case[1].items())
    return f"`{case[0].removeprefix('GPBandit-').removesuffix('-v0')}` {options}"


def measured_draws() -> Iterator[list[str]]:
    """A row a draw."""
    for case in DRAWS:
        seconds, peak = apart(f"draws.draw({case!r})")
        yield [named(case), f"{seconds:.2f}", f"{peak:.0f}"]


def measured_plays(rounds: int) -> Iterator[list[str]]:
    """A row an agent."""
    for case, agent, options, times in PLAYS:
        seconds, peak = apart(f"draws.play({case!r}, {agent!r}, {options!r}, {times * rounds})")
        told = "".join(f", {name}={value}" for name, value in options.items())
        each = 1e3 * seconds / (times * rounds)
        yield [agent + told, named(case), str(times * rounds), f"{each:.2g}", f"{peak:.0f}"]


def main() -> None:
    """Print a line a case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    tables = {
        "draws": (["problem", "seconds", "peak MB"], measured_draws()),
        "plays": (["agent", "problem", "rounds", "ms a round", "peak MB"], measured_plays(given.rounds)),
    }
    for name, (header, measured) in tables.items():
        print(name)
        rows = []
        for row in measured:
            print("  ".join(row), flush=True)
            rows.append(row)
        if given.write:
            write(name, header, rows)


if __name__ == "__main__":
    main()

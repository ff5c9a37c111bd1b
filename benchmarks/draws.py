"""What large problems cost: seconds and peak memory of a draw, and of rounds that plain agents play on it.

    python benchmarks/draws.py [--rounds 50]

Each case runs in a process of its own, whose peak resident memory is read when it ends; a small environment
printed first, which is what the imports take. The bounds to hold are 10^5 points in 5 s and 1 GB and 10^6
on a grid in 30 s and 2 GB, in seconds of the processor.
"""

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

from gpbandits import evaluate

Case = tuple[str, dict[str, Any]]

SMALL: Case = ("GPBandit-GP-v0", {"num_arms": 100})
DRAWS: list[Case] = [
    SMALL,
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
PLAYS: list[tuple[Case, str]] = [
    (("GPBandit-GP-v0", {"num_arms": 10**6, "dim": 2}), "gp-ucb"),
    (("GPBandit-GP-v0", {"num_arms": 10**6, "dim": 2}), "gp-ts"),
    (("GPBandit-RKHS-v0", {"num_arms": 10**5, "dim": 3}), "gp-ucb"),
]


def draw(case: Case) -> float:
    """Seconds of a reset, after the imports."""
    import gymnasium as gym

    gym.make(SMALL[0], **SMALL[1]).reset(seed=0)
    start = time.process_time()
    gym.make(case[0], **case[1], disable_env_checker=True).reset(seed=0)
    return time.process_time() - start


def play(case: Case, agent: str, rounds: int) -> float:
    """Seconds of a round, without those of the draw."""

    def seconds(horizon: int) -> float:
        start = time.process_time()
        evaluate(case[0], [agent], trials=1, env_kwargs={**case[1], "horizon": horizon})
        return time.process_time() - start

    return (seconds(rounds + 1) - seconds(1)) / rounds


def apart(call: str) -> None:
    """Run a call of this module in another process and print what it returns, with its peak memory."""
    code = f"import draws, resource; draws.report({call})"
    subprocess.run([sys.executable, "-c", code], cwd=sys.path[0], check=True)


def report(seconds: float) -> None:
    """Print the end of a line."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:9.3f} s {peak:7.0f} MB", flush=True)


def main() -> None:
    """Print a line a case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    print("a draw")
    for case in DRAWS:
        print(f"{case[0].removeprefix('GPBandit-'):16} {case[1]!s:75}", end=" ", flush=True)
        apart(f"draws.draw({case!r})")
    print(f"a round of {rounds}")
    for case, agent in PLAYS:
        print(f"{agent:16} {case[0]} {case[1]!s:60}", end=" ", flush=True)
        apart(f"draws.play({case!r}, {agent!r}, {rounds})")


if __name__ == "__main__":
    main()

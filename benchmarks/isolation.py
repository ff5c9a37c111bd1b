"""What a process of its own costs an agent: `evaluate(..., isolate=True)` beside `isolate=False`.

    python benchmarks/isolation.py

Prints microseconds a round and trial of both, side by side, and the milliseconds that it takes to start the
process. The machine should be quiet: the numbers are of the wall clock.
"""

import time

from gpbandits import evaluate

KEYWORDS = {"num_arms": 100, "horizon": 200}
AGENTS = ("random", "gp-ucb", "gp-ts")
TRIALS = 16


def seconds(agent: str, horizon: int, isolate: bool) -> float:
    """Of the wall clock, for the trials of an agent."""
    start = time.perf_counter()
    evaluate(
        "GPBandit-GP-v0", [agent], trials=TRIALS, env_kwargs=KEYWORDS | {"horizon": horizon}, isolate=isolate
    )
    return time.perf_counter() - start


def main() -> None:
    """Print a line an agent."""
    print("microseconds a round and trial")
    rounds = KEYWORDS["horizon"]
    for agent in AGENTS:
        seconds(agent, 2, False)  # imports
        starting = seconds(agent, 1, True) - seconds(agent, 1, False)
        here, apart = (seconds(agent, rounds, isolate) for isolate in (False, True))
        each = 1e6 / (rounds * TRIALS)
        print(
            f"{agent:8} here {here * each:7.1f}  apart {(apart - starting) * each:7.1f}  "
            f"start {1000 * starting:6.0f} ms"
        )


if __name__ == "__main__":
    main()

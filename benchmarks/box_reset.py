"""What a reset on a box costs, where the optimum of every segment and context is sought.

    python benchmarks/box_reset.py

Prints the processor milliseconds of a reset on 500 arms and on the box, and their ratio. Before gradients
came from one call a function, and before starts of one hill were climbed once, Constrained took 2.5 times
and Composite twice as long as now, measured side by side.
"""

import time

import gymnasium as gym

import bandit_envs  # noqa: F401 (registers the ids)

IDS = (
    "GPBandit-GP-v0",
    "GPBandit-Constrained-v0",
    "GPBandit-PiecewiseStationary-v0",
    "GPBandit-Composite-v0",
)


def milliseconds(env: gym.Env, resets: int) -> float:
    """Processor time of a reset, after one that fills the caches."""
    env.reset(seed=0)
    start = time.process_time()
    for seed in range(resets):
        env.reset(seed=seed)
    return 1000 * (time.process_time() - start) / resets


def main() -> None:
    """Print a line an id."""
    print("milliseconds of a reset")
    for env_id in IDS:
        arms = milliseconds(gym.make(env_id, num_arms=500), 20)
        box = milliseconds(gym.make(env_id, continuous=True), 4)
        print(f"{env_id:34} arms {arms:7.1f}  box {box:7.1f}  ratio {box / arms:6.1f}")


if __name__ == "__main__":
    main()

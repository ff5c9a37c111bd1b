"""What the record of calls, from which a saved agent is made again, adds to a round of one trial.

    python benchmarks/recorded.py [--chunks 60]

An agent that does nothing plays the same round as one of its own class and as one of `agents.make`, which
records its calls. Microseconds of the processor, of the fastest chunk of 512 rounds: four blocks of calls.
"""

import argparse
import time
from typing import Any

import numpy as np

from agents.saving.recorded import recorded
from bandit_envs import Setting

ROUNDS = 512  # of a chunk
OBSERVATION = np.zeros(1, dtype=np.float32)
INFO = {
    "t": 3,
    "feedback_mask": np.ones(1, dtype=bool),
    "feedback_step": np.array([3]),
    "feedback_reward": np.array([0.5]),
    "oracle": {"regret": 1.0},
}


class Nothing:
    """Plays one arm."""

    def reset(self, seed: int) -> None:
        """Do nothing."""

    def act(self, observation: Any) -> int:
        """Return the arm."""
        return 3

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Do nothing."""


def nothing(setting: Setting, num_trials: int | None = None) -> Nothing:
    """Make the agent."""
    return Nothing()


def chunk(agent: Any) -> float:
    """Return the processor's seconds of a round."""
    start = time.process_time()
    for _ in range(ROUNDS):
        agent.update(OBSERVATION, agent.act(OBSERVATION), 0.5, INFO)
    return (time.process_time() - start) / ROUNDS


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=60)
    chunks = parser.parse_args().chunks
    alone = Nothing()
    keeping = recorded(f"{__name__}:nothing", Setting(arms=np.linspace(0.0, 1.0, 5)[:, None]), None, {})
    pairs = [(chunk(alone), chunk(keeping)) for _ in range(chunks)]
    without, with_record = (min(each) * 1e6 for each in zip(*pairs, strict=True))
    print(f"{with_record - without:.1f} microseconds a round ({with_record:.1f} and {without:.1f})")


if __name__ == "__main__":
    main()

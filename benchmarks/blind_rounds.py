"""How long nothing is known where results are late: what the best play from then on would score.

    python benchmarks/blind_rounds.py --write

Plays are at random, in 20 trials of each task of the family "late"; the score is that of docs/real.md, of an
agent that plays the best configuration in every round after its third result.
"""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium as gym
import numpy as np
from tables import measure

from bandit_envs.environment.registration import real_id
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problems.real import tasks

HEADER = ["task", "rounds", "until the first result", "until the third", "best from then on"]
PLACES = (0, 2)  # of the results that are waited for


def rounds_until(task: str, seed: int) -> tuple[list[int], int]:
    """Return the number of rounds until each of `PLACES` was delivered, and the horizon."""
    env = gym.make(real_id(task))
    env.reset(seed=seed)
    rng, delivered, t = np.random.default_rng(seed), [], 0
    while len(delivered) <= max(PLACES):
        t += 1
        info = env.step(int(rng.integers(env.action_space.n)))[-1]  # type: ignore[attr-defined]
        delivered += [t] * len(Feedback.arrived(info).round)
    return [delivered[place] for place in PLACES], env.get_wrapper_attr("setting").horizon


def rows(runs: int) -> Iterator[list[str]]:
    """Yield a row a task."""
    for name in (name for name, task in tasks().items() if task.family == "late"):
        waits, horizons = zip(*(rounds_until(name, seed) for seed in range(runs)), strict=True)
        first, third = np.mean(waits, axis=0)
        score = 1.0 - third / horizons[0]
        yield [name, str(horizons[0]), f"{first:.1f}", f"{third:.1f}", f"{score:.3f}"]


if __name__ == "__main__":
    measure(__doc__, "blind_rounds", HEADER, rows, 20)

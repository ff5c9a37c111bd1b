"""Write what each id is and what it gives, which must not change within a version of the id.

    python tools/frozen.py

For every id: its horizon, its pairs of a context and an arm, and with seed 0 what 30 plays that are drawn by
`numpy.random.default_rng(0)` bring. It writes `tests/bandit_envs/environment/frozen.toml`, and needs the
measurements. Run it for a new id or a new version only.
"""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from bandit_envs.environment.registration import IDS

MANIFEST = Path(__file__).parents[1] / "tests" / "bandit_envs" / "environment" / "frozen.toml"
PLAYS = 30


def reference(env_id: str) -> dict[str, Any]:
    """Return horizon and points of an id, and sums over 30 plays."""
    env = gym.make(env_id)
    problem = env.unwrapped.problem  # type: ignore[attr-defined]
    env.reset(seed=0)
    rng, rewards, regrets = np.random.default_rng(0), [], []
    for _ in range(PLAYS):
        _, reward, terminated, truncated, info = env.step(_action(env.action_space, rng))
        rewards.append(float(reward))
        regrets.append(float(info["oracle"]["regret"]))
        if terminated or truncated:
            break
    env.close()
    return {
        "horizon": problem.horizon,
        "points": len(problem.decisions.points),
        "rewards": float(np.sum(rewards)),
        "squares": float(np.sum(np.square(rewards))),
        "regrets": float(np.sum(regrets)),
    }


def _action(space: gym.Space, rng: np.random.Generator) -> Any:
    if isinstance(space, gym.spaces.Discrete):
        return int(rng.integers(space.n))
    if isinstance(space, gym.spaces.MultiDiscrete):
        return rng.integers(space.nvec)
    return rng.uniform(space.low, space.high).astype(space.dtype)


def main() -> None:
    """Write the manifest."""
    lines = ["# Made by tools/frozen.py. Within a version of an id nothing of this may change."]
    for env_id in IDS:
        lines += [f'\n["{env_id}"]', *(f"{name} = {value:.12g}" for name, value in reference(env_id).items())]
    MANIFEST.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Hyperparameters for bandits, in addition to the libraries' defaults, which are for games and robots.

They were found by `scripts/tune_rl.py`, see docs/reinforcement.md. Without delay an action has no effect on
later rounds, hence a discount of 0. With delay a reward is delivered when other actions are played: a
positive discount lets it reach its own action, unless the learner credits rewards itself.
"""

from __future__ import annotations

from typing import Any

from bandit_envs.problem.setting import Setting

TUNED: dict[str, dict[str, Any]] = {
    "ppo": {"n_steps": 4, "batch_size": 4, "n_epochs": 10, "learning_rate": 3e-3},
    "a2c": {"n_steps": 4, "learning_rate": 3e-3},
    "dqn": {
        "learning_starts": 10,
        "train_freq": 1,
        "gradient_steps": 4,
        "learning_rate": 3e-3,
        "exploration_fraction": 0.2,
    },
    "sac": {"learning_starts": 10, "batch_size": 32, "learning_rate": 3e-3, "ent_coef": 0.02},
    "td3": {"learning_starts": 10, "batch_size": 32, "learning_rate": 3e-3, "action_noise": 0.1},
    "trpo": {"n_steps": 8, "batch_size": 8, "target_kl": 0.2},
    "qr-dqn": {
        "learning_starts": 10,
        "train_freq": 1,
        "learning_rate": 3e-3,
        "exploration_fraction": 0.1,
    },
    "recurrent-ppo": {"n_steps": 8, "batch_size": 8, "n_epochs": 4, "learning_rate": 1e-2},
}
TUNED["maskable-ppo"] = TUNED["ppo"]  # its plays are the same where all arms are available
GAMMA_IF_LATE = 0.8
WITH_REPLAY = ("dqn", "qr-dqn", "sac", "td3")


def preset_options(
    preset: str, name: str | None, setting: Setting, attributed: bool = False
) -> dict[str, Any]:
    """Return options of a constructor.

    Args:
        preset: "bandit" or "library".
        name: of the algorithm; None for one without a preset, which keeps the library's defaults.
        setting: the published setting.
        attributed: True if rewards are credited to their own actions.
    """
    if preset not in ("bandit", "library"):
        raise ValueError(f'preset must be "bandit" or "library", got {preset!r}')
    if preset == "library" or name is None:
        return {}
    replay = {"buffer_size": setting.horizon} if name in WITH_REPLAY else {}
    late = setting.max_delay > 0 and not attributed
    return {"gamma": GAMMA_IF_LATE if late else 0.0, **replay, **TUNED[name]}

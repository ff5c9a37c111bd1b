"""Logs of the plays of an episode, with propensities, for `gpbandits.logs`."""

from typing import Any

import numpy as np

from agents.protocol import BaseAgent
from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting
from gpbandits.logs.log import PlayLog


class LogWriter:
    """Write the plays of B trials, round by round; times are rounds, counted from 0.

    Args:
        setting: of the episode, with arms.
        num_trials: B; None for one environment without a trial axis.
    """

    def __init__(self, setting: Setting, num_trials: int | None):
        self._setting, self._size, self._batched = setting, num_trials or 1, num_trials is not None
        self._context: list[Ints] = []  # (B,) of each round
        self._action: list[Ints] = []
        self._propensity: list[Floats] = []
        self._available: list[Bools] = []  # (B, A) of each round; of volatile arms alone
        self._feedback: list[tuple[int, Feedback]] = []  # with its round

    def start(self, info: dict[str, Any]) -> None:
        """Keep which arms the next round has, from the `info` of a reset or a round."""
        if "action_mask" in info:
            self._available.append(np.reshape(info["action_mask"], (self._size, -1)) == 1)

    def note(self, agent: BaseAgent, observation: Any, action: Any, info: dict[str, Any]) -> None:
        """Keep a round: the context, the arm, the agent's propensity and what was delivered."""
        chance = agent.propensity(observation, action)
        shown = np.reshape(observation, (self._size, -1))
        self._feedback.append((len(self._action), Feedback.arrived(info)))
        self._context.append(self._setting.context_index(shown))
        self._action.append(np.array(action, dtype=np.int64).reshape(self._size))
        unknown = np.full(self._size, np.nan)
        self._propensity.append(unknown if chance is None else np.reshape(chance, self._size).astype(float))
        self.start(info)

    def logs(self) -> tuple[PlayLog, ...]:
        """Return the log of each trial."""
        horizon = len(self._action)
        reward, delivered = np.full((2, self._size, horizon), np.nan)
        for t, (trial, rounds, value, _) in self._feedback:
            reward[trial, rounds], delivered[trial, rounds] = value, t
        columns = np.array(self._action), np.array(self._propensity), np.array(self._context)
        available = np.array(self._available[:horizon])  # (T, B, A), none of the round after the last
        known = self._setting.contexts
        return tuple(
            PlayLog(
                action=columns[0][:, i],
                reward=reward[i],
                propensity=columns[1][:, i],
                actions=self._setting.decisions.num_arms,
                context=None if known is None else known[columns[2][:, i]],  # type: ignore[arg-type]
                delivered=delivered[i],
                until=float(horizon - 1),
                arms=self._setting.arms,
                available=available[:, i] if len(available) else None,
            )
            for i in range(self._size)
        )


def require_loggable(setting: Any, isolate: bool) -> None:
    """Raise unless plays of a setting can be logged: single arms, whose rewards have rounds."""
    plain = isinstance(setting, Setting) and not (setting.continuous or setting.duel or setting.aggregated)
    what = "False where actions are no single arms, or feedback is a sum of several rounds"
    require(plain, "log", what, True)
    require(not isolate, "log", "False with isolate, which passes on actions alone", True)

"""The environment that a learner steps: every step is a round of somebody else's loop."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from bandit_envs.basics.threads import require_workers
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.environment.envs import action_space
from bandit_envs.problem.setting import Setting

from ..kernels.amplitude import largest_prior_std

Ask = Callable[[Any], Any]

# Seconds that `close` waits for a thread to leave; it is a daemon, so it never blocks an exit.
PATIENCE = 10.0


class Leave(BaseException):
    """Exception that ends the program at its next question; `except Exception` does not catch it."""


class Rendezvous:
    """Thread that runs `work(ask)`: `ask(question)` waits there until `answer` is called here.

    One of the two always waits, so the program is as reproducible as one without threads. It must not hold a
    reference to this object's owner: the thread ends when the owner is garbage-collected.
    """

    def __init__(self, work: Callable[[Ask], None], name: str = "rendezvous"):
        require_workers("a learner of stable-baselines3", "play it outside the browser")
        self._questions: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        arguments = (work, self._questions, self._answers)
        self._thread = Thread(target=_run, args=arguments, daemon=True, name=name)
        self._thread.start()

    def question(self) -> Any:
        """Wait for the next question, or raise what the program raised."""
        question = self._questions.get()
        if isinstance(question, BaseException):
            self._questions.put(question)  # later calls raise the same error
            raise question
        return question

    def answer(self, value: Any) -> None:
        """Answer the last question; the program continues."""
        self._answers.put(value)

    def close(self) -> None:
        """End the program at its next question, and wait for its thread."""
        self._answers.put(Leave())
        if self._thread is not current_thread():
            self._thread.join(PATIENCE)


def _run(work: Callable[[Ask], None], questions: SimpleQueue[Any], answers: SimpleQueue[Any]) -> None:
    def ask(question: Any) -> Any:
        questions.put(question)
        answer = answers.get()
        if isinstance(answer, Leave):
            raise answer
        return answer

    try:
        work(ask)
        questions.put(RuntimeError("the learner stopped before the last round; does a callback do so?"))
    except BaseException as error:
        questions.put(error)


class Plays:
    """Map of a library's actions: points of a box, arms, or with `box` on a finite set the nearest arm.

    Points are of the box scaled to [-1, 1]^d.
    """

    def __init__(self, setting: Setting, box: bool):
        box_space = spaces.Box(-1.0, 1.0, (setting.dim,), np.float32)
        self.space: spaces.Space = box_space if box else action_space(setting.decisions)
        self.box, self.nearest = box, box and not setting.continuous
        self._arms: Floats = 2.0 * setting.decisions.unit_arms - 1.0 if self.nearest else np.empty((0, 0))

    def __call__(self, action: Any) -> Any:
        if self.nearest:
            return int(((self._arms - action) ** 2).sum(axis=1).argmin())
        return np.array(action, dtype=np.float32) if self.box else int(action)


def published_unit(setting: Setting) -> float | None:
    """Return the largest prior std of the reward; None where no kernel is published."""
    if setting.kernel is None:
        return None
    return largest_prior_std(setting.kernel, setting.decisions.points)


class RewardUnit:
    """Divisor of a trial's rewards: the published prior std, or else their root mean square so far."""

    def __init__(self, setting: Setting):
        self._published = published_unit(setting)
        self._number, self._scale = 0, 0.0  # root mean square of so many rewards

    @property
    def value(self) -> float:
        """The unit at present; 1 before any reward but 0."""
        return self._published or self._scale or 1.0

    def note(self, info: dict[str, Any], reward: float) -> None:
        """Update the unit with a round's feedback; an aggregated sum counts as one reward."""
        mask = info.get("feedback_mask")
        told = [reward] if "feedback_reward" not in info else np.asarray(info["feedback_reward"])[mask]
        for value in np.abs(np.asarray(told, dtype=np.float64)).tolist():
            self._number += 1
            largest = max(self._scale, value)  # scaled so that no square can overflow
            if largest > 0.0:
                squares = (self._number - 1) * (self._scale / largest) ** 2 + (value / largest) ** 2
                self._scale = largest * float(np.sqrt(squares / self._number))


class BridgeEnv(gym.Env):
    """Environment that passes actions to the caller's loop. One trial is one stream without an end.

    A learner that resets it again, as `learn` does when it is called in pieces, continues in the same round.

    Args:
        observation_space, action_space: of the learner.
        ask: given an action, waits for (observation, reward, info) of its round; given None, for that of the
            reset.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)

    def __init__(self, observation_space: spaces.Space, action_space: spaces.Space, ask: Ask):
        self.observation_space, self.action_space, self._ask = observation_space, action_space, ask
        self._seen: tuple[Floats, dict[str, Any]] | None = None  # of the round in progress

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Wait for the first round; later, return the round in progress."""
        super().reset(seed=seed)
        if self._seen is None:
            observation, _, info = self._ask(None)
            self._seen = observation, info
        return self._seen

    def action_masks(self) -> Bools:
        """Return the mask of available arms in this round, (A,), in the interface of sb3-contrib."""
        assert self._seen is not None
        assert isinstance(self.action_space, spaces.Discrete)
        return np.asarray(self._seen[1].get("action_mask", np.ones(int(self.action_space.n))), dtype=bool)

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Pass the action on, and wait for the next round."""
        observation, reward, info = self._ask(action)
        self._seen = observation, info
        return observation, reward, False, False, info

"""Bandits as text for OpenEnv and the Environments Hub: `load_environment()`, whose rubric is the regret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from openenv.core.rubrics import Rubric
from pydantic import Field

from gpbandits.text import TextGame

SMALL = {"num_arms": 10, "horizon": 10}


class Answer(Action):
    """What the player writes."""

    answer: str = Field(description="Any text that ends with a line such as PLAY: 3")


class Prompt(Observation):
    """What the player reads: the problem, all plays with their feedback, and what may be played."""

    prompt: str = Field(description="The question of this round")


class RegretRubric(Rubric):
    """Score a whole trial at its end: 1 where every play was the best, 0 where every play was the worst."""

    game: TextGame | None = None

    def forward(self, action: Any, observation: Any) -> float:
        """Return 1 - regret / largest regret at the end of a trial, and 0 before it."""
        return self.game.score if observation.done and self.game is not None else 0.0


class BanditText(Environment[Answer, Prompt, State]):
    """An episode is one trial, which is that of `gpbandits.evaluate` with the same seed.

    Args:
        environment: a registered id of gpbandits.
        env_kwargs: its keyword arguments; by default 10 arms and 10 rounds.
        **options: of `gpbandits.text.TextGame`, such as `retries` and `latest`. An answer that stays
            unreadable is replaced by a random play, unless `fallback="error"`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self, environment: str = "GPBandit-GP-v0", env_kwargs: Mapping[str, Any] | None = None, **options: Any
    ):
        super().__init__(rubric=RegretRubric())
        self._environment = environment
        self._given = {
            "env_kwargs": SMALL if env_kwargs is None else env_kwargs,
            "fallback": "random",
        } | options
        self._game: TextGame | None = None
        self._state, self._next = State(), 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, trial: int | None = None, **kwargs: Any
    ) -> Prompt:
        """Begin a trial of a seed, 0 by default; the trials follow each other unless one is named."""
        number = self._next if trial is None else trial
        self._game = TextGame(self._environment, seed=seed or 0, trial=number, **self._given)
        self._next, self._state = number + 1, State(episode_id=episode_id)
        self._reset_rubric()
        self.rubric.game = self._game  # type: ignore[union-attr]
        return Prompt(prompt=self._game.ask())

    def step(self, action: Answer, timeout_s: float | None = None, **kwargs: Any) -> Prompt:
        """Play an answer; after an unreadable one the next prompt says why it could not be read."""
        if self._game is None:
            raise RuntimeError("reset the environment first")
        self._game.tell(action.answer)
        self._state.step_count += 1
        done = self._game.finished
        prompt = Prompt(prompt="The trial is over." if done else self._game.ask(), done=done)
        prompt.reward = self._apply_rubric(action, prompt)
        return prompt

    @property
    def state(self) -> State:
        """Return the number of answers so far, and no number of the truth."""
        return self._state

    @property
    def game(self) -> TextGame | None:
        """Return the game of this episode, for evaluators: its regret, violations and exchanges."""
        return self._game

    def get_metadata(self) -> EnvironmentMetadata:
        """Return name and description."""
        return EnvironmentMetadata(name="gpbandits_text", description=__doc__ or "", version="0.1.0")


def load_environment(
    environment: str = "GPBandit-GP-v0", env_kwargs: Mapping[str, Any] | None = None, **options: Any
) -> BanditText:
    """Return the environment; the arguments are those of `BanditText`."""
    return BanditText(environment, env_kwargs, **options)

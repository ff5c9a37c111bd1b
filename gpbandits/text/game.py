"""A game is one trial by ask and tell, for programs that wait for answers of players themselves."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agents.options import require_taken
from bandit_envs.basics.arguments import require
from bandit_envs.basics.threads import one_thread
from bandit_envs.environment.envs import EnvLike, make
from bandit_envs.environment.info import Round
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.play import require_bandit
from gpbandits.evaluation.trace import without_oracle
from gpbandits.text.dialogue import Dialogue, Exchange, TranscriptFile


class TextGame:
    """A game plays trial i of `evaluate` with the same seed: the same function, noise, delays and contexts.

        >>> from gpbandits.text import TextGame
        >>> game = TextGame("GPBandit-GP-v0", seed=0, trial=3, env_kwargs={"num_arms": 5, "horizon": 4})
        >>> while not game.finished:
        ...     prompt = game.ask()
        ...     game.tell("PLAY: 2")
        >>> len(game.exchanges), game.regret.shape
        (4, (4,))

    The host keeps the number of rounds and the budget: a finished game takes no further answer. Many games
    may wait for their answers at once.

    Args:
        environment: a registered id, a `Problem`, or a callable that makes an environment.
        seed, trial: seed of the evaluation and index of the trial, as of `evaluate`.
        env_kwargs: keyword arguments of the environment.
        transcript: path of a file that receives every exchange; None for none.
        **options: `retries`, `fallback`, `latest` and `max_arms`, see `Dialogue`.
    """

    @one_thread()
    def __init__(
        self,
        environment: EnvLike,
        *,
        seed: int = 0,
        trial: int = 0,
        env_kwargs: Mapping[str, Any] | None = None,
        transcript: str | Path | None = None,
        **options: Any,
    ):
        require_taken(Dialogue, options, "a game, which hands it to ", reserved=("setting",))
        named = isinstance(env_kwargs, Mapping) and all(isinstance(key, str) for key in env_kwargs)
        require(env_kwargs is None or named, "env_kwargs", "None or a dict of keywords", env_kwargs)
        kept = transcript is None or isinstance(transcript, str | Path)
        require(kept, "transcript", "None or the path of a file", transcript)
        self._env: Any = make(environment, **(env_kwargs or {}))
        require_bandit(self._env)
        of_environment, of_agents = trial_seeds(seed, trial)
        self._observation, info = self._env.reset(seed=of_environment)
        require("oracle" in info, "oracle", "on: a game is scored by it", False)
        self._dialogue = Dialogue(self._env.get_wrapper_attr("setting"), **options)
        self._file = None if transcript is None else TranscriptFile(Path(transcript))
        self.exchanges: list[Exchange] = []
        self._rounds: list[Round] = []
        self.finished = False
        self._dialogue.reset(of_agents, self._note)
        self._dialogue.see_arms(info)
        self._dialogue.begin(self._observation)

    @property
    def regret(self) -> Any:
        """Return the regret of each play that was made, (t,), which the player does not observe."""
        return np.array([each.regret[0] for each in self._rounds])

    @property
    def score(self) -> float:
        """Return 1 - regret / largest regret of the rounds so far: 1 of the best plays, 0 of the worst ones.

        Under constraints plays of infeasible arms may score above 1; see `violation`.
        """
        worst = self._env.get_wrapper_attr("worst_regret")[: len(self._rounds)]
        return 1.0 - float(self.regret.sum() / worst.sum()) if worst.sum() > 0.0 else 1.0

    @property
    def violation(self) -> Any:
        """Return the violation of each play that was made, (t,); 0 without constraints."""
        return np.array([each.violation[0] for each in self._rounds])

    @property
    def unreadable(self) -> int:
        """Return the number of answers that could not be read."""
        return sum(each.unreadable is not None for each in self.exchanges)

    def ask(self) -> str:
        """Return the prompt; until it is answered, the same."""
        self._require_open()
        return self._dialogue.ask()

    @one_thread()
    def tell(self, answer: str) -> None:
        """Give the answer; after an unreadable one the next prompt says why it could not be read.

        Raises:
            RuntimeError: the game is finished, or the last attempt was unreadable and there is no fallback.
        """
        self._require_open()
        action = self._dialogue.tell(answer)
        if action is None:
            return
        self._observation, _, terminated, truncated, info = self._env.step(action)
        self.finished = bool(terminated or truncated)
        if np.all(info.get("played", True)):  # else the budget was spent, and the play was not made
            self._rounds.append(Round.of(info))
            self._dialogue.deliver(without_oracle(info))
        if not self.finished:
            self._dialogue.begin(self._observation)

    def _note(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        if self._file is not None:
            self._file(exchange)

    def _require_open(self) -> None:
        if self.finished:
            raise RuntimeError("the game is finished; make another one")

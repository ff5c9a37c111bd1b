"""Players of text: `TextPlayer` takes part in `evaluate`, `TextGame` is one trial by ask and tell."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agents.options import require_taken
from agents.protocol import Features
from bandit_envs.basics.arguments import require
from bandit_envs.basics.threads import one_thread
from bandit_envs.environment.envs import EnvLike
from bandit_envs.environment.info import Round
from bandit_envs.problem.setting import Setting
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.play import Stage
from gpbandits.evaluation.trace import without_oracle
from gpbandits.text.dialogue import Dialogue, Exchange, TranscriptFile, read_transcript


class TextPlayer:
    """A text player takes part in `evaluate` like every agent, on the same trials.

        >>> from gpbandits import evaluate
        >>> from gpbandits.text import TextPlayer
        >>> agents = {"always 3": (TextPlayer, {"speak": lambda prompt: "PLAY: 3"}), "random": "random"}
        >>> result = evaluate("GPBandit-GP-v0", agents, trials=2, env_kwargs={"num_arms": 5, "horizon": 10})

    Each prompt holds the whole trial: the published problem, all plays with their feedback, and what may be
    played. `info["oracle"]` never reaches it. Answers are read strictly; see `retries` and `fallback`.

    Args:
        setting: the published problem.
        speak: the player, prompt -> answer. It should keep nothing from one trial to the next.
        retries, fallback, latest, max_arms: see `Dialogue`; by default an answer that is unreadable three
            times is an error.
        transcript: folder for one file a trial, named by the seed of its agents, with every exchange; None
            keeps none. Files are never overwritten.
    """

    features = Features(
        delay=True, context=True, constraint=True, change=True, finite=True, box=True, availability=True
    )

    def __init__(
        self,
        setting: Setting,
        speak: Callable[[str], str],
        retries: int = 2,
        fallback: str = "error",
        latest: int | None = None,
        max_arms: int = 200,
        transcript: str | Path | None = None,
    ):
        require(callable(speak), "speak", "a function from text to text", speak)
        kept = transcript is None or isinstance(transcript, str | Path)
        require(kept, "transcript", "None or the path of a folder", transcript)
        self._speak, self._folder = speak, transcript
        self._dialogue = Dialogue(
            setting, retries=retries, fallback=fallback, latest=latest, max_arms=max_arms
        )

    def reset(self, seed: int) -> None:
        """Start a trial and its transcript."""
        file = f"{int(seed)}.jsonl"
        note = (lambda _: None) if self._folder is None else TranscriptFile(Path(self._folder) / file)
        self._dialogue.reset(seed, note)

    def start(self, info: dict[str, Any]) -> None:
        """Note which arms may be played first."""
        self._dialogue.see_arms(info)

    def offer(self, arms: Any) -> bool:
        """Let the next prompt list some arms alone, (A,); see `agents.protocol.BaseAgent.offer`."""
        if self._dialogue.setting.continuous:
            return False
        self._dialogue.see_arms({"action_mask": arms})
        return True

    def act(self, observation: Any) -> Any:
        """Ask until an answer can be read, or attempts are exhausted."""
        self._dialogue.begin(observation)
        action = None
        while action is None:
            answer = self._speak(self._dialogue.ask())
            require(isinstance(answer, str), "what speak returns", "text", answer)
            action = self._dialogue.tell(answer)
        return action

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Note the delivered feedback."""
        self._dialogue.deliver(info)


class ReplayedPlayer(TextPlayer):
    """A replayed player gives the same result as the run that wrote its transcripts, so others can check it.

    The prompts are compared, so another problem, seed or wording is an error, never another result.

    Args:
        setting: the published problem.
        transcript: folder that `TextPlayer` has filled.
        **options: `retries`, `fallback`, `latest` and `max_arms` of the recorded run.
    """

    def __init__(self, setting: Setting, transcript: str | Path, **options: Any):
        given = ("setting", "speak", "transcript")
        require_taken(TextPlayer, options, "a replayed player, which hands it to ", reserved=given)
        require(isinstance(transcript, str | Path), "transcript", "the path of a folder", transcript)
        super().__init__(setting, self._recorded, **options)
        self._recordings = Path(transcript)

    def reset(self, seed: int) -> None:
        """Open the transcript of a trial, whose name is the seed."""
        self._left: list[Exchange] = read_transcript(self._recordings / f"{int(seed)}.jsonl")
        super().reset(seed)

    def _recorded(self, prompt: str) -> str:
        known = bool(self._left) and self._left[0].prompt == prompt
        given = self._left[0].prompt if self._left else "its end"
        require(known, "transcript", "one of this problem, seed and options at every prompt", given)
        return self._left.pop(0).answer


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
        kept = transcript is None or isinstance(transcript, str | Path)
        require(kept, "transcript", "None or the path of a file", transcript)
        self._env: Any = Stage(environment, env_kwargs).env
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

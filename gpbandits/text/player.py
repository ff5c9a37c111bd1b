"""A text player is an agent that asks a function from text to text, or a transcript, for each play."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.options import require_taken
from agents.protocol import Features
from bandit_envs.basics.arguments import require
from bandit_envs.problem.setting import Setting
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

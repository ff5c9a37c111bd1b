"""A replayed player repeats the recorded answers of a text player, which need not be asked again."""

from pathlib import Path
from typing import Any

from bandit_envs.basics.arguments import require
from bandit_envs.problem.setting import Setting
from gpbandits.text.player import TextPlayer
from gpbandits.text.transcript import Exchange, read_transcript


class ReplayedPlayer:
    """A replayed player gives the same result as the run that wrote its transcripts, so others can check it.

    The prompts are compared, so another problem, seed or wording is an error, never another result.

    Args:
        setting: the published problem.
        transcript: folder that `TextPlayer` has filled.
        **options: `retries`, `fallback`, `latest` and `max_arms` of the recorded run.
    """

    features = TextPlayer.features

    def __init__(self, setting: Setting, transcript: str, **options: Any):
        self._folder = Path(transcript)
        self._player = TextPlayer(setting, self._recorded, **options)

    def reset(self, seed: int) -> None:
        """Open the transcript of a trial, whose name is the seed."""
        self._left: list[Exchange] = read_transcript(self._folder / f"{int(seed)}.jsonl")
        self._player.reset(seed)

    def start(self, info: dict[str, Any]) -> None:
        """Note which arms may be played first."""
        self._player.start(info)

    def act(self, observation: Any) -> Any:
        """Play what was played."""
        return self._player.act(observation)

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Note the delivered feedback, which the next prompt holds."""
        self._player.update(observation, action, reward, info)

    def _recorded(self, prompt: str) -> str:
        known = bool(self._left) and self._left[0].prompt == prompt
        given = self._left[0].prompt if self._left else "its end"
        require(known, "transcript", "one of this problem, seed and options at every prompt", given)
        return self._left.pop(0).answer

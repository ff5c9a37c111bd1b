"""Transcripts of text players: every prompt and every answer, in files of one JSON object a line."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import require


class Exchange(NamedTuple):
    """An exchange is a prompt with its answer."""

    seed: int  # of the trial's agents, see `gpbandits.trial_seeds`
    round: int  # counted from 1
    attempt: int  # counted from 1; above 1 the prompt says why the answer before could not be read
    prompt: str
    answer: str
    action: Any  # played: an arm or a list of numbers in [-1, 1]; None if the answer was asked for again
    unreadable: str | None  # the reason, None for an answer that was read
    fallback: bool  # whether the action replaces an unreadable answer


class TranscriptFile:
    """A transcript file receives the exchanges of one trial, each as soon as it happened."""

    def __init__(self, path: Path):
        fresh = not path.exists()
        remedy = "a folder without transcripts of these trials; they are never overwritten"
        require(fresh, "transcript", remedy, str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path

    def __call__(self, exchange: Exchange) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(exchange._asdict()) + "\n")


def read_transcript(path: str | Path) -> list[Exchange]:
    """Return the exchanges of a transcript, or of all transcripts of a folder in the order of their names."""
    place = Path(path)
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    require(bool(files) and files[0].exists(), "path", "a transcript or a folder with some", str(path))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [Exchange(**json.loads(line)) for line in lines]

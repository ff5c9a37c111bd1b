"""A dialogue puts one trial into words, reads the answers, asks again where it cannot; transcripts."""

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from agents.saving.data import require_types
from bandit_envs.basics.arguments import ArgumentError, is_count, is_integer, require, require_choice
from bandit_envs.basics.files import require_no_pipe
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.feedback import Feedback, spendings
from bandit_envs.problem.setting import Setting
from gpbandits.text.wording import Play, choice, require_tellable, rules, tried

FALLBACKS = ("error", "random")
MARKS = r"[\s*_`>#]*"  # of Markdown around the line
LINE = re.compile(rf"^{MARKS}PLAY{MARKS}:{MARKS}(.*?)[\s*_`.]*$", re.IGNORECASE | re.MULTILINE)
WHOLE = re.compile(r"\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class UnreadableAnswerError(RuntimeError):
    """A player's answers could not be read, as often as it was asked."""


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


class Dialogue:
    """A dialogue is the host's side of one trial: it asks, reads, and keeps what was played.

    In each round: `begin`, then `ask` and `tell` until `tell` returns an action, then `deliver`.

    Args:
        setting: the published problem.
        retries: how often a question is asked again after an unreadable answer.
        fallback: "error" raises after the last unreadable answer. "random" plays uniformly among the arms or
            points that may be played, warns once a trial, and marks the exchange.
        latest: number of rounds that a prompt lists; None lists all.
        max_arms: largest number of arms that a prompt may list.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        retries: int = 2,
        fallback: str = "error",
        latest: int | None = None,
        max_arms: int = 200,
    ):
        require(is_integer(retries) and retries >= 0, "retries", "an integer >= 0", retries)
        require_choice("fallback", fallback, FALLBACKS)
        require(latest is None or is_count(latest), "latest", "None or a positive integer", latest)
        require(is_count(max_arms), "max_arms", "a positive integer", max_arms)
        require(not setting.aggregated, "setting", "one that publishes the rounds of feedback", "aggregated")
        require_tellable(setting, max_arms)
        self.setting, self.retries, self.fallback, self.latest = setting, retries, fallback, latest
        self._rules = rules(setting)

    def reset(self, seed: int, note: Callable[[Exchange], None]) -> None:
        """Start a trial; `note` receives every exchange."""
        self.seed, self._note, self._rng = int(seed), note, np.random.default_rng(seed)
        self.plays: list[Play] = []
        self._context: Floats | None = None
        self._mask: Bools | None = None
        self._complaint, self._attempt, self._warned = "", 1, False

    def see_arms(self, info: dict[str, Any]) -> None:
        """Note which arms may be played in the next round, where arms may be missing."""
        self._mask = np.asarray(info["action_mask"], dtype=bool) if "action_mask" in info else None

    def begin(self, observation: Any) -> None:
        """Begin a round with its observation, the context."""
        seen = self.setting.context_features(np.asarray(observation)[None])[0]
        self._context = seen if self.setting.has_contexts else None
        self._complaint, self._attempt = "", 1

    def ask(self) -> str:
        """Return the prompt: all that is known, was played and may be played."""
        spent = sum(play.spent or 0.0 for play in self.plays)
        now = choice(self.setting, len(self.plays) + 1, self._context, self._mask, spent)
        again = f"Your last answer could not be read: {self._complaint}. Answer again."
        parts = [self._rules, tried(self.setting, self.plays, self.latest), now]
        return "\n\n".join([*parts, *([again] if self._complaint else [])])

    def tell(self, answer: str) -> Any:
        """Read an answer; return the action, or None if the question is to be asked again.

        Raises:
            UnreadableAnswerError: the last of all attempts was unreadable and there is no fallback.
        """
        require(isinstance(answer, str), "answer", "text", answer)
        prompt = self.ask()
        try:
            action, reason = read_play(self.setting, answer, self._mask), None
        except Unreadable as error:
            action, reason = None, str(error)
        last = reason is not None and self._attempt > self.retries
        fallback = last and self.fallback == "random"
        if fallback:
            action = self._random()
        played = action.tolist() if isinstance(action, np.ndarray) else action
        now = len(self.plays) + 1
        self._note(Exchange(self.seed, now, self._attempt, prompt, answer, played, reason, fallback))
        if last:
            times = f"{self._attempt} unreadable answers in round {now}, the last because {reason}"
            if not fallback:
                remedy = 'allow more retries, or choose fallback="random"'
                raise UnreadableAnswerError(f"{times}; {remedy}")
            if not self._warned:
                warnings.warn(f"{times}; a random play replaces it and is marked", stacklevel=3)
            self._warned = True
        self._complaint, self._attempt = reason or "", self._attempt + 1
        if action is not None:
            self.plays.append(Play(now, action, self._context))
        return action

    def deliver(self, info: dict[str, Any]) -> None:
        """Add the feedback that was delivered in a round to the plays that it is of."""
        arrived, spent = Feedback.arrived(info), spendings(info)
        for i, t in enumerate(arrived.round.tolist()):
            paid = None if spent is None else float(spent[i])
            reward, costs = float(arrived.reward[i]), tuple(arrived.cost[i].tolist())
            self.plays[t] = self.plays[t]._replace(reward=reward, costs=costs, spent=paid)
        self.see_arms(info)

    def _random(self) -> Any:
        if self.setting.arms is None:
            return self._rng.uniform(-1.0, 1.0, self.setting.dim)
        arms = np.arange(len(self.setting.arms)) if self._mask is None else np.flatnonzero(self._mask)
        return int(self._rng.choice(arms))


class Unreadable(ValueError):
    """Reason why an answer names no play that may be made."""


def read_play(setting: Setting, answer: str, mask: Bools | None) -> Any:
    """Return the action that the last line `PLAY:` of an answer names, an arm or (d,) in [-1, 1].

    Raises:
        Unreadable: there is no such line, or it names no available arm or no point of the box.
    """
    if not (lines := LINE.findall(answer)):
        raise Unreadable("no line starts with PLAY:")
    text = lines[-1]
    if setting.arms is None:
        return _point(setting, text)
    last = len(setting.arms) - 1
    if not WHOLE.fullmatch(text):
        raise Unreadable(f"PLAY: must be followed by one arm, a whole number from 0 to {last}, got {text!r}")
    arm = int(text) if len(text) < 19 else last + 1
    if arm > last:
        raise Unreadable(f"there is no arm {text}; arms are 0 to {last}")
    if mask is not None and not mask[arm]:
        raise Unreadable(f"arm {arm} is not available in this round")
    return arm


def _point(setting: Setting, text: str) -> Any:
    parts = [part.strip() for part in text.strip("()[] ").split(",")]
    if len(parts) != setting.dim or not all(map(NUMBER.fullmatch, parts)):
        raise Unreadable(f"PLAY: must be followed by {setting.dim} numbers with commas between, got {text!r}")
    point = np.array([float(part) for part in parts])
    low, high = setting.decisions.box
    if not ((point >= low) & (point <= high)).all():
        raise Unreadable(f"the point ({text}) is outside the ranges")
    return setting.to_action(point)


class TranscriptFile:
    """A transcript file receives the exchanges of one trial, each as soon as it happened."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.open("x").close()
        except FileExistsError:
            remedy = "move it, give each player a folder of its own, or repeat it by ReplayedPlayer"
            complaint = f"must be new, as transcripts are never overwritten, got {path}; {remedy}"
            raise ArgumentError("transcript", complaint) from None
        self.path = path

    def __call__(self, exchange: Exchange) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(exchange._asdict()) + "\n")


def read_transcript(path: str | Path) -> list[Exchange]:
    """Return the exchanges of a transcript, or of all transcripts of a folder in the order of their names."""
    require(isinstance(path, str | Path), "path", "a transcript or a folder with some", path)
    place = Path(path)
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    require(bool(files) and files[0].exists(), "path", "a transcript or a folder with some", str(path))
    for file in files:
        require_no_pipe("path", file)
    return [
        _exchange(line, f"line {i} of {file}")
        for file in files
        for i, line in enumerate(file.read_bytes().splitlines(), start=1)
    ]


def _exchange(line: bytes, place: str) -> Exchange:
    """Return the exchange of a line; a ValueError that names its place where it holds none."""
    try:
        values = json.loads(line)
        require_types("an exchange", values, get_type_hints(Exchange))
    except (ValueError, RecursionError) as error:
        remedy = "a line that was cut off when a run was killed may be removed"
        raise ValueError(f"{place} must be an exchange of a player as JSON: {error}; {remedy}") from error
    return Exchange(**values)

"""Answers of text players, read strictly: what cannot be read is named, never guessed."""

import re
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools
from bandit_envs.problem.setting import Setting

MARKS = r"[\s*_`>#]*"  # of Markdown around the line
LINE = re.compile(rf"^{MARKS}PLAY{MARKS}:{MARKS}(.*?)[\s*_`.]*$", re.IGNORECASE | re.MULTILINE)
WHOLE = re.compile(r"\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Unreadable(ValueError):
    """Reason why an answer names no play that may be made."""


def read_play(setting: Setting, answer: str, mask: Bools | None) -> Any:
    """Return the action that the last line `PLAY:` of an answer names, an arm or (d,) in [-1, 1].

    Raises:
        Unreadable: there is no such line, or it names no available arm or no point of the box.
    """
    lines = LINE.findall(answer)
    if not lines:
        raise Unreadable("no line starts with PLAY:")
    return _point(setting, lines[-1]) if setting.continuous else _arm(setting, lines[-1], mask)


def _arm(setting: Setting, text: str, mask: Bools | None) -> int:
    assert setting.arms is not None
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

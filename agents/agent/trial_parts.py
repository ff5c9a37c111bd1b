"""The parts of a batch as one of its trials has them, where trials play side by side."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np


def part_of_trial(part: Any, trial: int, num_trials: int) -> Any:
    """A part with the trial's own number in place of every array of one number a trial, (B,).

    Looks into partial functions and dataclasses; what has a method `of_trial` answers itself.

    Args:
        part: how a rule, a belief or a restart is made.
        trial: which, in 0..B-1.
        num_trials: B.
    """
    if isinstance(part, np.ndarray):
        return part[trial].item() if part.shape == (num_trials,) else part
    if hasattr(part, "of_trial"):
        return part.of_trial(trial)
    if isinstance(part, partial):
        arguments = [part_of_trial(each, trial, num_trials) for each in part.args]
        keywords = {key: part_of_trial(each, trial, num_trials) for key, each in part.keywords.items()}
        return partial(part.func, *arguments, **keywords)
    if is_dataclass(part) and not isinstance(part, type):
        own = {field.name: getattr(part, field.name) for field in fields(part) if field.init}
        return replace(part, **{name: part_of_trial(each, trial, num_trials) for name, each in own.items()})
    return part

"""Extract one trial's parts from the parts of a batch.

Arguments with one number per trial are declared by the annotation `PerTrial` and never recognised by their
length: an array of one number per arm stays whole even where there are as many trials as arms.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ..options import is_per_trial
from ..validation import require_one_a_trial


def part_of_trial(part: Any, trial: int, num_trials: int) -> Any:
    """Return a part with the trial's own number in place of every array that is declared as `PerTrial`.

    The search covers partial functions, dataclasses and their arguments; a part with a method `of_trial`
    converts itself. Everything else is equal in all trials.

    Args:
        part: a rule, or a function that builds a rule, a belief, an objective or a restart.
        trial: its index, in 0..B-1.
        num_trials: B.

    Raises:
        ValueError: an array of one number per trial has another length than B.
    """
    if isinstance(part, type):
        return part
    if hasattr(part, "of_trial"):
        return part.of_trial(trial)
    if isinstance(part, partial):
        return _partial_of_trial(part, trial, num_trials)
    if is_dataclass(part):
        return _dataclass_of_trial(part, trial, num_trials)
    return part


def _partial_of_trial(part: partial[Any], trial: int, num_trials: int) -> partial[Any]:
    names = signature(part.func).parameters if part.args else ()
    given = [*zip(names, part.args, strict=False), *part.keywords.items()]
    own = [_own(part.func, name, value, trial, num_trials) for name, value in given]
    keywords = dict(zip(part.keywords, own[len(part.args) :], strict=True))
    return partial(part.func, *own[: len(part.args)], **keywords)


def _dataclass_of_trial(part: Any, trial: int, num_trials: int) -> Any:
    given = {field.name: getattr(part, field.name) for field in fields(part) if field.init}
    own = {name: _own(type(part), name, value, trial, num_trials) for name, value in given.items()}
    changed = {name: value for name, value in own.items() if value is not given[name]}
    return replace(part, **changed) if changed else part


def _own(owner: Any, name: str, value: Any, trial: int, num_trials: int) -> Any:
    """Return one trial's value of an argument of a function or a class."""
    if not isinstance(value, np.ndarray):
        return part_of_trial(value, trial, num_trials)
    if value.ndim == 0 or not is_per_trial(owner, name):
        return value
    require_one_a_trial(name, value, num_trials)
    return value[trial].item()

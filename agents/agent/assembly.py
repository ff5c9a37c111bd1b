"""Assemble the agent of an algorithm: on arms or a box, for one trial or B, with or without learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..acquisition.candidates import Rule
from ..model.model import Model
from ..validation import require_one_a_trial, require_trials
from .assumptions import FORM, Learnt
from .batching import SideBySide
from .box_agent import BoxAgent
from .gp_agent import GPAgent
from .repeating import repeating, require_repeatable
from .trial_parts import part_of_trial

PER_TRIAL = ("noise_std", "noise_variance", "rkhs_bound")  # of a model
Agent = GPAgent | SideBySide


def assemble(
    model: Model,
    rule_of: Callable[[Model], Rule],
    num_trials: int | None = None,
    kind: type[GPAgent] = GPAgent,
    **parts: Any,
) -> Agent:
    """Return the agent of a model and a rule.

    Args:
        model: the assumptions; `model.learning` is None where hyperparameters are not learnt.
        rule_of: makes the rule from the model; called again whenever the model changes.
        num_trials: None for one environment; B for a batch: one agent where trials share kernel and arms, an
            agent per trial where each learns its own kernel or has its own points, as on a box.
        kind: class of the agent on a finite set.
        **parts: belief, incumbent and the others, see `GPAgent`.
    """
    require_trials(num_trials)
    for name in PER_TRIAL:
        require_one_a_trial(name, getattr(model, name), num_trials or 1)
    require_repeatable(model, rule_of(model), parts)
    given = {"rule_of": rule_of, **repeating(model, parts)}
    if not model.setting.continuous and model.learning is None:
        _of_trial(given, 0, num_trials or 1)  # raises where a trial would have no number of its own
        return kind(model, num_trials=num_trials, **given)
    make = BoxAgent if model.setting.continuous else kind
    if model.learning is not None:
        model, make = replace(model, form=model.form or FORM), partial(make, assumptions=Learnt)
    if num_trials is None:
        return make(model.of_trial(0), **_of_trial(given, 0, 1))
    each = range(num_trials)
    return SideBySide([make(model.of_trial(i), **_of_trial(given, i, num_trials)) for i in each])


def _of_trial(parts: dict[str, Any], trial: int, num_trials: int) -> dict[str, Any]:
    return {name: part_of_trial(part, trial, num_trials) for name, part in parts.items()}

"""How a named algorithm becomes an agent: for one trial or B, with fixed or learnt hyperparameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .gp_agent import GPAgent
from .learning_agent import LearningAgent
from .model import Model
from .rules import Rule
from .side_by_side import SideBySide
from .validation import require_trials

Agent = GPAgent | LearningAgent | SideBySide


def assemble(
    model: Model, rule_of: Callable[[Model], Rule], num_trials: int | None = None, **parts: Any
) -> Agent:
    """Return the agent of a model and a rule.

    Args:
        model: what is assumed; it says whether hyperparameters are learnt.
        rule_of: makes the rule from the model, again whenever the model changes.
        num_trials: None for one environment; B for B trials at once, in lockstep where they share a kernel
            and side by side where each learns its own.
        **parts: belief and incumbent, see `GPAgent`.
    """
    learning = model.learning
    if learning is None:
        return GPAgent(model, rule_of, num_trials, **parts)
    if num_trials is None:
        return LearningAgent(model.of_trial(0), rule_of, learning, **parts)
    require_trials(num_trials)
    trials = (model.of_trial(i) for i in range(num_trials))
    return SideBySide([LearningAgent(each, rule_of, learning, **parts) for each in trials])

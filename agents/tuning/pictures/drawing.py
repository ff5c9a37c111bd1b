"""The data of a tuner's figures, and their common legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.axes import Axes

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats

from ..history import Experiment, Round
from ..plan import Plan
from ..reading import Reading
from ..space import Values
from .axes import ParameterAxis

TOLD, BEST, FAILED = "tab:blue", "tab:orange", "tab:red"


@dataclass
class Drawing:
    """Data of a tuner's figure.

    Args:
        plan, rounds: of the tuner.
        experiments, best: their outcomes.
        parameters: names of those that are drawn, None for all, or for a contour the two most important.
        context: of the drawn model; None for that of the latest experiment.
    """

    plan: Plan
    rounds: Sequence[Round]
    experiments: Sequence[Experiment]
    best: Experiment | None
    parameters: Sequence[str] | None
    context: Values | None

    def __post_init__(self) -> None:
        require(self.rounds, "tuner", "one with experiments, to draw them", "none")
        known, given = self.plan.parameters.kinds, self.parameters
        listed = given is None or (len(given) > 0 and not isinstance(given, str) and set(given) <= set(known))
        require(listed, "parameters", f"names of {', '.join(known)}", given)
        if self.context is None:
            self.context = dict(self.rounds[-1].context)

    @cached_property
    def reading(self) -> Reading:
        """The model, computed on access because not all figures draw it."""
        return Reading(self.plan, self.rounds, self.context or {})

    @property
    def told(self) -> list[Experiment]:
        """Experiments with a value."""
        return self.in_state("told")

    def in_state(self, state: str) -> list[Experiment]:
        """Return experiments in a state."""
        return [each for each in self.experiments if each.state == state]

    @property
    def names(self) -> list[str]:
        """Names of the drawn parameters."""
        return list(self.plan.parameters.kinds if self.parameters is None else self.parameters)

    @property
    def centre(self) -> Values:
        """Parameters at which slices cross: those of the best experiment, or of the latest value."""
        return dict((self.best or self.told[-1]).parameters)

    def axis(self, name: str) -> ParameterAxis:
        """Return the axis of one parameter."""
        return ParameterAxis(name, self.plan.parameters.kinds[name])

    def features(self, changed: Sequence[Values]) -> Floats:
        """Return features of the centre with some values changed, (n, d)."""
        centre = self.centre
        return np.array([self.plan.parameters.features({**centre, **each}) for each in changed])


def legend(ax: Axes) -> None:
    """Draw one legend entry a label, above all axes."""
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    ax.figure.legend(
        once.values(), once.keys(), loc="outside upper center", ncols=5, columnspacing=1.0, frameon=False
    )

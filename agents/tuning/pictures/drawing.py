"""What figures of a tuner are drawn from, and the legend that they share."""

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
    """What is drawn of a tuner.

    Args:
        plan, rounds: of the tuner.
        experiments, best: what came of them.
        parameters: names of those that are drawn, None for all, or of a contour the two most important.
        context: in which the model is drawn; None is that of the latest experiment.
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
        """The model, which not all figures draw."""
        return Reading(self.plan, self.rounds, self.context or {})

    @property
    def told(self) -> list[Experiment]:
        """Experiments of which the value is known."""
        return self.in_state("told")

    def in_state(self, state: str) -> list[Experiment]:
        """Experiments in a state."""
        return [each for each in self.experiments if each.state == state]

    @property
    def names(self) -> list[str]:
        """Of the parameters that are drawn."""
        return list(self.plan.parameters.kinds if self.parameters is None else self.parameters)

    @property
    def centre(self) -> Values:
        """Where slices cross: the best experiment, or the latest value."""
        return dict((self.best or self.told[-1]).parameters)

    def axis(self, name: str) -> ParameterAxis:
        """Of one parameter."""
        return ParameterAxis(name, self.plan.parameters.kinds[name])

    def features(self, changed: Sequence[Values]) -> Floats:
        """Of the centre with some values in the place of its own, (n, d)."""
        centre = self.centre
        return np.array([self.plan.parameters.features({**centre, **each}) for each in changed])


def legend(ax: Axes) -> None:
    """One entry a label, above all axes."""
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    ax.figure.legend(
        once.values(), once.keys(), loc="outside upper center", ncols=5, columnspacing=1.0, frameon=False
    )

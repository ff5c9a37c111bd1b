"""Optuna's distributions as parameters of a tuner, and values of the one as values of the other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from agents.tuning import Categorical, Integer, Linear, Log
from agents.tuning.parameters import Parameter

Values = dict[str, Any]


class Dimension:
    """One parameter of a study, whose steps and choices a tuner counts from 0.

    So choices may be anything that Optuna takes, and a float with a step is a whole number.

    Args:
        distribution: of more than one value.
    """

    def __init__(self, distribution: BaseDistribution):
        self.distribution = distribution
        self.kind, self.origin, self.step = _counted(distribution)

    def told(self, value: Any) -> Any:
        """The tuner's value of one of Optuna's.

        Raises:
            ValueError: the distribution does not have it, as enqueued trials may.
        """
        place = (self.distribution.to_internal_repr(value) - self.origin) / self.step
        return self.kind.check("a parameter", place if isinstance(self.kind, Linear | Log) else round(place))

    def asked(self, value: Any) -> Any:
        """Optuna's value of one of the tuner's."""
        most = getattr(self.distribution, "high", math.inf)  # which rounding of steps may pass
        return self.distribution.to_external_repr(min(self.origin + value * self.step, most))


def is_told_apart(distribution: BaseDistribution) -> bool:
    """Whether a tuner can take a distribution: floats may not hold all of its values."""
    try:
        Dimension(distribution)
    except ValueError:
        return False
    return True


class Dimensions:
    """The parameters that a tuner chooses in a study.

    Args:
        space: name -> distribution.
    """

    def __init__(self, space: Mapping[str, BaseDistribution]):
        self._each = {name: Dimension(distribution) for name, distribution in space.items()}

    @property
    def kinds(self) -> dict[str, Parameter]:
        """What a tuner takes them for."""
        return {name: each.kind for name, each in self._each.items()}

    def told(self, values: Values) -> Values | None:
        """The tuner's values of a trial's; None of one that has not all of them, or impossible ones."""
        try:
            return {name: each.told(values[name]) for name, each in self._each.items()}
        except (KeyError, ValueError):
            return None

    def asked(self, values: Values) -> Values:
        """Optuna's values of the tuner's."""
        return {name: each.asked(values[name]) for name, each in self._each.items()}


def _counted(distribution: BaseDistribution) -> tuple[Parameter, float, float]:
    """What a tuner takes a distribution for, and of what value and step it is the number."""
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(range(len(distribution.choices))), 0, 1
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        raise ValueError(f"a distribution must be a float, an integer or a choice, got {distribution!r}")
    low, high, step = distribution.low, distribution.high, distribution.step
    if isinstance(distribution, IntDistribution) and step == 1:
        return Integer(distribution.low, distribution.high, log=distribution.log), 0, 1
    if step is not None:
        return Integer(0, round((high - low) / step)), low, step
    return (Log(low, high) if distribution.log else Linear(low, high)), 0, 1

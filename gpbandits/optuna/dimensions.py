"""Optuna's distributions are converted to parameters of a tuner, and values in both directions."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from agents.tuning import Categorical, Integer, Linear, Log
from agents.tuning.feasibility import runs
from agents.tuning.parameters import Parameter
from agents.tuning.space import Space

Values = dict[str, Any]


class Dimension:
    """A dimension is one parameter of a study, whose steps and choices the tuner counts from 0.

    Choices may thus be anything that Optuna takes, and a float with a step is an integer. The distribution
    has more than one value.
    """

    def __init__(self, distribution: BaseDistribution):
        self.distribution = distribution
        self.kind, self.origin, self.step = _counted(distribution)

    def to_tuner(self, value: Any) -> Any:
        """Convert a value of Optuna to the tuner's; one that is not in the distribution is a ValueError."""
        place = (self.distribution.to_internal_repr(value) - self.origin) / self.step
        return self.kind.check("a parameter", place if isinstance(self.kind, Linear | Log) else round(place))

    def to_optuna(self, value: Any) -> Any:
        """Convert a value of the tuner to Optuna's."""
        most = getattr(self.distribution, "high", math.inf)  # the rounding of steps may exceed it
        return self.distribution.to_external_repr(min(self.origin + value * self.step, most))


def is_tunable(distribution: BaseDistribution) -> bool:
    """Return True if a tuner can take a distribution; ranges beyond the precision of floats it cannot."""
    try:
        Dimension(distribution)
    except ValueError:
        return False
    return True


class Dimensions:
    """The dimensions are the parameters of a study that a tuner chooses, by name and distribution."""

    def __init__(self, space: Mapping[str, BaseDistribution]):
        self._each = {name: Dimension(distribution) for name, distribution in space.items()}

    @property
    def kinds(self) -> dict[str, Parameter]:
        """Return the tuner's parameters by name."""
        return {name: each.kind for name, each in self._each.items()}

    def to_tuner(self, values: Values) -> Values | None:
        """Convert a trial's values to the tuner's; None if one is missing or out of range."""
        try:
            return {name: each.to_tuner(values[name]) for name, each in self._each.items()}
        except (KeyError, ValueError):
            return None

    def among(self, values: Values, running: Iterable[Values]) -> bool:
        """Return True if a trial's values are, to rounding, those of one that runs."""
        space = Space("parameters", self.kinds)
        point, *taken = map(self.to_tuner, (values, *running))
        assert point is not None  # it was proposed
        return runs(space.features(point), [space.features(each) for each in taken if each is not None])

    def to_optuna(self, values: Values) -> Values:
        """Convert the tuner's values to Optuna's."""
        return {name: each.to_optuna(values[name]) for name, each in self._each.items()}


def _counted(distribution: BaseDistribution) -> tuple[Parameter, float, float]:
    """Return the tuner's parameter of a distribution, and the origin and step that map it back."""
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

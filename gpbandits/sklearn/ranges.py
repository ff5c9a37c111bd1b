"""Ranges of a search are converted to parameters of a tuner: ours, lists, and distributions of scipy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats.distributions import rv_frozen

from agents.tuning import Categorical, Integer, Linear, Log
from agents.tuning.parameters import Parameter
from bandit_envs.basics.arguments import require

KINDS = {"uniform": Linear, "loguniform": Log, "reciprocal": Log, "randint": Integer}  # of scipy.stats
ALLOWED = (
    "a Linear, Log, Integer or Categorical, a list of values, or a uniform, loguniform or randint of scipy"
)


class SearchRanges:
    """Search ranges hold a tuner's parameters by name, and the values that lists stand for.

    Values of lists are choices without an order. Where they are no text or numbers, such as estimators, the
    tuner chooses their place in the list.
    """

    def __init__(self, given: Mapping[str, Any]):
        named = isinstance(given, Mapping) and len(given) > 0
        require(named, "param_distributions", "a dict with at least one name", given)
        self._fixed = {name: values[0] for name, values in given.items() if _is_list(values, 1)}
        left = {name: values for name, values in given.items() if name not in self._fixed}
        require(len(left) > 0, "param_distributions", "a dict with a range of more than one value", given)
        self.kinds: dict[str, Parameter] = {}
        self._places: dict[str, Sequence[Any]] = {}
        for name, values in left.items():
            self.kinds[name], places = _kind(name, values)
            if places is not None:
                self._places[name] = places

    def candidate(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of an estimator for those that a tuner has chosen."""
        placed = {name: self._places[name][chosen[name]] for name in self._places}
        return {**self._fixed, **chosen, **placed}


def _kind(name: str, values: Any) -> tuple[Parameter, Sequence[Any] | None]:
    """Return a parameter, and the list whose places it chooses, None if it chooses values."""
    if isinstance(values, Parameter):
        return values, None
    if isinstance(values, rv_frozen):
        law = values.dist.name  # type: ignore[attr-defined]
        require(law in KINDS, name, ALLOWED, law)
        low, high = values.support()
        return KINDS[law](*((int(low), int(high)) if law == "randint" else (float(low), float(high)))), None
    require(_is_list(values, 2), name, ALLOWED, values)
    try:
        return Categorical(list(values)), None
    except (ValueError, TypeError):  # objects, or equal values
        return Categorical(range(len(values))), values


def _is_list(values: Any, size: int) -> bool:
    """Return True for a list of one value, or with a size of 2 for one of at least two."""
    listed = isinstance(values, np.ndarray | Sequence) and not isinstance(values, str)
    return listed and (len(values) == 1 if size == 1 else len(values) >= size)

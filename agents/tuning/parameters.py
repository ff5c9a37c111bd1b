"""Kinds of parameters, and every form in which one may be given.

A tuner, a search of scikit-learn and a sampler of Optuna all convert here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats.distributions import rv_frozen

from bandit_envs.basics.arguments import entry, is_integer, require

from .continuous import Linear, Log
from .discrete import Categorical, Integer
from .plain import plain

Parameter = Linear | Log | Integer | Categorical
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Linear, Log, Integer, Categorical)}
LAWS = {"uniform": Linear, "loguniform": Log, "reciprocal": Log, "randint": Integer}  # of scipy.stats
FORMS = (
    f"a range (low, high), a list of choices, one of {', '.join(KINDS)}, a uniform, loguniform or randint of "
    "scipy.stats, or a distribution of Optuna"
)
Ranges = Mapping[str, Any]  # name -> any of these forms


def as_parameter(name: str, given: Any) -> Parameter:
    """Return a parameter given as any of `FORMS`; an error calls it by this name.

    A range of two whole numbers is an `Integer`, both ends included, and any other is `Linear`.

        >>> as_parameter("x", (0.0, 1.0))
        Linear(low=0.0, high=1.0, step=None)
        >>> as_parameter("n", (1, 12))
        Integer(low=1, high=12, log=False, step=1)
        >>> as_parameter("kind", ["a", "b"])
        Categorical(choices=('a', 'b'))
    """
    if isinstance(given, Parameter):
        return given
    kind, arguments = _form_of(name, given)
    with entry(name):
        return kind(*arguments)


def _form_of(name: str, given: Any) -> tuple[Any, Sequence[Any]]:
    """Return the kind and its arguments, or raise where this is no form of a parameter."""
    if isinstance(given, tuple):
        require(len(given) == 2, name, "a range (low, high), or a list of choices", given)
        return (Integer if all(is_integer(plain(end)) for end in given) else Linear), given
    if isinstance(given, list | np.ndarray):
        return Categorical, [list(given)]
    if isinstance(given, rv_frozen):
        return _of_scipy(name, given)
    form = _of_optuna(given)
    require(form is not None, name, FORMS, given)
    assert form is not None
    return form


def _of_scipy(name: str, given: Any) -> tuple[Any, Sequence[float]]:
    law, (low, high) = given.dist.name, given.support()
    require(law in LAWS, name, FORMS, f"a {law} of scipy.stats")
    number = int if law == "randint" else float
    wide = f"a {law} with a lower and a higher end (a list of one value fixes a parameter)"
    require(low < high, name, wide, (float(low), float(high)))
    return LAWS[law], (number(low), number(high))


def _of_optuna(given: Any) -> tuple[Any, Sequence[Any]] | None:
    """Return the form of a distribution of Optuna, None for anything else."""
    optuna: Any = sys.modules.get("optuna.distributions")  # whoever has a distribution has imported it
    if optuna is None:
        return None
    if isinstance(given, optuna.CategoricalDistribution):
        return Categorical, [given.choices]
    if isinstance(given, optuna.IntDistribution):
        return Integer, (given.low, given.high, given.log, given.step)
    if isinstance(given, optuna.FloatDistribution):
        return (Log, (given.low, given.high)) if given.log else (Linear, (given.low, given.high, given.step))
    return None

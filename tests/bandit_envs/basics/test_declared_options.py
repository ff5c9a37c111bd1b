"""Declared options: what an annotation says is held against a value once, when a part is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pytest

from bandit_envs.basics.options import (
    PER_TRIAL,
    SQUARED_SCALE,
    Checked,
    PerTrial,
    at_least_one,
    fraction,
    not_negative,
    number,
    one_of,
    positive,
    positive_fraction,
    probability,
    require_annotated,
    whole,
)


@dataclass(frozen=True)
class Part(Checked):
    rate: Annotated[float, positive("it is a rate")] = 1.0
    size: Annotated[int, whole(2, "one is none")] | None = None
    least: Annotated[float, not_negative("inf is for none", infinite=True)] = 0.0
    scale: Annotated[float, positive(), SQUARED_SCALE] = 1.0
    level: Annotated[float, probability()] = 0.5
    share: Annotated[float, fraction()] = 0.5
    kept: Annotated[float, positive_fraction()] = 1.0
    factor: Annotated[float, at_least_one()] = 1.0
    even: Annotated[int, number("even", lambda value: value % 2 == 0)] = 2
    name: Annotated[str, one_of("a", "b")] = "a"
    noise: Annotated[PerTrial, positive("it is a noise")] = 1.0
    width: Annotated[float, PER_TRIAL, not_negative()] = 1.0
    switch: bool = False
    free: Any = None


ALLOWED: dict[str, list[Any]] = {
    "rate": [0.1, 3, np.float32(0.5), np.int8(2), Fraction(1, 2)],
    "size": [2, np.int64(7), None],
    "least": [0.0, np.inf],
    "scale": [1e-150, 1e150],
    "level": [0.01],
    "share": [0.0, 1.0, 0, 1],
    "kept": [1.0, 0.1],
    "factor": [1.0, 1],
    "even": [4],
    "name": ["b"],
    "noise": [2.0, np.array([1.0, 2.0]), np.float64(3.0)],
    "width": [np.array([0.0, 1.0])],
    "switch": [True],
    "free": ["anything", [1]],
}
REFUSED: dict[str, list[Any]] = {
    "rate": [0.0, -1, np.nan, np.inf, "a", True, np.array([1.0]), [1.0], 10**400, None],
    "size": [1, 2.0, True, "2", 2**63],
    "least": [-1.0, np.nan, -np.inf],
    "scale": [1e-200, 1e200, 0.0],
    "level": [0.0, 1.0],
    "share": [-0.1, 1.1],
    "kept": [0.0, 1.1],
    "factor": [0.9],
    "even": [3, 2.0],
    "name": ["c", None, 1, np.array(["a", "b"])],
    "noise": [np.array([1.0, 0.0]), np.array([]), [1.0, 2.0], np.array([True]), np.ones((1, 2))],
    "width": [np.array([-1.0]), "a"],
    "switch": ["no", 1, None],
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_value_that_an_annotation_allows_is_kept_as_pythons(name):
    for value in ALLOWED[name]:
        kept = getattr(Part(**{name: value}), name)
        assert not isinstance(kept, np.number | Fraction)
        np.testing.assert_array_equal(kept, value)
        require_annotated(Part, {name: kept})


def test_a_fraction_that_nothing_makes_a_float_is_refused():
    """Solvers of numpy take none: it is held as a float by a part, and given as it is to a factory."""
    with pytest.raises(ValueError, match=r"rate must be positive, got Fraction\(1, 2\)"):
        require_annotated(Part, {"rate": Fraction(1, 2)})


@pytest.mark.parametrize("name", REFUSED)
def test_another_value_is_refused_by_its_name_and_with_what_was_given(name):
    for value in REFUSED[name]:
        says = rf"^{name} must be .*, got {re.escape(repr(value))[:30]}.*; "
        with pytest.raises(ValueError, match=says):
            Part(**{name: value})
        with pytest.raises(ValueError, match=says):
            require_annotated(Part, {name: value})


def test_the_words_are_those_of_the_range_and_a_remedy_or_the_default_follows():
    said = {
        "rate": (-1.0, "rate must be positive, got -1.0; it is a rate"),
        "size": (1, "size must be an integer of at least 2 or None, got 1; one is none"),
        "scale": (1e200, "scale must be from 1e-150 to 1e+150, got 1e+200; it is squared"),
        "level": (2.0, "level must be in (0, 1), got 2.0; by default it is 0.5"),
        "noise": ([1.0], "noise must be a number or an array of one a trial, got [1.0]; it is a noise"),
    }
    for name, (value, words) in said.items():
        with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
            Part(**{name: value})

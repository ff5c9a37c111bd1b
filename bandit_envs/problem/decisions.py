"""The decision set: arms or a box, contexts, and the units of actions and points."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, as_array, require, require_switch, shown, written_as
from bandit_envs.basics.types import Floats, Ints, fixed, fixed_arrays

SLACK = 1e-6  # of an action outside the box [-1, 1], by rounding

Box = tuple[Any, Any]  # low and high, (d,) each
ROUNDING = 1e-9  # of a side of the box, by which arms may lie outside


def checked_places(arms: Any, box: Box, contexts: Any) -> dict[str, Any]:
    """Return a setting's fields of arms and contexts as arrays, or raise."""
    anchors = corner("low", box[0]) if arms is None else arms
    decisions = Decisions(anchors, contexts, *box)
    found = {"low": decisions.low, "high": decisions.high}
    if contexts is not None:
        found["contexts"] = decisions.contexts
    # `decisions` is what the property computes.
    return found if arms is None else {**found, "arms": decisions.arms, "decisions": decisions}


def checked_context_box(arms: Any, contexts: Any, box: Box) -> dict[str, Any]:
    """Return a setting's bounds of contexts as arrays, {} without any, or raise."""
    low, high = box
    if low is None and high is None:
        return {}
    usable = arms is None and contexts is None and low is not None and high is not None
    expected = "both given, with neither arms nor contexts"
    require(usable, "context_low and context_high", expected, box)
    with written_as({"low": "context_low", "high": "context_high"}):
        found = Decisions(corner("low", low), None, low, high)
    return {"context_low": found.low, "context_high": found.high}


@dataclass(frozen=True, eq=False)
class Decisions:
    """Hold A arms and Z contexts; a *point* is a (context, arm) pair with index context * A + arm.

    Args:
        arms: features in the kernel's units, (A, d). On a box they are the anchors: function laws may use
            them, and figures show them.
        contexts: (Z, dz); the default is one context without features.
        low, high: the box, (d,); the bounds of the arms if not given.
        continuous: whether any point of the box may be played, or the arms only.
        duel: whether an action is a pair of arms, of which the feedback says who won.
    """

    arms: Floats
    contexts: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    continuous: bool = False
    duel: bool = False

    def __post_init__(self) -> None:
        arms = _features("arms", self.arms, 1)
        contexts = np.zeros((1, 0)) if self.contexts is None else _features("contexts", self.contexts, 0)
        low, high = _bounds(arms, self.low, self.high)
        require_switch("continuous", self.continuous)
        require_switch("duel", self.duel)
        slack = ROUNDING * (high - low)
        outside = ((arms < low - slack) | (arms > high + slack)).any(axis=1)
        if outside.any():
            inside = f"in the box from {shown(low)} to {shown(high)}; widen low and high, or leave it out"
            raise ArgumentError("arms", f"must be {inside}, got {shown(arms[outside.argmax()])}")
        for name, value in {"arms": arms, "contexts": contexts, "low": low, "high": high}.items():
            object.__setattr__(self, name, fixed(value))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle or a copy, whose arrays are nobody's to write to either."""
        vars(self).update(fixed_arrays(state))

    @property
    def box(self) -> tuple[Floats, Floats]:
        """Return low and high, (d,) each."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    @property
    def action_shape(self) -> tuple[int, ...]:
        """Return the shape of one action: () of an arm, (2,) of a duel, (d,) on a box."""
        return (self.arms.shape[1],) if self.continuous else (2,) if self.duel else ()

    @property
    def num_arms(self) -> int:
        """Return A."""
        return len(self.arms)

    @property
    def num_contexts(self) -> int:
        """Return Z, 1 without contexts."""
        return 1 if self.contexts is None else len(self.contexts)

    @cached_property
    def points(self) -> Floats:
        """Return the features of all points, (Z * A, dz + d)."""
        points = np.concatenate([self.with_context(z, self.arms) for z in range(self.num_contexts)])
        return fixed(points)  # users' reward functions receive it

    @property
    def unit_arms(self) -> Floats:
        """Return the features of the arms scaled from low..high to [0, 1], (A, d)."""
        low, high = self.box
        return (self.arms - low) / np.where(high > low, high - low, 1.0)

    def scaled(self, factor: float) -> "Decisions":
        """Return the arms and box in other units, in the same contexts."""
        if factor == 1.0:
            return self
        low, high = self.box
        return replace(self, arms=factor * self.arms, low=factor * low, high=factor * high)

    def with_context(self, context: int, arms: Floats) -> Floats:
        """Return the features of arms in a context, (n, d) -> (n, dz + d)."""
        assert self.contexts is not None
        return np.hstack([np.broadcast_to(self.contexts[context], (len(arms), self.contexts.shape[1])), arms])

    def point_index(self, context: Ints, arm: Ints) -> Ints:
        """Return the indices of (context, arm) pairs, (n,)."""
        return context * self.num_arms + arm


def unit_grid(num_arms: int, dim: int = 1) -> Floats:
    """Return evenly spread points of [0, 1]^dim, (num_arms, dim).

    They form a regular grid if `num_arms` is a dim-th power, else Halton's sequence, which has any length.
    """
    side = round(num_arms ** (1.0 / dim))
    if side**dim != num_arms:
        from scipy.stats import qmc

        return qmc.Halton(dim, scramble=False).random(num_arms)
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, side)] * dim, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, dim)


def uniform_points(num_arms: int, dim: int, seed: int) -> Floats:
    """Return independent uniform points of [0, 1]^dim, (num_arms, dim), ascending where dim is 1."""
    points = np.random.default_rng(seed).random((num_arms, dim))
    return np.sort(points, axis=0) if dim == 1 else points


def corner(name: str, bound: Any) -> Floats:
    """Return the corner of a box as an arm, (1, d)."""
    return np.atleast_1d(numbers(name, bound, "one a feature"))[None]


def numbers(name: str, values: Any, expected: str) -> Floats:
    """Return a copy of an array of finite numbers, or raise an error with the expected form."""
    given = as_array(values)
    finite = given.dtype.kind in "biuf" and np.isfinite(given).all()
    require(finite, name, f"finite numbers, {expected}", values)
    return given.astype(np.float64)


def _features(name: str, values: Any, least: int) -> Floats:
    features = numbers(name, values, "an array (count, features)")
    if features.ndim != 2 or len(features) == 0 or features.shape[1] < least:
        raise ArgumentError(name, f"must be an array (count, features), got shape {features.shape}")
    return features


def _bounds(arms: Floats, low: Any, high: Any) -> tuple[Floats, Floats]:
    expected = f"a vector of {arms.shape[1]}"
    low = arms.min(axis=0) if low is None else numbers("low", low, expected)
    high = arms.max(axis=0) if high is None else numbers("high", high, expected)
    for name, bound in {"low": low, "high": high}.items():
        require(bound.shape == (arms.shape[1],), name, f"finite numbers, {expected}", bound)
    if (low > high).any():
        raise ArgumentError("low", f"must be at most high = {shown(high)}, got {shown(low)}")
    return low, high

"""How much each point of a box is wanted, given what is believed of the reward and of every cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Floats

from ..beliefs.surface import Surface
from ..beliefs.surrogates import Prediction
from .landscape import with_context


class Acquisition(Protocol):
    """Turns beliefs about 1 + C functions into scores; with a method `slopes` it can be climbed."""

    def __call__(self, believed: Prediction) -> Floats:
        """Scores, (A,)."""
        ...


class JointLocal(NamedTuple):
    """The beliefs at n points and how they change with them."""

    believed: Prediction
    pull: Callable[[Prediction], Floats]  # slopes in means and deviations -> slopes in x, (n, D)


class JointSurface:
    """Beliefs about 1 + C functions, each centre + scale h.

    Args:
        each: surfaces of h.
        centre, scale: (1 + C,).
    """

    def __init__(self, each: Sequence[Surface], centre: Floats, scale: Floats):
        self.each, self.centre, self.scale = each, centre, scale

    def predict(self, x: Floats) -> Prediction:
        """Means and deviations, (n, D) -> (1 + C, n) each."""
        return self.local(x).believed

    def local(self, x: Floats) -> JointLocal:
        """Means and deviations, and what their slopes need, (n, D)."""
        scale = self.scale[:, None]
        local = [surface.local(x) for surface in self.each]
        mean = self.centre[:, None] + scale * np.array([each.mean[0] for each in local])  # of the only world
        std = scale * np.array([each.std for each in local])

        def pull(slopes: Prediction) -> Floats:
            rows = zip(local, scale * slopes.mean, scale * slopes.std, strict=True)
            return np.sum([each.pull(of_mean[None], of_std) for each, of_mean, of_std in rows], axis=0)

        return JointLocal(Prediction(mean, std), pull)


class JointLandscape:
    """Scores of arms in one context, and their slopes where the acquisition has any.

    Args:
        wanted: turns what is believed into scores.
        surface: what is believed.
        context: features of the context, (dz,).
        t: t = 1, 2, ...
    """

    def __init__(self, wanted: Acquisition, surface: JointSurface, context: Floats, t: int):
        self.wanted, self.surface, self.context, self.t = wanted, surface, context, t
        self.unit = 1.0  # of the scores, which are logarithms

    def scores(self, arms: Floats) -> Floats:
        """Scores, (n, d) -> (n,)."""
        return self.wanted(self.surface.predict(with_context(self.context, arms)))

    def climb(self, arms: Floats) -> tuple[Floats, Floats] | None:
        """Scores and slopes, (n, d) -> (n,) and (n, d); None where the acquisition has no slopes."""
        slopes_of = getattr(self.wanted, "slopes", None)
        if slopes_of is None:
            return None
        believed, pull = self.surface.local(with_context(self.context, arms))
        return self.wanted(believed), pull(slopes_of(believed))[:, len(self.context) :]

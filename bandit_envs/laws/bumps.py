"""Draw bumps of exactly known norm; each point is near-optimal for at most one (Scarlett et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import root_scalar

from bandit_envs.basics.arguments import require, require_positive, require_scale
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.slopes import of_unit_norm
from bandit_envs.laws.bump_shape import Bump, Shape, Spectrum
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import FunctionLaw

WIDTHS = np.geomspace(1e-3, 10.0, 400)  # of bumps in length-scales, searched for the given norm


@dataclass(frozen=True)
class Bumps(FunctionLaw):
    """Draw g(x) = 2 eps h((x - c) / w) / h(0) of RKHS norm B, c among M^d centres (Scarlett et al. 2017).

    c is uniform, w is such that |g| = B, and centres are 2 zeta w apart, M = floor(side / (2 zeta w)) a
    dimension, so that each point is eps-optimal for at most one; see `Shape`. The norm is that over R^d; on
    a subset it is at most B. To find an eps-optimal point an algorithm must distinguish the M^d functions.

    On points that leave out a bump's centre its maximum on them is below 2 eps.

    Args:
        bound: B.
        eps: half the height of a bump.
    """

    bound: float = 2.0
    eps: float = 0.1

    def __post_init__(self) -> None:
        require_scale("bound", self.bound, "it is the norm of every bump")
        require_positive("eps", self.eps, "it is half the height of a bump")

    @property
    def norm_bound(self) -> float:
        """Return B."""
        return self.bound

    @property
    def has_box_form(self) -> bool:
        """Return True: the function is a formula."""
        return True

    def width(self, kernel: Any, dim: int) -> float:
        """Return the w at which a bump has norm B: the norm falls with w up to some length-scales."""
        return _width(self, Spectrum.of(kernel, dim))

    def centres(self, gram: Gram) -> list[Floats]:
        """Return the centres along each dimension of the box of the points, (M,) each."""
        dim = gram.points.shape[1]
        spacing = 2.0 * Shape(dim).half * self.width(gram.kernel, dim)
        counts = [int(side / spacing) for side in np.ptp(gram.points, axis=0)]
        room = f"smaller: bumps are {spacing:.3g} wide, and at least one must fit along each side of"
        require(min(counts) > 0, "eps", f"{room} {np.ptp(gram.points, axis=0)}", self.eps)
        low = gram.points.min(axis=0)
        return [low[i] + spacing * (np.arange(count) + 0.5) for i, count in enumerate(counts)]

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw a centre and return its bump."""
        centre = np.array([rng.choice(along) for along in self.centres(gram)])
        bump = Bump(centre, self.width(gram.kernel, len(centre)), 2.0 * self.eps)
        return Drawn(bump(gram.points), self.bound, bump)

    def steepest(self, gram: Gram) -> float:
        """Return B max d(x, x') / |x - x'|."""
        return self.bound * of_unit_norm(gram)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """Return -B s, s the largest prior std."""
        return -self.bound * float(np.sqrt(gram.diagonal.max()))


@lru_cache(maxsize=64)
def _width(law: Bumps, spectrum: Spectrum) -> float:
    shape, wanted = Shape(spectrum.dim), np.log(law.bound / (2.0 * law.eps))
    widths = WIDTHS * spectrum.length_scale
    low_enough = shape.log_norm(widths, spectrum) <= wanted
    expected = f"smaller: no bump of norm {law.bound:g} reaches height 2 eps"
    require(low_enough.any() and not low_enough[0], "eps", expected, law.eps)
    first = int(low_enough.argmax())

    def excess(width: float) -> float:
        return float(shape.log_norm(np.array([width]), spectrum)[0] - wanted)

    return root_scalar(excess, bracket=(widths[first - 1], widths[first])).root

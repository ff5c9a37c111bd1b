"""Bumps of exactly known norm, each point near the maximum of at most one (Scarlett et al. 2017)."""

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

WIDTHS = np.geomspace(1e-3, 10.0, 400)  # of bumps in length-scales, among which the norm is looked for


@dataclass(frozen=True)
class Bumps(FunctionLaw):
    """g(x) = 2 eps h((x - c) / w) / h(0) of RKHS norm B, c uniform among M^d centres (Scarlett et al. 2017).

    w is such that |g| = B, and centres are 2 zeta w apart, M = floor(side / (2 zeta w)) a dimension, so that
    each point is eps-optimal for at most one; see `Shape`. The norm is that over R^d: on a set it is at most
    that. An algorithm finds an eps-optimal point only if it tells the M^d functions apart.

    On points that leave a bump's centre out its maximum on them is below 2 eps.

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
        """B."""
        return self.bound

    @property
    def has_box_form(self) -> bool:
        """It is a formula."""
        return True

    def width(self, kernel: Any, dim: int) -> float:
        """The w at which a bump has the norm B: the norm falls with w up to some length-scales."""
        return _width(self, Spectrum.of(kernel, dim))

    def centres(self, gram: Gram) -> list[Floats]:
        """Those along each dimension of the box of the points, (M,) each."""
        dim = gram.points.shape[1]
        spacing = 2.0 * Shape(dim).half * self.width(gram.kernel, dim)
        counts = [int(side / spacing) for side in np.ptp(gram.points, axis=0)]
        room = f"smaller: bumps are {spacing:.3g} wide, and there is room for one at least along each side of"
        require(min(counts) > 0, "eps", f"{room} {np.ptp(gram.points, axis=0)}", self.eps)
        low = gram.points.min(axis=0)
        return [low[i] + spacing * (np.arange(count) + 0.5) for i, count in enumerate(counts)]

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw a centre."""
        centre = np.array([rng.choice(along) for along in self.centres(gram)])
        bump = Bump(centre, self.width(gram.kernel, len(centre)), 2.0 * self.eps)
        return Drawn(bump(gram.points), self.bound, bump)

    def steepest(self, gram: Gram) -> float:
        """B max d(x, x') / |x - x'|."""
        return self.bound * of_unit_norm(gram)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """-B s, s the largest prior deviation."""
        return -self.bound * float(np.sqrt(gram.diagonal.max()))


@lru_cache(maxsize=64)
def _width(law: Bumps, spectrum: Spectrum) -> float:
    shape, wanted = Shape(spectrum.dim), np.log(law.bound / (2.0 * law.eps))
    widths = WIDTHS * spectrum.length_scale
    low_enough = shape.log_norm(widths, spectrum) <= wanted
    expected = f"smaller: no bump of norm {law.bound:g} is as high"
    require(low_enough.any() and not low_enough[0], "eps", expected, law.eps)
    first = int(low_enough.argmax())

    def excess(width: float) -> float:
        return float(shape.log_norm(np.array([width]), spectrum)[0] - wanted)

    return root_scalar(excess, bracket=(widths[first - 1], widths[first])).root

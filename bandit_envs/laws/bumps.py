"""Bumps of exactly known norm, each point near the maximum of at least one."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import gammaln, hyp0f1, logsumexp
from sklearn.gaussian_process.kernels import RBF, Matern

from bandit_envs.basics.arguments import ArgumentError, require, require_positive, require_scale, shown
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import BLOCK_BYTES, blocks
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import OfBoundedNorm

NODES = 512  # of a quadrature on [0, 1]; far from the centre more, for h oscillates
WIDTHS = np.geomspace(1e-3, 10.0, 400)  # of bumps in length-scales, searched for the given norm


@dataclass(frozen=True)
class Spectrum:
    r"""Hold the spectral density Shat(q), k(x) = int Shat(q) exp(2 pi i q'x) dq, of an isotropic kernel.

    SE: (2 pi l^2)^(d/2) exp(-2 pi^2 l^2 q^2). Matern: 2^d pi^(d/2) Gamma(nu + d/2) (2 nu)^nu / (Gamma(nu)
    l^(2 nu)) (2 nu / l^2 + 4 pi^2 q^2)^-(nu + d/2).
    """

    dim: int
    length_scale: float
    order: float  # nu; infinite for SE

    @classmethod
    def of(cls, kernel: Any, dim: int) -> "Spectrum":
        """Return the spectral density of a scikit-learn kernel."""
        if not isinstance(kernel, RBF) or np.size(kernel.length_scale) != 1:
            remedy = 'must be "rbf" or a "matern..." of one length_scale and of signal_variance 1, for bumps'
            raise ArgumentError("kernel", f"{remedy}, got {shown(kernel)}")
        order = float(kernel.nu) if isinstance(kernel, Matern) else math.inf
        return cls(dim, float(np.squeeze(kernel.length_scale)), order)

    def log(self, q: Floats) -> Floats:
        """Return log Shat, in the shape of q."""
        d, scale, nu = self.dim, self.length_scale, self.order
        if math.isinf(nu):
            return d / 2 * np.log(2 * np.pi * scale**2) - 2 * (np.pi * scale * q) ** 2
        constant = d * np.log(2) + d / 2 * np.log(np.pi) + gammaln(nu + d / 2) - gammaln(nu)
        constant += nu * np.log(2 * nu) - 2 * nu * np.log(scale)
        return constant - (nu + d / 2) * np.log(2 * nu / scale**2 + (2 * np.pi * q) ** 2)


@dataclass(frozen=True)
class Shape:
    """Evaluate h(x) = int_{|u| < 1} H(u) cos(2 pi u'x) du, H(u) = exp(-1 / (1 - |u|^2)), radial in x.

    Over the unit ball it is S int_0^1 H(r) r^(d-1) 0F1(d/2, -(pi r |x|)^2) dr, S the area of its surface.
    """

    dim: int

    def __call__(self, distance: Floats) -> Floats:
        """Return h(x) / h(0) at distances |x|, (n,) -> (n,)."""
        r, log_weight = _nodes(NODES * max(1, math.ceil(distance.max(initial=0.0) / 32)))
        weight = np.exp(log_weight - 1.0 / (1.0 - r**2)) * r ** (self.dim - 1)  # H(r) r^(d-1) dr
        parts = [
            np.asarray(hyp0f1(self.dim / 2, -np.square(np.pi * block[:, None] * r))) @ weight
            for block in blocks(distance, len(r), BLOCK_BYTES)
        ]
        return np.concatenate(parts) / weight.sum()

    @property
    def half(self) -> float:
        """Return zeta: h(x) <= h(0) / 2 where any |x_i| >= zeta."""
        return _half(self)

    def log_norm(self, width: Floats, spectrum: Spectrum) -> Floats:
        """Return log |h((x - c) / w) / h(0)|_H over R^d, (n,) -> (n,); in logarithms, as SE overflows.

        |.|^2 = w^d / h(0)^2 int_{|u| < 1} H(u)^2 / Shat(|u| / w) du.
        """
        r, log_weight = _nodes(NODES)
        log_surface = float(np.log(2) + self.dim / 2 * np.log(np.pi) - gammaln(self.dim / 2))
        log_weight = log_weight + log_surface + (self.dim - 1) * np.log(r)
        log_h = -1.0 / (1.0 - r**2)
        whole = logsumexp(log_weight + log_h)
        inside = logsumexp(log_weight + 2 * log_h - spectrum.log(r / width[:, None]), axis=1)
        return np.asarray((self.dim * np.log(width) + inside) / 2 - whole)


@dataclass(frozen=True, eq=False)
class Bump:
    """Evaluate one bump."""

    centre: Floats  # c, (d,)
    width: float  # w
    height: float  # at c

    def __call__(self, x: Floats) -> Floats:
        """Return the values, (n, d) -> (n,)."""
        distance = np.linalg.norm(x - self.centre, axis=1) / self.width
        return self.height * Shape(len(self.centre))(distance)


@lru_cache(maxsize=16)
def _half(shape: Shape) -> float:
    return root_scalar(lambda x: shape(np.array([x]))[0] - 0.5, bracket=(0.0, 1.0)).root


@lru_cache(maxsize=16)  # computing 512 nodes takes 0.1 s
def _nodes(count: int) -> tuple[Floats, Floats]:
    node, weight = np.polynomial.legendre.leggauss(count)
    return (node + 1.0) / 2.0, np.log(weight / 2.0)


@dataclass(frozen=True)
class Bumps(OfBoundedNorm):
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

    has_box_form = True

    def __post_init__(self) -> None:
        require_scale("bound", self.bound, "it is the norm of every bump")
        require_positive("eps", self.eps, "it is half the height of a bump")

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
        centre = np.array([rng.choice(along) for along in self.centres(gram)])
        bump = Bump(centre, self.width(gram.kernel, len(centre)), 2.0 * self.eps)
        return Drawn(bump(gram.points), self.bound, bump)


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

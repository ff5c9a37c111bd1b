"""Draw functions on which no algorithm has small regret, for any kernel (Ma & Scarlett), and bumps."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import root_scalar
from scipy.special import gammaln, hyp0f1, logsumexp
from sklearn.gaussian_process.kernels import RBF, Matern

from bandit_envs.basics.arguments import ArgumentError, require, shown
from bandit_envs.basics.options import SQUARED_SCALE, Checked, count, positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import BLOCK_BYTES, blocks
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.functions import OfBoundedNorm

TOLERANCE = 1.001  # largest allowed d_x / d_T; |f_z| is then at most B / 4 times its root
MOST_STEPS = 20_000
MOST_NORM = 1e6  # in noise stds: beyond, V has no factor in double precision
LEAST_DIMENSION = 4.0  # of d_T for which the lower bound is proved
_DESIGNS: "WeakKeyDictionary[Gram, dict[float, Design]]" = WeakKeyDictionary()


class Design(NamedTuple):
    """Hold the weights nu that maximise logdet(sum_x nu_x phi_x phi_x' + rho I), phi_x columns of a root."""

    weight: Floats  # (N,) nu, of sum 1
    whitened: Floats  # (r, N) L^-1 phi with LL' = V = sum_x nu_x phi_x phi_x' + rho I
    factor: Floats  # (r, r) L

    @property
    def leverage(self) -> Floats:
        """Return d_x = P_xx / rho = phi_x' V^-1 phi_x, (N,); P is the posterior covariance for rho and nu."""
        return (self.whitened**2).sum(axis=0)

    @property
    def dimension(self) -> float:
        """Return d_T = sum_x nu_x d_x, the effective dimension."""
        return float(self.weight @ self.leverage)


def design_of(gram: Gram, rho: float) -> Design:
    """Return the design of a kernel on a set, computed once in some hundred steps of O(r^2 N).

    nu_x is multiplied by d_x / d_T until no d_x is above 1.001 d_T; at the optimum none is above d_T.
    """
    kept = _DESIGNS.setdefault(gram, {})
    if rho not in kept:
        kept[rho] = _optimal(gram.root, rho)
    return kept[rho]


def _optimal(root: Floats, rho: float) -> Design:
    weight = np.full(root.shape[1], 1.0 / root.shape[1])
    for _ in range(MOST_STEPS):
        factor = cholesky((root * weight) @ root.T + rho * np.eye(len(root)), lower=True)
        design = Design(weight, solve_triangular(factor, root, lower=True), factor)
        share = design.leverage / design.dimension
        if share.max() <= TOLERANCE:
            return design
        weight = weight * share
        weight /= weight.sum()
    raise ValueError(
        f"no design of the {root.shape[1]} points was found in {MOST_STEPS} steps; take fewer points or a "
        "larger noise_std"
    )


@dataclass(frozen=True)
class HardFunctions(Checked, OfBoundedNorm):
    r"""Draw f_z = B / (4 sqrt(rho d_T)) P[:, z], z ~ nu, rho = R^2 / (B^2 T) (Ma & Scarlett, Theorem 1).

    nu is the `Design` of K and rho, and P = K - K D^(1/2) (D^(1/2) K D^(1/2) + rho I)^-1 D^(1/2) K with D =
    diag(nu) (their Lemma 1). With K = phi'phi this is P = rho phi' V^-1 phi, so that f_z = phi'c with
    c = B sqrt(rho / d_T) / 4 V^-1 phi_z and |f_z| = |c|: this avoids f'K^-1 f, which loses digits.
    |f_z| <= B / 4 (times sqrt(1.001), the tolerance of the design), and the maximum is
    f_z(z) = B sqrt(rho / d_T) d_z / 4, which is B sqrt(rho d_T) / 4 where nu is optimal.

    For *every* algorithm under Gaussian noise of std R, the regret averaged over z is at least
    (R / 16) sqrt(T d_T), if d_T >= 4 (`least_regret`). The bound holds for one function throughout, and for
    algorithms that are not given |f_z|.

    Args:
        bound: B, the norm of the class of functions.
        noise_std: R.
        horizon: T, for which the functions are hard; a run may be longer.
        rescaled: scale each function to the norm B, ten times up or more; they stay hard, but no bound is
            proved.
    """

    bound: Annotated[float, positive("it is the largest norm of the functions"), SQUARED_SCALE] = 2.0
    noise_std: Annotated[float, positive("without noise no function stays hard")] = 0.1
    horizon: Annotated[int, count("it is the number of rounds")] = 1000
    rescaled: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bound > MOST_NORM * self.noise_std:
            complaint = f"must be at most {MOST_NORM:g} times noise_std, got {shown(self.bound)}"
            raise ArgumentError("bound", f"{complaint}; take a larger noise_std")
        object.__setattr__(self, "norm_is_drawn", not self.rescaled)

    @cached_property
    def rho(self) -> float:
        """Return R^2 / (B^2 T)."""
        return self.noise_std**2 / (self.bound**2 * self.horizon)

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        weight = design_of(gram, self.rho).weight
        return self.function(gram, int(rng.choice(gram.size, p=weight)))

    def function(self, gram: Gram, z: int) -> Drawn:
        """Return f_z on the points of the matrix, with its norm."""
        design = design_of(gram, self.rho)
        solved = solve_triangular(design.factor, design.whitened[:, z], lower=True, trans=1)
        coefficients = self.bound * np.sqrt(self.rho / design.dimension) / 4.0 * solved
        norm = float(np.linalg.norm(coefficients))
        drawn = Drawn(coefficients @ gram.root, norm)
        return drawn.rescaled(self.bound / norm)._replace(norm=self.bound) if self.rescaled else drawn

    def least_regret(self, gram: Gram) -> float | None:
        """Return (R / 16) sqrt(T d_T), a lower bound of expected regret; None if it is not proved."""
        dimension = design_of(gram, self.rho).dimension
        if self.rescaled or dimension < LEAST_DIMENSION:
            return None
        return self.noise_std / 16.0 * float(np.sqrt(self.horizon * dimension))


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
class Bumps(Checked, OfBoundedNorm):
    """Draw g(x) = 2 eps h((x - c) / w) / h(0) of RKHS norm B, c among M^d centres (Scarlett et al. 2017).

    c is uniform, w is such that |g| = B, and centres are 2 zeta w apart, M = floor(side / (2 zeta w)) a
    dimension, so that each point is eps-optimal for at most one; see `Shape`. The norm is that over R^d; on
    a subset it is at most B. To find an eps-optimal point an algorithm must distinguish the M^d functions.

    On points that leave out a bump's centre its maximum on them is below 2 eps.

    Args:
        bound: B.
        eps: half the height of a bump.
    """

    bound: Annotated[float, positive("it is the norm of every bump"), SQUARED_SCALE] = 2.0
    eps: Annotated[float, positive("it is half the height of a bump")] = 0.1

    has_box_form = True

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

"""Draw functions on which no algorithm has small regret, on a finite set, for any kernel (Ma & Scarlett)."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from bandit_envs.basics import arguments
from bandit_envs.basics.types import Floats
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
class HardFunctions(OfBoundedNorm):
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

    bound: float = 2.0
    noise_std: float = 0.1
    horizon: int = 1000
    rescaled: bool = False

    def __post_init__(self) -> None:
        arguments.require_scale("bound", self.bound, "it is the largest norm of the functions")
        arguments.require_positive("noise_std", self.noise_std, "without noise no function stays hard")
        if self.bound > MOST_NORM * self.noise_std:
            complaint = f"must be at most {MOST_NORM:g} times noise_std, got {arguments.shown(self.bound)}"
            raise arguments.ArgumentError("bound", f"{complaint}; take a larger noise_std")
        arguments.require_integer("horizon", self.horizon, 1, "it is the number of rounds")
        arguments.require_switch("rescaled", self.rescaled)
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

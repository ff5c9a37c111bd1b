"""Functions drawn from a Gaussian process, or from its RKHS with exactly known norm."""

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_scale
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import spread
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.random_features import feature_count
from bandit_envs.kernels.slopes import of_samples, of_unit_norm
from bandit_envs.laws.drawn import Continuation, Drawn, Expansion, Waves
from bandit_envs.laws.functions.base import FunctionLaw

ROUNDING = 1e-9  # of the size of a function, below which its variation counts as none
CENTRES = 1000  # of an expansion where the points are too many for a covariance matrix


@dataclass(frozen=True)
class GPSample(FunctionLaw):
    """Draw f ~ GP(0, k) (Srinivas et al. 2010, Section 6).

    Between the points f is the posterior mean given its values there: one function on the whole box, equal to
    the finite set's at the points. A full draw differs from it by the posterior std that the points leave:
    nothing for a smooth kernel on points closer than its length-scale; for others f is a draw smoothed below
    the distance of neighbours. A kernel of `RandomFeatures` determines f everywhere.

    The method follows kernel and points (`Gram.structure`): the root of the covariance on up to 20,000
    points, and for a low-rank kernel on more while that takes seconds, O(r N); beyond, the factors of a
    product kernel on a product of sets, O(N n_i), or Fourier transforms for a stationary kernel on a
    regular grid, O(N log N). On other sets of that size only random features are drawn.
    """

    has_box_form = True
    is_gaussian = True

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Return z @ R with R'R = K, or a draw by the structure of kernel and points."""
        waves = Waves.drawn(gram.kernel, rng)
        if waves is not None:
            return Drawn(waves(gram.points), between=waves)
        if gram.structure is not None:
            return Drawn(gram.structure.draw(rng))
        z = gram.white(rng)
        return Drawn(z @ gram.root, between=Continuation(gram, z))

    def steepest(self, gram: Gram) -> float:
        """Return a slope that a draw exceeds with probability 0.01 at most."""
        return of_samples(gram)

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Return Z @ R in one product, where single draws are z @ R."""
        if gram.structure is not None or feature_count(gram.kernel) is not None:
            return super().draws(gram, rng, count)
        return np.array([gram.white(rng) for _ in range(count)]) @ gram.root


@dataclass(frozen=True)
class RKHSFunction(FunctionLaw):
    r"""Draw f = sum_i alpha_i k(x_i, .), the posterior mean for y ~ N(0, K) (Chowdhury & Gopalan 2017, 6).

    alpha = (K + rho I)^{-1} y and ||f||^2 = alpha' K alpha, with rho = `ridge` times the range of y and the
    prior std, which the paper takes as 1. In the basis P = Q R of `Gram.eigen_rotation`, y = z @ P and
    f = w @ P with w_i = z_i e_i / (e_i + rho), so that ||f|| = |w|; O(r N). z is drawn for the pivoted root
    and rotated, because the signs of eigenvectors differ between machines. If y is constant, as on a single
    point, |y| replaces its range.

    Where the root would take too long (`Gram.has_quick_root`: on more than 20,000 points, unless the kernel
    is of low rank), y is drawn on 1000 of the points, and f is the posterior mean given these: its norm is as
    exact, and f(x) = k(x, X) alpha is computed in blocks, or by the structure of kernel and points.

    Args:
        ridge: rho as a share of the range of y times the prior std.
        norm: if given, f is scaled to have exactly this RKHS norm.
    """

    ridge: float = 0.01
    norm: float | None = None

    has_box_form = True

    def __post_init__(self) -> None:
        require(is_number(self.ridge) and self.ridge > 0, "ridge", "positive", self.ridge)
        if self.norm is not None:
            require(is_number(self.norm), "norm", "None or positive", self.norm)
            require_scale("norm", self.norm, "or leave it out, and norms are drawn")

    @property
    def norm_is_drawn(self) -> bool:
        return self.norm is None

    @property
    def norm_bound(self) -> float | None:
        return self.norm

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        drawn = self._shrunk(gram, rng) if gram.has_quick_root else self._spread(gram, rng)
        if self.norm is None:
            return drawn
        assert drawn.norm is not None
        return drawn.rescaled(self.norm / drawn.norm)._replace(norm=self.norm)

    def _shrunk(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        eigenvalues, rotation = gram.eigen_rotation
        white = gram.white(rng)
        y = white @ gram.root
        z = rotation @ white
        size = np.abs(y).max()
        extent = np.ptp(y) if np.ptp(y) > ROUNDING * size else size
        rho = self.ridge * extent * np.sqrt(gram.diagonal.max())
        weights = z * eigenvalues / (eigenvalues + rho)
        values = (weights @ rotation) @ gram.root
        alpha = (y - values) / rho  # rho alpha = y - K alpha
        return Drawn(values, float(np.linalg.norm(weights)), Expansion(gram.kernel, gram.points, alpha))

    def _spread(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw on some of the points and evaluate at all of them."""
        drawn = self._shrunk(gram.some(CENTRES), rng)
        assert isinstance(drawn.between, Expansion)
        return drawn._replace(values=gram.combine(spread(gram.size, CENTRES), drawn.between.alpha))

    def steepest(self, gram: Gram) -> float:
        """Return B max d(x, x') / |x - x'|; where norms are drawn, the slope of the samples y."""
        return of_samples(gram) if self.norm is None else self.norm * of_unit_norm(gram)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """Return -B s, s the largest prior std: |f(x)| = |<f, k(x, .)>| <= ||f|| sqrt(k(x, x))."""
        if norm is None:
            return super().lower_bound(gram, prior_mean, norm)
        return -norm * float(np.sqrt(gram.diagonal.max()))

r"""Draw functions of stationary kernels on regular grids by Fourier transforms.

The covariances of a grid of sides n_i are those of some points of a torus of sides 2 m_i, m_i >= n_i - 1, on
which the lag of point j is min(j, 2m - j). There K = F* diag(e) F with the transform e of the lags, so that
f = F* sqrt(max(e, 0)) F w has the covariance K where no e is negative, w white noise on the torus. Where some
are, each covariance errs by at most sum |negative e| / prod 2 m_i (Dietrich & Newsam 1997).
"""

import math
from functools import cached_property
from typing import Any

import numpy as np
import scipy.fft
from sklearn.gaussian_process import kernels

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.kernels.kronecker import split

fft: Any = scipy.fft  # its functions have the types of their dispatchers

LARGEST_ERROR = 1e-10  # of a covariance, relative to the prior variance
GROWTH = 1.5  # factor by which a torus that is too small is enlarged
MOST_LAGS = 2**25  # points of the largest torus, of which three copies take 0.8 GB
# Even in each feature, and stationary.
EVEN = (kernels.RBF, kernels.Matern, kernels.RationalQuadratic, kernels.ConstantKernel, kernels.WhiteKernel)
ROUNDING = 1e-9  # of a step, by which the points of a regular grid may deviate


class Torus:
    """Hold the torus of a kernel even in each feature and of a grid, and the transform e of its lags."""

    def __init__(self, kernel: Any, steps: Floats, half: tuple[int, ...]):  # half: the m_i
        self.sides = tuple(2 * m for m in half)
        axes = [step * np.arange(m + 1) for step, m in zip(steps, half, strict=True)]
        lags = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        covariance = np.array(kernel(np.zeros((1, len(axes))), lags)[0], dtype=np.float64)
        covariance[0] = kernel.diag(lags[:1])[0]  # also under scikit-learn's WhiteKernel
        spectrum = fft.dctn(covariance.reshape([m + 1 for m in half]), type=1)
        for axis, side in enumerate(self.sides[:-1]):
            places = np.minimum(np.arange(side), side - np.arange(side))
            spectrum = spectrum.take(places, axis=axis)
        self.spectrum: Floats = spectrum  # e, the part that a transform of real numbers needs
        self._variance = float(covariance[0])

    @cached_property
    def root(self) -> Floats:
        """Return sqrt(max(e, 0)), which every draw is filtered by."""
        return np.sqrt(np.maximum(self.spectrum, 0.0))

    @property
    def twice(self) -> Ints:
        """Return the multiplicity of the entries along the last axis of e, of which one half is stored."""
        twice = np.full(self.spectrum.shape[-1], 2)
        twice[[0, -1]] = 1.0
        return twice

    @property
    def error(self) -> float:
        """Return a bound on the error of a covariance, relative to the prior variance."""
        negative = float((np.maximum(-self.spectrum, 0.0) @ self.twice).sum())
        return negative / math.prod(self.sides) / self._variance

    def filter(self, table: Floats, factor: Floats, sides: tuple[int, ...]) -> Floats:
        """Return F* diag(factor) F of a zero-padded table at the first points of each side, (N,).

        It goes axis by axis, so that zeros are not transformed, nor values that are not returned.
        """
        transform = fft.rfft(table, self.sides[-1])
        for axis in reversed(range(len(sides) - 1)):
            transform = fft.fft(transform, self.sides[axis], axis, overwrite_x=True)
        transform *= factor
        for axis, side in enumerate(sides[:-1]):
            wanted = (slice(None),) * axis + (slice(side),)
            transform = fft.ifft(transform, axis=axis, overwrite_x=True)[wanted]
        whole = fft.irfft(transform, self.sides[-1])
        return whole[..., : sides[-1]].flatten()  # a copy: a part would keep the whole torus in memory


class Circulant:
    """Hold a kernel even in each feature on a regular grid, by its steps and numbers of points."""

    def __init__(self, kernel: Any, steps: Floats, sides: tuple[int, ...]):
        self.kernel, self.steps, self.sides = kernel, steps, sides

    @classmethod
    def of(cls, kernel: Any, points: Floats) -> "Circulant | None":
        """Return the kernel on points, (N, d); None if it is not stationary, or they are no regular grid."""
        if not _is_even(kernel):
            return None
        sets = [each.points for each in split(points)]
        sides = tuple(map(len, sets))
        if len(sets) != points.shape[1] or math.prod(2 * side for side in sides) > MOST_LAGS:
            return None
        steps = [_step(axis[:, 0]) for axis in sets]
        return None if None in steps else cls(kernel, np.array(steps), sides)

    @property
    def lags(self) -> int:
        """Return the number of points of the smallest torus."""
        return math.prod(2 * m for m in self._half(1.0))

    @cached_property
    def least(self) -> Torus:
        """Return the smallest torus, whose products are exact, whatever the signs of e."""
        return Torus(self.kernel, self.steps, self._half(1.0))

    @cached_property
    def torus(self) -> Torus:
        """Return the first torus on which no covariance errs by more than 1e-10, or the largest."""
        scale, torus = 1.0, self.least
        while torus.error > LARGEST_ERROR:
            scale *= GROWTH
            if math.prod(2.0 * scale * n for n in self.sides) > MOST_LAGS:
                break
            torus = Torus(self.kernel, self.steps, self._half(scale))
        return torus

    @property
    def eigenvalues(self) -> Floats:
        """Return bounds on the eigenvalues of K, descending, (N,): the largest of the smallest torus.

        K is a block of the covariance of the torus, so that its i-th eigenvalue is at most the torus's
        (Cauchy's interlacing), whatever their signs.
        """
        each = np.repeat(self.least.spectrum.reshape(-1, len(self.least.twice)), self.least.twice, axis=1)
        largest = np.sort(each, axis=None)[::-1][: math.prod(self.sides)]
        return np.maximum(largest, 0.0, out=largest)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a function, (N,)."""
        torus = self.torus
        if torus.error > LARGEST_ERROR:
            complaint = f"must have covariances that decay on the largest torus, got {self.kernel!r}, where "
            remedy = "take a smaller length_scale, another kernel or random_features=512"
            raise ArgumentError("kernel", f"{complaint}they err by {torus.error:.1e}; {remedy}")
        return torus.filter(rng.standard_normal(torus.sides), torus.root, self.sides)

    def combine(self, point: Ints, weight: Floats) -> Floats:
        """Return K[:, X] @ w of some points, (u,) each -> (N,); exact to rounding."""
        table = np.zeros(self.sides)
        np.add.at(table, np.unravel_index(point, self.sides), weight)
        return self.least.filter(table, self.least.spectrum, self.sides)

    def _half(self, scale: float) -> tuple[int, ...]:
        """Return the m_i of a torus `scale` times the smallest."""
        return tuple(fft.next_fast_len(max(math.ceil(scale * (n - 1)), 1)) for n in self.sides)


def _is_even(kernel: Any) -> bool:
    """Return whether a kernel is stationary and even in each feature; False if it has an unknown part."""
    parts = [part for part in kernel.get_params(deep=False).values() if isinstance(part, kernels.Kernel)]
    composed = type(kernel) in (kernels.Sum, kernels.Product, OnColumns)
    return all(map(_is_even, parts)) if composed else type(kernel) in EVEN


def _step(axis: Floats) -> float | None:
    """Return the step of evenly spaced points in ascending order, (n,); None for others."""
    step = float(axis[-1] - axis[0]) / max(len(axis) - 1, 1)
    even = axis[0] + step * np.arange(len(axis))
    return step if step >= 0 and (np.abs(axis - even) <= ROUNDING * step).all() else None

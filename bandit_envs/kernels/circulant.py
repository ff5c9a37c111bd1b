r"""Functions of stationary kernels on regular grids, drawn by Fourier transforms.

The covariances of a grid of sides n_i are those of some points of a torus of sides 2 m_i, m_i >= n_i - 1, on
which the lag of point j is min(j, 2m - j). There K = F* diag(e) F with the transform e of the lags, so that
f = F* sqrt(max(e, 0)) F w has the covariance K where no e is negative, w white noise on the torus. Where some
are, each covariance errs by at most sum |negative e| / prod 2 m_i (Dietrich & Newsam 1997).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Kernel,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.column_kernel import OnColumns
from bandit_envs.kernels.product import split

fft: Any = scipy.fft  # its functions are typed as what dispatches to them

LARGEST_ERROR = 1e-10  # of a covariance, relative to the prior variance
GROWTH = 1.5  # of a torus that is too small
MOST_LAGS = 2**25  # points of the largest torus, of which three copies take 0.8 GB
EVEN = (RBF, Matern, RationalQuadratic, ConstantKernel, WhiteKernel)  # in each feature, and stationary
ROUNDING = 1e-9  # of a step, by which the points of a regular grid may be off


class Circulant:
    """A stationary kernel on a regular grid.

    Args:
        kernel: even in each feature.
        steps: between the points, one a feature.
        sides: numbers of points, one a feature.
    """

    def __init__(self, kernel: Any, steps: Floats, sides: tuple[int, ...]):
        self.kernel, self.steps, self.sides = kernel, steps, sides
        scale = 1.0
        while True:
            self._half = tuple(fft.next_fast_len(max(math.ceil(scale * (n - 1)), 1)) for n in sides)  # m_i
            self._spectrum, self.error = self._embed()
            scale *= GROWTH
            if self.error <= LARGEST_ERROR or math.prod(2.0 * scale * n for n in sides) > MOST_LAGS:
                break

    @classmethod
    def of(cls, kernel: Any, points: Floats) -> Circulant | None:
        """The kernel on points, (N, d); None where it is not stationary, or they are no regular grid."""
        if not _is_even(kernel):
            return None
        sets = [each.points for each in split(points)]
        sides = tuple(map(len, sets))
        if len(sets) != points.shape[1] or math.prod(2 * side for side in sides) > MOST_LAGS:
            return None
        steps = [_step(axis[:, 0]) for axis in sets]
        return None if None in steps else cls(kernel, np.array(steps), sides)

    @property
    def torus(self) -> tuple[int, ...]:
        """Its sides, 2 m_i."""
        return tuple(2 * m for m in self._half)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a function, (N,)."""
        if self.error > LARGEST_ERROR:
            complaint = (
                f"must be one whose covariances fall off on the largest torus, got {self.kernel!r}, where "
            )
            remedy = "take a smaller length_scale, another kernel or random_features=512"
            raise ArgumentError("kernel", f"{complaint}they err by {self.error:.1e}; {remedy}")
        return self._filter(rng.standard_normal(self.torus), np.sqrt(np.maximum(self._spectrum, 0.0)))

    def combine(self, point: Ints, weight: Floats) -> Floats:
        """Return K[:, X] @ w of some points, (u,) each -> (N,); exact, whatever the signs of e."""
        table = np.zeros(self.torus)
        np.add.at(table, np.unravel_index(point, self.sides), weight)
        return self._filter(table, self._spectrum)

    def _filter(self, table: Floats, factor: Floats) -> Floats:
        """The table of a torus, its transform multiplied by a factor, on the grid's own points, (N,)."""
        transform = fft.rfftn(table)
        transform *= factor
        grid = fft.irfftn(transform, self.torus, overwrite_x=True)[tuple(slice(side) for side in self.sides)]
        return grid.reshape(-1)

    def _embed(self) -> tuple[Floats, float]:
        """e as far as a transform of real numbers needs it, and the bound on the error."""
        axes = [step * np.arange(m + 1) for step, m in zip(self.steps, self._half, strict=True)]
        lags = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        covariance = np.array(self.kernel(np.zeros((1, len(axes))), lags)[0], dtype=np.float64)
        covariance[0] = self.kernel.diag(lags[:1])[0]  # also under scikit-learn's WhiteKernel
        spectrum = fft.dctn(covariance.reshape([m + 1 for m in self._half]), type=1)
        for axis, side in enumerate(self.torus[:-1]):
            places = np.minimum(np.arange(side), side - np.arange(side))
            spectrum = spectrum.take(places, axis=axis)
        twice = np.full(spectrum.shape[-1], 2.0)  # of the last axis only one half is there
        twice[[0, -1]] = 1.0
        negative = float((np.maximum(-spectrum, 0.0) @ twice).sum())
        return spectrum, negative / math.prod(self.torus) / float(covariance[0])


def _is_even(kernel: Any) -> bool:
    """Whether it is stationary and even in each feature, as far as its parts are known."""
    parts = [part for part in kernel.get_params(deep=False).values() if isinstance(part, Kernel)]
    composed = type(kernel) in (Sum, Product, OnColumns)
    return all(map(_is_even, parts)) if composed else type(kernel) in EVEN


def _step(axis: Floats) -> float | None:
    """The step of evenly spread points in ascending order, (n,); None of others."""
    step = float(axis[-1] - axis[0]) / max(len(axis) - 1, 1)
    even = axis[0] + step * np.arange(len(axis))
    return step if step >= 0 and (np.abs(axis - even) <= ROUNDING * step).all() else None

"""A kernel with shorter length-scales, and the factor by which norms grow under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

LENGTH = "length_scale"  # name of the parameters in the unit of points


def shortened(kernel: Kernel, factor: float) -> Any:
    """Return the kernel with every length-scale, and its bounds, divided by a factor."""
    given = kernel.get_params()
    lengths = {name: _divided(given[name], factor) for name in given if name.endswith(LENGTH)}
    bounds = {name: _divided(given[name], factor) for name in given if name.endswith(f"{LENGTH}_bounds")}
    same: Any = clone(kernel)
    return same.set_params(**lengths, **bounds)


def has_length_scale(kernel: Kernel) -> bool:
    """Return True if there is a length-scale to shorten; covariances without coordinates have none."""
    return any(name.endswith(LENGTH) for name in kernel.get_params())


def inflation(factor: float, dim: int) -> float:
    r"""Return c^(d/2): |f| with length-scales l / c is at most that times |f| with length-scales l, c >= 1.

    It holds for every stationary kernel whose spectrum falls with the frequency: with S_l(w) = l^d s(l w),
    S_l(w) <= c^d S_{l/c}(w), and |f|^2 is the integral of |F(w)|^2 / S(w) (Bull 2011, Lemma 4).

    Args:
        factor: c.
        dim: d, the number of features.
    """
    return factor ** (dim / 2)


def _divided(value: Any, factor: float) -> Any:
    if isinstance(value, str):  # "fixed"
        return value
    return np.divide(value, factor) if np.ndim(value) else value / factor

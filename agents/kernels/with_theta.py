"""A kernel with other hyperparameters, without scikit-learn's search for their names in every copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, Product, Sum, WhiteKernel

from bandit_envs.basics.types import Floats


class Taken(NamedTuple):
    """A kernel, and the hyperparameters that remain for others."""

    kernel: Kernel
    rest: Floats


def with_theta(kernel: Kernel, theta: Floats) -> Kernel:
    """Return `kernel.clone_with_theta(theta)`, for kernels with a rule here in a tenth of its time."""
    return _take(kernel, theta).kernel


def _take(kernel: Any, theta: Floats) -> Taken:
    """Return the kernel with the first logarithms of `theta` as its own, and the remaining ones."""
    if type(kernel) in RULES:
        return RULES[type(kernel)](kernel, theta)
    own: int = kernel.n_dims
    return Taken(kernel.clone_with_theta(theta[:own]), theta[own:])


def _one(kernel: Any, theta: Floats, name: str, *others: str) -> Taken:
    """Return a kernel of one hyperparameter with a new value; its other arguments stay."""
    bounds = getattr(kernel, f"{name}_bounds")
    value, rest = _value(getattr(kernel, name), bounds, theta)
    return Taken(type(kernel)(value, bounds, *(getattr(kernel, other) for other in others)), rest)


def _pair(kernel: Any, theta: Floats) -> Taken:
    first, rest = _take(kernel.k1, theta)
    second, rest = _take(kernel.k2, rest)
    return Taken(type(kernel)(first, second), rest)


def _value(now: Any, bounds: Any, theta: Floats) -> tuple[Any, Floats]:
    """Return the new value of a hyperparameter, a number or (n,), and the remaining logarithms."""
    if isinstance(bounds, str):  # "fixed"
        return now, theta
    size = np.size(now)
    new = np.exp(theta[:size])
    return (new if size > 1 else new[0]), theta[size:]


RULES: dict[type[Kernel], Callable[[Any, Floats], Taken]] = {
    ConstantKernel: lambda kernel, theta: _one(kernel, theta, "constant_value"),
    WhiteKernel: lambda kernel, theta: _one(kernel, theta, "noise_level"),
    RBF: lambda kernel, theta: _one(kernel, theta, "length_scale"),
    Matern: lambda kernel, theta: _one(kernel, theta, "length_scale", "nu"),
    Product: _pair,
    Sum: _pair,
}

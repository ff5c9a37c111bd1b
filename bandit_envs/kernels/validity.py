"""Kernels that users bring: whether they are definite, the noise in them, and slopes of their functions."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product, Sum, WhiteKernel

from bandit_envs.basics.arguments import Numbers
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import BLOCK_BYTES, blocks, require_definite
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import TableKernel

RARELY = 0.01  # bound on the probability that a draw of a Gaussian process is steeper than `of_samples`
MOST_POINTS = 1000  # on which an unknown kernel is tested: an eigenvalue problem of 0.2 s
BASIC = (kernels.RBF, kernels.Matern, kernels.RationalQuadratic, kernels.DotProduct)
KNOWN = (*BASIC, ConstantKernel, WhiteKernel, TableKernel)
REMEDY = "take scikit-learn's kernels such as RBF, or TableKernel.nearest(covariance) for covariances of data"


def require_valid(kernel: Any, points: Floats) -> None:
    """Raise unless a kernel is known, or found on evenly spread points, to be positive semi-definite."""
    if _is_known(kernel):
        return
    tried = points[np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).astype(np.int64))]
    require_definite(f"kernel {kernel!r}", np.asarray(kernel(tried)), REMEDY)


def _is_known(kernel: Any) -> bool:
    """Return whether a kernel has known parts only; a subclass of a known class is another kernel."""
    if type(kernel) in KNOWN:
        return True
    if type(kernel) not in (Sum, Product) and not getattr(kernel, "maps_features", False):
        return False
    parts = kernel.get_params(deep=False).values()
    return all(_is_known(part) for part in parts if isinstance(part, Kernel))


def split_white(kernel: Any) -> tuple[Any, float]:
    """Return a kernel without the WhiteKernels of its sum, and their noise variance, 0 for none.

    A WhiteKernel alone, or times others, is the covariance of independent arms, and stays. One in a sum
    that is itself a factor, or is put on some columns, is neither and raises a ValueError.
    """
    if type(kernel) in KNOWN:
        return kernel, 0.0
    levels = [(_white_level(term), term) for term in _terms(kernel)]
    signal = [term for level, term in levels if level is None]
    for term in signal:
        _require_none_inside(term, kernel)
    if not signal or len(signal) == len(levels):
        return kernel, 0.0
    return reduce(add, signal), float(sum(level for level, _ in levels if level is not None))


def require_same_noise(argument: str, given: Numbers | None, said: float) -> None:
    """Raise unless a noise (std or variance) is omitted or equals the WhiteKernel's up to rounding."""
    if given is not None and not np.allclose(given, said, rtol=1e-6, atol=0.0):
        raise ValueError(
            f"{argument} must agree with the WhiteKernel in kernel, which has {said:.6g}, got {given}; give "
            "one of them alone"
        )


def require_no_white(argument: str, kernel: Any, noise: str) -> None:
    """Raise if functions would be drawn with noise in them; {} in `noise`, its argument, becomes its std."""
    _, white = split_white(kernel)
    if white:
        remedy = noise.format(f"{np.sqrt(white):.6g}")
        raise ValueError(
            f"{argument} must be without the WhiteKernel of a sum, because functions are drawn from it and "
            f"noise is separate, got {kernel!r}; leave that term out and give {remedy}"
        )


def _terms(kernel: Any) -> list[Any]:
    """Return the terms of a sum, each with the constant factors of the sum."""
    if type(kernel) is Sum:
        return [*_terms(kernel.k1), *_terms(kernel.k2)]
    if type(kernel) is Product:
        for factor, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if type(factor) is ConstantKernel and _has_white_term(other):
                return [factor * term for term in _terms(other)]
    return [kernel]


def _has_white_term(kernel: Any) -> bool:
    terms = _terms(kernel)
    return len(terms) > 1 and any(_white_level(term) is not None for term in terms)


def _white_level(term: Any) -> float | None:
    if type(term) is WhiteKernel:
        return float(term.noise_level)
    if type(term) is Product:
        for factor, other in ((term.k1, term.k2), (term.k2, term.k1)):
            if type(factor) is ConstantKernel and (level := _white_level(other)) is not None:
                return float(factor.constant_value) * level
    return None


def _require_none_inside(term: Any, kernel: Any) -> None:
    parts = term.get_params(deep=False).values() if isinstance(term, Kernel) else ()
    for part in parts:
        if _has_white_term(part):
            raise ValueError(
                "kernel must have a WhiteKernel as a term of its sum, which is noise, or as a factor, "
                f"which makes arms independent, got {kernel!r}; write noise as kernel + WhiteKernel(...)"
            )
        _require_none_inside(part, kernel)


def steepest(values: Floats, points: Floats) -> float:
    """Return max |f(x) - f(x')| / |x - x'| over functions and pairs of points, (M, N); O(M N^2)."""
    largest = 0.0
    for rows in blocks(np.arange(len(points)), len(points), BLOCK_BYTES):
        distance = _distances(points[rows], points)
        for function in values:
            slope = np.abs(function[rows, None] - function) / distance
            largest = max(largest, float(slope.max()))
    return largest


def of_unit_norm(gram: Gram) -> float:
    """Return max d(x, x') / |x - x'|, d^2 = k(x, x) + k(x', x') - 2 k(x, x'); O(N^2).

    Functions of norm B in the kernel's RKHS are at most B times as steep: |f(x) - f(x')| <= B d(x, x').
    """
    largest, everything = 0.0, np.arange(gram.size)
    for rows in blocks(everything, gram.size, BLOCK_BYTES):
        square = gram.diagonal[rows, None] + gram.diagonal - 2.0 * gram.between(rows, everything)
        slope = np.sqrt(np.maximum(square, 0.0)) / _distances(gram.points[rows], gram.points)
        largest = max(largest, float(slope.max()))
    return largest


def of_samples(gram: Gram) -> float:
    """Return a slope that a draw of GP(0, k) exceeds between no two points, with probability 0.99.

    f(x) - f(x') ~ N(0, d^2) exceeds d sqrt(2 log(1 / p)) in size with probability p at most (p <= 1), and
    there are N (N - 1) / 2 pairs: p = 0.01 / (N (N - 1) / 2).
    """
    pairs = max(gram.size * (gram.size - 1) / 2, 1.0)
    return of_unit_norm(gram) * float(np.sqrt(2.0 * np.log(pairs / RARELY)))


def _distances(rows: Floats, points: Floats) -> Floats:
    """Return distances, infinite between a point and itself, (n, d) and (N, d) -> (n, N)."""
    distance = np.asarray(cdist(rows, points), dtype=np.float64)
    distance[distance == 0.0] = np.inf
    return distance

"""Bound slopes of functions between points: of given values, and of all functions of a kernel."""

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import BLOCK_BYTES, blocks
from bandit_envs.kernels.gram import Gram

RARELY = 0.01  # bound on the probability that a draw of a Gaussian process is steeper than `of_samples`


def steepest(values: Floats, points: Floats) -> float:
    """Return max |f(x) - f(x')| / |x - x'| over functions and pairs of points, (M, N); O(M N^2)."""
    largest = 0.0
    for rows in blocks(np.arange(len(points)), len(points), BLOCK_BYTES):
        distance = _apart(points[rows], points)
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
        slope = np.sqrt(np.maximum(square, 0.0)) / _apart(gram.points[rows], gram.points)
        largest = max(largest, float(slope.max()))
    return largest


def of_samples(gram: Gram) -> float:
    """Return a slope that a draw of GP(0, k) exceeds between no two points, with probability 0.99.

    f(x) - f(x') ~ N(0, d^2) exceeds d sqrt(2 log(1 / p)) in size with probability p at most (p <= 1), and
    there are N (N - 1) / 2 pairs: p = 0.01 / (N (N - 1) / 2).
    """
    pairs = max(gram.size * (gram.size - 1) / 2, 1.0)
    return of_unit_norm(gram) * float(np.sqrt(2.0 * np.log(pairs / RARELY)))


def _apart(rows: Floats, points: Floats) -> Floats:
    """Return distances, infinite between a point and itself, (n, d) and (N, d) -> (n, N)."""
    distance = np.asarray(cdist(rows, points), dtype=np.float64)
    distance[distance == 0.0] = np.inf
    return distance

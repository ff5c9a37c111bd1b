"""An amplitude that nobody published: the first values told it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

from .amplitude import AMPLITUDE_BOUNDS


class FoundAmplitude(ConstantKernel):
    """A constant factor by which a kernel was given the deviation of values, see `of_deviation`."""


def of_deviation(kernel: Kernel, deviation: float) -> Kernel:
    """A kernel of prior deviation 1 as one of another, of which as much can be learnt."""
    variance = deviation**2
    return FoundAmplitude(variance, tuple(np.multiply(variance, AMPLITUDE_BOUNDS))) * kernel


def is_found(kernel: Any) -> bool:
    """Whether the amplitude of a kernel was found, not published; of what is no kernel it was not."""
    if not isinstance(kernel, Kernel):
        return False
    return any(isinstance(each, FoundAmplitude) for each in kernel.get_params().values())

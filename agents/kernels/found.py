"""An amplitude that is estimated from the first values because none is published."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

from .amplitude import AMPLITUDE_BOUNDS


class FoundAmplitude(ConstantKernel):
    """Constant factor that scales a kernel to the std of observed values, see `of_deviation`."""


def of_deviation(kernel: Kernel, deviation: float) -> Kernel:
    """Return a kernel of prior std 1 scaled to another std, with equally many free parameters."""
    variance = deviation**2
    return FoundAmplitude(variance, tuple(np.multiply(variance, AMPLITUDE_BOUNDS))) * kernel


def is_found(kernel: Any) -> bool:
    """Return True if a kernel's amplitude was estimated from values; False for objects that are no kernel."""
    if not isinstance(kernel, Kernel):
        return False
    return any(isinstance(each, FoundAmplitude) for each in kernel.get_params().values())

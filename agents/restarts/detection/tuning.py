"""The constants of the test, from data without a change (Avanesov 2020, Remark 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import require_positive
from bandit_envs.basics.types import Floats

from .calibration import largest_statistics
from .cross_validation import CANDIDATES, best_ridge
from .detector import ChangePointDetector
from .rates import TestRates


def cross_validated_ridge(
    kernel: Kernel, x: Floats, y: Floats, *, candidates: Sequence[float] = CANDIDATES, **options: Any
) -> float:
    """Return the c of rho_n with the best leave-one-out predictions; see `best_ridge`.

    The best predictions need far less ridge than the paper's threshold does to be free of false alarms:
    calibrate theta for the returned c.

    Args:
        kernel: a scikit-learn kernel.
        x: covariates, (n, d).
        y: responses minus their prior mean, (n,) or (n, q).
        candidates: values of c to choose from.
        **options: smoothness and reading of `TestRates.of`.
    """
    x, y = _sequence(x, y)
    gram = np.asarray(kernel(x), dtype=np.float64)
    if not len(candidates):
        raise ValueError("candidates must not be empty; they are values of c")
    require_positive("candidates", np.asarray(candidates, dtype=np.float64), "they are values of c")
    return best_ridge(gram, y, TestRates.of(kernel, x.shape[1], **options), candidates)


def typical_theta(detector: ChangePointDetector, x: Any, y: Floats, *, margin: float = 2.0) -> Floats:
    """Return a theta well above the statistic's typical size without a change, (q,).

    It is the largest statistic * n^e over all tests on the samples, times a margin. The detector is reset.

    Args:
        detector: with the kernel, ridge and volume to be used.
        x, y: samples of one function, in order; at least two.
        margin: factor.
    """
    require_positive("margin", margin, "use 1 for the largest statistic seen")
    if len(x) < 2:
        raise ValueError(f"x must have at least two samples to compare, got {len(x)}")
    largest = largest_statistics(detector, x, y)[-1]
    detector.reset()
    return margin * largest


def _sequence(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or len(x) != len(y) or len(x) < 2:
        raise ValueError(f"x must be (n, d) and y (n,) or (n, q), n >= 2; got shapes {x.shape} and {y.shape}")
    return x, y.reshape(len(y), -1)

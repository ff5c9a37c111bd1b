"""A prior on length-scales, for likelihoods that rise for ever as a feature comes to count for nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats

SUFFIX = "length_scale"


@dataclass(frozen=True, eq=False)
class LengthScalePrior:
    """log l ~ N(log l_0, spread^2) for every length-scale; flat in all other hyperparameters.

    Args:
        centre: logarithms of the hyperparameters, (p,).
        precision: 1 / spread^2 of the length-scales, 0 of the others, (p,).
    """

    centre: Floats
    precision: Floats

    @classmethod
    def of(cls, kernel: Kernel, centre: Floats, spread: float) -> LengthScalePrior:
        """The prior of a kernel.

        Args:
            kernel: whose free hyperparameters come first.
            centre: logarithms of these and of the noise variance, (p,).
            spread: deviation of log l; infinite is no prior.
        """
        precision = np.zeros(len(centre))
        if math.isfinite(spread):
            precision[: len(kernel.theta)] = np.concatenate(
                [
                    np.full(each.n_elements, float(each.name.endswith(SUFFIX)))
                    for each in kernel.hyperparameters
                    if not each.fixed
                ]
            )
        return cls(np.array(centre), precision / spread**2)

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """-log p up to a constant, and its slopes, (p,)."""
        gap = theta - self.centre
        return 0.5 * float(self.precision @ gap**2), self.precision * gap

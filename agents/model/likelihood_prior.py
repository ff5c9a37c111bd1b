"""A prior on hyperparameters, for likelihoods of few values or of irrelevant features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats


class Spreads(NamedTuple):
    """Stds of the logarithms of hyperparameters around their first values; infinite for no prior.

    Without a prior a fit may explain few values without any noise, and many without a trend by a constant.
    """

    length_scale: float = np.inf
    amplitude: float = np.inf  # of the prior variance
    noise: float = np.inf  # of its variance; 0 keeps a known noise

    def of(self, kernel: Kernel) -> Floats:
        """Return the stds of a kernel's free hyperparameters and the noise, (p,)."""
        named = {"length_scale": self.length_scale, "constant_value": self.amplitude}
        free = [each for each in kernel.hyperparameters if not each.fixed]
        spreads = [
            np.full(each.n_elements, named.get(each.name.rpartition("__")[2], np.inf)) for each in free
        ]
        return np.concatenate([*spreads, [self.noise]])


@dataclass(frozen=True, eq=False)
class LogNormalPrior:
    """log h ~ N(log h_0, spread^2) for every hyperparameter h that has a spread, and flat in the others.

    Args:
        centre: logarithms of the hyperparameters, the noise variance last, (p,).
        precision: 1 / spread^2, (p,).
    """

    centre: Floats
    precision: Floats

    @classmethod
    def of(cls, kernel: Kernel, centre: Floats, spreads: Spreads) -> LogNormalPrior:
        """Return the prior of a kernel and a noise; fixed hyperparameters need none."""
        spread = spreads.of(kernel)
        return cls(np.array(centre), 1.0 / np.where(spread > 0.0, spread, np.inf) ** 2)

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return -log p up to a constant, and its gradient, (p,)."""
        gap = theta - self.centre
        return 0.5 * float(self.precision @ gap**2), self.precision * gap

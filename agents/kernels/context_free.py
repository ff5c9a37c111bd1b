"""The setting and kernel of an agent that ignores contexts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting


def without_contexts(setting: Setting) -> Setting:
    """Return the setting with the same arms in one context; variation over contexts then looks like noise.

    The kernel is that of the arms in the first context, the prior mean the average over contexts. On a box of
    contexts, the first context is the lower corner.
    """
    if not setting.has_contexts:
        return setting
    contexts = setting.decisions.contexts
    assert contexts is not None
    kernel = None if setting.kernel is None else InContext(setting.kernel, contexts[0].tolist())
    mean = setting.prior_mean
    if isinstance(mean, np.ndarray) and mean.ndim:
        mean = mean.reshape(len(contexts), -1).mean(axis=0)
    profile = setting.noise_profile
    if profile is not None:
        profile = profile.reshape(len(contexts), -1).max(axis=0)
    return replace(
        setting,
        contexts=None,
        context_low=None,
        context_high=None,
        kernel=kernel,
        prior_mean=mean,
        noise_profile=profile,
    )


class InContext(Kernel):
    """k(x, x') = kernel((z, x), (z, x')) at a fixed context z, (dz,), without free hyperparameters."""

    maps_features = True  # it is as definite as the kernel that it maps features for

    def __init__(self, kernel: Kernel, context: list[float]):
        self.kernel = kernel
        self.context = context

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        covariance: Any = self.kernel(self._joined(X), None if Y is None else self._joined(Y))
        return (covariance, np.empty((*covariance.shape, 0))) if eval_gradient else covariance

    def diag(self, X: Floats) -> Any:
        """Return variances, (n, d) -> (n,)."""
        return self.kernel.diag(self._joined(X))

    def is_stationary(self) -> Any:
        """Return True if the inner kernel depends on differences alone."""
        return self.kernel.is_stationary()

    def __repr__(self) -> str:
        return f"InContext({self.kernel!r}, {self.context})"

    def _joined(self, arms: Floats) -> Floats:
        arms = np.asarray(arms)
        return np.hstack([np.tile(self.context, (len(arms), 1)), arms])

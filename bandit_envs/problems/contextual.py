"""Contexts for problems on (context, arm) pairs, and the prior that a problem publishes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_number, require, require_choice, written_as
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, OnColumns, amplified, make_kernel
from bandit_envs.laws.functions import FunctionLaw, Moments

KERNELS_OWN = Moments(0.0)
_WRITTEN = {name: f'context_kernel["{name}"]' for name in ("combine", "kernel", "length_scale")}


class Prior(NamedTuple):
    """Hold a model's assumptions about a function before it is played."""

    kernel: Any
    mean: Floats | float


def published_prior(
    law: FunctionLaw, kernel: Any, points: Floats, signal_variance: float | None, prior_mean: bool | float
) -> Prior:
    """Return the prior of a problem; functions drawn under a kernel use the problem's kernel.

    The signal variance is a factor of the kernel, None for the one that gives it the law's own variance; the
    prior mean is True for the law's own mean, False for 0, or a number.
    """
    valid = signal_variance is None or (is_number(signal_variance) and signal_variance > 0)
    require(valid, "signal_variance", "None or positive", signal_variance)
    known = isinstance(prior_mean, bool) or is_number(prior_mean)
    require(known, "prior_mean", "True, False or a number", prior_mean)
    own = law.moments or KERNELS_OWN
    factor = 1.0 if signal_variance is None else signal_variance
    if signal_variance is None and own.std is not None:
        factor = own.std**2 / (float(np.mean(kernel.diag(points))) or 1.0)
    mean = (own.mean if prior_mean else 0.0) if isinstance(prior_mean, bool) else prior_mean
    return Prior(amplified(kernel, factor), mean)


@dataclass(frozen=True)
class ContextKernel:
    """Define the kernel over contexts, and its combination with the kernel over arms.

    A "product" is for similar functions in similar contexts; a "sum", of variances too, for a function of the
    context plus one of the arm.
    """

    combine: str = "product"
    kernel: Any = "rbf"
    length_scale: LengthScale = 0.5

    def __post_init__(self) -> None:
        require_choice("combine", self.combine, ("product", "sum"))

    @classmethod
    def of(cls, spec: Any) -> "ContextKernel":
        """Make it from {"combine": ..., "kernel": ..., "length_scale": ...}, each with a default, or None."""
        spec = {} if spec is None else spec
        require(isinstance(spec, Mapping), "context_kernel", "None or a dict", spec)
        allowed = [field.name for field in fields(cls)]
        unknown = [key for key in spec if key not in allowed]
        require(not unknown, "context_kernel", f"a dict of {', '.join(allowed)}", unknown)
        with written_as(_WRITTEN):
            return cls(**spec)

    def join(self, over_arms: Kernel, context_columns: Sequence[int], arm_columns: Sequence[int]) -> Kernel:
        """Return the kernel over (context, arm) features (Krause & Ong 2011)."""
        with written_as(_WRITTEN):
            over_contexts = make_kernel(self.kernel, self.length_scale)
        of_context = OnColumns(over_contexts, list(context_columns))
        of_arm = OnColumns(over_arms, list(arm_columns))
        return of_context * of_arm if self.combine == "product" else of_context + of_arm


def joint_kernel(over_arms: Kernel, context_kernel: Any, contexts: Floats | None, dim: int) -> Kernel:
    """Return the kernel over contexts and arms of `dim` features; the arms' kernel without contexts."""
    joint = ContextKernel.of(context_kernel)
    if contexts is None:
        return over_arms
    width = contexts.shape[1]
    return joint.join(over_arms, range(width), range(width, width + dim))

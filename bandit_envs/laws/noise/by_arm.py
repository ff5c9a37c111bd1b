"""Draw noise whose std depends on the play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.noise.base import Noise
from bandit_envs.laws.noise.everywhere import Gaussian, Pareto, StudentT, Uniform

BASES: dict[str, type[Noise]] = {
    "gaussian": Gaussian,
    "uniform": Uniform,
    "student-t": StudentT,
    "pareto": Pareto,
}


@dataclass(frozen=True)
class ByArm(Noise):
    """Scale another law's noise to std rho(x) = std (q + (1 - q) x_1): heteroscedastic noise.

    x_1 is the play's first feature, scaled to [0, 1] over the decision set: x_1 = 1 is noisiest, with the
    stated std. A declared law is published: `Setting.noise_profile` on a finite set, and "feedback_std" in
    the `info` of a round, the noise std of each delivered value. An undeclared one publishes the largest std
    alone, which bounds all others.

    Args:
        base: the other law, or its description without a std.
        quietest: q in (0, 1], the share of the stated std at x_1 = 0.
        declared: whether rho is published.
    """

    base: Any = "gaussian"
    quietest: float = 0.1
    declared: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = is_number(self.quietest) and 0 < self.quietest <= 1
        require(valid, "quietest", "a share in (0, 1]", self.quietest)
        require_switch("declared", self.declared)
        law = parse("base", self.base, BASES)
        plain = law.std == type(law)().std and law.share is None
        require(plain, "base", 'without "std" and "share", which belong to the law "by-arm"', self.base)
        object.__setattr__(self, "base", law)

    @property
    def relative_bound(self) -> float | None:
        """Return the other law's bound."""
        return self.base.relative_bound

    @property
    def sub_gaussian(self) -> float | None:
        """Return the other law's constant, for no play's std is above the stated one."""
        return self.base.sub_gaussian

    @property
    def publishes_shape(self) -> bool:
        """Return whether rho is declared."""
        return self.declared

    def shape(self, features: Floats) -> Floats:
        """Return q + (1 - q) x_1, (n, d) -> (n,)."""
        return self.quietest + (1.0 - self.quietest) * np.clip(features[:, 0], 0.0, 1.0)

    def draw(self, horizon: int, rng: np.random.Generator) -> Floats:
        """Draw as the other law."""
        return self.base.draw(horizon, rng)

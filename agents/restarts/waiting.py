"""Extensions of batches, which wait for the feedback of their plays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.problem.setting import Setting

Wait = Callable[[int], int]  # from the rounds t up to the end of a batch without extension


@dataclass(frozen=True)
class Fixed:
    """Extension by u rounds.

    Args:
        rounds: u.
    """

    rounds: int

    def __call__(self, t: int) -> int:
        """Return u."""
        return self.rounds


@dataclass(frozen=True)
class SubExponential:
    r"""u = ceil(E d + max(sqrt(2 xi^2 L), 2 b L)), L = log(3 t / (2 late)) (Vakili et al. 2023).

    P(d > u) <= e^-L where log E exp(s (d - E d)) <= s^2 xi^2 / 2 for s in [0, 1 / b]. The authors' code takes
    the smaller of the two terms in place of the larger, which breaks the bound: P(d > 117) = 0.043 for
    Poisson delays of mean 100, where 2e-4 is required.

    Args:
        mean: E d.
        xi, b: of the delays; see `of_poisson`.
        late: 3/2 of the bound on the probability that any of t plays is late.
    """

    mean: float
    xi: float
    b: float
    late: float

    def __post_init__(self) -> None:
        require_not_negative("mean", self.mean, "it is that of the delays")
        require_not_negative("xi", self.xi, "it is a scale of the delays")
        require_positive("b", self.b, "it is a scale of the delays")

    @classmethod
    def of_poisson(cls, mean: float, late: float) -> SubExponential:
        """Return the extension with xi^2 = 2 (e - 2) E d and b = 1, since e^s - 1 - s <= (e - 2) s^2 up to 1.

        The paper's study has xi = 9, which suffices for means up to 56.
        """
        return cls(mean, math.sqrt(2.0 * (math.e - 2.0) * mean), 1.0, late)

    def __call__(self, t: int) -> int:
        """Return u."""
        nats = math.log(3.0 * t / (2.0 * self.late))
        return math.ceil(self.mean + max(math.sqrt(2.0 * nats) * self.xi, 2.0 * self.b * nats))


@dataclass(frozen=True)
class Quantile:
    """The smallest u with P(d > u) <= 2 late / (3 t) under the published law.

    Args:
        setting: a setting with a published law of delays.
        late: see `SubExponential`.
    """

    setting: Setting
    late: float

    def __call__(self, t: int) -> int:
        """Return u."""
        law, share = self.setting.delay, 2.0 * self.late / (3.0 * t)
        assert law is not None
        return law.window(self.setting.horizon, self.setting.query_times, min(share, 0.49))

"""What a learner is given and what it has seen: all that a reference reads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from .formulas import posterior


class Prior(NamedTuple):
    """f ~ GP(mean, gram), seen under noise of variance lambda and deviation R; ||f|| <= B."""

    gram: Floats  # (N, N)
    mean: Floats | float
    noise: float  # lambda
    noise_std: float  # R
    bound: float  # B

    @property
    def scale(self) -> float:
        """The largest prior deviation, 1 in most papers."""
        return float(np.sqrt(np.diag(self.gram).max()))

    def of(self, played: Ints, values: Floats) -> tuple[Floats, Floats]:
        """mu and sigma, (N,) each, given values at the points played."""
        mean, covariance = posterior(self.gram, self.noise, played, values - self.at(played))
        return self.mean + mean, np.sqrt(np.maximum(np.diag(covariance), 0.0))

    def at(self, played: Ints) -> Floats:
        """The prior mean where it was played, (n,)."""
        return np.broadcast_to(self.mean, len(self.gram))[played]


class Given(NamedTuple):
    """What is published: the prior of the reward, of each cost and of what plays cost; the other facts."""

    reward: Prior
    costs: list[Prior]
    play_cost: Prior | None
    setting: Any

    @property
    def horizon(self) -> int:
        """T."""
        return self.setting.horizon

    @classmethod
    def of(cls, setting: Any, noise_variance: float | None = None, bound: float = 1.0) -> Given:
        """Lambda is the variance of the noise, at least 1e-6 of the prior's; B = 1 where none is published.

        Costs have the reward's kernel at the deviation published of theirs, its B, a mean of 0 and a noise of
        their own; what plays cost has that
        kernel at the deviation that its law publishes.
        """
        gram = setting.kernel(setting.arms)
        scale = np.diag(gram).max()

        def prior(gram: Floats, mean: Any, std: float) -> Prior:
            least = max(std**2, 1e-6 * np.diag(gram).max())
            return Prior(gram, mean, least if noise_variance is None else noise_variance, std, bound)

        bound = bound if setting.rkhs_bound is None else float(setting.rkhs_bound)
        stds = [] if setting.constraint_prior_std is None else setting.constraint_prior_std.tolist()
        costs = [prior(gram * s**2 / scale, 0.0, setting.constraint_noise_std) for s in stds]
        law, paid = setting.play_costs, None
        if law is not None:
            centre, deviation = law.prior
            paid = prior(gram * deviation**2 / scale, centre, law.noise_std)
        return cls(prior(gram, setting.prior_mean, float(setting.noise_std)), costs, paid, setting)


class Seen(NamedTuple):
    """What rounds 1, ..., t - 1 showed, one row each."""

    played: Ints  # (t - 1,)
    value: Floats  # (t - 1,), NaN while it is pending
    delay: Floats  # (t - 1,), rounds that started before it was seen; infinite while it is pending
    cost: Floats  # (t - 1, C)
    spent: Floats  # (t - 1,)

    @property
    def t(self) -> int:
        """The round that starts."""
        return len(self.played) + 1

    @property
    def here(self) -> Bools:
        """Whether the feedback of each play has arrived, (t - 1,)."""
        return ~np.isnan(self.value)

    def before(self, t: int) -> Seen:
        """What was seen when round t started."""
        late = np.arange(1, t) + self.delay[: t - 1] >= t
        rows = Seen(*(column[: t - 1].copy() for column in self))
        for column in (rows.value, rows.cost, rows.spent):
            column[late] = np.nan
        rows.delay[late] = np.inf
        return rows

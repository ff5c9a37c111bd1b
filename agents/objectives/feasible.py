"""Expected improvement times the probability that all costs are kept, and the arms believed to keep them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.points import Pairs, Points
from ..beliefs.safety import INFEASIBLE, log_feasibility, log_feasibility_slopes
from ..beliefs.surface import ONLY, Surface
from ..model.defaults import NOISE_FLOOR
from ..model.model import Model
from .base import Band
from .separate_models import CostModelSpec, SeparateModels


class Feasible(SeparateModels):
    r"""log EI_f + sum_j log Phi(-mu_j / sigma_j), from scores log EI_f (Gardner et al. 2014, equation 6).

    The worth of an arm is mu_f where all mu_j <= 0, and -1e9 + sum_j log Phi(-mu_j / sigma_j) elsewhere.
    Improvement is measured from the largest worth of the plays: while none is believed feasible log EI_f is
    the same of all arms, up to 1e-9 a prior std of mu_f, and the sum decides.

    Scales are estimated again whenever one of the first plays is delivered. Where pending plays count in the
    stds none of them is repeated. The costs share the kernel of the reward's model, which has lambda at a
    scale of 1.

    Args:
        weighs: False leaves the scores as they are, for rules that read the beliefs about costs themselves.
    """

    resumes = True

    def __init__(self, model: Model, num_trials: int, assumed: CostModelSpec, weighs: bool = True):
        super().__init__(model, num_trials, assumed)
        self._weighs = weighs
        self._delivered = self.first_plays.delivered

    def reward_noise_at(self, scale: Floats) -> Floats:
        """Return lambda of the reward under the scales of all, (B, 1 + C) -> (B,)."""
        return np.maximum(self._model.noise_variance / scale[:, 0] ** 2, NOISE_FLOOR)

    def given_models(self, scale: Floats) -> list[Model]:
        reward = replace(self._model, noise_variance=self.reward_noise_at(scale))
        return self._assumed.models(reward, scale)

    def observe(self, trial: Ints, cost: Floats) -> None:
        """Do nothing: costs enter by their models alone."""

    def move(self, rounds: int) -> Bools:
        """Return where one of the first plays has been delivered, (B,)."""
        before, self._delivered = self._delivered, self.first_plays.delivered
        return self._delivered > before

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        """Return log EI_f plus the log probability of feasibility, (B, n); -inf at pending plays."""
        together = super().penalised(scores, points, t) if self._weighs else scores
        if all(belief.std_posterior is belief.mean_posterior for belief in self.costs):
            return together
        pending = points.pending(self.costs[0])
        return np.where(pending & (t[:, None] > self.first_plays.count), -np.inf, together)

    def climb(self, scores: Floats, slopes: Floats, points: Pairs, t: Ints) -> tuple[Floats, Floats]:
        """Return the sum and its slopes, (n,) and (n, dz + d)."""
        for j, belief in enumerate(self.costs if self._weighs else ()):
            local, scale = Surface.of(belief).local(points.features), self.scale[ONLY, 1 + j]
            mean, std = self.in_units(j, local.mean, local.std[None])
            of_mean, of_std = log_feasibility_slopes(mean, std)
            scores = scores + log_feasibility(mean, std)[0]
            slopes = slopes + local.gradient(scale * of_mean, scale * of_std[0])
        return scores, slopes

    def worth(self, mean: Floats, points: Points, t: Ints) -> Floats:
        chance, kept = np.zeros_like(mean), np.ones(mean.shape, dtype=bool)
        for j, belief in enumerate(self.costs):
            cost = self.in_units(j, *points.band(belief))
            chance, kept = chance + log_feasibility(*cost), kept & (cost[0] <= 0.0)
        return np.where(kept, mean, INFEASIBLE + chance)

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return sum((log_feasibility(*self.in_units(j, *band)) for j, band in enumerate(bands)), scores)

    def in_units(self, j: int, mean: Floats, std: Floats) -> Band:
        """Return mean and std of a cost in prior stds from the scaled ones, (B, A) each."""
        scale = self.scale[:, 1 + j, None]
        return self.centre[:, 1 + j, None] + scale * mean, scale * std

    def _after_first(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return np.where(t[:, None] <= self.first_plays.count, scores, self.combined(scores, bands, t))

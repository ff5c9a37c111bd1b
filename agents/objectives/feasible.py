"""Expected improvement times the probability that all costs are kept, and the arms believed to keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.safety import INFEASIBLE, log_feasibility, log_feasibility_slopes
from ..beliefs.surface import ONLY, Surface
from ..model.defaults import NOISE_FLOOR
from ..model.hyperparameters import Hyperparameters
from ..model.model import Model
from .base import BoxTerms
from .each_modelled import Band, EachModelled, OfCosts


class Feasible(EachModelled):
    r"""log EI_f + sum_j log Phi(-mu_j / sigma_j), from scores log EI_f (Gardner et al. 2014, equation 6).

    The worth of an arm is mu_f where all mu_j <= 0, and -1e9 + sum_j log Phi(-mu_j / sigma_j) elsewhere.
    Improvement is measured from the largest worth of the plays: while none is believed feasible log EI_f is
    the same of all arms, up to 1e-9 a prior std of mu_f, and the sum decides.

    Scales are estimated again whenever one of the first plays is delivered. Where pending plays count in the
    stds none of them is repeated. The costs share the kernel of the reward's model, which has lambda at a
    scale of 1.
    """

    resumes = True

    def __init__(self, model: Model, num_trials: int, assumed: OfCosts):
        self._model, self._assumed = model, assumed
        self._learnt: list[Hyperparameters] = []
        super().__init__(model, num_trials, assumed)
        self._delivered = self.first_plays.delivered

    def reward_noise_at(self, scale: Floats) -> Floats:
        """Return lambda of the reward under the scales of all, (B, 1 + C) -> (B,)."""
        return np.maximum(self._model.noise_variance / scale[:, 0] ** 2, NOISE_FLOOR)

    def cost_models(self, scale: Floats) -> list[Model]:
        reward = replace(self._model, noise_variance=self.reward_noise_at(scale))
        models = self._assumed.models(reward, scale)
        if not self._learnt:
            return models
        return [model.learnt(found) for model, found in zip(models, self._learnt, strict=True)]

    def learn(self, found: Sequence[Hyperparameters]) -> None:
        """Take a kernel and a noise, in squares of its scale, for each cost, (C,)."""
        self._learnt = list(found)
        for belief, model in zip(self.costs, self.cost_models(self.scale), strict=True):
            belief.remodel(model)

    def observe(self, trial: Ints, cost: Floats) -> None:
        """Do nothing: costs enter by their models alone."""

    def move(self, rounds: int) -> Bools:
        """Return where one of the first plays has been delivered, (B,)."""
        before, self._delivered = self._delivered, self.first_plays.delivered
        return self._delivered > before

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return log EI_f plus the log probability of feasibility, (B, A); -inf at pending plays."""
        together = super().penalised(scores, context, t)
        if not self._counts_pending:
            return together
        belief = self.costs[0]
        cells = belief.cells(context)
        pending = belief.spread.count_at(cells) > belief.centre.count_at(cells)
        return np.where(pending & (t[:, None] > self.first_plays.count), -np.inf, together)

    @property
    def penalised_on_box(self) -> BoxTerms:
        return OnBox(self, self._pending_points() if self._counts_pending else None)

    def worth(self, mean: Floats, context: Ints, t: Ints) -> Floats:
        return self._worth(mean, ((belief.mean(context), belief.std(context)) for belief in self.costs))

    @property
    def worth_on_box(self) -> BoxTerms:
        def on_box(mean: Floats, pairs: Floats, t: Ints) -> Floats:
            each = (Surface.of(belief).predict(pairs) for belief in self.costs)
            return self._worth(mean[None], ((m[None], s[None]) for m, s in each))[0]

        return on_box

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return sum((log_feasibility(*self.in_units(j, *band)) for j, band in enumerate(bands)), scores)

    def in_units(self, j: int, mean: Floats, std: Floats) -> Band:
        """Return mean and std of a cost in prior stds from the scaled ones, (B, A) each."""
        scale = self.scale[:, 1 + j, None]
        return self.centre[:, 1 + j, None] + scale * mean, scale * std

    def _worth(self, mean: Floats, bands: Iterable[Band]) -> Floats:
        chance, kept = np.zeros_like(mean), np.ones(mean.shape, dtype=bool)
        for j, band in enumerate(bands):
            cost = self.in_units(j, *band)
            chance, kept = chance + log_feasibility(*cost), kept & (cost[0] <= 0.0)
        return np.where(kept, mean, INFEASIBLE + chance)

    def _after_first(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return np.where(t[:, None] <= self.first_plays.count, scores, self.combined(scores, bands, t))

    @property
    def _counts_pending(self) -> bool:
        return any(belief.spread is not belief.centre for belief in self.costs)

    def _pending_points(self) -> Floats:
        """Return the features of points with pending plays on a box, (m, dz + d)."""
        belief = self.costs[0]
        plays = np.zeros(belief.spread.gram.size)
        for sign, each in ((1.0, belief.spread.statistics(ONLY)), (-1.0, belief.centre.statistics(ONLY))):
            plays[each.point] += sign * each.plays
        return belief.spread.gram.points[plays > 0.0]


class OnBox:
    """The terms of constrained EI at points of a box, with slopes; `pending` points are not repeated."""

    def __init__(self, objective: Feasible, pending: Floats | None):
        self._objective, self._pending = objective, pending

    def __call__(self, scores: Floats, pairs: Floats, t: Ints) -> Floats:
        """Return log EI_f plus the log probability of feasibility, (n,); -inf at pending points."""
        together = self._objective.on_box(scores, pairs, t)
        if self._pending is None or t[ONLY] <= self._objective.first_plays.count:
            return together
        same = (pairs[:, None] == self._pending).all(axis=2).any(axis=1)
        return np.where(same, -np.inf, together)

    def climb(self, scores: Floats, slopes: Floats, pairs: Floats, t: Ints) -> tuple[Floats, Floats]:
        """Return the sum and its slopes, (n,) and (n, dz + d)."""
        for j, belief in enumerate(self._objective.costs):
            local, scale = Surface.of(belief).local(pairs), self._objective.scale[ONLY, 1 + j]
            mean, std = self._objective.in_units(j, local.mean, local.std[None])
            of_mean, of_std = log_feasibility_slopes(mean, std)
            scores = scores + log_feasibility(mean, std)[0]
            slopes = slopes + local.pull(scale * of_mean, scale * of_std[0])
        return scores, slopes

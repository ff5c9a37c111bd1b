"""The posterior of a latent function given clicks or counts, by Laplace's approximation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import solve_triangular

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.outcomes import Bernoulli, OutcomeLaw, Poisson

from .base import Posterior, SufficientStatistics
from .laplace import Clicks, Counts, Laplace, OutcomeLikelihood, PlayedRows, laplace, mixture_band, norms

LIKELIHOODS: dict[type[OutcomeLaw], OutcomeLikelihood] = {Bernoulli: Clicks(), Poisson: Counts()}


class LatentPosterior(Posterior):
    """Posterior of f ~ GP(0, k), seen by outcomes of mean link(base + f); see `laplace`.

    Counts and sums of outcomes are its state. A trial is fitted anew when it is read after a play, from the
    weights of its last fit: O(u r^2 + r^3 + N r^2), for u distinct plays and a prior of rank r.

    Args:
        outcome: law of a play's outcome.
    """

    def __init__(self, gram: Gram, outcome: OutcomeLaw, num_trials: int):
        likelihood = LIKELIHOODS[type(outcome)]
        exposure = outcome.exposure if isinstance(outcome, Poisson) else 1.0
        curvature = exposure * float(likelihood.curvature(np.array(outcome.base)))
        super().__init__(gram, 1.0 / curvature, num_trials)  # of the quadratic approximation at f = 0
        self._likelihood, self._base, self._exposure = likelihood, outcome.base, exposure
        self._root = np.ascontiguousarray(gram.root.T)  # (N, r)
        self.count, self.total = np.zeros((num_trials, gram.size)), np.zeros((num_trials, gram.size))
        self._start = np.zeros((num_trials, self._root.shape[1]))
        self._fits: list[Laplace | None] = [None] * num_trials
        self._std: list[Floats | None] = [None] * num_trials

    @property
    def gain(self) -> Floats:
        """1/2 ln det H, the information gain of the quadratic approximation, (B,)."""
        return np.array([np.log(np.diag(self.fit(i).factor)).sum() for i in self._trials])

    def fit(self, trial: int) -> Laplace:
        """Return Laplace's Gaussian of the weights of a trial."""
        known = self._fits[trial]
        if known is None:
            known = self._found(trial)
            self._fits[trial], self._start[trial] = known, known.weight
        return known

    def _found(self, trial: int) -> Laplace:
        return laplace(self._rows(trial), self._likelihood, self._start[trial])

    def _rows(self, trial: int) -> PlayedRows:
        (played,) = self.count[trial].nonzero()
        plays = self._exposure * self.count[trial, played]
        offset = np.full(len(played), self._base)
        return PlayedRows(self._root[played], plays, self.total[trial, played], offset)

    def half_width_at(self, cells: Ints | None, bound: Floats, delta: Floats) -> Floats:
        """Return the mixture band's half-width of f, (B, A), for |f| <= bound (B,) and 1 - delta (B,)."""
        each = zip(self._trials, bound.tolist(), delta.tolist(), strict=True)
        return _at(np.stack([self._half_width(*given) for given in each]), cells)

    def _half_width(self, trial: int, bound: float, delta: float) -> Floats:
        fit = self.fit(trial)
        return mixture_band(fit, self._rows(trial), self._likelihood, bound, delta).half_width(self._root)

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        self.count[trial, point] += 1.0
        self.total[trial, point] += value
        self._renew(trial)

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        np.add.at(self.total, (trial, point), change)
        self._renew(trial)

    def mean_at(self, cells: Ints | None) -> Floats:
        return _at(np.stack([self._mean(i) for i in self._trials]), cells)

    def variance_at(self, cells: Ints | None) -> Floats:
        return _at(np.stack([self._spread(i) ** 2 for i in self._trials]), cells)

    def count_at(self, cells: Ints | None) -> Floats:
        return _at(self.count, cells)

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """Raise: the mode is no linear function of the outcomes."""
        raise NotImplementedError("the mode of a latent function has no weights of observations")

    def deviation_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        return _at(np.stack([self._deviation(i, rng) for i, rng in enumerate(rngs)]), cells)

    def mean_of(self, trial: Ints, point: Ints) -> Floats:
        return self._of(trial, point, self._mean)

    def variance_of(self, trial: Ints, point: Ints) -> Floats:
        return self._of(trial, point, lambda i: self._spread(i) ** 2)

    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        half = solve_triangular(self.fit(trial).factor, self._root.T, lower=True)
        return half[:, point].T @ half[:, other]

    def reset(self, trial: Ints) -> None:
        self.count[trial] = self.total[trial] = self._start[trial] = 0.0
        self._renew(trial)

    def statistics(self, trial: int) -> SufficientStatistics:
        return SufficientStatistics.of(self.count[trial], self.total[trial])

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        self.reset(np.array([trial]))
        self.count[trial, seen.point], self.total[trial, seen.point] = seen.plays, seen.total

    @property
    def _trials(self) -> range:
        return range(len(self.noise))

    def _renew(self, trial: Ints) -> None:
        for i in trial.tolist():
            self._fits[i] = self._std[i] = None

    def _mean(self, trial: int) -> Floats:
        return self.fit(trial).mean(self._root)

    def _spread(self, trial: int) -> Floats:
        known = self._std[trial]
        if known is None:
            known = self._std[trial] = norms(self.fit(trial).factor, self._root)
        return known

    def _deviation(self, trial: int, rng: np.random.Generator) -> Floats:
        fit = self.fit(trial)
        return self._root @ (fit.draw(self.gram.quick_white(rng)) - fit.weight)

    def _of(self, trial: Ints, point: Ints, what: Callable[[int], Floats]) -> Floats:
        pairs = zip(trial.tolist(), point.tolist(), strict=True)
        return np.array([what(i).item(x) for i, x in pairs])


def _at(table: Floats, cells: Ints | None) -> Floats:
    return table if cells is None else np.take_along_axis(table, cells, axis=1)

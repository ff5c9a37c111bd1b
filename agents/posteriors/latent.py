"""The posterior of a latent function given clicks or counts, by Laplace's approximation."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import solve_triangular

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.definite import pivoted_root
from bandit_envs.kernels.gram import TOLERANCE, Gram
from bandit_envs.laws.outcomes import BernoulliOutcomes, OutcomeLaw, PoissonCounts

from .base import Posterior, SufficientStatistics, columns_at
from .laplace import (
    CLICKS,
    COUNTS,
    STEPS,
    Laplace,
    OutcomeLikelihood,
    PlayedRows,
    laplace,
    mixture_band,
    norms,
)
from .pairs import PairPosterior
from .play_factor import PlayFactor

LIKELIHOODS: dict[type[OutcomeLaw], OutcomeLikelihood] = {BernoulliOutcomes: CLICKS, PoissonCounts: COUNTS}
LEAST_WEIGHT = 1e-9  # of a point in H: its value stays finite, and variances change by 1e-9 at most


class PlayOutcomes:
    """Plays and sums of outcomes of a law at each point, and Laplace's Gaussian given those of a trial."""

    steps = STEPS  # of Newton's method, at most

    def __init__(self, law: OutcomeLaw, num_trials: int):
        self.likelihood, self._base = LIKELIHOODS[type(law)], law.base
        self._exposure = law.exposure if isinstance(law, PoissonCounts) else 1.0
        self.count, self.total = np.zeros((num_trials, 0)), np.zeros((num_trials, 0))
        self.changes = np.zeros(num_trials, dtype=np.int64)  # so many times a trial's outcomes have changed

    @property
    def noise(self) -> float:
        """Noise variance of the quadratic approximation at f = 0."""
        return 1.0 / (self._exposure * float(self.likelihood.curvature(np.array(self._base))))

    def reserve(self, size: int) -> None:
        """Have room for so many points."""
        more = size - self.count.shape[1]
        if more > 0:
            self.count, self.total = (np.pad(each, ((0, 0), (0, more))) for each in (self.count, self.total))

    def add(self, trial: Ints, point: Ints, plays: Floats | float, total: Floats | float) -> None:
        """Add plays of points and the sums of their outcomes, (n,) each; trials may repeat."""
        np.add.at(self.count, (trial, point), plays)
        np.add.at(self.total, (trial, point), total)
        self.changes[trial] += 1

    def clear(self, trial: Ints) -> None:
        """Remove all plays of trials, (n,)."""
        self.count[trial] = self.total[trial] = 0.0
        self.changes[trial] += 1

    def statistics(self, trial: int) -> SufficientStatistics:
        """Return the plays of a trial and the sums of their outcomes."""
        return SufficientStatistics.of(self.count[trial], self.total[trial])

    def rows(self, trial: int, root: Callable[[Ints], Floats]) -> PlayedRows:
        """Return the played points, ascending, as rows of a root, (u,) -> (u, r)."""
        (played,) = self.count[trial].nonzero()
        plays = self._exposure * self.count[trial, played]
        return PlayedRows(root(played), plays, self.total[trial, played], np.full(len(played), self._base))

    def mode(self, rows: PlayedRows, start: Floats | None = None) -> Laplace:
        """Return the mode of the weights, found from a start, (r,), with the factor of the loss there."""
        return laplace(rows, self.likelihood, start, self.steps)

    def fit(self, rows: PlayedRows, start: Floats | None = None) -> Laplace:
        """Return Laplace's Gaussian of the weights, whose factor is that of their information."""
        return self.mode(rows, start)


class OutcomePosterior(Posterior):
    """Posterior of f ~ GP(0, k), seen by outcomes of mean link(base + f); see `laplace`."""

    def __init__(self, gram: Gram, outcomes: PlayOutcomes, num_trials: int):
        super().__init__(gram, outcomes.noise, num_trials)
        self.outcomes = outcomes

    def observe_sums(self, trial: Ints, point: Ints, plays: Floats, total: Floats) -> None:
        self.outcomes.reserve(self.gram.size)
        self.outcomes.add(trial, point, plays, total)

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        self.outcomes.add(trial, point, 0.0, change)

    def count_at(self, cells: Ints | None) -> Floats:
        self.outcomes.reserve(self.gram.size)
        return columns_at(self.outcomes.count, cells)

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """Raise: the mode is no linear function of the outcomes."""
        raise NotImplementedError("the mode of a latent function has no weights of observations")

    def reset(self, trial: Ints) -> None:
        self.outcomes.clear(trial)

    def statistics(self, trial: int) -> SufficientStatistics:
        return self.outcomes.statistics(trial)

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        self.reset(np.array([trial]))
        self.observe_sums(np.full(len(seen.point), trial), *seen)


class LatentPosterior(OutcomePosterior):
    """Posterior on arms. A trial is fitted anew when it is read after a play, from its last fit's weights.

    O(u r^2 + r^3 + N r^2), for u distinct plays and a prior of rank r.
    """

    def __init__(self, gram: Gram, outcomes: PlayOutcomes, num_trials: int):
        super().__init__(gram, outcomes, num_trials)
        outcomes.reserve(gram.size)
        self._root = np.ascontiguousarray(gram.root.T)  # (N, r)
        self._start = np.zeros((num_trials, self._root.shape[1]))
        self._fits: list[tuple[int, Laplace] | None] = [None] * num_trials  # after so many changes
        self._variance: list[Floats | None] = [None] * num_trials  # of this fit

    @property
    def gain(self) -> Floats:
        return np.array([np.log(np.diag(self.fit(i).factor)).sum() for i in self._trials])

    def fit(self, trial: int) -> Laplace:
        """Return Laplace's Gaussian of the weights of a trial."""
        changes, known = int(self.outcomes.changes[trial]), self._fits[trial]
        if known is None or known[0] != changes:
            known = changes, self.outcomes.fit(self._rows(trial), self._start[trial])
            self._fits[trial], self._start[trial], self._variance[trial] = known, known[1].weight, None
        return known[1]

    def _rows(self, trial: int) -> PlayedRows:
        return self.outcomes.rows(trial, self._root.__getitem__)

    def half_width_at(self, cells: Ints | None, bound: Floats, delta: float) -> Floats:
        """Return the mixture band's half-width of f, (B, A), for |f| <= bound (B,) and 1 - delta."""
        bands = [
            mixture_band(self.fit(i), self._rows(i), self.outcomes.likelihood, own, delta)
            for i, own in enumerate(bound.tolist())
        ]
        return columns_at(np.stack([band.half_width(self._root) for band in bands]), cells)

    def mean_at(self, cells: Ints | None) -> Floats:
        return columns_at(np.stack([self.fit(i).mean(self._root) for i in self._trials]), cells)

    def variance_at(self, cells: Ints | None) -> Floats:
        return columns_at(np.stack([self._variance_of(i) for i in self._trials]), cells)

    def centred_sample_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        weights = [
            self.fit(i).draw(self.gram.quick_white(rng)) - self.fit(i).weight for i, rng in enumerate(rngs)
        ]
        return columns_at(np.stack([self._root @ weight for weight in weights]), cells)

    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        half = solve_triangular(self.fit(trial).factor, self._root.T, lower=True)
        return half[:, point].T @ half[:, other]

    def reset(self, trial: Ints) -> None:
        super().reset(trial)
        self._start[trial] = 0.0

    @property
    def _trials(self) -> range:
        return range(len(self.noise))

    def _variance_of(self, trial: int) -> Floats:
        fit = self.fit(trial)
        known = self._variance[trial]
        if known is None:
            known = self._variance[trial] = norms(fit.factor, self._root) ** 2
        return known


class LatentPlays(OutcomePosterior, PairPosterior):
    """Posterior on a box: that given one Gaussian value a played point, which is Laplace's Gaussian.

    With f the mode at the plays, g the slope of the log-likelihood and W the weights in H,

        values f + g / W of noise 1 / W:   mu = k(x, X) (K + W^-1)^-1 (f + g / W) = k(x, X) g,

    as f = K g at the mode, whatever W is. O(u^3) where it is read after a play, for u distinct plays; without
    a start, so that it is a function of the plays.
    """

    def __init__(self, gram: Gram, outcomes: PlayOutcomes, num_trials: int):
        super().__init__(gram, outcomes, num_trials)
        self._read = np.full(num_trials, -1)  # changes of the outcomes that a trial's values include

    def factor(self, trial: int) -> PlayFactor:
        changes = int(self.outcomes.changes[trial])
        if self._read[trial] != changes:
            PairPosterior.condition_on(self, trial, self._values(trial))
            self._read[trial] = changes
        return super().factor(trial)

    def _values(self, trial: int) -> SufficientStatistics:
        """Return the values as sums of lambda W plays each."""
        (played,) = self.outcomes.count[trial].nonzero()
        if not len(played):
            return SufficientStatistics.none()
        rows = self.outcomes.rows(trial, self._root)
        mode = self.outcomes.mode(rows).weight
        z = rows.z(mode)
        weight = np.maximum(rows.information(z, self.outcomes.likelihood), LEAST_WEIGHT)
        total = weight * (rows.design @ mode) - rows.surplus(z, self.outcomes.likelihood)
        return SufficientStatistics(played, self.noise[trial] * weight, self.noise[trial] * total)

    def _root(self, points: Ints) -> Floats:
        covariance = self.gram.between(points, points)
        root, _ = pivoted_root(covariance, TOLERANCE * float(self.gram.diagonal[points].max(initial=0.0)))
        return root.T

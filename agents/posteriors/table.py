r"""The base of representations that store mean and variance at every point.

One play of x gives, with c = Sigma[:, x], s = lambda + c[x] and u = c / sqrt(s) (Chowdhury & Gopalan
2017, appendix F),

    mu += u (y - mu(x)) / sqrt(s),    Sigma -= u u',    gain += 1/2 log(s / lambda).
"""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .base import Posterior, SufficientStatistics, columns_at
from .decomposition import solve_rows, solve_vector
from .play_counts import PlayCounts


class Tables(NamedTuple):
    """Mean and variance at all points, (B, N) each."""

    mean: Floats
    variance: Floats


class TablePosterior(Posterior):
    """Posterior with mean and variance at all N points; a subclass stores the covariance."""

    _tables: Any  # with a mean and a variance, (B, N) each

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        shape = (num_trials, gram.size)
        self._tables = Tables(np.zeros(shape), np.tile(gram.diagonal, (num_trials, 1)))
        self._play_counts = PlayCounts(self.noise, gram.size)
        self._first_cell = np.arange(num_trials) * gram.size  # of each trial in a flattened (B, N)
        self._scratch = np.empty(shape)

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, N)."""
        return self._tables.mean

    @property
    def variance(self) -> Floats:
        """Posterior variance, (B, N)."""
        return self._tables.variance

    @property
    def count(self) -> Floats:
        """Plays, (B, N)."""
        return self._play_counts.count

    @property
    def total(self) -> Floats:
        """Sums of the values, (B, N)."""
        return self._play_counts.total

    @property
    def gain(self) -> Floats:
        return self._play_counts.gain

    def observe(self, trial: Ints, point: Ints, value: Floats) -> None:
        if len(trial) == 1:  # a third of the time that arrays of one entry take
            self._observe_one(trial.item(), point.item(), value.item())
            return
        if not len(trial):  # nothing was delivered
            return
        rows = self._rows(trial)
        cell, scale = self._condition(trial, point, value, self.noise[rows])
        self._play_counts.write(cell, value.copy(), scale)

    def observe_sums(self, trial: Ints, point: Ints, plays: Floats, total: Floats) -> None:
        """Condition on the mean of several observations, whose noise is lambda / n: the step above."""
        noise = self.noise[trial] / plays
        cell, scale = self._condition(trial, point, total / plays, noise)
        self._play_counts.write_sums(trial, cell, plays, total, scale / np.sqrt(noise))

    def _condition(self, trial: Ints, point: Ints, value: Floats, noise: Floats) -> tuple[Ints, Floats]:
        """Apply one step to values with this noise, (n,) each; return their cells and sqrt(s), (n,) each."""
        rows = self._rows(trial)
        cell = self._first_cell[rows] + point
        root, scale = self._absorb(trial, point, noise)
        innovation = (value - self.mean.ravel()[cell]) / scale
        scratch = self._scratch[: len(trial)]
        change_rows(np.add, self.mean, rows, np.multiply(root, innovation[:, None], out=scratch))
        change_rows(np.subtract, self.variance, rows, np.multiply(root, root, out=scratch))
        return cell, scale

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        step = self.columns(trial, point)
        step *= (change / self.noise[trial])[:, None]
        for i, row in zip(trial.tolist(), step, strict=True):  # trials repeat: an indexed += would drop rows
            self.mean[i] += row
        np.add.at(self.total, (trial, point), change)

    def centred_sample_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        return columns_at(self.centred_sample(rngs), cells)

    def centred_sample(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw f - mean jointly, each trial from its own generator, (B, N).

        Matheron's rule: r = f' - Sigma (n f' + sqrt(n lambda) e) / lambda with f' a draw of the prior
        and e standard normal at the played points. All representations draw the same z and e, in
        f' = z @ gram.root, hence return the same sample.
        """
        if len(rngs) == 1:  # half the time that arrays over all points take
            return self._deviate_one(*self._drawn_single(rngs[0]))[None]
        return self._deviate(*self._drawn_each(rngs))

    def _drawn_each(self, rngs: Sequence[np.random.Generator]) -> tuple[Floats, list[Ints], list[Floats]]:
        """Return z of all trials, (B, r), and the points played, (u,), and their e, (u,), of each."""
        weight = np.array([self._white(rng) for rng in rngs])
        played = list(map(self._play_counts.played, range(len(rngs))))
        return weight, played, [rng.standard_normal(len(x)) for rng, x in zip(rngs, played, strict=True)]

    def _drawn_single(self, rng: np.random.Generator) -> tuple[Floats, Ints, Floats]:
        """Return the only trial's z (r,), the points played (u,) and their e (u,)."""
        weight = self._white(rng)
        played = self._play_counts.played(0)
        return weight, played, rng.standard_normal(len(played))

    def _deviate_one(self, weight: Floats, played: Ints, noise: Floats) -> Floats:
        """Apply Matheron's rule in the only trial to the draws of `_drawn_single`: (N,)."""
        return self._deviate(weight[None], [played], [noise])[0]

    def mean_at(self, cells: Ints | None) -> Floats:
        mean = self._tables.mean  # no call: it is asked for in every round
        return mean if cells is None else np.take_along_axis(mean, cells, axis=1)

    def variance_at(self, cells: Ints | None) -> Floats:
        variance = self._tables.variance
        return variance if cells is None else np.take_along_axis(variance, cells, axis=1)

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """|a_x| at some points of each trial, (B, A): sqrt(sum_p n_p Sigma[x, p]^2) / lambda."""
        norms = np.zeros(self.mean.shape)
        for i, (row, count) in enumerate(zip(norms, self.count, strict=True)):
            played = self._play_counts.played(i)
            columns = self.columns(np.full(len(played), i), played)
            row[:] = np.sqrt(count[played] @ columns**2) / self.noise[i]
        return columns_at(norms, cells)

    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        return self.columns(np.full(len(other), trial), other)[:, point].T

    def count_at(self, cells: Ints | None) -> Floats:
        return columns_at(self.count, cells)

    def reset(self, trial: Ints) -> None:
        self._play_counts.reset(trial)
        self.mean[trial] = 0.0
        self.variance[trial] = self.gram.diagonal
        self._forget(trial)

    def statistics(self, trial: int) -> SufficientStatistics:
        return SufficientStatistics.of(self.count[trial], self.total[trial])

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        self._play_counts.restore(trial, seen)
        self._restore_trial(trial)

    @abc.abstractmethod
    def columns(self, trial: Ints, point: Ints) -> Floats:
        """Return Sigma[:, x] of trials that may repeat, (n,) each -> (n, N); the caller may write to it."""

    @abc.abstractmethod
    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        """Add one play a trial, with this noise (n,), to the cache; return u (n, N) and sqrt(s) (n,)."""

    def _absorb_one(self, i: int, x: int) -> tuple[Floats, float]:
        """Add one play of trial i to the cache; return u (N,), which is read only, and sqrt(s)."""
        root, scale = self._absorb(np.array([i]), np.array([x]), self.noise[i : i + 1])
        return root[0], scale.item()

    @abc.abstractmethod
    def _deviate(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        """Apply Matheron's rule to z (B, r) and to each trial's e (u,) at its played points (u,): (B, N)."""

    def _everywhere(self, played: list[Ints], noise: list[Floats]) -> Floats:
        """Return each trial's numbers at its played points, (u,) each, and 0 at the others, (B, N)."""
        table = np.zeros_like(self.mean)
        table.ravel()[self._cells(played)] = np.concatenate(noise)
        return table

    def _cells(self, played: list[Ints]) -> Ints:
        """Return the places of played points of each trial in a flattened (B, N)."""
        return np.repeat(self._first_cell, list(map(len, played))) + np.concatenate(played)

    @abc.abstractmethod
    def _forget(self, trial: Ints) -> None:
        """Clear the caches of the given trials."""

    def _observe_one(self, i: int, x: int, value: float) -> None:
        root, scale = self._absorb_one(i, x)
        mean, variance, scratch = self.mean[i], self.variance[i], self._scratch[0]
        mean += np.multiply(root, (value - mean.item(x)) / scale, out=scratch)
        variance -= np.multiply(root, root, out=scratch)
        self._play_counts.write_one(i, x, value, scale)

    @abc.abstractmethod
    def _restore_trial(self, i: int) -> None:
        """Recompute trial i from its counts and sums."""

    def _condensed(self, i: int) -> tuple[Ints, Floats, Floats]:
        """Recompute mean, variance and gain of trial i from its counts and sums; O(u^2 N).

        Return X, the u distinct points played, L (u, u) and V (u, N) of `decomposition`.
        """
        noise, point = float(self.noise[i]), self.count[i].nonzero()[0]
        plays = self.count[i, point]
        rows = self.gram.columns(point)
        covariance = rows[:, point]
        covariance[np.diag_indices(len(point))] += noise / plays
        triangle = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        solve_rows(triangle, rows)
        self.mean[i] = solve_vector(triangle, self.total[i, point] / plays) @ rows
        self.variance[i] = self.gram.diagonal - np.einsum("un,un->n", rows, rows)
        self.gain[i] = np.log(np.diag(triangle)).sum() + 0.5 * np.log(plays / noise).sum()
        return point, triangle, rows

    def _white(self, rng: np.random.Generator) -> Floats:
        """Draw the variates z of a draw of the prior, (r,)."""
        return self.gram.quick_white(rng)

    def _rows(self, trial: Ints) -> slice | Ints:
        """Return the trials, as a slice if they are all, so that indexing makes views and not copies."""
        return slice(None) if len(trial) == len(self.noise) else trial


def change_rows(how: np.ufunc, array: Floats, rows: slice | Ints, values: Floats) -> None:
    """Add to some rows in place, or subtract; of a slice without the copy of `array[rows] += ...`."""
    if isinstance(rows, slice):
        how(array, values, out=array)
    else:
        array[rows] = how(array[rows], values)

"""Pending plays count as values drawn from their posterior: the randomised kriging believer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.definite import pivoted_root

from ..model.model import Model
from ..model.rounds import Clock, Rows
from ..posteriors import SufficientStatistics
from .base import Shift
from .imputed import Hallucinated

TOLERANCE = 1e-12  # of the largest variance, of the root from which fantasies are drawn
WORDS = 2**62  # number of words, one a trial, from which the draws of its rounds are made


class Fantasised(Hallucinated):
    """Mean given the delivered values and a draw of the pending ones, std of all plays (arXiv 2603.01470).

    With g a joint draw of f at the pending points P from the delivered posterior (mu, S), anew in each round,

        mu~ = mu + S[:, P] (S_PP + lambda I)^-1 (g - mu_P).

    With g = mu_P it is `Hallucinated`. A recommendation rests on mu.

    Args:
        noisy: True adds noise to g, so that fantasies have the law of the values to come: Thompson sampling
            then draws from the delivered posterior in law. False takes the draw of f itself.
    """

    def __init__(
        self, model: Model, num_trials: int, *, noisy: bool = True, rngs: Sequence[np.random.Generator] = ()
    ):
        super().__init__(model, num_trials)
        self._adds_noise = noisy
        self._words = [int(rng.integers(WORDS)) for rng in rngs] or [0] * num_trials
        self._pending: list[list[int]] = [[] for _ in range(num_trials)]  # points of each trial
        self._round = 0
        self._shifts: dict[int, Shift | None] = {}  # of this round, by trial

    def play(self, point: Ints) -> None:
        super().play(point)
        for pending, x in zip(self._pending, point.tolist(), strict=True):
            pending.append(x)
        self._round += 1
        self._shifts.clear()

    def receive(
        self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats, weight: Floats | None = None
    ) -> None:
        super().receive(trial, point, delay, value, weight)
        self._collect(trial, point)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        super().drop(trial, point, ago)
        self._collect(trial, point)

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        for i, x in zip(rows.trial.tolist(), rows.point.tolist(), strict=True):
            self._pending[i].append(x)
        super().condition(now, rows, clock)  # receives those that were delivered

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        for i in trial.tolist():
            self._pending[i].clear()
        self._shifts.clear()

    def remodel(self, model: Model) -> None:
        super().remodel(model)
        self._shifts.clear()

    def revalue(self, trial: Ints, came: Callable[[int, Ints], SufficientStatistics]) -> None:
        super().revalue(trial, came)
        self._shifts.clear()

    def known_mean(self, context: Ints) -> Floats:
        return super().mean(context)

    def mean(self, context: Ints) -> Floats:
        mean, cells = super().mean(context), self.cells(context)
        moves = np.zeros(mean.shape)
        for i in self.rows.tolist():
            if (shift := self.shift(i)) is not None:
                here = np.arange(mean.shape[1]) if cells is None else cells[i]
                moves[i] = self.centre.covariance(i, here, shift.point) @ shift.weight
        return mean + moves

    def played_at(self, cells: Ints | None) -> Bools:
        return self.spread.count_at(cells) > 0

    def shift(self, trial: int) -> Shift | None:
        """Return what the fantasies of this round move the mean by; None without pending plays."""
        if trial not in self._shifts:
            self._shifts[trial] = self._drawn(trial) if self._pending[trial] else None
        return self._shifts[trial]

    def _drawn(self, trial: int) -> Shift:
        point = np.array(self._pending[trial])
        distinct, place = np.unique(point, return_inverse=True)
        covariance = self.centre.covariance(trial, distinct, distinct)
        root, _ = pivoted_root(covariance.copy(), TOLERANCE * float(self.centre.gram.diagonal.max()))
        rng = np.random.default_rng([self._words[trial], self._round])
        fantasy = (rng.standard_normal(len(root)) @ root)[place]  # g - mu_P
        weights = self.weights(point)
        noise = self.centre.noise[trial] / (np.ones(len(point)) if weights is None else weights)
        if self._adds_noise:
            fantasy = fantasy + np.sqrt(noise) * rng.standard_normal(len(point))
        together = covariance[np.ix_(place, place)]
        together[np.diag_indices(len(point))] += noise
        return Shift(point, cho_solve(cho_factor(together, lower=True), fantasy))

    def _collect(self, trial: Ints, point: Ints) -> None:
        for i, x in zip(trial.tolist(), point.tolist(), strict=True):
            self._pending[i].remove(x)
        self._shifts.clear()

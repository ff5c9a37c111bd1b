"""Beliefs that fill in pending feedback: posterior means, other values (Verma et al. 2022), or a draw."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.definite import pivoted_root

from ..model.model import Model
from ..model.rounds import Clock, Delivery, Rows, in_time
from ..posteriors import Posterior, SufficientStatistics
from ..posteriors.base import observe, reweigh, withdraw
from .base import Belief, Known, Shift, make_posterior, successor
from .censored import Censored

# Assumed value of a pending play of a trial, given the posterior of values delivered in time, in its units.
FillIn = Callable[[Posterior, int, int], float]
NEIGHBOURS = 3
TOLERANCE = 1e-12  # of the largest variance, of the root from which fantasies are drawn
WORDS = 2**62  # number of words, one a trial, from which the draws of its rounds are made


class Hallucinated(Belief):
    """Mean of the delivered values, std of all plays (GP-BUCB, Desautels et al. 2014).

    Conditioning pending plays on the current mean leaves the mean unchanged and shrinks the std, which two
    posteriors do exactly.
    """

    weighs = True

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, make_posterior(model, num_trials), make_posterior(model, num_trials))
        self._zeros = np.zeros(num_trials)

    def play(self, point: Ints) -> None:
        weight = self.weights(point)
        if weight is None:
            self.std_posterior.observe(self.rows, point, self._zeros)
        else:
            self.std_posterior.observe_sums(self.rows, point, weight, self._zeros)

    def receive(self, delivery: Delivery) -> None:
        trial, point, value, weight = delivery.trial, delivery.point, delivery.reward, delivery.weight
        observe(
            self.mean_posterior, trial, point, self.residual(trial, point, value), self.weights(point, weight)
        )
        if weight is not None:
            reweigh(self.std_posterior, trial, point, self.weights(point), weight)

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        zeros = np.zeros(len(rows.point))
        observe(self.std_posterior, rows.trial, rows.point, zeros, self.weights(rows.point))
        super().condition(now, rows, clock)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        withdraw(self.std_posterior, trial, point, np.zeros(len(point)), self.weights(point))


def posterior_mean(delivered: Posterior, trial: int, point: int) -> float:
    """Return the posterior mean of the point: exactly hallucination."""
    return float(delivered.mean_of(np.array([trial]), np.array([point]))[0])


def nearest_means(delivered: Posterior, trial: int, point: int) -> float:
    """Return the average posterior mean of the nearest points with delivered feedback; 0 before any."""
    arrived = delivered.played(trial)
    if len(arrived) == 0:
        return 0.0
    features = delivered.gram.points
    distance = ((features[arrived] - features[point]) ** 2).sum(axis=1)
    nearest = arrived[np.argsort(distance, kind="stable")[:NEIGHBOURS]]
    return float(delivered.mean_of(np.full(len(nearest), trial), nearest).mean())


class Imputed(Censored):
    """Belief that counts a pending value as its fill-in, which deliveries update until the value comes.

    A value that comes after the window is not used: the latest fill-in stays.
    """

    def __init__(self, model: Model, num_trials: int, *, fill: FillIn, **options: Any):
        super().__init__(model, num_trials, **options)
        self.fill = fill
        self.delivered = make_posterior(model, num_trials)

    def shifted(self, model: Model) -> Model:
        """Return the model unchanged: fill-ins are posterior means, not least values."""
        return model

    def known(self) -> Known:
        return Known(self.delivered, self.given_mean)

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        filled = self.take_back(trial, point)
        kept = in_time(delivery.delay, self.window)
        trial, point = trial[kept], point[kept]
        residual = self.residual(trial, point, value[kept])
        self.mean_posterior.correct(trial, point, residual - filled[kept])
        observe(self.delivered, trial, point, residual)
        for i in np.unique(trial):
            self._renew(int(i))

    def revalue(self, trial: Ints, delivered: Callable[[int, Ints], SufficientStatistics]) -> None:
        super().revalue(trial, delivered)
        self._give_values(self.delivered, trial, delivered)
        for i in trial.tolist():
            self._pending[i] = {x: [0.0] * len(filled) for x, filled in self._pending[i].items()}
            self._renew(i)

    def _assume_pending(self, trial: Ints, point: Ints) -> None:
        super()._assume_pending(trial, point)
        for i in np.unique(trial).tolist():
            self._renew(i)

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        self.delivered.reset(trial)

    def assumed(self, trial: Ints, point: Ints) -> Floats:
        pairs = zip(trial.tolist(), point.tolist(), strict=True)
        return np.array([self.fill(self.delivered, i, x) for i, x in pairs], dtype=np.float64)

    def remodel(self, model: Model) -> None:
        super().remodel(model)
        self.delivered = successor(self.delivered, model)
        for i in self.rows.tolist():
            self._renew(i)

    def _renew(self, trial: int) -> None:
        for point, filled in self._pending[trial].items():
            if not filled:
                continue
            value = self.fill(self.delivered, trial, point)
            change = len(filled) * value - sum(filled)
            self.mean_posterior.correct(np.array([trial]), np.array([point]), np.array([change]))
            filled[:] = [value] * len(filled)


FILL_INS: dict[str, FillIn] = {"mean": posterior_mean, "nearest": nearest_means}


class Fantasised(Hallucinated):
    """Mean given the delivered values and a draw of the pending ones, std of all plays (arXiv 2603.01470).

    With g a joint draw of f at the pending points P from the delivered posterior (mu, S), anew in each round,

        mu~ = mu + S[:, P] (S_PP + lambda I)^-1 (g - mu_P).

    With g = mu_P it is `Hallucinated`. A recommendation rests on mu. `noisy` adds noise to g, so that
    fantasies have the law of the values to come: Thompson sampling then draws from the delivered posterior in
    law.
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

    def receive(self, delivery: Delivery) -> None:
        super().receive(delivery)
        self._collect(delivery.trial, delivery.point)

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

    def revalue(self, trial: Ints, delivered: Callable[[int, Ints], SufficientStatistics]) -> None:
        super().revalue(trial, delivered)
        self._shifts.clear()

    def mean(self, context: Ints) -> Floats:
        mean, cells = super().mean(context), self.cells(context)
        moves = np.zeros(mean.shape)
        for i in self.rows.tolist():
            if (shift := self.shift(i)) is not None:
                here = np.arange(mean.shape[1]) if cells is None else cells[i]
                moves[i] = self.mean_posterior.covariance(i, here, shift.point) @ shift.weight
        return mean + moves

    def played_at(self, cells: Ints | None) -> Bools:
        return self.std_posterior.count_at(cells) > 0

    def shift(self, trial: int) -> Shift | None:
        """Return what the fantasies of this round move the mean by; None without pending plays."""
        if trial not in self._shifts:
            self._shifts[trial] = self._drawn(trial) if self._pending[trial] else None
        return self._shifts[trial]

    def _drawn(self, trial: int) -> Shift:
        point = np.array(self._pending[trial])
        distinct, place = np.unique(point, return_inverse=True)
        covariance = self.mean_posterior.covariance(trial, distinct, distinct)
        root, _ = pivoted_root(covariance.copy(), TOLERANCE * float(self.mean_posterior.gram.diagonal.max()))
        rng = np.random.default_rng([self._words[trial], self._round])
        fantasy = (rng.standard_normal(len(root)) @ root)[place]  # g - mu_P
        weights = self.weights(point)
        noise = self.mean_posterior.noise[trial] / (np.ones(len(point)) if weights is None else weights)
        if self._adds_noise:
            fantasy = fantasy + np.sqrt(noise) * rng.standard_normal(len(point))
        together = covariance[np.ix_(place, place)]
        together[np.diag_indices(len(point))] += noise
        return Shift(point, cho_solve(cho_factor(together, lower=True), fantasy))

    def _collect(self, trial: Ints, point: Ints) -> None:
        for i, x in zip(trial.tolist(), point.tolist(), strict=True):
            self._pending[i].remove(x)
        self._shifts.clear()

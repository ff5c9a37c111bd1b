"""Pending feedback counted as its least possible value: stochastic delayed feedback (Verma et al. 2022)."""

from dataclasses import replace

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.functions import SELDOM_BELOW

from ..model.model import Model
from ..model.rounds import ByRound, Clock, Delivery, Rows, default_window, in_time
from ..options import PerTrial
from ..posteriors.base import observe, withdraw
from .base import Belief, Known, make_posterior, successor

DROPPED = -1  # in place of a point
SELDOM_BEYOND = 3.0  # noise stds that hardly any value of Gaussian noise exceeds


class Censored(Belief):
    """Belief that counts a pending value as 0, and corrects it if delivered within a window of m rounds.

    Values are shifted by the least possible value, which is the prior mean here, so that 0 is the least.
    Feedback that takes longer than m is never used; its play stays in the design.

    Args:
        window, reward_bound: m and B_y, see `gp_ucb_sdf`.
        noisy: True for the sigma of an observation, sqrt(sigma^2 + lambda), which is not in the paper's text
            but what libraries predict; samples stay those of f.
        bounding: True for the default B_y of `largest_shifted`, as theorems require; False for one prior std,
            the B_y = 1 of the paper's experiments, which bounds nothing.
    """

    fills_in = True

    def __init__(
        self,
        model: Model,
        num_trials: int,
        window: float | None = None,
        reward_bound: float | None = None,
        noisy: bool = False,
        bounding: bool = False,
    ):
        window = default_window(model.setting) if window is None else window
        require_not_negative("window", window, "it is the longest delay of feedback that is used")
        if reward_bound is not None:
            require_not_negative("reward_bound", reward_bound, "it bounds the shifted rewards")
        if model.learning is not None and model.learning.mean:
            raise ValueError("fit_mean must be False here: pending values count as the lower bound, got True")
        both = make_posterior(model, num_trials)
        super().__init__(self.shifted(model), both, both)
        self._model = model
        # Of each trial: points of plays that count as these values.
        self._pending: list[dict[int, list[float]]] = [{} for _ in range(num_trials)]
        self.window, self._given, self._prior_std = window, reward_bound, model.prior_std
        self._bounding, self._largest = bounding, largest_shifted(model)
        self.noisy = noisy
        self.clock = Clock(model.setting.query_times)
        self._points = ByRound(num_trials)
        self._since = np.zeros(num_trials, dtype=np.int64)  # first round since each trial's restart, (B,)

    def shifted(self, model: Model) -> Model:
        """Return the model with the prior mean that makes the value of a pending play 0."""
        return replace(model, prior_mean=model.least)

    def remodel(self, model: Model) -> None:
        """Change to another kernel and noise, hence another s; the least value stays."""
        super().remodel(self.shifted(model))
        self._model = model
        self._prior_std, self._largest = model.prior_std, largest_shifted(model)

    def play(self, point: Ints) -> None:
        values = self.assumed(self.rows, point)
        self.mean_posterior.observe(self.rows, point, values)
        self._points.append(point)
        self._note(self.rows, point, values)

    def known(self) -> Known:
        """Return the posterior of delivered values under the model's prior mean, no play counted as 0."""
        plays = [(i, x) for i, each in enumerate(self._pending) for x in each for _ in each[x]]
        trial, point = np.array(plays, dtype=np.int64).reshape(-1, 2).T
        known = successor(self.mean_posterior, self.shifted(self._model))
        withdraw(known, trial, point, np.zeros(len(point)))
        prior = self._model.prior_mean
        if not np.array_equal(prior, self.given_mean):
            known = successor(
                known, self._model, np.broadcast_to(prior, self.prior_mean.shape) - self.prior_mean
            )
        return Known(known, prior)

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        kept = in_time(delivery.delay, self.window)
        trial, point = trial[kept], point[kept]
        self.mean_posterior.correct(
            trial, point, self.residual(trial, point, value[kept]) - self.take_back(trial, point)
        )

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        """Count all plays as pending, then correct those with values; they enter the bias, and no others."""
        for _ in range(now - len(self._points)):  # of a fresh belief
            self._points.append(np.full(len(self.rows), DROPPED))
        self._points.rows[rows.round, rows.trial] = rows.point
        np.minimum.at(self._since, rows.trial, rows.round)
        self._assume_pending(rows.trial, rows.point)
        super().condition(now, rows, clock)

    def _assume_pending(self, trial: Ints, point: Ints) -> None:
        """Count pending plays as 0, (n,) each; trials ascend."""
        zeros = np.zeros(len(point))
        observe(self.mean_posterior, trial, point, zeros)
        self._note(trial, point, zeros)

    def _note(self, trial: Ints, point: Ints, values: Floats) -> None:
        for i, x, value in zip(trial.tolist(), point.tolist(), values.tolist(), strict=True):
            self._pending[i].setdefault(x, []).append(value)

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        for i in trial.tolist():
            self._pending[i].clear()
        self._since[trial] = len(self._points)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        counted = self._points.rows[-ago, trial] != DROPPED
        trial, point, ago = trial[counted], point[counted], ago[counted]
        withdraw(self.mean_posterior, trial, point, self.take_back(trial, point))
        self._points.rows[-ago, trial] = DROPPED

    def take_back(self, trial: Ints, point: Ints) -> Floats:
        """Return the assumed values of plays that have just ceased to be pending, (n,) each -> (n,)."""
        pairs = zip(trial.tolist(), point.tolist(), strict=True)
        return np.array([self._pending[i][x].pop() for i, x in pairs], dtype=np.float64)

    def assumed(self, trial: Ints, point: Ints) -> Floats:
        return np.zeros(len(point))

    @property
    def assumes_bound(self) -> bool:
        """True where B_y is the default."""
        return self._given is None

    @property
    def reward_bound(self) -> PerTrial:
        """B_y."""
        if self._given is not None:
            return self._given
        return self._largest if self._bounding else self._prior_std

    @property
    def bias(self) -> Floats | float:  # type: ignore[override] (an attribute of other beliefs)
        """B_y / s^2 sum_{s=t-m}^{t-1} sigma_{t-1}(x_s) over the last m plays, delivered or not, (B,).

        s is the largest prior std, which the paper takes as 1: the bias multiplies a std.
        """
        recent = self.clock.recent(len(self._points), self.window)
        if recent == 0:
            return 0.0
        point = self._points.rows[-recent:].ravel()
        trial = np.tile(self.rows, recent)
        variance = np.maximum(self.std_posterior.variance_of(trial, point), 0.0) + self.noise_of(trial)
        std = np.sqrt(variance) * (point != DROPPED)
        std = std.reshape(recent, -1)
        if self._since.any():
            played = np.arange(len(self._points) - recent, len(self._points))
            std[played[:, None] < self._since] = 0.0
        return self.reward_bound / self._prior_std**2 * std.sum(axis=0)


def largest_shifted(model: Model) -> PerTrial:
    """Return B_y = (m - least) + max(3, B) s + 3 R, a number or (B,), in units of the reward.

    m is the prior mean, s the largest prior std and B the bound on the norm: |f - m| <= B s where the norm is
    bounded, and f - m seldom exceeds 3 s where f is drawn from the prior; R is the std of the noise.
    """
    rise = np.subtract(model.prior_mean, model.least)  # (), (N,) or (B, 1)
    rise = rise[:, 0] if rise.ndim == 2 else rise.max()
    bound = (
        rise + np.maximum(SELDOM_BELOW, model.rkhs_bound) * model.prior_std + SELDOM_BEYOND * model.noise_std
    )
    return bound if np.ndim(bound) else float(bound)

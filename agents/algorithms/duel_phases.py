"""MR-LPF: duels in phases, of which each plays the least known pairs and then leaves out what cannot be best.

The constants are those of a survey (Kayal et al. 2025). That kappa_r stands for kappa in beta and in sigma_D
alike is our reading. A step of the paper's proof of a rate is disputed, so none is claimed.

Readable form: tests/references/duels.py.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np
from scipy.special import expit

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.duels import TIE, max_info
from ..beliefs.preferences import Preferences
from ..model.defaults import DefaultBound
from ..model.model import Model
from ..protocol import handles
from ..restarts.base import growing_lengths
from .duels import DuelAgent, Duelling, DuelOptions, duellist

HERE = np.zeros(1, dtype=np.int64)


class PhasesOfPairs(DuelAgent):
    """Agent of phases of the least known pairs of the arms that are left, with a fit of each one's duels."""

    def __init__(self, model: Model, width: float | None, delta: float, penalty: float, band: float | None):
        super().__init__(model, max_info, width, delta)
        self.penalty, self.band = penalty, band
        self.bound = float(np.asarray(model.rkhs_bound))
        self.lengths = growing_lengths(model.setting.horizon)

    @property
    def assumes_bound(self) -> bool:
        return self.band is None and isinstance(self.model.rkhs_bound, DefaultBound)

    def begin(self) -> None:
        super().begin()
        self.left, self.phase = np.arange(self._num_arms), -1
        self._next_phase()

    def act(self, observation: Floats) -> Ints:
        self.context(observation)
        (rng,) = self.streams.of_round("rule", self.round)
        std = np.triu(self.std_of_pairs[np.ix_(self.left, self.left)]).ravel()
        tied = (std >= std.max() - TIE).nonzero()[0]
        return self.left[np.array(divmod(int(rng.choice(tied)), len(self.left)))]

    @property
    def std_of_pairs(self) -> Floats:
        """Return sigma_D, the std of f_i - f_j given the pairs that the phase has played, (A, A)."""
        variance = np.diag(self._covariance)
        return np.sqrt(np.maximum(variance[:, None] + variance - 2.0 * self._covariance, 0.0))

    @property
    def half_width(self) -> Floats:
        """Return beta sigma_D, which bounds errors of probabilities, (A, A)."""
        if self.band is not None:
            return self.band * self.std_of_pairs
        values = 2.0 * len(self.lengths) * self._num_arms / self.delta
        beta = 0.25 * (self.bound + np.sqrt(self._kappa / self.penalty * np.log(values)))
        return beta * self.std_of_pairs

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        super().update(observation, action, reward, info)
        first, second = map(int, action)
        known = self._covariance[:, first] - self._covariance[:, second]
        noise = self._kappa * self.penalty
        self._covariance -= np.outer(known, known) / (noise + known[first] - known[second])
        self._played += 1
        if self._played == self.lengths[self.phase]:
            mode = self._duels.mean(HERE)[0]
            best_case = expit(mode[:, None] - mode) + self.half_width
            self.left = self.left[(best_case[np.ix_(self.left, self.left)] >= 0.5).all(axis=1)]
            self._next_phase()

    def learn(self, first: int, second: int, won: float) -> None:
        super().learn(first, second, won)
        self._duels.add(first, second, won)

    def _next_phase(self) -> None:
        self.phase, self._played = min(self.phase + 1, len(self.lengths) - 1), 0
        self._kappa = 6.0 if self.phase else 2.0 + 2.0 * np.cosh(2.0 * self.bound)  # first 1 / s'(2 B)
        self._covariance = self.model.gram.dense.copy()
        self._duels = Preferences(self.model, self.penalty)


@handles("duel", "horizon")
def mr_lpf(
    setting: Setting,
    *,
    penalty: Annotated[float, positive("it weighs the norm of f")] = 0.25,
    band: Annotated[float, positive("it multiplies a standard deviation")] | None = None,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """MR-LPF: phases of the least known pairs, after which arms that may not be the best leave (Kayal 2025).

    A phase has n_r duels, n_1 = ceil(sqrt T), n_r = ceil(sqrt(T n_{r-1})). It plays argmax sigma_D in M x M,
    which looks at no outcome; then x leaves M if s(f(x) - f(x')) + beta_r sigma_D(x, x') < 1/2 for some x' in
    M, f fitted to the duels of the phase alone.

    Args:
        penalty: lambda of the fit, the sum of log losses + lambda |f|^2 / 2.
        band: w of w sigma_D in place of beta_r sigma_D, without a guarantee: beta_r is so large that no arm
            leaves in a trial of 2,000 duels of `GPBandit-Duel-v0`, which a test plays.
        delta: probability with which a band may fail: beta_r = (B + sqrt(kappa_r / lambda ln(2 H N / delta)))
            / 4 for H phases and N arms, kappa_1 = 1 / s'(2 B), later 6.
    """
    lasting = not (setting.duel and setting.has_contexts)
    require(lasting, "setting", 'without contexts: arms leave for good; take "maxminlcb"', "contexts")
    make = partial(PhasesOfPairs, penalty=penalty, band=band)
    return duellist(make, setting, num_trials, delta=delta, **options)

"""GP-UCB for feedback of which only sums over rounds are observed."""

from __future__ import annotations

from collections import deque
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_number, require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.delays import DelayByArm
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..agent.assembly import TrialList, each_model
from ..agent.single_trial import ArmAgent
from ..model.choice import argmax_with_ties
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import shares_of_rounds
from ..options import require_absent, require_arms, require_once
from ..protocol import handles
from ..widths.base import Width
from ..widths.by_name import make_width

FIRST = 64  # initial number of columns; doubled whenever they are full
TIE = 1e-9  # in prior stds
ONE = np.ones(1)


class Functionals:
    r"""Posterior of f on N points of one trial, given values h'f + e of linear functionals, exact.

    With v = Var e and u = Sigma h / sqrt(h'Sigma h + v): mu <- mu + u (s - h'mu) / sqrt(h'Sigma h + v) and
    Sigma <- Sigma - u u'. Sigma = K - U U' is kept as its columns u_1, ..., u_n: O(N n) time and memory per
    value, whatever h, until there are N columns; then as a matrix, O(N^2).
    """

    def __init__(self, model: Model):
        self._gram = gram = model.gram
        self.mean = np.array(np.broadcast_to(np.asarray(model.prior_mean, dtype=np.float64), gram.size))
        self.variance = gram.diagonal.copy()  # (N,)
        self.gain = 0.0  # of information, 1/2 sum log(1 + h'Sigma h / v)
        self._columns = np.empty((min(FIRST, gram.size), gram.size))  # U', of which n rows are used
        self._count = 0
        self._whole: Floats | None = None  # Sigma, (N, N), once it is the smaller one

    @property
    def covariance(self) -> Floats:
        """Sigma, (N, N), as a copy."""
        return self._dense() if self._whole is None else self._whole.copy()

    def observe(self, point: Ints, weight: Floats, value: float, variance: float) -> None:
        """Condition on sum_i weight_i f(point_i) + e, (n,) each, e of a given variance; points may repeat."""
        point, place = np.unique(point, return_inverse=True)
        weight = np.asarray(np.bincount(place, weight), dtype=np.float64)
        if self._whole is not None:
            pull = weight @ self._whole[point]  # Sigma h, (N,)
        else:
            known = self._columns[: self._count]
            pull = self._gram.combine(point, weight) - (known[:, point] @ weight) @ known
        spread = float(weight @ pull[point])
        self.gain += 0.5 * float(np.log1p(spread / variance))
        self.mean += pull * ((value - float(weight @ self.mean[point])) / (spread + variance))
        column = pull / np.sqrt(spread + variance)
        self.variance -= column**2
        if self._whole is not None:
            self._whole -= np.multiply.outer(column, column)
            return
        if self._count == len(self._columns):
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)])
        self._columns[self._count] = column
        self._count += 1
        if self._count >= self._gram.size:
            self._whole, self._columns = self._dense(), self._columns[:0]

    def _dense(self) -> Floats:
        known = self._columns[: self._count]
        return self._gram.dense - known.T @ known


class AggregatedUCB(ArmAgent):
    r"""argmax mu + w sigma, where a round's feedback is s_t = sum_k p_k f(x_{t-k}) + e_t in the mean.

    p_k is the probability that feedback takes k rounds. Given f, the variance of s_t is R^2 sum_k p_k from
    the noise, plus sum_k p_k (1 - p_k) f(x_{t-k})^2 from the random delays, for which the posterior's E f^2
    is taken. That a play delivers feedback only once is not used: ours, heuristic, without a bound. The zero
    of the reward matters, because the number of summands is unknown. Where values are delivered with their
    rounds, each is learnt by itself, and this is GP-UCB on the delivered feedback. `chances` are p_k, (K,).
    """

    def __init__(self, model: Model, chances: Floats, width: Width):
        super().__init__(model)
        self.chances, self.width = chances, width

    def begin(self) -> None:
        self.functionals = Functionals(self.model)
        self.recent: deque[int] = deque(maxlen=len(self.chances))  # points, the latest first

    def act(self, observation: Floats) -> int:
        mean, std = self.known_at(self.context(observation))
        uniform = self.tie_breaker()
        width = self.width(np.array([self.round + 1]), np.array([self.functionals.gain]))
        scores = (mean + width * std)[None]
        return int(argmax_with_ties(scores, TIE * self.model.prior_std, uniform, self.available())[0])

    def noted(self, point: Ints, played: Ints, news: Feedback) -> None:
        self.recent.appendleft(int(point.item()))
        noise, known = float(self.model.noise_variance), self.functionals
        for x, y in zip(played[:, None], news.reward.tolist(), strict=False):  # none of a sum
            known.observe(x, ONE, y, noise)
        recent = np.array(self.recent)
        chance = self.chances[: len(recent)]
        if self.setting.aggregated and chance.any():
            square = known.mean[recent] ** 2 + np.maximum(known.variance[recent], 0.0)  # E f^2
            uncertain = (chance * (1.0 - chance)) @ square
            known.observe(recent, chance, float(news.reward.sum()), noise * chance.sum() + uncertain)

    def known_at(self, context: Ints) -> tuple[Floats, Floats]:
        decisions = self.setting.decisions
        point = decisions.point_index(context, np.arange(decisions.num_arms))
        return self.functionals.mean[point], np.sqrt(np.maximum(self.functionals.variance[point], 0.0))


@handles("delay", "context", "availability", "aggregated")
def gp_ucb_aggregated(
    setting: Setting,
    *,
    width: str | float | Width = 2.0,
    chances: Any = None,
    delta: float = 0.1,
    gamma: Any = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> AggregatedUCB | TrialList:
    """GP-UCB on sums of anonymous delayed rewards, by linear functionals: ours, heuristic.

    Args:
        width: w: a number, or a name of `make_width`.
        chances: p_k that feedback takes k = 0, 1, ... rounds, with a sum of at most 1; default those of the
            published law, from 100,000 draws where it has no formula. Laws that depend on arms or rewards
            have no default.
        delta, gamma: of the width; the realised gain is that of the sums.
    """
    require_arms(setting, "sums are linear functionals of them")
    require_absent(options, ("form", "initial", "refit_every"), "this agent has none")
    require_once(options, "sums tell of no arm")
    model, known = Model.of(setting, **options), chances_of(setting, chances)

    def make(own: Model) -> AggregatedUCB:
        return AggregatedUCB(own, known, make_width(width, own, delta, gamma=gamma))

    return each_model(model, make, num_trials)


def chances_of(setting: Setting, given: Any = None) -> Floats:
    """Return the probabilities that feedback takes k = 0..K - 1 rounds, (K,), as given or from the law."""
    if given is not None:
        words = "a list of numbers >= 0 with a sum in (0, 1]"
        listed = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)
        require(listed and all(is_number(each) and each >= 0.0 for each in given), "chances", words, given)
        chances = np.array(given, dtype=np.float64)
        require(0.0 < chances.sum() <= 1.0 + 1e-9, "chances", words, given)
        return chances
    if not setting.max_delay:
        return np.ones(1)
    law = setting.delay
    if law is None or law.depends_on_rewards or isinstance(law, DelayByArm):
        remedy = "given where no law is published, or one that depends on arms or rewards"
        raise ArgumentError("chances", f"must be {remedy}, got None")
    return shares_of_rounds(law, setting.max_delay)

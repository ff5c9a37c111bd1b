"""Named algorithms for delayed feedback, and GP-UCB for feedback of which only sums over rounds are observed.

With contexts they are the contextual algorithms (CGB-SDF, Verma et al. 2022, section 5): points are
(context, arm) pairs. `gp_ucb` under delay learns from delivered feedback and ignores pending plays.

Readable forms: tests/references/delayed.py, randomised.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_number, require, require_choice, written_as
from bandit_envs.basics.options import whole
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.delays import DelayByArm
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, Starting, WithWidth
from ..acquisition.candidates import Rule
from ..acquisition.rules import UCB, PosteriorVariance, Thompson
from ..agent.assembly import Agent, TrialList, assemble, each_model
from ..agent.single_trial import ArmAgent
from ..beliefs.censored import Censored, largest_shifted
from ..beliefs.imputed import FILL_INS, Hallucinated, Imputed
from ..model.choice import argmax_with_ties
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import shares_of_rounds
from ..named import is_name
from ..options import require_absent, require_arms, require_once, typed
from ..protocol import handles, states_propensities
from ..widths.base import FixedWidth, Width
from ..widths.bounded_norm import DelayedWidth
from ..widths.by_name import make_gamma, make_width
from .classic import WidthOptions, upper_bound

FIRST = 64  # initial number of columns; doubled whenever they are full
TIE = 1e-9  # in prior stds
ONE = np.ones(1)


class CensoredOptions(ModelOptions, total=False):
    """Options of agents whose pending plays count as some value: of that, of the width and of the model."""

    window: float | None
    """m, in rounds or the units of the published query times; default None: the 95 % quantile of the
    published law of delays, or the largest possible delay where no law is published."""
    width: str | float | Width
    """beta_t: "delayed" (Theorem 1, for lambda > 1), a name of `make_width`, or a number; default 1.0 as in
    the paper's experiments."""
    reward_bound: float | None
    """B_y, which bounds the shifted |y|; default None: `largest_shifted` with "delayed", and with another
    width one prior std, the B_y = 1 of the paper's experiments. 0 leaves the bias out: with a width of 1
    GP-TS-SDF then draws from the posterior itself, a variant without nu_t."""
    fill_in: str
    """The value of a pending play: "zero" (default), "mean" (posterior mean) or "nearest"."""
    noisy: bool
    """Whether sigma has the noise in it, as libraries predict it; see `Censored`; default False."""
    delta: float
    """Failure probability of the width; default 0.1."""
    gamma: Any
    """Information gain of the width; default None: its own, and the realised one with "delayed"."""


@handles("delay", "context", "box", "availability")
def gp_ucb_sdf(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[CensoredOptions]
) -> Agent:
    """GP-UCB-SDF: argmax mu + (beta_t + bias) sigma, pending values 0 (Verma et al. 2022, Algorithm 1)."""
    return _censoring(setting, UCB, 2, num_trials, **options)


@states_propensities
@handles("delay", "context", "box", "availability")
def gp_ts_sdf(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[CensoredOptions]
) -> Agent:
    """GP-TS-SDF: argmax of one sample of GP(mu, (beta_t + bias)^2 k) (Verma et al. 2022); as `gp_ucb_sdf`."""
    return _censoring(setting, Thompson, 4, num_trials, **options)


@typed
def _censoring(
    setting: Setting,
    rule: Callable[[Width], Rule],
    union: int,
    num_trials: int | None,
    *,
    window: float | None = None,
    width: str | float | Width = 1.0,
    reward_bound: float | None = None,
    fill_in: str = "zero",
    noisy: bool = False,
    delta: float = 0.1,
    gamma: Any = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    one = window is None or isinstance(window, Real)
    require(one, "window", "one number, the same in all trials", window)
    require_choice("fill_in", fill_in, ("zero", *FILL_INS))
    filling = Censored if fill_in == "zero" else partial(Imputed, fill=FILL_INS[fill_in])
    bounding = is_name(width, "delayed")
    belief = partial(filling, window=window, reward_bound=reward_bound, noisy=noisy, bounding=bounding)
    if bounding:
        width_of = partial(_delayed_width, reward_bound, delta, "realised" if gamma is None else gamma, union)
    else:
        width_of = partial(make_width, width, delta=delta, gamma=gamma)
    return assemble(Model.of(setting, **options), WithWidth(rule, width_of), num_trials, belief=belief)


def _delayed_width(
    reward_bound: float | None, delta: float, gamma: Any, union: int, model: Model
) -> DelayedWidth:
    information = make_gamma(gamma, model)
    bound = (largest_shifted(model) if reward_bound is None else reward_bound) / model.prior_std
    return DelayedWidth(model.rkhs_bound, model.relative_noise, bound, information, delta, union)


@handles("delay", "context", "box", "noise", "availability")
def gp_bucb(
    setting: Setting,
    *,
    width: str | float | Width = 1.0,
    start: Annotated[int, whole(0, "it is the number of first rounds of uncertainty sampling")] = 0,
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """GP-BUCB: mean of the delivered feedback, std of all plays (Desautels et al. 2014, Algorithm 1).

    Args:
        width: a name of `make_width` or a number; the theory multiplies it by exp(C).
        start: rounds of uncertainty sampling at the beginning, which keep C small.
    """
    rule, parts = partial(_ucb_after, start), {"belief": Hallucinated}
    return upper_bound(setting, num_trials, parts, rule=rule, width=width, **options)


def _ucb_after(start: int, width: Width) -> Rule:
    return Starting(start, PosteriorVariance(), UCB(width)) if start else UCB(width)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def gp_bts(
    setting: Setting, *, scale: float = 1.0, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """GP-BTS: samples N(mu of delivered feedback, v^2 k of all plays), v = `scale` (Verma et al. 2022)."""
    with written_as({"value": "scale"}):
        rule = Thompson(FixedWidth(scale))
    return assemble(Model.of(setting, **options), Always(rule), num_trials, belief=Hallucinated)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def asy_ts(
    setting: Setting, *, scale: float = 1.0, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """Asy-TS: samples N(mu, v^2 k) of the delivered feedback, v = `scale` (Kandasamy et al. 2018)."""
    with written_as({"value": "scale"}):
        rule = Thompson(FixedWidth(scale))
    return assemble(Model.of(setting, **options), Always(rule), num_trials)


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
        if self._whole is not None:
            return self._whole.copy()
        known = self._columns[: self._count]
        return self._gram.dense - known.T @ known

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
            self._whole, self._columns = self.covariance, self._columns[:0]


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

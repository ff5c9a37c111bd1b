"""Named algorithms with a guarantee where only a bound on the length-scale, or a few priors, are known.

Marginal likelihood (`refit_every`) has no guarantee: after a few plays it may settle on a wrong length-scale
and never correct it. These shorten it by a schedule, or compare candidates by their regret. Their width is
"amm", "self-normalised" or "improved", with the realised gain; they take no `refit_every` and `repeat`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.options import one_of
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, TrialList, assemble
from ..agent.assumptions import LengthScaleGrowth, Power, Shrinking, Start, shrunk
from ..agent.gp_agent import TIE, GPAgent
from ..agent.model_ensemble import ModelEnsemble, together
from ..kernels.amplitude import has_length_scale, order_of
from ..model.choice import argmax_with_ties
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..options import Delta, require_left_out, require_once
from ..protocol import handles
from ..widths.by_name import improved_width, make_width

WIDTHS = {  # for functions of bounded norm, with the gain that is realised
    "amm": partial(make_width, "amm"),
    "self-normalised": partial(make_width, "self-normalised"),
    "improved": improved_width,
}
BoundedWidth = Annotated[str, one_of(*WIDTHS)]
FIRST = 5  # shorter candidates that are open from the start
ROUNDING = 1e-9  # relative: theta_0 / g(t) itself is among the candidates
TIED = 1e-9  # of the largest regret bound


@handles("delay", "context", "box", "noise", "availability")
def a_gp_ucb(
    setting: Setting,
    *,
    g: Power = 0.5,
    b: Power = 0.0,
    start: Start = 1.0,
    width: BoundedWidth = "amm",
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """A-GP-UCB: GP-UCB whose length-scale shrinks by a schedule (Berkenkamp et al. 2019).

    In round t = 1, 2, ... length-scales are theta_0 / g(t), and the bound on the norm is b(t) g(t)^(d/2) B_0,
    with g(t) = max(start, t^g) and b(t) = t^b; theta_0 and B_0 are the model's. Regret is O(g(T)^d) times
    that of the true length-scale. The schedule is the one that Ziomek et al. (2024) compare with; the
    original multiplies the norm by g(t)^d [memory], see `agents.kernels.amplitude.inflation`. Kernels without
    a length-scale stay unchanged. The posterior is rebuilt in every round in which g(t) grows.

    Args:
        g, b: powers of t.
        start: t_0, at least 1.
        delta: failure probability of a round's band, for that round's kernel.
    """
    model = _fixed_model(setting, {"form": "pairs", **options})  # the form that is cheapest to rebuild
    grows, more = LengthScaleGrowth(g, start), LengthScaleGrowth(b)
    return assemble(model, _bands(width, delta), num_trials, assumptions=partial(Shrinking, g=grows, b=more))


@handles("delay", "box", "availability")
def lb_gp_ucb(
    setting: Setting,
    *,
    scales: Any = None,
    g: Power = 0.5,
    width: BoundedWidth = "amm",
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> ModelEnsemble | TrialList:
    """LB-GP-UCB: chooses among length-scales so that their possible losses are balanced (Ziomek et al. 2024).

    Candidates are theta_0 q^i, i = 0, 1, ..., with q = e^(-1/d), and e^(-1/(d + 2 nu)) on Matern kernels as
    in the authors' code, down to theta_0 / g(t), g(t) = max(q^-5, t^g); the norm of candidate theta is
    (theta_0 / theta)^(d/2) B_0. Regret is O(d log g(T)) times that of the best candidate, for isotropic
    kernels, known R and contexts of one known law. See `Balanced` for the rule, in our reading. With theorem
    widths candidates are hardly ever eliminated: balancing does the work.

    Args:
        scales: multiples of theta_0 in place of the schedule, all open from the start.
        g: power of t. The authors fit theta_0 by marginal likelihood to ten first plays; ours is the model's.
    """
    model = _fixed_model(setting, options)
    if scales is None:
        schedule = _schedule(model, g)
    else:
        listed = isinstance(scales, list | tuple) or (isinstance(scales, np.ndarray) and scales.ndim == 1)
        positive = listed and len(scales) > 0 and all(is_number(each) and each > 0 for each in scales)
        words = "positive numbers, multiples of the length-scale such as (1, 0.5, 0.25)"
        require(positive, "scales", words, scales)
        schedule = Scales(np.asarray(scales, dtype=np.float64))
    models = [shrunk(model, factor) for factor in 1.0 / schedule.ratios]
    rule_of = _bands(width, delta / 2.0)
    return together(partial(Balanced, is_open=schedule, delta=delta), models, rule_of, num_trials)


@handles("delay", "context", "box", "availability")
def pe_gp_ucb(
    setting: Setting,
    *,
    priors: Any = None,
    width: BoundedWidth = "amm",
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> ModelEnsemble | TrialList:
    """PE-GP-UCB: the most optimistic of several priors, until its predictions fail (Ziomek et al. 2025).

    See `Optimistic` for the rule. It is for priors that are not nested: means, periods, families. Of nested
    length-scales the shortest is always the most optimistic; take `lb_gp_ucb`.

    Args:
        priors: for each prior, options of the model that override the common ones, such as
            ({"prior_mean": 0.0}, {"kernel": "matern52"}). Default: the model's prior mean, and means one
            prior std below and above it.
    """
    if priors is None:
        model = _fixed_model(setting, options)
        priors = [{"prior_mean": model.prior_mean + by * model.prior_std} for by in (-1.0, 0.0, 1.0)]
    words = 'dicts of options of the model, such as ({"prior_mean": 0.0}, {"prior_mean": 1.0})'
    known = isinstance(priors, list | tuple) and len(priors) > 0
    require(known and all(isinstance(each, Mapping) for each in priors), "priors", words, priors)
    models = [_fixed_model(setting, {**options, **each}) for each in priors]
    rule_of = _bands(width, delta / 2.0)
    return together(partial(Optimistic, delta=delta), models, rule_of, num_trials)


def _bands(width: str, delta: float) -> WithWidth:
    return WithWidth(UCB, partial(WIDTHS[width], delta=delta))


@dataclass(frozen=True, eq=False)
class Scales:
    """Schedule of the candidates: in round t the multiples of theta_0 of at least 1 / g(t)."""

    ratios: Floats  # all multiples, (K,)
    g: LengthScaleGrowth | None = None  # growth of the schedule; None opens all candidates from the start

    def __call__(self, t: int) -> Bools:
        least = 0.0 if self.g is None else (1.0 - ROUNDING) / self.g(t)
        return self.ratios >= least


def _schedule(model: Model, power: float) -> Scales:
    """Return all candidates of the horizon; a kernel without a length-scale is its only candidate."""
    dim, order = model.setting.pairs_width, order_of(model.kernel)
    divisor = dim if math.isinf(order) else dim + 2.0 * order
    grows = LengthScaleGrowth(power, math.exp(FIRST / divisor))
    if not has_length_scale(model.kernel):
        return Scales(np.ones(1))
    last = int(divisor * math.log(grows(model.setting.horizon)) + ROUNDING)
    return Scales(np.exp(-np.arange(last + 1) / divisor), grows)


def _fixed_model(setting: Setting, options: Mapping[str, Any]) -> Model:
    """Return the model of an agent that handles hyperparameters itself and chooses in every round."""
    require_once(options, "the choice may be another candidate's in the next round")
    remedy = "leave it out, or take gp-ucb"
    where = "where kernels are compared by their predictions"
    require_left_out("refit_every", options.get("refit_every") or None, None, where, remedy)
    return Model.of(setting, **options)


class Balanced(ModelEnsemble):
    r"""Balance regret bounds over kernels (Ziomek, Adachi & Osborne 2024, LB-GP-UCB, in our reading).

    S_k are the plays that candidate k chose, n = |S_k|, B_k and g_k its norm and its realised gain. The
    candidate with the smallest

        sqrt(n + 1) (B_k sqrt(g_k) + g_k)

    plays next. Once all open candidates have delivered values, k is eliminated if

        ybar_k + sqrt(xi_t / n_k) + (2 / n_k) sum over S_k of w sigma
            < max over j of ybar_j - sqrt(xi_t / n_j),

    xi_t = 2 R^2 log(K pi^2 t^2 / (6 delta / 2)), n_k and ybar_k of the delivered values. The printed
    algorithm has minus before its first xi and no factor 2, with which the proof does not work.

    The regret bound needs one right candidate k, the one whose own bound is least. Its band fails with
    probability delta / 2; while it holds, f* is at most the mean of f over S_k plus (2 / n_k) sum w sigma.
    Then k is never eliminated if the mean noise over S_k is above -sqrt(xi / n_k) and that over each other
    S_j below sqrt(xi / n_j): one side each of K candidates and, as xi grows, of every n_j, hence delta / 2 by
    a union bound. Bands of wrong candidates fail whatever their delta.

    Bands are those of delta / 2; `is_open` maps t = 1, 2, ... to the candidates in use by then, (K,).
    """

    def __init__(
        self, agents: Sequence[GPAgent], rule_of: WithWidth, *, is_open: Callable[[int], Bools], delta: float
    ):
        super().__init__(agents, rule_of)
        self._is_open, self._delta = is_open, delta
        bounds = [np.broadcast_to(each.model.rkhs_bound, self._size) for each in agents]
        self._bound = np.stack(bounds, axis=1)

    @property
    def open(self) -> Bools:
        """Return which candidates may choose next, (B, K)."""
        return self.alive & self._is_open(self.round + 1)

    @property
    def assumes_bound(self) -> bool:
        return not all(agent.model.bound_is_known for agent in self.agents)  # balancing uses every B_k

    def _choose(self, observation: Floats, uniform: Floats) -> tuple[Any, Ints]:
        gain = np.stack([agent.belief.gain for agent in self.agents], axis=1)
        loss = np.sqrt(self.record.chosen + 1.0) * (self._bound * np.sqrt(gain) + gain)  # regret bounds
        score = np.where(self.open, -loss, -np.inf)
        who = argmax_with_ties(score, TIED * loss.max(axis=1), uniform)
        choosing = np.arange(len(self.agents)) == who[:, None]
        return self._of(who, self._asked(choosing, observation)), who

    def _eliminated(self) -> Bools:
        record, competing = self.record, self.open
        count = np.maximum(record.arrived, 1.0)
        mean, slack = record.value / count, np.sqrt(self._xi(self._delta)[:, None] / count)
        upper = mean + slack + 2.0 * record.promised / count
        lower = np.where(competing, mean - slack, -np.inf).max(axis=1, keepdims=True)
        used = (record.arrived > 0.0) | ~competing
        return used.all(axis=1, keepdims=True) & competing & (upper < lower)


class Optimistic(ModelEnsemble):
    r"""Maximise the upper bound over several priors and eliminate those whose residuals are too large.

    A play is the argmax over points x and priors p of mu_p(x) + w_p sigma_p(x). With S_p the plays of p whose
    values were delivered, p is eliminated if

        |sum over S_p of y - mu_p(x)| > sum over S_p of w_p sigma_p(x)
                                        + sqrt(2 R^2 |S_p| log(K pi^2 t^2 / (3 delta / 2))).

    For a right prior both terms bound the sum: with probability 1 - delta it is not eliminated, and the
    largest bound is at least the optimum. If all are contradicted, those of the last round stay in use, and
    `refuted` is true. The structure is that of PE-GP-UCB as far as we remember it (Ziomek et al. 2025); the
    test is ours.

    Bands are those of delta / 2.
    """

    def __init__(self, agents: Sequence[GPAgent], rule_of: WithWidth, *, delta: float):
        super().__init__(agents, rule_of)
        self._delta = delta

    def reset(self, seed: int | Sequence[int]) -> None:
        super().reset(seed)
        self.refuted = np.zeros(self._size, dtype=bool)  # true where every prior is contradicted, (B,)

    def _choose(self, observation: Floats, uniform: Floats) -> tuple[Any, Ints]:
        actions = self._asked(self.alive, observation)
        score = np.full(self.alive.shape, -np.inf)
        for k, action in enumerate(actions):
            if action is not None:
                mean, band = self._band(k, observation, action)
                score[:, k] = np.where(self.alive[:, k], mean + band, -np.inf)
        who = argmax_with_ties(score, TIE * self.model.prior_std, uniform)
        return self._of(who, actions), who

    def _eliminated(self) -> Bools:
        record = self.record
        slack = np.sqrt(self._xi(self._delta / 2.0)[:, None] * record.arrived)
        surprised = np.abs(record.surprise) > record.promised + slack
        nobody = np.logical_not((self.alive & ~surprised).any(axis=1))
        self.refuted |= nobody
        return np.where(nobody[:, None], False, surprised)

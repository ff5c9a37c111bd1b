"""Named algorithms for functions outside the space, corrupted rewards, heavy tails, and arms used inexactly.

The first three are upper confidence bounds that enlarge a valid band of the clean problem; by default that
band has the AMM width.

Readable form: tests/references/robust.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.options import not_negative, number, one_of, positive, positive_fraction
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition import robust
from ..acquisition.by_name import WithWidth
from ..acquisition.candidates import Rule
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..agent.candidate_views import ArmsView
from ..agent.domain import FiniteSet
from ..agent.gp_agent import GPAgent
from ..beliefs.delivered import EquallyWeighted
from ..beliefs.points import Arms, Points
from ..model.choice import argmax_with_ties, only_offered
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..objectives.base import NOTHING, Band, Objective, Revision, Reward
from ..options import require_absent, require_arms, require_once
from ..protocol import handles
from ..widths.base import Width
from ..widths.by_name import make_width
from .classic import WidthOptions, upper_bound

ROUNDING = 1e-9  # relative, of a distance
EXTRAS = ("sharp", "paper")
FURTHEST = 1e6  # beyond 1 all arms are near
NEAR = number(f"a number up to {FURTHEST:g}, in ranges of features", lambda eps: eps <= FURTHEST)
Distance = Annotated[float, not_negative("it is a distance"), NEAR]


class Truncated(Objective):
    """y 1[|y| <= b_t], b_t = v^(1 / (1 + alpha)) t^(1 / (2 (1 + alpha))) (Ray Chowdhury & Gopalan 2019).

    The level is from memory. y is measured from the average prior mean, and t is the round of delivery, which
    is not before that of the play: the bias is not larger. `moment` is v, at least E|y|^(1 + alpha) with
    alpha in (0, 1], by default from B and R.
    """

    def __init__(self, model: Model, num_trials: int, alpha: float = 1.0, moment: float | None = None):
        super().__init__(model, num_trials)
        self._centre = float(np.mean(model.prior_mean))
        self._alpha, self._moment = alpha, np.broadcast_to(moment_of(model, alpha, moment), num_trials)
        self._t = 1

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        level = truncation(self._moment[trial], self._alpha, self._t)
        return np.where(np.abs(reward - self._centre) <= level, reward, self._centre)

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band]:
        return [(mean, std)]  # truncation biases the mean, less and less with time

    def end_round(self, rounds: int) -> Revision:
        self._t = rounds + 1
        return NOTHING


def truncation(moment: Floats, alpha: float, t: int) -> Floats:
    """Return b_t, (n,)."""
    return moment ** (1.0 / (1.0 + alpha)) * t ** (1.0 / (2.0 * (1.0 + alpha)))


def moment_of(model: Model, alpha: float, moment: float | None) -> Floats:
    """Return v, (1,) or (B,): the given one, or (f_max^2 + R^2)^((1 + alpha) / 2), f_max = B s, by Jensen."""
    if moment is not None:
        return np.atleast_1d(np.asarray(moment, dtype=np.float64))
    apart = float(np.abs(model.prior_mean - np.mean(model.prior_mean)).max())
    largest = np.multiply(model.rkhs_bound, model.prior_std) + apart
    return np.atleast_1d((largest**2 + np.square(model.noise_std)) ** ((1.0 + alpha) / 2.0))


class WorstNearby(Reward):
    """min of the score over arms x' with |x' - x| <= eps, in ranges of the features, which have no unit."""

    def __init__(self, model: Model, num_trials: int, *, eps: float):
        super().__init__(model, num_trials)
        self.near = neighbours(model.setting.decisions.unit_arms, eps)

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        return worst_nearby(scores, self.near)


def neighbours(unit_arms: Floats, eps: float) -> Bools:
    """Return the mask of arms within eps of each other, (A, d) in [0, 1] -> (A, A)."""
    square = sum(np.subtract.outer(each, each) ** 2 for each in unit_arms.T)
    return np.asarray(square <= (eps * (1.0 + ROUNDING)) ** 2)


def worst_nearby(values: Floats, near: Bools) -> Floats:
    """Return the smallest values among neighbours, (B, A) and (A, A) -> (B, A), with O(A^2) memory."""
    return np.array([np.where(near, row, np.inf).min(axis=1) for row in values])


@handles("delay", "context", "box", "availability")
def ec_gp_ucb(
    setting: Setting,
    *,
    eps: float | None = None,
    extra: Annotated[str, one_of(*EXTRAS, "exact")] = "sharp",
    width: str | float | Width = "amm",
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """EC-GP-UCB: a band for functions that are eps from the kernel's space (Bogunovic & Krause 2021).

    Args:
        eps: |f - f_0| <= eps at all points, f_0 of norm B; default the published value, else 0.
        extra: "sharp", the worst case for f_0; "paper", eps sqrt((t - 1) / lambda) sigma; or "exact", the
            worst case for f itself, which is the narrowest band of f at played arms but a poorer rule: it
            favours the other arms.
        width: of the clean band, see `gp_ucb`.
    """
    far = (setting.misspecification or 0.0) if eps is None else eps
    rule_of = partial(_misspecified, eps=far, extra=extra, width=width, delta=delta)
    return assemble(Model.of(setting, **options), rule_of, num_trials, belief=EquallyWeighted)


@handles("delay", "context", "box", "availability")
def rgp_ucb(
    setting: Setting,
    *,
    budget: float | None = None,
    extra: Annotated[str, one_of(*EXTRAS)] = "sharp",
    width: str | float | Width = "amm",
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """RGP-UCB: a band for rewards that an attacker may change by C in total (Bogunovic et al. 2020).

    Args:
        budget: C; default the published corruption, else 0.
        extra: "sharp", the exact worst case, or "paper", C / sqrt(lambda) sigma.
        width: of the clean band, see `gp_ucb`.
    """
    most = (setting.corruption or 0.0) if budget is None else budget
    rule_of = partial(_corrupted, budget=most, extra=extra, width=width, delta=delta)
    return assemble(Model.of(setting, **options), rule_of, num_trials, belief=EquallyWeighted)


@handles("delay", "context", "box", "availability", "horizon")
def tgp_ucb(
    setting: Setting,
    *,
    alpha: Annotated[float, positive_fraction("moments of order 1 + alpha are finite")] = 1.0,
    moment: Annotated[float, positive("it bounds E|y|^(1 + alpha)")] | None = None,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """TGP-UCB: truncation of rewards with heavy tails (Ray Chowdhury & Gopalan 2019).

    It is for the worst case: on lighter tails its band is several times too wide.

    Args:
        alpha: in (0, 1]: E|y|^(1 + alpha) is finite.
        moment: a bound on it, for y minus the average prior mean; default follows from B and R.
        **options: of the model, see `ModelOptions`; noise_variance is 1 prior variance by default.
    """
    model = Model.of(setting, **options)
    if options.get("noise_variance") is None:
        model = replace(model, noise_variance=max(model.prior_std**2, 1e-12))  # a WhiteKernel is the noise
    width_of = partial(_truncated_width, alpha=alpha, moment=moment, delta=delta)
    objective = partial(Truncated, alpha=alpha, moment=moment)
    return assemble(model, WithWidth(UCB, width_of), num_trials, belief=EquallyWeighted, objective=objective)


def _misspecified(model: Model, *, eps: float, extra: str, width: Any, delta: float) -> Rule:
    clean = make_width(width, model, delta)
    if extra == "paper":
        return UCB(robust.MisspecifiedWidth(clean, eps, model.noise_variance))
    allowance = robust.Misspecification if extra == "sharp" else robust.ExactMisspecification
    return robust.RobustUCB(clean, allowance(eps))


def _corrupted(model: Model, *, budget: float, extra: str, width: Any, delta: float) -> Rule:
    clean = make_width(width, model, delta)
    if extra == "paper":
        return UCB(robust.CorruptedWidth(clean, budget, model.noise_variance))
    return robust.RobustUCB(clean, robust.CorruptedRewards(budget))


def _truncated_width(model: Model, *, alpha: float, moment: float | None, delta: float) -> Width:
    largest = truncation(moment_of(model, alpha, moment), alpha, model.setting.horizon)
    return robust.TruncatedWidth(model.rkhs_bound, largest, alpha, model.noise_variance, delta)


class StableArms(FiniteSet):
    """Arms of which the one whose neighbours have the largest minimum of mu + w sigma is chosen.

    A neighbour is played, the argmin of mu - w sigma. The objective is `WorstNearby`; `centre`, (B,), holds
    the arms chosen last.
    """

    def worth(self, agent: GPAgent, mean: Floats, std: Floats, points: Points) -> Floats:
        """Return the lower bounds of the worst neighbours, (B, A)."""
        assert isinstance(points, Arms)
        return agent.objective.penalised(_lower(agent, points.context), points, agent.t)

    def choose(self, agent: GPAgent, context: Ints, uniform: Floats, free: Bools | None = None) -> Ints:
        assert isinstance(agent.objective, WorstNearby)
        self.centre = super().choose(agent, context, uniform, free)
        feared = np.where(agent.objective.near[self.centre], -_lower(agent, context), -np.inf)
        return argmax_with_ties(feared, agent._tie, uniform, agent.offered)

    def scored(self, agent: GPAgent, scores: Floats, context: Ints, offered: Bools | None) -> Floats:
        """Return the worst neighbour's scores, (B, A); missing arms cannot be chosen, but are neighbours."""
        return only_offered(agent.objective.penalised(scores, agent.arms(context), agent.t), offered)


def _lower(agent: GPAgent, context: Ints) -> Floats:
    """Return mu - w sigma, the reflection of the upper bound in the mean, (B, A)."""
    view = ArmsView(agent, agent.belief, context)
    return 2.0 * view.mean - agent.rule(view)


@handles("delay", "context", "noise", "availability")
def stable_opt(
    setting: Setting,
    *,
    eps: Distance = 0.05,
    width: str | float | Width = "finite-set",
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """StableOpt: argmax_x min_{|x' - x| <= eps} uf(x'), and of these x' the least lf (Bogunovic et al. 2018).

    With bands that hold, min f near the best arm less min f near the chosen one is at most 2 w sigma of the
    play, so that robust regret (`gpbandits.evaluation.robust_regret`) has the bound of GP-UCB, which is
    eps = 0. It recommends the arm whose worst neighbour has the largest lf now, our reading; the paper takes
    the best of the chosen arms, by lf at the time. Missing arms are neither chosen nor played, but count as
    neighbours: the bound then requires that the worst neighbour is available.

    Args:
        eps: largest distance of the arm that is used from the chosen one, in ranges of the features over the
            arms.
    """
    require_arms(setting, "they have neighbours")
    require_absent(options, ("refit_every",), "fears change with bands")
    require_once(options, "fears change with bands")
    parts = {"domain": StableArms, "objective": partial(WorstNearby, eps=eps)}
    return upper_bound(setting, num_trials, parts, width=width, **options)

"""Agents for clicks and counts: Laplace's approximation of the latent function (log-odds, log-rates).

Where rewards have Gaussian noise the approximation is exact, and they are GP-UCB and Thompson sampling of a
constant width. No rate of regret is proved of them. Where conversions alone are delivered, late or never,
plays without one count by their age.

Readable form: tests/references/outcomes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require, require_not_negative
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.delays import Conversions
from bandit_envs.laws.outcomes import BernoulliOutcomes, OutcomeLaw
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, WithWidth
from ..acquisition.rules import UCB, BandUCB, Thompson
from ..agent.assembly import Agent, assemble
from ..beliefs.base import Belief
from ..beliefs.delivered import EquallyWeighted
from ..beliefs.points import Points
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import ByRound, Delivery, shares_of_rounds
from ..named import name_or_other
from ..objectives.base import Band, Reward
from ..options import Delta, PerTrial, require_left_out
from ..posteriors.base import observe
from ..posteriors.laplace import NODE_SHARES, NODES, Laplace, OutcomeLikelihood, PlayedRows, curved
from ..posteriors.latent import LatentPlays, LatentPosterior, PlayOutcomes
from ..protocol import handles, states_propensities
from ..widths.base import FixedWidth
from ..widths.by_name import make_width

MIXTURE = "mixture"
OF_LATENT = ("kernel", "length_scale", "rkhs_bound", "initial")  # the options that a latent model takes
DROPPED = -1  # in place of a point
PENDING = np.nan  # in place of an outcome
STEPS = 10_000  # of Newton's method, each of which descends; a few, and hundreds where clicks are nearly sure


@dataclass(frozen=True, eq=False)
class AgedRows(PlayedRows):
    """Hold plays of m points, some of which may still convert.

    A conversion is delivered after d ~ G. A play of age a without one has the likelihood 1 - p G(a), and p
    with one. As 1 - p = 1 - s(z) and p = s(z) is a click's probability, with l = ln(1 - G(a))

        ln(1 - p G(a)) = A(z + l) - A(z),   A(z) = ln(1 + exp(z)),

    whose slope is that of a click of value s(z + l), the probability that the play will still convert. A
    play's expected information at its age is W = G p (1 - p)^2 / (1 - p G) = (1 - p) (p - s(z + l)). It is in
    H of Laplace's Gaussian; Newton's method finds the mode with the observed curvatures, or 0 where negative.
    """

    row: Ints  # (n,) of each play
    later: Floats  # (n,) l = ln(1 - G(a)) of its age a; -inf where it would have converted by now
    pending: Bools  # (n,) whether it has not converted

    def loss(self, weight: Floats, likelihood: OutcomeLikelihood) -> float:
        """Return J(w) = - sum of ln p - sum of ln(1 - p G(a)) + |w|^2 / 2."""
        z = self.z(weight)
        fit = self.plays @ likelihood.log_partition(z) - self.total @ z
        waits = likelihood.log_partition(z[self.row] + self.later)[self.pending].sum()
        return float(fit - waits + weight @ weight / 2.0)

    def surplus(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the slope of the loss in z, (m,): expected clicks less conversions, done and to come."""
        to_come = np.where(self.pending, likelihood.mean(z[self.row] + self.later), 0.0)
        return self.plays * likelihood.mean(z) - self.total - np.bincount(self.row, to_come, len(z))

    def curvature(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        to_come = np.where(self.pending, likelihood.curvature(z[self.row] + self.later), 0.0)
        observed = self.plays * likelihood.curvature(z) - np.bincount(self.row, to_come, len(z))
        return np.maximum(observed, 0.0)

    def information(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the sum of W = (1 - p) (p - s(z + l)) over the plays of each point, (m,)."""
        p, later = likelihood.mean(z), likelihood.mean(z[self.row] + self.later)
        return (1.0 - p) * np.maximum(self.plays * p - np.bincount(self.row, later, len(z)), 0.0)


class AgedOutcomes(PlayOutcomes):
    """Plays of B trials where clicks are delivered and their absence is not; a fit is O(t) more than others.

    Args:
        shares: of conversions that take 0, 1, ... rounds, (K,); the rest never comes.
    """

    steps = STEPS

    def __init__(self, law: OutcomeLaw, shares: Floats, num_trials: int):
        super().__init__(law, num_trials)
        with np.errstate(divide="ignore"):  # where all have come, ln 0
            self._later = np.log1p(-np.minimum(np.append(shares, 0.0).cumsum(), 1.0))
        self._points, self._outcomes = ByRound(num_trials), ByRound(num_trials, np.float64)

    def advance(self, point: Ints) -> None:
        """Begin a round with a play a trial, (B,): earlier ones become one round older."""
        self.reserve(int(point.max()) + 1)
        self._points.append(point)
        self._outcomes.append(np.full(len(point), PENDING))
        self.add(np.arange(len(point)), point, 1.0, 0.0)

    def settle(self, trial: Ints, point: Ints, ago: Ints, outcome: Floats) -> None:
        """Record outcomes of plays of some rounds ago, 0 for those of this round, (n,) each."""
        self._outcomes.rows[-1 - ago, trial] = outcome
        self.add(trial, point, 0.0, outcome)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Remove plays of some rounds ago, counted likewise, (n,) each."""
        self._points.rows[-1 - ago, trial] = DROPPED
        self.add(trial, point, -1.0, 0.0)

    def clear(self, trial: Ints) -> None:
        super().clear(trial)
        self._points.rows[:, trial] = DROPPED

    def rows(self, trial: int, root: Callable[[Ints], Floats]) -> AgedRows:
        points, outcomes = self._points.rows[:, trial], self._outcomes.rows[:, trial]
        (played,) = (points != DROPPED).nonzero()
        x, row = np.unique(points[played], return_inverse=True)
        age = np.minimum(len(points) - 1 - played, len(self._later) - 1)
        later = np.where(outcomes[played] == 0.0, -np.inf, self._later[age])
        plays, offset = self.count[trial, x], np.full(len(x), self._base)
        pending = ~(outcomes[played] > 0.0)
        return AgedRows(root(x), plays, self.total[trial, x], offset, row, later, pending)

    def fit(self, rows: PlayedRows, start: Floats | None = None) -> Laplace:
        mode = self.mode(rows, start)
        information = rows.information(rows.z(mode.weight), self.likelihood)
        return mode._replace(factor=curved(rows.design, information))


class LinkedReward(Reward):
    """Report E p and the std of p, p = link(base + f), for f with the belief's mean and std.

    The link rises, so the arm of the largest latent score has the largest outcome by that score. The largest
    mean is another: E p falls with the std where the link is concave. So E p is what is recommended by.
    """

    linear = False

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, num_trials)
        outcome = model.setting.outcome
        assert outcome is not None
        self._outcome = outcome

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        latent = (mean - self._outcome.base)[..., None] + std[..., None] * NODES
        p = self._outcome.mean(latent)
        first = p @ NODE_SHARES
        return first, np.sqrt(np.maximum((p - first[..., None]) ** 2 @ NODE_SHARES, 0.0))

    def expected(self, mean: Floats, std: Floats) -> Floats:
        return self.in_reward_units(mean, std)[0]

    def expected_slopes(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return E p' and E u p', u ~ N(0, 1): the link is canonical, so p' is an outcome's variance."""
        latent = (mean - self._outcome.base)[..., None] + std[..., None] * NODES
        slope = self._outcome.variance(self._outcome.mean(latent))
        return slope @ NODE_SHARES, slope @ (NODE_SHARES * NODES)

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band]:
        return [self.in_reward_units(mean, std)]


class Latent(Belief):
    """Belief about base + f, log-odds or log-rates, that learns an outcome when it is delivered.

    A delay that does not depend on the outcome leaves it sound: what is delivered is then no selection.
    """

    def __init__(self, model: Model, num_trials: int):
        self.outcomes, kind = self.none_yet(model, num_trials), LatentPosterior
        if model.setting.continuous:
            kind = LatentPlays
        self.latent = kind(model.gram, self.outcomes, num_trials)
        super().__init__(model, self.latent, self.latent)

    def none_yet(self, model: Model, num_trials: int) -> PlayOutcomes:
        """Return the outcomes before the first play."""
        assert model.setting.outcome is not None
        return PlayOutcomes(model.setting.outcome, num_trials)

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        observe(self.latent, trial, point, value)  # an outcome itself: the prior mean is that of f

    def half_width(self, context: Ints, bound: PerTrial, delta: float) -> Floats:
        assert isinstance(self.latent, LatentPosterior)
        return self.latent.half_width_at(self.cells(context), np.broadcast_to(bound, len(self.rows)), delta)


class Ageing(Latent):
    """Belief about base + f, log-odds, where conversions alone are delivered, late; see `AgedRows`."""

    outcomes: AgedOutcomes

    def none_yet(self, model: Model, num_trials: int) -> AgedOutcomes:
        outcome, delay = model.setting.outcome, model.setting.delay
        assert outcome is not None
        assert isinstance(delay, Conversions)
        shares = (1.0 - delay.lost) * shares_of_rounds(delay.base, model.setting.max_delay)
        return AgedOutcomes(outcome, shares, num_trials)

    def play(self, point: Ints) -> None:
        self.outcomes.advance(point)

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        self.outcomes.settle(trial, point, delivery.delay.astype(np.int64), value)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        self.outcomes.drop(trial, point, ago - 1)


@handles("delay", "context", "box", "availability", "approximate", "outcome")
def laplace_ucb(
    setting: Setting,
    *,
    band: float | str = 1.0,
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Laplace-UCB: argmax f_map + w sd of the latent function of clicks or counts.

    Options are those of the latent function: its kernel, and `rkhs_bound`, the bound on its norm. Outcomes
    count when they are delivered, which is sound where delays do not depend on them, but by their age where
    the setting's law of delays is `Conversions`.

    Args:
        band: w, for which nothing is proved; or "mixture", a band that holds in all rounds for functions of
            bounded norm with probability 1 - delta, with Gaussian noise that of the width "amm".
        delta: failure probability of the band.
    """
    name, number = name_or_other("band", band, (MIXTURE,), f'a number or "{MIXTURE}"')
    if name is None:
        require_not_negative("band", number, "it multiplies the latent std")
    if setting.outcome is None:
        width_of = partial(make_width, number if name is None else "amm", delta=delta)
        model = Model.of(setting, **options)
        return assemble(model, WithWidth(UCB, width_of), num_trials, belief=EquallyWeighted)
    if name is not None:
        reason = "a number on a box, where the band's width is no multiple of a std that has slopes"
        require(not setting.continuous, "band", reason, band)
        proof = "the mixture's proof needs every outcome, and none is delivered without a conversion"
        where = f"a number where conversions alone are delivered: {proof}"
        require(not isinstance(setting.delay, Conversions), "band", where, band)
        return _latent(setting, partial(_mixture, delta=delta), num_trials, options)
    return _latent(setting, Always(UCB(FixedWidth(number))), num_trials, options)


@states_propensities
@handles("delay", "context", "box", "availability", "approximate", "outcome")
def laplace_ts(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """Laplace-TS: argmax of a draw of the latent function of clicks or counts from Laplace's Gaussian.

    Plays count as those of `laplace_ucb` do.
    """
    rule_of = Always(Thompson(FixedWidth(1.0)))
    if setting.outcome is None:
        return assemble(Model.of(setting, **options), rule_of, num_trials, belief=EquallyWeighted)
    return _latent(setting, rule_of, num_trials, options)


def _mixture(model: Model, delta: float) -> BandUCB:
    return BandUCB(model.rkhs_bound, delta)


def _latent(setting: Setting, rule_of: Any, num_trials: int | None, options: ModelOptions) -> Agent:
    """Return the agent of the latent function, of whose model kernel, mean and bound are."""
    late = isinstance(setting.delay, Conversions)
    words = "of clicks where conversions alone are delivered, as the zeros of counts are no absence"
    clicks = not late or isinstance(setting.outcome, BernoulliOutcomes)
    require(clicks, "setting", f"{words}; take delays of another law", "counts")
    taken = (*OF_LATENT, "search") if setting.continuous else OF_LATENT
    for name, value in options.items():
        remedy = f"it takes {', '.join(taken)}"
        if name not in taken:
            require_left_out(name, value, None, "where rewards are clicks or counts", remedy)
    assert setting.outcome is not None
    latent = setting.with_facts(
        kernel=setting.latent_kernel,
        prior_mean=setting.outcome.base,
        noise_std=1.0,
        rkhs_bound=setting.latent_bound,
        reward_lower_bound=None,
    )
    model = Model.of(latent, **options)
    return assemble(model, rule_of, num_trials, belief=Ageing if late else Latent, objective=LinkedReward)

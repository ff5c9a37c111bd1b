"""Agents for clicks and counts: Laplace's approximation of the latent function (log-odds, log-rates).

Where rewards have Gaussian noise the approximation is exact, and they are GP-UCB and Thompson sampling of a
constant width. No rate of regret is proved of them.

Readable form: tests/references/outcomes.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import (
    ArgumentError,
    require_choice,
    require_not_negative,
    require_probability,
)
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.delays import Conversions
from bandit_envs.laws.outcomes import Bernoulli
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, WithWidth
from ..acquisition.rules import UCB, BandUCB, Thompson
from ..agent.assembly import Agent, assemble
from ..beliefs.base import Belief, observe
from ..beliefs.conversions import AgedOutcomes
from ..beliefs.delivered import Alike
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import shares_of_rounds
from ..objectives.base import Reward
from ..options import require_left_out
from ..posteriors.laplace import NODE_SHARES, NODES
from ..posteriors.latent import LatentPlays, LatentPosterior, Outcomes
from ..protocol import handles
from ..validation import PerTrial
from ..widths.base import FixedWidth
from ..widths.by_name import make_width

MIXTURE = "mixture"
OF_LATENT = ("kernel", "length_scale", "rkhs_bound", "initial")  # the options that a latent model takes


class LinkedReward(Reward):
    """Report E p and the std of p, p = link(base + f), for f with the belief's mean and std.

    The link rises, so the arm of the largest latent score is that of the largest mean outcome.
    """

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

    def beliefs(self, mean: Floats, std: Floats, context: Ints) -> list[tuple[Floats, Floats]]:
        return [self.in_reward_units(mean, std)]

    def beliefs_on_box(self, mean: Floats, std: Floats, pairs: Floats) -> list[tuple[Floats, Floats]]:
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

    def none_yet(self, model: Model, num_trials: int) -> Outcomes:
        """Return the outcomes before the first play."""
        assert model.setting.outcome is not None
        return Outcomes(model.setting.outcome, num_trials)

    def receive(self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats) -> None:
        observe(self.latent, trial, point, value)  # an outcome itself: the prior mean is that of f

    def half_width(self, context: Ints, bound: PerTrial, delta: PerTrial) -> Floats:
        assert isinstance(self.latent, LatentPosterior)
        each = (np.broadcast_to(given, len(self.rows)) for given in (bound, delta))
        return self.latent.half_width_at(self.cells(context), *each)


class Ageing(Latent):
    """Belief about base + f, log-odds, where conversions alone are delivered, after delays of a known law.

    A play without one counts as what has not converted at its age, see `agents.beliefs.conversions`.
    """

    outcomes: AgedOutcomes

    def none_yet(self, model: Model, num_trials: int) -> AgedOutcomes:
        """Return the plays before the first one."""
        outcome, delay = model.setting.outcome, model.setting.delay
        assert outcome is not None
        assert isinstance(delay, Conversions)
        shares = (1.0 - delay.lost) * shares_of_rounds(delay.base, model.setting.max_delay)
        return AgedOutcomes(outcome, shares, num_trials)

    def play(self, point: Ints) -> None:
        self.outcomes.advance(point)

    def receive(self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats) -> None:
        self.outcomes.settle(trial, point, delay.astype(np.int64), value)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        self.outcomes.drop(trial, point, ago - 1)


@handles("delay", "context", "box", "availability", "approximate", "outcome")
def laplace_ucb(
    setting: Setting,
    *,
    band: float | str = 1.0,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Laplace-UCB: argmax f_map + w sd of the latent function of clicks or counts.

    Options say what is assumed of the latent function: its kernel, and `rkhs_bound`, the bound on its norm.
    Outcomes count when they are delivered, which is sound where delays do not depend on them. Where the
    setting's law of delays is `Conversions`, plays without one count by their age.

    Args:
        band: w, for which nothing is proved; or "mixture", a band that holds in all rounds for functions of
            bounded norm with probability 1 - delta, and for which no rate is proved either. With Gaussian
            noise it is that of the width "amm".
        delta: failure probability of the band.
    """
    if isinstance(band, str):
        require_choice("band", band, (MIXTURE,))
        require_probability("delta", delta, "it is the failure probability of the band")
    else:
        require_not_negative("band", band, "it multiplies the latent std")
    if setting.outcome is None:
        width_of = partial(make_width, "amm" if isinstance(band, str) else band, delta=delta)
        return assemble(Model.of(setting, **options), WithWidth(UCB, width_of), num_trials, belief=Alike)
    if isinstance(band, str):
        if setting.continuous:
            reason = "a number on a box, where the band's width is no multiple of a std that has slopes"
            raise ArgumentError("band", f"must be {reason}")
        if isinstance(setting.delay, Conversions):
            proof = "the mixture's proof needs every outcome, and none is delivered without a conversion"
            raise ArgumentError("band", f"must be a number where conversions alone are delivered: {proof}")
        return _latent(setting, partial(_mixture, delta=delta), num_trials, options)
    return _latent(setting, Always(UCB(FixedWidth(band))), num_trials, options)


@handles("delay", "context", "box", "availability", "approximate", "outcome")
def laplace_ts(
    setting: Setting,
    *,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Laplace-TS: argmax of a draw of the latent function of clicks or counts from Laplace's Gaussian.

    Plays count as those of `laplace_ucb` do.
    """
    rule_of = Always(Thompson(FixedWidth(1.0)))
    if setting.outcome is None:
        return assemble(Model.of(setting, **options), rule_of, num_trials, belief=Alike)
    return _latent(setting, rule_of, num_trials, options)


def _mixture(model: Model, delta: PerTrial) -> BandUCB:
    return BandUCB(model.rkhs_bound, delta)


def _latent(setting: Setting, rule_of: Any, num_trials: int | None, options: ModelOptions) -> Agent:
    """Return the agent of the latent function, of whose model kernel, mean and bound are."""
    late = isinstance(setting.delay, Conversions)
    if late and not isinstance(setting.outcome, Bernoulli):
        complaint = "must be of clicks where conversions alone are delivered, got counts"
        raise ArgumentError("setting", f"{complaint}, whose zeros are no absence; take delays of another law")
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

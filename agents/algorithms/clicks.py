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
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, WithWidth
from ..acquisition.rules import UCB, BandUCB, Thompson
from ..agent.assembly import Agent, assemble
from ..beliefs.base import Belief, observe
from ..beliefs.delivered import Alike
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..objectives.base import Reward
from ..options import require_left_out
from ..posteriors.laplace import NODE_SHARES, NODES
from ..posteriors.latent import LatentPosterior
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


class Latent(Belief):
    """Belief about base + f, log-odds or log-rates, that learns an outcome when it is delivered.

    A delay that does not depend on the outcome leaves it sound: what is delivered is then no selection.
    """

    def __init__(self, model: Model, num_trials: int):
        assert model.setting.outcome is not None
        self.latent = LatentPosterior(model.gram, model.setting.outcome, num_trials)
        super().__init__(model, self.latent, self.latent)

    def receive(self, trial: Ints, point: Ints, delay: Ints | Floats, value: Floats) -> None:
        observe(self.latent, trial, point, value)  # an outcome itself: the prior mean is that of f

    def half_width(self, context: Ints, bound: PerTrial, delta: PerTrial) -> Floats:
        each = (np.broadcast_to(given, len(self.rows)) for given in (bound, delta))
        return self.latent.half_width_at(self.cells(context), *each)


@handles("delay", "context", "availability", "approximate", "outcome")
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
    Outcomes count when they are delivered, which is sound where delays do not depend on them.

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
        return _latent(setting, partial(_mixture, delta=delta), num_trials, options)
    return _latent(setting, Always(UCB(FixedWidth(band))), num_trials, options)


@handles("delay", "context", "availability", "approximate", "outcome")
def laplace_ts(
    setting: Setting,
    *,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Laplace-TS: argmax of a draw of the latent function of clicks or counts from Laplace's Gaussian."""
    rule_of = Always(Thompson(FixedWidth(1.0)))
    if setting.outcome is None:
        return assemble(Model.of(setting, **options), rule_of, num_trials, belief=Alike)
    return _latent(setting, rule_of, num_trials, options)


def _mixture(model: Model, delta: PerTrial) -> BandUCB:
    return BandUCB(model.rkhs_bound, delta)


def _latent(setting: Setting, rule_of: Any, num_trials: int | None, options: ModelOptions) -> Agent:
    """Return the agent of the latent function, of whose model kernel, mean and bound are."""
    if setting.continuous:
        complaint = "must have arms, of which clicks are counted, got a box"
        raise ArgumentError("setting", f'{complaint}; take "gp-ucb", which plays the moment-matched model')
    for name, value in options.items():
        remedy = f"it takes {', '.join(OF_LATENT)}"
        if name not in OF_LATENT:
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
    return assemble(model, rule_of, num_trials, belief=Latent, objective=LinkedReward)

"""Agents for clicks and counts: Laplace's approximation of the latent function (log-odds, log-rates).

Where rewards have Gaussian noise the approximation is exact, and they are GP-UCB and Thompson sampling of a
constant width. No rate of regret is proved of them.

Readable form: tests/references/outcomes.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import (
    ArgumentError,
    require_choice,
    require_not_negative,
    require_probability,
)
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, WithWidth
from ..acquisition.rules import UCB, BandUCB, Thompson
from ..agent.assembly import Agent, assemble
from ..beliefs.delivered import Alike
from ..beliefs.latent import Latent
from ..model.model import Model
from ..model.options import ModelOptions
from ..objectives.linked import LinkedReward
from ..options import require_left_out
from ..protocol import handles
from ..validation import PerTrial
from ..widths.by_name import make_width
from ..widths.tuned import FixedWidth

MIXTURE = "mixture"
OF_LATENT = ("kernel", "length_scale", "rkhs_bound", "initial")  # the options that a latent model takes


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

"""The named algorithm whose band is the best of several regularisations'."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from bandit_envs.problem.setting import Setting

from ..acquisition.dmm import dmm
from ..agent.assembly import Agent, assemble
from ..beliefs.ridges import RATIOS, Ridges, require_ratios
from ..capabilities import handles
from ..model.model import Model
from ..model.options import ModelOptions
from ..validation import PerTrial


@handles("delay", "context", "box", "noise", "availability")
def dmm_ucb(
    setting: Setting,
    *,
    ratios: Any = RATIOS,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """DMM-UCB: argmax of the smallest of the bands of several regularisations (Flynn & Reeb 2024).

    Readable form: tests/references/stationary.py.

    All of them hold at once with probability 1 - delta, for R-sub-Gaussian noise and functions of norm B.
    B is the setting's `rkhs_bound`, or 1 where none is published; where no function of that norm explains
    what came, `agent.refuted` says so. The paper's lambda is R^2 for the squared exponential and
    `noise_variance="smoothness"` for Matern kernels.

    Args:
        setting: what is published of the problem.
        ratios: of the regularisations to lambda, which is one of them; each costs a posterior. Default the
            paper's.
        delta: failure probability.
        num_trials: None, or B.
        **options: of the model, see `ModelOptions`.
    """
    require_ratios(ratios)
    belief = partial(Ridges, ratios=ratios)
    return assemble(Model.of(setting, **options), partial(dmm, delta=delta), num_trials, belief=belief)

"""DMM-UCB, whose band is the smallest of several regularisations' bands.

Readable form: tests/references/stationary.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from bandit_envs.problem.setting import Setting

from ..acquisition.robust import dmm
from ..agent.assembly import Agent, assemble
from ..beliefs.ridges import RATIOS, Ridges, require_ratios
from ..model.model import Model
from ..model.options import ModelOptions
from ..protocol import handles
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

    All bands hold at once with probability 1 - delta, for R-sub-Gaussian noise and functions of norm B. B is
    the setting's `rkhs_bound`, or 1 where none is published; `agent.refuted` marks trials whose observations
    no function of that norm explains. The paper's lambda is R^2 for the squared exponential and
    `noise_variance="smoothness"` for Matern kernels.

    Args:
        ratios: of the regularisations to lambda, one of them 1; each costs a posterior. Default the paper's.
    """
    require_ratios(ratios)
    belief = partial(Ridges, ratios=ratios)
    return assemble(Model.of(setting, **options), partial(dmm, delta=delta), num_trials, belief=belief)

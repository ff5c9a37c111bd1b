"""Named algorithms of duels: one belief about utilities, and a rule that chooses the pair.

No regret bound is claimed: the theorems of the papers are for other widths and estimates than ours.
Readable forms: tests/references/duels.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, require_not_negative, require_probability
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale
from bandit_envs.problem.setting import Setting

from ..acquisition.duels import (
    DoubleThompson,
    DuelRule,
    MaxInfo,
    MaxMinLCB,
    ModeAndChallenger,
    MultiSBM,
    RelativeUCB,
)
from ..agent.assembly import SideBySide, each_trial
from ..agent.duel_agent import DuelAgent
from ..model.model import Model
from ..protocol import handles
from ..validation import PerTrial

MIXTURE = "mixture"
Duelling = DuelAgent | SideBySide


class DuelOptions(TypedDict, total=False):
    """Options of the model of the utilities, in log odds."""

    kernel: Any
    """Prior covariance of the utilities: a scikit-learn kernel over (context, arm) features, or a name.

    Default None: the setting's, else an SE kernel of amplitude 1.
    """
    length_scale: LengthScale | None
    """Length-scale of the kernel, in units of the features; default None: the kernel's own."""
    rkhs_bound: PerTrial | None
    """B, the bound on the norm of the utilities that the mixture band uses; default None: the setting's."""
    prior_mean: Floats | float | None
    """Prior mean of the utilities, a number or (N,); default None: the setting's."""


def _duellist(
    rule: DuelRule,
    setting: Setting,
    width: float | str,
    delta: PerTrial,
    num_trials: int | None,
    options: DuelOptions,
) -> Duelling:
    if not setting.duel:
        raise ArgumentError(
            "setting",
            'must be of duels, whose actions are pairs, got single arms; take "gp-ucb", or duel=True',
        )
    if isinstance(width, str) and width != MIXTURE:
        raise ArgumentError("width", f'must be a number or "{MIXTURE}", got {width!r}')
    if not isinstance(width, str):
        require_not_negative("width", float(width), "it multiplies a standard deviation")
    require_probability("delta", delta)
    model = Model.of(setting, **options)
    return each_trial(partial(_of_trial, model, rule, width, delta), num_trials)


def _of_trial(model: Model, rule: DuelRule, width: Any, delta: PerTrial, trial: int) -> DuelAgent:
    own = float(np.broadcast_to(delta, trial + 1)[trial])
    return DuelAgent(model.of_trial(trial), rule, None if width == MIXTURE else float(width), own)


@handles("delay", "context", "duel")
def maxminlcb(
    setting: Setting,
    *,
    width: float | str = 2.0,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """MaxMinLCB: argmax over contenders of the least lower bound, and its minimiser (Pasztor et al. 2024).

    Args:
        width: w of bands w std of differences, or "mixture" for the anytime band of `delta`. Below 2 the rule
            gets stuck: one wrong contender is left, and an arm against itself teaches nothing.
    """
    return _duellist(MaxMinLCB(), setting, width, delta, num_trials, options)


@handles("delay", "context", "duel")
def rucb(
    setting: Setting,
    *,
    width: float | str = 2.0,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """RUCB-like: a contender at random against its strongest challenger (after Zoghi et al. 2014).

    Args:
        width: w of bands w std of differences, or "mixture"; with 1 some trials get stuck.
    """
    return _duellist(RelativeUCB(), setting, width, delta, num_trials, options)


@handles("delay", "context", "duel")
def double_ts(setting: Setting, *, num_trials: int | None = None, **options: Unpack[DuelOptions]) -> Duelling:
    """Double Thompson sampling: the best arms of two posterior samples (after Wu & Liu 2016)."""
    return _duellist(DoubleThompson(), setting, 0.0, 0.1, num_trials, options)


@handles("delay", "context", "duel")
def max_info_duel(
    setting: Setting,
    *,
    width: float | str = 2.0,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """MaxInfoGain: the pair of contenders whose difference is least known (in Pasztor et al. 2024).

    Args:
        width: w of bands w std of differences, or "mixture".
    """
    return _duellist(MaxInfo(), setting, width, delta, num_trials, options)


@handles("delay", "context", "duel")
def map_challenger(
    setting: Setting,
    *,
    width: float | str = 2.0,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """MAP versus challenger: the most likely best arm against the one that may beat it by most.

    Args:
        width: w of bands w std of differences, or "mixture"; with 1 many trials get stuck.
    """
    return _duellist(ModeAndChallenger(), setting, width, delta, num_trials, options)


@handles("delay", "context", "duel")
def multisbm(
    setting: Setting,
    *,
    width: float | str = 2.0,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """MultiSBM: the last challenger against the arm that may beat it by most (after Ailon et al. 2014).

    Args:
        width: w of bands w std of differences, or "mixture".
    """
    return _duellist(MultiSBM(), setting, width, delta, num_trials, options)

"""StableOpt, for settings where the arm that is used may differ from the chosen one."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import ArgumentError, is_number, require, require_not_negative, shown
from bandit_envs.problem.setting import Setting

from ..acquisition.of_model import WithWidth
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..agent.stable_agent import StableAgent
from ..capabilities import handles
from ..model.model import Model
from ..model.options import ModelOptions
from ..objectives.worst_nearby import OfWorstNearby
from ..options import require_absent
from ..validation import PerTrial
from ..widths.base import Width
from ..widths.by_name import make_width

EPS = 0.05
FURTHEST = 1e6  # beyond 1 all arms are near


@handles("delay", "context", "noise", "availability")
def stable_opt(
    setting: Setting,
    *,
    eps: float = EPS,
    width: str | float | Width = "finite-set",
    delta: PerTrial = 0.1,
    gamma: Any = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """StableOpt: argmax_x min_{|x' - x| <= eps} uf(x'), and of these x' the least lf (Bogunovic et al. 2018).

    Readable form: tests/references/robust.py.

    With bands that hold, min f near the best arm less min f near the chosen one is at most 2 w sigma of the
    play, so that robust regret (`gpbandits.evaluation.robust_regret`) has the bound of GP-UCB, which is
    eps = 0. It recommends the arm whose worst neighbour has the largest lf now, our reading; the paper takes
    the best of the chosen arms, by lf at the time. Missing arms are neither chosen nor played, but count as
    neighbours, because f near an arm does not depend on which arms are available; the bound then requires
    that the worst neighbour is available.

    Args:
        setting: the published setting, on a finite set.
        eps: largest distance of the arm that is used from the chosen one, in ranges of the features over the
            arms.
        width, delta, gamma: see `gp_ucb`.
        num_trials: None, or B.
        **options: of the model, see `ModelOptions`, but for `refit_every` and `repeat`.
    """
    if setting.continuous:
        raise ArgumentError("setting", f"must have arms, which have neighbours, got {shown(setting)}")
    require_not_negative("eps", eps, "it is a distance")
    require(
        is_number(eps) and eps <= FURTHEST, "eps", f"a number up to {FURTHEST:g}, in ranges of features", eps
    )
    require_absent(options, ("refit_every",), "fears change with bands")
    if (repeat := options.get("repeat", 1.0)) != 1.0:
        raise ArgumentError("repeat", f"must be 1, got {shown(repeat)}: fears change with bands")
    rule_of = WithWidth(UCB, partial(make_width, width, delta=delta, gamma=gamma))
    model, objective = Model.of(setting, **options), OfWorstNearby(eps)
    return assemble(model, rule_of, num_trials, kind=StableAgent, objective=objective)

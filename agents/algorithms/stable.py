"""StableOpt: for those who will not use exactly the arm they choose (Bogunovic et al. 2018).

Readable form: tests/references/robust.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_number, require, require_not_negative, shown
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth, unit_of
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..agent.gp_agent import TIE, GPAgent
from ..model.choice import argmax_with_ties, only_offered
from ..model.model import Model
from ..model.options import ModelOptions
from ..objectives.robust import WorstNearby
from ..options import require_absent
from ..protocol import handles
from ..validation import PerTrial
from ..widths.base import Width
from ..widths.by_name import make_width

EPS = 0.05
FURTHEST = 1e6  # beyond 1 all arms are near


class StableAgent(GPAgent):
    """Chooses the arm whose neighbours have the largest minimum of mu + w sigma, and plays a neighbour.

    The neighbour is the argmin of mu - w sigma. The objective is `WorstNearby`; `centre`, (B,), holds the
    arms chosen last.
    """

    objective: WorstNearby
    centre: Ints

    def _final_worth(self, mean: Floats, context: Ints) -> Floats:
        """Return the lower bounds of the worst neighbours, (B, A)."""
        return self.objective.penalised(self._lower(context), context, self.t)

    def _choose(self, context: Ints, uniform: Floats, free: Bools | None = None) -> Ints:
        self.centre = super()._choose(context, uniform, free)
        feared = np.where(self.objective.near[self.centre], -self._lower(context), -np.inf)
        return argmax_with_ties(feared, TIE * unit_of(self.rule, self.model), uniform, self.offered)

    def _worth(self, scores: Floats, context: Ints, offered: Bools | None) -> Floats:
        """Return the worst neighbour's scores, (B, A); missing arms cannot be chosen, but are neighbours."""
        return only_offered(self.objective.penalised(scores, context, self.t), offered)

    def _lower(self, context: Ints) -> Floats:
        """Return mu - w sigma, the reflection of the upper bound in the mean, (B, A)."""
        view = self._view(self.belief, context, None)
        return 2.0 * view.mean - self.rule(view)


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

    With bands that hold, min f near the best arm less min f near the chosen one is at most 2 w sigma of the
    play, so that robust regret (`gpbandits.evaluation.robust_regret`) has the bound of GP-UCB, which is
    eps = 0. It recommends the arm whose worst neighbour has the largest lf now, our reading; the paper takes
    the best of the chosen arms, by lf at the time. Missing arms are neither chosen nor played, but count as
    neighbours, because f near an arm does not depend on which arms are available; the bound then requires
    that the worst neighbour is available.

    Args:
        eps: largest distance of the arm that is used from the chosen one, in ranges of the features over the
            arms.
        width, delta, gamma: see `gp_ucb`.
    """
    if setting.continuous:
        raise ArgumentError("setting", f"must have arms, which have neighbours, got {shown(setting)}")
    require_not_negative("eps", eps, "it is a distance")
    near = is_number(eps) and eps <= FURTHEST
    require(near, "eps", f"a number up to {FURTHEST:g}, in ranges of features", eps)
    require_absent(options, ("refit_every",), "fears change with bands")
    if (repeat := options.get("repeat", 1.0)) != 1.0:
        raise ArgumentError("repeat", f"must be 1, got {shown(repeat)}: fears change with bands")
    rule_of = WithWidth(UCB, partial(make_width, width, delta=delta, gamma=gamma))
    model, objective = Model.of(setting, **options), partial(WorstNearby, eps=eps)
    return assemble(model, rule_of, num_trials, kind=StableAgent, objective=objective)

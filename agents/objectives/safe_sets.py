"""Safe sets by name, with the quantities that each requires."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_choice, require_not_negative
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.told import checked_slopes

from ..model.model import Model
from ..model.units import PerCost, PriorUnits
from ..options import require_left_out
from ..validation import require_known
from .each_modelled import OfCosts
from .lipschitz_masks import ByNeighbours, ByPlays
from .safe_masks import ByBands, SafeMask

SETS = ("bands", "neighbours", "plays")
DEVIATIONS = 3.0  # stds within which unbounded noise is assumed to stay


def make_mask(
    sets: str, model: Model, assumed: OfCosts, lipschitz: Any, cost_noise_bound: PerCost | None
) -> Callable[[Bools], SafeMask]:
    """Return the builder of the safe set from the seed, (B, Z, A).

    Args:
        sets: "bands", where ug_j <= 0, as in the authors' code of SafeOpt; "neighbours", the points that an
            arm of S certifies by its band and a Lipschitz constant, as in the papers on SafeOpt and StageOpt;
            "plays", the points that a delivered cost certifies by that and a bound on the noise, of LoSBO.
        model: of the reward.
        assumed: assumptions about the costs.
        lipschitz: L_j of each cost in its own units, (C,) or (B, C), of the last two; default the setting's.
        cost_noise_bound: E >= |noise on costs| in their units, one number or (C,), of the last; default the
            setting's, else 3 stds, which is no bound.
    """
    require_choice("sets", sets, SETS)
    if sets != "plays":
        require_left_out(
            "cost_noise_bound", cost_noise_bound, None, f"with sets={sets!r}", 'take sets="plays"'
        )
    if sets == "bands":
        require_left_out("lipschitz", lipschitz, None, 'with sets="bands"', 'take sets="neighbours"')
    setting = model.setting
    if sets == "bands" or not setting.num_constraints:
        return ByBands  # which certifies all arms where there are no costs
    slopes, points = _slopes(setting, assumed.prior, lipschitz), setting.decisions.points
    if sets == "neighbours":
        return partial(ByNeighbours, points=points, slopes=slopes)
    return partial(
        ByPlays, points=points, slopes=slopes, noise_bound=_bound(model, assumed, cost_noise_bound)
    )


def _slopes(setting: Setting, prior: PriorUnits, given: Any) -> Floats:
    remedy = (
        "make the environment with safe_seed=True and its model published, or give a bound on the slope of "
        "each cost"
    )
    task = "to certify points around safe arms"
    known = require_known("lipschitz", given, setting.lipschitz, task, remedy)
    return np.asarray(prior.of_costs(checked_slopes("lipschitz", known, setting.num_constraints)))


def _bound(model: Model, assumed: OfCosts, given: PerCost | None) -> Floats:
    """E of each cost in prior deviations, (C,) or one a trial, (B, 1)."""
    if given is not None:
        require_not_negative("cost_noise_bound", np.asarray(given), "it bounds the noise on costs")
    known = model.setting.constraint_noise_bound if given is None else given
    return DEVIATIONS * assumed.noise_beside(model) if known is None else assumed.prior.of_costs(known)

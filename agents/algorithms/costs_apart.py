"""How named algorithms that model reward and costs apart become agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import make_rule
from ..agent.assembly import Agent, assemble
from ..beliefs.by_name import make_belief
from ..model.model import OF_THE_REWARD, Model
from ..objectives.penalised_parts import PenalisedParts
from ..options import typed
from ..restarts.by_name import make_restart

WIDTH = 3.0


@typed
def with_costs_apart(
    setting: Setting,
    parts_of: Callable[..., PenalisedParts],
    num_trials: int | None,
    *,
    rule: str = "ucb",
    width: Any = WIDTH,
    cost_width: Any = None,
    belief: Any = "delivered",
    belief_options: Mapping[str, Any] | None = None,
    restart: Any = None,
    restart_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Agent:
    """Return the agent of an objective that models reward and costs apart.

    Args:
        setting: what is published of the problem.
        parts_of: makes the parts from the setting and the options.
        num_trials: None, or B.
        rule: by name, one with a width.
        width: w of the reward's band: a number, "improved" (IGP-UCB) or what `make_width` takes; default 3,
            as the authors' codes of CONFIG and EPBO.
        cost_width: that of the costs' bands; default the same.
        belief, belief_options: what pending feedback counts as for the reward, see `gp_agent`; costs are
            learnt as they come.
        restart, restart_options: see `gp_agent`, also for the default.
        **options: see `each_modelled`, and those of the model.
    """
    own = width if cost_width is None else cost_width
    parts = parts_of(setting, cost_width=own, **options)
    observed = Model.of(setting, **{name: options[name] for name in OF_THE_REWARD if name in options})
    return assemble(
        parts.model,
        make_rule(rule, width, parts.delta),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(restart, setting, observed, restart_options),
    )

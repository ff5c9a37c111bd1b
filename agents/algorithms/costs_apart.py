"""Assembly of the named algorithms that model reward and costs separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from bandit_envs.basics.arguments import require
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import make_rule
from ..agent.assembly import Agent, assemble
from ..beliefs.by_name import make_belief, make_cost_belief
from ..model.defaults import least_reward
from ..model.model import Model
from ..model.units import PriorUnits
from ..objectives.each_modelled import OfCosts
from ..objectives.each_modelled_parts import EachModelledOptions
from ..objectives.penalised_parts import PenalisedParts
from ..options import typed
from ..restarts.by_name import make_restart


class PartsOptions(TypedDict, total=False):
    """Options of the parts of agents that model reward and costs apart."""

    delta: float
    """Failure probability of all bands together, which share it alike; default 0.1."""
    belief: Any
    """Belief on the reward, see `gp_agent`; default "delivered"."""
    belief_options: Mapping[str, Any] | None
    """Options of a belief by name, see `gp_agent`; default None."""
    restart: Any
    """Restart, see `gp_agent`. Default None: "evidence" where the functions may change, else "never"."""
    restart_options: Mapping[str, Any] | None
    """Options of a restart by name, see `gp_agent`; default None."""


class CostsApartOptions(EachModelledOptions, PartsOptions, total=False):
    """Options of agents of an objective that models reward and costs apart."""

    cost_width: Any
    """w of the costs' bands, as `width`; default None: the same."""
    cost_belief: str
    """Belief on costs: "delivered" (nothing, the default), "hallucinated" (the mean) or "censored".

    The last, with a belief that is "censored" and in its window, is RPOL under delay (Guo et al. 2023,
    Theorem 6; the theorem's beta_t is a `DelayedWidth`): pending rewards count as the least possible,
    and pending costs, which nothing may shift, as 0.
    """


@typed
def with_costs_apart(
    setting: Setting,
    parts_of: Callable[..., PenalisedParts],
    num_trials: int | None,
    *,
    rule: str,
    width: Any,
    cost_width: Any = None,
    belief: Any = "delivered",
    belief_options: Mapping[str, Any] | None = None,
    cost_belief: str = "delivered",
    restart: Any = None,
    restart_options: Mapping[str, Any] | None = None,
    delta: float = 0.1,
    **options: Unpack[EachModelledOptions],
) -> Agent:
    """Return the agent of an objective that models reward and costs separately, made by `parts_of`."""
    own = width if cost_width is None else cost_width
    costs = make_cost_belief(cost_belief, belief_options)
    parts = parts_of(setting, cost_width=own, cost_belief=costs, delta=delta, **options)
    if cost_belief == "censored":
        made: Any = parts.objective
        assumed: OfCosts = made.keywords["assumed"]
        _require_unshifted(belief, assumed)
        parts = parts._replace(model=with_least(parts.model, setting, assumed.prior))
    observed = Model.of_reward(setting, options)
    return assemble(
        parts.model,
        make_rule(rule, width, parts.delta),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(restart, setting, observed, restart_options),
    )


def _require_unshifted(belief: Any, assumed: OfCosts) -> None:
    """Raise unless a pending cost that counts as 0 lies on the constraint's border, and a window is set."""
    others = f'"delivered" or "hallucinated" with belief {belief!r}'
    require(belief == "censored", "cost_belief", others, "censored")
    off = "False with censored costs: centring shifts their border"
    require(not assumed.standardize, "standardize", off, True)
    for name, given in (("centre", assumed.given.centre), ("scale", assumed.given.scale)):
        require(given is None, name, "left out with censored costs", given)


def with_least(model: Model, setting: Setting, prior: PriorUnits) -> Model:
    """Return the model in prior stds, with the smallest possible reward in place of the prior mean."""
    (least,) = prior.of(least_reward(setting, prior.deviation))
    return replace(model, least=least - prior.mean / prior.deviation)

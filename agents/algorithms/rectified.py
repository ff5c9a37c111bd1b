"""The named algorithms that charge violations round by round: CONFIG, RPOL and EPBO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import make_rule
from ..agent.assembly import Agent, assemble
from ..beliefs.by_name import make_belief
from ..capabilities import handles
from ..model.model import OF_THE_REWARD, Model
from ..objectives.rectified import rectified_parts
from ..objectives.schedules import RHO, Constant, Growing, Infinite, Schedule
from ..options import typed
from ..restarts.by_name import make_restart

WIDTH = 3.0


@handles("delay", "context", "constraint", "change", "box")
def config(setting: Setting, *, num_trials: int | None = None, **options: Any) -> Agent:
    """CONFIG: argmax uf over the arms whose costs may all be kept, lg_j <= 0 (Xu et al. 2023).

    Where no arm is left the problem is declared infeasible in `agent.infeasible`, and what violates least is
    played, which is our reading. No multiplier and no slack are needed: with bands that hold,
    [f(x*) - f(x_t)]^+ <= 2 w_f sd_f and [g_j]^+ <= 2 w_j sd_j in every round, see `Rectified`.

    Args:
        setting: what is published of the problem.
        num_trials: None, or B.
        **options: see `_assemble`, `each_modelled`, and those of the model.
    """
    return _assemble(setting, Infinite(), num_trials, **options)


@handles("delay", "context", "constraint", "change", "box")
def rpol(setting: Setting, *, num_trials: int | None = None, **options: Any) -> Agent:
    """RPOL: argmax uf - sum_j Q_j [lg_j]^+, Q_{t+1} = max(Q_t + [c_t]^+, sqrt t) (Guo et al. 2023).

    Under delay Q moves with the costs that come; see `Growing` for our readings.

    Args:
        setting: what is published of the problem.
        num_trials: None, or B.
        **options: see `_assemble`, `each_modelled`, and those of the model.
    """
    return _assemble(setting, Growing(), num_trials, **options)


@handles("delay", "context", "constraint", "change", "box")
def epbo(setting: Setting, *, rho: float = RHO, num_trials: int | None = None, **options: Any) -> Agent:
    """EPBO: argmax uf - rho sum_j [lg_j]^+ (Lu & Paulson 2022).

    Args:
        setting: what is published of the problem.
        rho: what a unit of violation costs, in prior deviations. Below the largest optimal multiplier, which
            the theory asks for from memory, violation is linear in time; the authors' code takes 1.
        num_trials: None, or B.
        **options: see `_assemble`, `each_modelled`, and those of the model.
    """
    return _assemble(setting, Constant(rho), num_trials, **options)


@typed
def _assemble(
    setting: Setting,
    schedule: Schedule,
    num_trials: int | None,
    *,
    width: Any = WIDTH,
    cost_width: Any = None,
    belief: Any = "delivered",
    belief_options: Mapping[str, Any] | None = None,
    restart: Any = None,
    restart_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Agent:
    """Return the agent of a schedule.

    Args:
        setting, schedule, num_trials: as above.
        width: w of the reward's band: a number, "improved" (IGP-UCB) or what `make_width` takes; default 3,
            as the authors' code of CONFIG.
        cost_width: that of the costs' bands; default the same.
        belief, belief_options: what pending feedback counts as for the reward, see `gp_agent`; costs are
            learnt as they come.
        restart, restart_options: see `gp_agent`; default "cpd" where the functions may change, else "never".
        **options: see `each_modelled`, and those of the model.
    """
    own = width if cost_width is None else cost_width
    parts = rectified_parts(setting, schedule, cost_width=own, **options)
    observed = Model.of(setting, **{name: options[name] for name in OF_THE_REWARD if name in options})
    return assemble(
        parts.model,
        make_rule("ucb", width, parts.delta),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(restart, setting, observed, restart_options),
    )

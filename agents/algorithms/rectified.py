"""Named algorithms that penalise violations round by round: CONFIG, RPOL and EPBO.

Readable form: tests/references/constrained.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from bandit_envs.problem.setting import Setting

from ..agent.assembly import Agent
from ..objectives.penalties import RHO, ConstantPrice, Growing, Infinite
from ..objectives.primal_dual import rectified_parts
from ..protocol import handles
from .costs_apart import CostsApartOptions, with_costs_apart

WIDTH = 3.0


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def config(
    setting: Setting,
    *,
    rule: str = "ucb",
    width: Any = WIDTH,
    num_trials: int | None = None,
    **options: Unpack[CostsApartOptions],
) -> Agent:
    """CONFIG: argmax uf over the arms whose costs may all be kept, lg_j <= 0 (Xu et al. 2023).

    Where no arm may be feasible, `agent.infeasible` declares the problem infeasible and the arm of the least
    violation is played, which is our reading. No multiplier and no slack are needed: with bands that hold,
    [f(x*) - f(x_t)]^+ <= 2 w_f sd_f and [g_j]^+ <= 2 w_j sd_j in every round, see `Rectified`.

    Args:
        rule: by name, one with a width.
        width: w of the reward's band, a number or what `make_width` takes; default as in the authors' code.
    """
    parts_of = partial(rectified_parts, schedule=Infinite())
    return with_costs_apart(setting, parts_of, num_trials, rule=rule, width=width, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def rpol(
    setting: Setting,
    *,
    rule: str = "ucb",
    width: Any = WIDTH,
    num_trials: int | None = None,
    **options: Unpack[CostsApartOptions],
) -> Agent:
    """RPOL: argmax uf - sum_j Q_j [lg_j]^+, Q_{t+1} = max(Q_t + [c_t]^+, sqrt t) (Guo et al. 2023).

    A constraint given twice is charged twice, which changes plays; one that is never active changes none.

    Under delay Q moves with the delivered costs; see `Growing` for our readings. With censored rewards and
    costs, `cost_belief="censored"`, it is RPOL under delay, whose regret and violation are
    O((gamma_T / rho_m) (sqrt T + m) + m gamma_T) in a window of m rounds (Guo et al. 2023, Theorem 6).

    Args:
        rule, width: see `config`.
    """
    parts_of = partial(rectified_parts, schedule=Growing())
    return with_costs_apart(setting, parts_of, num_trials, rule=rule, width=width, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def epbo(
    setting: Setting,
    *,
    rho: float = RHO,
    rule: str = "ucb",
    width: Any = WIDTH,
    num_trials: int | None = None,
    **options: Unpack[CostsApartOptions],
) -> Agent:
    """EPBO: argmax uf - rho sum_j [lg_j]^+ (Lu & Paulson 2022).

    A constraint given twice is charged twice, which changes plays; one that is never active changes none.

    Args:
        rho: what a unit of violation costs, in prior deviations. Below the largest optimal multiplier, which
            the theory asks for from memory, violation is linear in time; the authors' code takes 1.
        rule, width: see `config`.
    """
    parts_of = partial(rectified_parts, schedule=ConstantPrice(rho))
    return with_costs_apart(setting, parts_of, num_trials, rule=rule, width=width, **options)

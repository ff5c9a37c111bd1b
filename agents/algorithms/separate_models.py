"""Named algorithms that model reward and costs separately: PDCBO, CKB, CONFIG, RPOL and EPBO.

Readable form: tests/references/constrained.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, TypedDict, Unpack

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import one_of
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import make_rule
from ..agent.assembly import Agent, assemble
from ..agent.assumptions import learnt_separately
from ..beliefs.by_name import make_belief, make_cost_belief
from ..model.defaults import least_reward
from ..model.model import Model
from ..objectives.parts import PenalisedParts, SeparateModelsOptions
from ..objectives.penalties import GROWING, RHO, UNLIMITED, Price, Schedule
from ..objectives.primal_dual import CAP, Dual, primal_dual_parts, rectified_parts
from ..objectives.separate_models import CostModelSpec
from ..options import typed
from ..protocol import handles
from ..restarts.by_name import make_restart

RULES = {"ucb": "ucb", "ts": "thompson", "random": "random-ucb"}
WIDTH = 3.0


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


class SeparateModelsAgentOptions(SeparateModelsOptions, PartsOptions, total=False):
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
def with_separate_models(
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
    **options: Unpack[SeparateModelsOptions],
) -> Agent:
    """Return the agent of an objective that models reward and costs separately, made by `parts_of`."""
    own = width if cost_width is None else cost_width
    costs = make_cost_belief(cost_belief, belief_options)
    parts = parts_of(setting, cost_width=own, cost_belief=costs, delta=delta, **options)
    if cost_belief == "censored":
        made: Any = parts.objective
        assumed: CostModelSpec = made.keywords["assumed"]
        _require_unshifted(belief, assumed)
        prior = assumed.prior
        (least,) = prior.of(least_reward(setting, prior.std))  # in place of the prior mean
        parts = parts._replace(model=replace(parts.model, least=least - prior.mean / prior.std))
    observed = Model.of_reward(setting, options)
    return assemble(
        parts.model,
        make_rule(rule, width, parts.delta),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(restart, setting, observed, restart_options),
        **learnt_separately(parts.model, parts.separate),
    )


def _require_unshifted(belief: Any, assumed: CostModelSpec) -> None:
    """Raise unless a pending cost that counts as 0 lies on the constraint's border, and a window is set."""
    others = f'"delivered" or "hallucinated" with belief {belief!r}'
    require(belief == "censored", "cost_belief", others, "censored")
    off = "False with censored costs: centring shifts their border"
    require(not assumed.standardize, "standardize", off, True)
    for name, given in (("centre", assumed.given.centre), ("scale", assumed.given.scale)):
        require(given is None, name, "left out with censored costs", given)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def pdcbo(
    setting: Setting,
    *,
    step: float = 1.0,
    width: Any = 1.0,
    rule: str = "ucb",
    num_trials: int | None = None,
    **options: Unpack[SeparateModelsAgentOptions],
) -> Agent:
    """PDCBO: argmax uf - sum_j phi_j lg_j, phi <- [phi + step c_t]^+, c_t observed (Xu et al. 2023).

    A constraint given twice has two multipliers, which changes plays; one that is never active changes none.
    This is the authors' code; the paper's dual takes lg(x_t) + eps in place of c_t [from memory]. Costs
    delivered in one round are summed, so that sum c_t <= (phi_{T+1} - phi_1) / step on every path.

    Args:
        step: of the multipliers.
        width: of the reward's band, and unless `cost_width` says otherwise of the costs'.
        rule: by name, one with a width.
    """
    parts_of = partial(primal_dual_parts, dual=Dual(step))
    return with_separate_models(setting, parts_of, num_trials, rule=rule, width=width, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def ckb(
    setting: Setting,
    *,
    rule: Annotated[str, one_of(*RULES)] = "ucb",
    step: float | None = None,
    cap: float = CAP,
    clip: float | None = None,
    width: Any = None,
    num_trials: int | None = None,
    **options: Unpack[SeparateModelsAgentOptions],
) -> Agent:
    """CKB: argmax fhat - sum_j phi_j ghat_j, phi <- min([phi + step ghat(x_t)]^+, cap) (Zhou & Ji 2022).

    A constraint given twice has two multipliers, which changes plays; one that is never active changes none.
    The multipliers move by the estimate at the play, not by the observed cost. The constants of the paper are
    from memory: cap >= 4 B / chi, where some mixture of arms has costs of at most -chi, and
    step = cap / (G sqrt T).

    Args:
        rule: of the estimates of reward and costs: "ucb", "ts" or "random"; see `Dual`.
        step: step size of the multipliers; default 1 / sqrt(T).
        cap: the largest multiplier.
        clip: see `Dual`; default off.
        width: of both; default 3, and with "ts" 1.
    """
    parts_of = partial(primal_dual_parts, dual=Dual(step, cap, observed=False, estimate=rule, clip=clip))
    default = 1.0 if rule == "ts" else 3.0
    own = default if width is None else width
    return with_separate_models(setting, parts_of, num_trials, rule=RULES[rule], width=own, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def config(
    setting: Setting,
    *,
    rule: str = "ucb",
    width: Any = WIDTH,
    num_trials: int | None = None,
    **options: Unpack[SeparateModelsAgentOptions],
) -> Agent:
    """CONFIG: argmax uf over the arms whose costs may all be kept, lg_j <= 0 (Xu et al. 2023).

    Where no arm may be feasible, `agent.infeasible` declares the problem infeasible and the arm of the least
    violation is played, which is our reading. No multiplier and no slack are needed: with bands that hold,
    [f(x*) - f(x_t)]^+ <= 2 w_f sd_f and [g_j]^+ <= 2 w_j sd_j in every round, see `Rectified`.

    Args:
        rule: by name, one with a width.
        width: w of the reward's band, a number or what `make_width` takes; default as in the authors' code.
    """
    parts_of = partial(rectified_parts, schedule=UNLIMITED)
    return with_separate_models(setting, parts_of, num_trials, rule=rule, width=width, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def rpol(
    setting: Setting,
    *,
    rule: str = "ucb",
    width: Any = WIDTH,
    num_trials: int | None = None,
    **options: Unpack[SeparateModelsAgentOptions],
) -> Agent:
    """RPOL: argmax uf - sum_j Q_j [lg_j]^+, Q_{t+1} = max(Q_t + [c_t]^+, sqrt t) (Guo et al. 2023).

    A constraint given twice is charged twice, which changes plays; one that is never active changes none.
    Under delay Q moves with the delivered costs; see `Schedule` for our readings. With censored rewards and
    costs, `cost_belief="censored"`, it is RPOL under delay, whose regret and violation are
    O((gamma_T / rho_m) (sqrt T + m) + m gamma_T) in a window of m rounds (Guo et al. 2023, Theorem 6).

    Args:
        rule, width: see `config`.
    """
    parts_of = partial(rectified_parts, schedule=GROWING)
    return with_separate_models(setting, parts_of, num_trials, rule=rule, width=width, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def epbo(
    setting: Setting,
    *,
    rho: Price = RHO,
    rule: str = "ucb",
    width: Any = WIDTH,
    num_trials: int | None = None,
    **options: Unpack[SeparateModelsAgentOptions],
) -> Agent:
    """EPBO: argmax uf - rho sum_j [lg_j]^+ (Lu & Paulson 2022).

    A constraint given twice is charged twice, which changes plays; one that is never active changes none.

    Args:
        rho: what a unit of violation costs, in prior deviations. Below the largest optimal multiplier, which
            the theory asks for from memory, violation is linear in time; the authors' code takes 1.
        rule, width: see `config`.
    """
    parts_of = partial(rectified_parts, schedule=Schedule(rho))
    return with_separate_models(setting, parts_of, num_trials, rule=rule, width=width, **options)

"""Named algorithms for costs that must balance on average: PDCBO and CKB.

Readable form: tests/references/constrained.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import require_choice
from bandit_envs.problem.setting import Setting

from ..agent.assembly import Agent
from ..objectives.primal_dual import CAP, Dual, primal_dual_parts
from ..protocol import handles
from .costs_apart import CostsApartOptions, with_costs_apart

RULES = {"ucb": "ucb", "ts": "thompson", "random": "random-ucb"}


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def pdcbo(
    setting: Setting,
    *,
    step: float = 1.0,
    width: Any = 1.0,
    rule: str = "ucb",
    num_trials: int | None = None,
    **options: Unpack[CostsApartOptions],
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
    return with_costs_apart(setting, parts_of, num_trials, rule=rule, width=width, **options)


@handles("delay", "context", "constraint", "change", "box", "availability", "horizon")
def ckb(
    setting: Setting,
    *,
    rule: str = "ucb",
    step: float | None = None,
    cap: float = CAP,
    clip: float | None = None,
    width: Any = None,
    num_trials: int | None = None,
    **options: Unpack[CostsApartOptions],
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
    require_choice("rule", rule, tuple(RULES))
    parts_of = partial(primal_dual_parts, dual=Dual(step, cap, observed=False, estimate=rule, clip=clip))
    default = 1.0 if rule == "ts" else 3.0
    own = default if width is None else width
    return with_costs_apart(setting, parts_of, num_trials, rule=RULES[rule], width=own, **options)

"""Named algorithms that keep every cost in every round: safe UCB, SafeOpt, StageOpt, LoSBO and ISE.

The setting must publish a safe seed, and for `losbo` L and E too.

Readable form: tests/references/safe.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import require_integer
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import with_width
from ..acquisition.candidates import Rule
from ..acquisition.rules import UCB
from ..acquisition.safe import ISE, SafeOpt, StageOpt
from ..agent.assembly import Agent, assemble
from ..beliefs.by_name import make_belief
from ..model.model import Model
from ..objectives.safe import SafeModelOptions, safe_parts
from ..options import typed
from ..protocol import handles
from ..restarts.by_name import make_restart
from ..widths.base import Width
from .costs_apart import PartsOptions

WIDTH = 2.0  # of the reward's band, on which safety does not depend
PATIENCE = 10


class SafeOptions(SafeModelOptions, PartsOptions, total=False):
    """Options of agents that choose among safe arms; costs are learnt as they are delivered.

    After a restart S = S0; between a change and its alarm nothing is proved.
    """

    width: Any
    """w of the reward's band; default 2.0, as the authors' code of SafeOpt. Safety does not rest on it."""


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def safe_ucb(
    setting: Setting,
    *,
    sets: str = "bands",
    patience: int | None = None,
    num_trials: int | None = None,
    **options: Unpack[SafeOptions],
) -> Agent:
    """Safe UCB: argmax uf over S, a safe seed and all arms with ug_j <= 0 (Sui et al. 2015, a rival).

    Every play is safe as long as the bands of the costs hold. S grows only through plays that maximise the
    reward, so that the agent may stay at a local optimum.

    Args:
        sets: what finds S, see `make_mask`.
        patience: rounds with feedback in which S does not grow after which a trial has settled; default
            None, never.
    """
    return safely(setting, UCB, num_trials, sets=sets, patience=patience, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def safeopt(
    setting: Setting,
    *,
    sets: str = "bands",
    patience: int | None = None,
    num_trials: int | None = None,
    **options: Unpack[SafeOptions],
) -> Agent:
    """SafeOpt: the widest band of what may be best in S and of what may enlarge S (Sui et al. 2015).

    With one cost S, M and G are those of the authors' code (SafeOpt-MC, Berkenkamp et al. 2016), without
    Lipschitz constants, at the arms of the round's context; with two or more costs they are not. The width
    of the reward's band is 2, which has no guarantee; that of the costs is `cost_width`. With
    `cost_width="real-beta"` it is Real-beta-SafeOpt (Fiedler et al. 2024), which is proved for a known B.

    Args:
        sets, patience: see `safe_ucb`.
    """
    return safely(setting, SafeOpt, num_trials, sets=sets, patience=patience, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def stageopt(
    setting: Setting,
    *,
    rounds: int | None = None,
    patience: int = PATIENCE,
    sets: str = "bands",
    num_trials: int | None = None,
    **options: Unpack[SafeOptions],
) -> Agent:
    """StageOpt: the expander of the widest cost band, then argmax_S uf (Sui et al. 2018).

    Args:
        rounds: T0, the longest first stage; default 80 % of the horizon, as in its experiments.
        patience: number of rounds with feedback and without growth of S that ends the first stage, 10 as in
            its experiments.
        sets: see `safe_ucb`.
    """
    until = setting.horizon * 4 // 5 if rounds is None else rounds
    require_integer("rounds", until, 0, "it is the length of the first stage")
    rule = partial(StageOpt, rounds=until)
    return safely(setting, rule, num_trials, sets=sets, patience=patience, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def losbo(
    setting: Setting,
    *,
    patience: int | None = None,
    num_trials: int | None = None,
    **options: Unpack[SafeOptions],
) -> Agent:
    """LoSBO: SafeOpt on what delivered costs certify by their slopes and a noise bound (Fiedler et al. 2024).

    Where |noise| <= E and the Lipschitz constants L are right every play is safe with certainty, whatever the
    kernel; bands only decide among safe arms. Unbounded noise is assumed to stay within 3 stds, without a
    guarantee.

    Args:
        patience: see `safe_ucb`.
    """
    return safely(setting, SafeOpt, num_trials, sets="plays", patience=patience, **options)


@handles("delay", "context", "constraint", "change", "availability", "seed", "horizon")
def ise(
    setting: Setting,
    *,
    rounds: int | None = None,
    sets: str = "bands",
    patience: int | None = None,
    num_trials: int | None = None,
    **options: Unpack[SafeOptions],
) -> Agent:
    """ISE: the safe arm most informative about where costs are kept (Bottero et al. 2022), then safe UCB.

    The paper only explores, with one cost; the later change to maximising rewards is ours. With several costs
    it explores each: a constraint that is never active changes plays.

    Args:
        rounds: how many of them explore; default half of the horizon.
        sets, patience: see `safe_ucb`.
    """
    until = setting.horizon // 2 if rounds is None else rounds
    require_integer("rounds", until, 0, "it is the number of rounds that explore")
    rule = partial(ISE, rounds=until)
    return safely(setting, rule, num_trials, sets=sets, patience=patience, **options)


@typed
def safely(
    setting: Setting,
    rule: Callable[[Width], Rule],
    num_trials: int | None,
    *,
    width: Any = WIDTH,
    belief: Any = "delivered",
    belief_options: Mapping[str, Any] | None = None,
    restart: Any = None,
    restart_options: Mapping[str, Any] | None = None,
    sets: str = "bands",
    patience: int | None = None,
    delta: float = 0.1,
    **options: Unpack[SafeModelOptions],
) -> Agent:
    """Return the agent of a rule, made from the width of the reward's band, that chooses among safe arms."""
    parts = safe_parts(setting, sets=sets, patience=patience, delta=delta, **options)
    observed = Model.of_reward(setting, options)
    return assemble(
        parts.model,
        with_width(rule, 1, width, parts.delta),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(restart, setting, observed, restart_options),
    )

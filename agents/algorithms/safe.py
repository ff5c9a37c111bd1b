"""The named algorithms that keep every cost in every round: safe UCB and its kin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import make_rule
from ..agent.assembly import Agent, assemble
from ..beliefs.by_name import make_belief
from ..capabilities import handles
from ..model.model import OF_THE_REWARD, Model
from ..objectives.safe import safe_parts
from ..options import typed
from ..restarts.by_name import make_restart

WIDTH = 2.0  # of the reward's band, which safety does not rest on
COST_WIDTH = "finite-set"


@handles("delay", "context", "constraint", "change", "seed")
def safe_ucb(setting: Setting, *, num_trials: int | None = None, **options: Any) -> Agent:
    """Safe UCB: argmax uf over S, a safe seed and all arms with ug_j <= 0 (Sui et al. 2015, a rival).

    Every play is safe as long as the bands of the costs hold; nothing makes S grow but the plays that the
    reward asks for, so that it may stay with a local optimum.

    Args:
        setting: what is published of the problem, a safe seed among it.
        num_trials: None, or B.
        **options: see `safely`, `safe_parts`, `each_modelled`, and those of the model.
    """
    return safely(setting, "ucb", num_trials, **options)


@typed
def safely(
    setting: Setting,
    rule: str,
    num_trials: int | None,
    *,
    width: Any = WIDTH,
    cost_width: Any = COST_WIDTH,
    rule_options: Mapping[str, Any] | None = None,
    belief: Any = "delivered",
    belief_options: Mapping[str, Any] | None = None,
    restart: Any = None,
    restart_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Agent:
    """Return the agent of a rule that chooses among safe arms.

    Args:
        setting: what is published of the problem.
        rule: by name, one with a width.
        num_trials: None, or B.
        width: w of the reward's band; default 2, as the authors' code of SafeOpt. Safety does not rest on it.
        cost_width: that of the costs' bands. The default "finite-set" holds for samples of the prior,
            "real-beta" for costs of known norm B; 2 is the code's, and is safe in neither.
        rule_options: of the rule.
        belief, belief_options: what pending feedback counts as for the reward, see `gp_agent`; costs are
            learnt as they come.
        restart, restart_options: see `gp_agent`; default "evidence" where the functions may change, for its
            alarm needs no uniform plays. After one S = S0; before it nothing is proved.
        **options: see `safe_parts`.
    """
    parts = safe_parts(setting, cost_width=cost_width, **options)
    observed = Model.of(setting, **{name: options[name] for name in OF_THE_REWARD if name in options})
    usual = "evidence" if setting.may_change else "never"
    return assemble(
        parts.model,
        make_rule(rule, width, parts.delta, rule_options),
        num_trials,
        belief=make_belief(belief, setting, belief_options),
        objective=parts.objective,
        restart=make_restart(usual if restart is None else restart, setting, observed, restart_options),
    )

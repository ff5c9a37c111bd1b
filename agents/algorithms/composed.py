"""An agent composed by naming its parts; with no names it takes the parts that the setting calls for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandit_envs.problem.setting import Setting

from ..acquisition.incumbents import improvable, incumbent_of
from ..agent.assembly import Agent, assemble
from ..agent.parts_by_name import BELIEFS, CONSTRAINTS, RESTARTS, RULES, made
from ..capabilities import handles
from ..kernels.context_free import without_contexts
from ..model.model import OF_THE_REWARD, Model

Options = Mapping[str, Any]


@handles("delay", "context", "constraint", "change", "box")
def gp_agent(
    setting: Setting,
    *,
    rule: str = "ucb",
    width: Any = "improved",
    delta: float = 0.1,
    belief: str | None = None,
    constraint: str | None = None,
    restart: str | None = None,
    context: bool = True,
    incumbent: str | None = None,
    rule_options: Options | None = None,
    belief_options: Options | None = None,
    constraint_options: Options | None = None,
    restart_options: Options | None = None,
    num_trials: int | None = None,
    **options: Any,
) -> Agent:
    """A GP agent of named parts; `agents.make("gp-agent", setting)` chooses them by the setting.

    Args:
        setting: what is published of the problem.
        rule: "ucb", "thompson", "ei", "pi", "mean" or "variance"; not "ei" or "pi" with separate models of
            reward and costs, whose scores are in the units of the reward.
        width: of the first two: "improved" (IGP-UCB, GP-TS), or what `make_width` takes.
        delta: failure probability.
        belief: what pending feedback counts as: "delivered" (nothing), "hallucinated" (its mean; default
            where feedback is delayed), "censored" (the least that may come).
        constraint: "none", "dual" (Algorithm 3 of Shi & Eryilmaz 2022; default where costs are noisy) or
            "multiplicative" (Algorithm 2; default where they are exact).
        restart: "never", "cpd" (change-point detection; default where the functions may change),
            "periodic" or "oracle" (privileged).
        context: whether contexts are looked at.
        incumbent: what "ei" and "pi" improve on; see `gp_ei`, whose default is that of "ei". Not "best_value"
            under constraints, where the values of plays change.
        rule_options: {"xi": ...} of "ei" and "pi".
        belief_options: {"window": ..., "reward_bound": ...} of "censored"; see `Censored`.
        constraint_options: {"step": ...} or {"psi": ..., "psi_options": ...}, {"epoch": ...}, ...; see
            `penalised_parts`.
        restart_options: {"xi_squared": ...} of "cpd" and "oracle"; of "cpd" also {"false_alarm_rate": 0.1}
            in a whole run, of the reward and all costs together, or {"theta": ...}, and {"ridge": ...}
            (default: the noise variance), see `ChangePointDetector`; {"every": ...} of "periodic".
        num_trials: None, or B.
        **options: of the model.
    """
    seen = setting if context else without_contexts(setting)
    kept = constraint or _constraint_for(seen)
    if kept != "none" and not seen.num_constraints:
        raise ValueError(f'constraint must be "none" in a setting without constraints, got {constraint!r}')
    if kept != "none":
        _require_comparable(rule, incumbent, constraint_options or {})
    parts = made("constraint", kept, CONSTRAINTS, constraint_options, seen, delta, options)
    about = belief or ("hallucinated" if seen.max_delay else "delivered")
    starts = restart or ("cpd" if seen.may_change else "never")
    observed = parts.model if kept == "none" else _observed(seen, options)
    return assemble(
        parts.model,
        made("rule", rule, RULES, rule_options, width, parts.delta),
        num_trials,
        belief=made("belief", about, BELIEFS, belief_options, seen),
        incumbent=improvable(incumbent, seen) if rule == "ei" else incumbent_of(incumbent or "max_mean"),
        objective=parts.objective,
        restart=made("restart", starts, RESTARTS, restart_options, observed),
    )


def _observed(setting: Setting, options: Options) -> Model:
    """The model of the reward itself, where the agent models something made of it."""
    return Model.of(setting, **{name: options[name] for name in OF_THE_REWARD if name in options})


def _require_comparable(rule: str, incumbent: str | None, constraint_options: Options) -> None:
    """Raise where a rule would compare what has different units."""
    if incumbent == "best_value":
        raise ValueError(
            'incumbent must not be "best_value" under constraints, where multipliers change the values of '
            'plays; take "max_mean"'
        )
    if rule in ("ei", "pi") and constraint_options.get("models") == "separate":
        raise ValueError(
            "rule must score in the units of the reward with separate models, which weigh scores against "
            f'costs, got {rule!r}; take "ucb" or "thompson", or models="penalised"'
        )


def _constraint_for(setting: Setting) -> str:
    if not setting.num_constraints:
        return "none"
    return "multiplicative" if setting.constraint_noise_std == 0 else "dual"

"""Ask a stopping rule after all results of a tuner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, require

from ..stopping.by_name import PATIENCE, make_rules
from ..stopping.stopping_candidates import StoppingRule
from .feasibility import FeasibilityFilter, SuccessProbability, feasibility_of
from .plan import TunerPlan
from .player import TunerPlayer
from .space import Values, text_of

UNSETTLED = "scales of value and costs are estimated from first experiments, not all of which are finished"
REMEDY = 'give Tuner(stopping=("knowledge-gradient", {"price": ...})), or a price'


@dataclass(frozen=True)
class MayStop:
    """The answer of `Tuner.may_stop`, which is true where no further experiment is needed."""

    stop: bool
    reason: str
    parameters: Values | None  # the recommended ones, which were tried

    def __bool__(self) -> bool:
        return self.stop


def rule_of(plan: TunerPlan, price: Any) -> Any:
    """Return the rule of a price, or that of the tuner; raise where there is none, or none has a meaning."""
    if plan.contexts.kinds:
        without = "must be left out with contexts, each of which has a best experiment, and with a clock"
        raise ArgumentError("stopping", without)
    if price is not None:
        return "knowledge-gradient", {"price": price}
    if plan.stopping is None:
        raise ArgumentError("stopping", f"must be given to ask whether to stop; {REMEDY}")
    return plan.stopping


def require_rule(plan: TunerPlan) -> None:
    """Raise now, not at the first `may_stop`, where the tuner's rule does not exist or cannot answer."""
    if plan.stopping is not None:
        player = TunerPlayer(plan.of_values, [], {})
        make_rules(rule_of(plan, None), _agent_with_model(player).model)


def _agent_with_model(player: TunerPlayer) -> Any:
    remedy = "left out with an agent that has no model of its own"
    require(player.agent.takes_stopping, "stopping", remedy, player.plan.agent)
    return player.agent


def answer_of(rule: Any, player: TunerPlayer) -> MayStop:
    """Ask a rule about the belief after all results, in the unit of the values.

    No rule is asked before the values that estimate scales: the first 2 d + 1, and those of the agent's first
    plays. On a box the answer is yes only if it is so on several clouds of candidates, since the best
    candidate may be missed. Where experiments fail, a gain counts with its probability of success, and what
    would rather fail again is not recommended.
    """
    plan, agent = player.plan, _agent_with_model(player)
    rules, believed = make_rules(rule, agent.model)(), feasibility_of(plan, player.rounds)
    delivered, fewest = sum(len(each.arrivals) for each in player.rounds), 2 * plan.parameters.dim + 1
    if delivered < fewest:
        words = f"{delivered} of the first {fewest} values were delivered"
        return MayStop(False, f"{words}, from which scales are estimated", None)
    answer = MayStop(False, "no rule was asked", None)
    for look in range(PATIENCE if agent.setting.continuous else 1):
        answer = _answer(player, list(rules.values()), believed, look)
        if not answer:
            break
    return answer


def _answer(
    player: TunerPlayer, rules: list[StoppingRule], believed: SuccessProbability | None, look: int
) -> MayStop:
    """Return the answer of the first rule that says stop, or of the first rule."""
    space, scale = player.plan.parameters, player.scale
    (candidates,) = player.agent.stopping_candidates(space.snap, look)
    if not candidates.settled:
        return MayStop(False, UNSETTLED, None)
    arrivals = [arrival for each in player.rounds for arrival in each.arrivals]
    usable = FeasibilityFilter(space, player.plan.rule)
    usable.set(believed, np.zeros(0), 0.0)
    candidates = replace(
        candidates.scaled(scale.std, scale.centre),
        success=usable.chance(candidates.arms).clip(0.0),  # 0 where a point may not be asked for
        values=scale.sign * np.array([each.value for each in arrivals]),
        kept=np.array([max(each.costs, default=0.0) <= 0.0 for each in arrivals]),
        name_of=lambda i: text_of(space.values(candidates.arms[i])),
    )
    verdicts = [rule(candidates) for rule in rules]
    verdict = next((each for each in verdicts if each.stop), verdicts[0])
    running = f"; {candidates.pending} experiments still run and may change this"
    best = None if verdict.best is None else space.values(candidates.arms[verdict.best])
    return MayStop(verdict.stop, verdict.reason + (running if candidates.pending else ""), best)

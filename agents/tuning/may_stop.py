"""Whether a tuner may stop, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError

from ..stopping.by_name import make_rules
from ..stopping.outlook import StoppingRule
from ..stopping.record import PATIENCE
from .feasibility import SuccessProbability
from .history import TunerRound
from .plan import TunerPlan
from .player import TunerPlayer
from .space import Values

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


def may_stop(
    player: TunerPlayer,
    rounds: Sequence[TunerRound],
    rule: Any,
    believed: SuccessProbability | None,
) -> MayStop:
    """Ask a rule about the belief after all results, in the unit of the values.

    The first 2 d + 1 values estimate scales, and no rule is asked before. On a box the answer is yes only if
    it is so on several clouds of candidates, since the best candidate may be missed. Where experiments fail,
    a gain counts with its probability of success.
    """
    plan, agent = player.plan, player.agent
    if not hasattr(agent, "outlooks"):
        raise ArgumentError(
            "stopping", f"must be left out with the agent {plan.agent!r}, which has no model of its own"
        )
    rules = make_rules(rule, agent.model)()
    values = [arrival.value for each in rounds for arrival in each.arrivals]
    fewest = 2 * plan.parameters.dim + 1
    if len(values) < fewest:
        return MayStop(
            False, f"{len(values)} of the first {fewest} values came, from which scales are estimated", None
        )
    answer = MayStop(False, "no rule was asked", None)
    for look in range(PATIENCE if agent.setting.continuous else 1):
        answer = _answer(player, list(rules.values()), values, believed, look)
        if not answer:
            break
    return answer


def _answer(
    player: TunerPlayer, rules: list[StoppingRule], values: list[float], believed: Any, look: int
) -> MayStop:
    """Return the answer of the first rule that says stop, or of the first rule."""
    space, scale = player.plan.parameters, player.scale
    (outlook,) = player.agent.outlooks(space.snap, look)
    chance = 1.0 if believed is None else believed.probability(outlook.arms)
    outlook = replace(
        outlook.scaled(scale.deviation),
        feasible=outlook.feasible * chance,
        values=scale.sign * np.array(values),
        name_of=lambda i: _text(space.values(outlook.arms[i])),
    )
    verdicts = [rule(outlook) for rule in rules]
    verdict = next((each for each in verdicts if each.stop), verdicts[0])
    pending = f"; {outlook.pending} experiments still run and may change this" if outlook.pending else ""
    best = None if verdict.best is None else space.values(outlook.arms[verdict.best])
    return MayStop(verdict.stop, verdict.reason + pending, best)


def _text(parameters: Values) -> str:
    written = {
        name: f"{value:.4g}" if isinstance(value, float) else value for name, value in parameters.items()
    }
    return ", ".join(f"{name}={value}" for name, value in written.items())

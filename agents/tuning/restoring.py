"""Reconstruction of a tuner's player from its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .feasibility import feasibility_of
from .history import Round
from .plan import Plan
from .player import Player
from .space import Values
from .told import ADD, checked_value


def player_for(plan: Plan, player: Player | None, rounds: Sequence[Round], context: Values) -> Player:
    """Return this player, or if it is outgrown the next one, for the round after some others."""
    if player is None or player.outgrown(rounds, context):
        return Player(plan, rounds, context, 0 if player is None else player.number + 1)
    return player


def restored(plan: Plan, rounds: Sequence[Round], notes: Mapping[str, Any] | None = None) -> Player | None:
    """Return the latest player as it was after the last question, None before the first.

    Args:
        plan: of the tuner.
        rounds: its history.
        notes: of that player; without them all its questions are repeated, which takes as long.
    """
    player, asked = _latest(plan, rounds)
    if player is None:
        return None
    if notes is not None:
        player.agent.recall(notes)
    for t in asked:
        player.catch_up(rounds[:t])
        player.ask_again(rounds[t].context, notes is not None, partial(feasibility_of, plan, rounds[:t]))
    if notes is not None:
        player.agent.resume(notes)
    return player


def _latest(plan: Plan, rounds: Sequence[Round]) -> tuple[Player | None, list[int]]:
    """Return the last of the players, and the rounds of its questions; earlier ones have no effect."""
    player: Player | None = None
    asked: list[int] = []
    for t, each in enumerate(rounds):
        if each.ticket is not None and each.asked:
            now = player_for(plan, player, rounds[:t], each.context)
            asked = [*asked, t] if now is player else [t]
            player, now.known = now, t
    return player, asked


def require_possible(plan: Plan, round_: Round) -> None:
    """Raise unless a round is possible under the plan."""
    plan.parameters.check(round_.parameters)
    plan.context(round_.context)
    for arrival in round_.arrivals:
        checked_value(arrival.value, ADD)
        plan.deviation(arrival.std)
        plan.spent(arrival.spent)
        plan.costs(dict(zip(plan.constraints, arrival.costs, strict=True)))
    for failure in round_.failed:
        plan.spent_in_vain(failure.spent)

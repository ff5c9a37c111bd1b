"""The player of a history: the next one, or the latest one made again, as from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .history import ADD, TunerRound
from .plan import TunerPlan
from .player import TunerPlayer
from .space import Values

ROUNDING = 1e-6  # of a coordinate of a space, that another processor may round otherwise
NOTES = dict[str, list[dict[str, Any] | list[float] | None]] | None  # type of a player's notes in a file


def player_for(
    plan: TunerPlan,
    player: TunerPlayer | None,
    rounds: Sequence[TunerRound],
    context: Values,
    only: Sequence[Values] = (),
) -> TunerPlayer:
    """Return this player, or if it is outgrown the next one, for the round after some others."""
    if player is None or player.outgrown(rounds, context, only):
        number = begins(rounds) if player is None else player.number + 1
        return TunerPlayer(plan, rounds, context, number, only)
    return player


def begins(rounds: Sequence[TunerRound]) -> int:
    """Return the first round whose question a new agent asks, which has observed all before."""
    return max((t + 1 for t, each in enumerate(rounds) if each.anew), default=0)


def restored(
    plan: TunerPlan,
    rounds: Sequence[TunerRound],
    notes: Mapping[str, Any] | None = None,
    compared: bool = False,
) -> TunerPlayer | None:
    """Return the latest player as it was after the last question, None before the first.

    Without notes of that player all its questions are repeated, which takes as long. Where they are
    `compared`, a question that the player asks otherwise is a ValueError.
    """
    player, asked = _latest(plan, rounds)
    if player is None:
        return None
    with nullcontext() if notes is None else player.agent.replaying(notes):
        for t in asked:
            player.catch_up(rounds[:t])
            if notes is not None and not player.agent.leaves_traces:
                player.agent.skip()  # it acts only if that changes its state
                continue
            now = player.ask(rounds[t].context, rounds[t].only)
            features = map(plan.parameters.features, (now, rounds[t].question))
            if compared and not np.allclose(*features, rtol=0.0, atol=ROUNDING):
                words = f"it asks for {now} where {rounds[t].question} was asked for"
                raise ValueError(f"with ticket {rounds[t].ticket} {words}")
    return player


def _latest(plan: TunerPlan, rounds: Sequence[TunerRound]) -> tuple[TunerPlayer | None, list[int]]:
    """Return the last of the players, and the rounds of its questions; earlier ones have no effect."""
    player: TunerPlayer | None = None
    asked: list[int] = []
    for t in range(begins(rounds), len(rounds)):
        each = rounds[t]
        if each.ticket is not None and each.asked:
            now = player_for(plan, player, rounds[:t], each.context, each.only)
            if now is not player:
                player, asked = now, []
            asked.append(t)
            now.mark_seen(rounds[:t])
    return player, asked


def require_possible(plan: TunerPlan, round_: TunerRound) -> None:
    """Raise unless a round is possible under the plan."""
    for parameters in (round_.parameters, round_.proposed):
        if parameters is not None:
            plan.parameters.check_done(parameters)
    for i, entry in enumerate(round_.only):
        plan.parameters.check_some(f"only[{i}]", entry)
    plan.context(round_.context)
    for arrival in (*round_.arrivals, *round_.corrected):
        costs = dict(zip(plan.constraints, arrival.costs, strict=True))
        plan.arrival(arrival.value, costs, arrival.std, arrival.spent, ADD)
    for failure in round_.failed:
        if failure.spent is not None:
            plan.spent(failure.spent)

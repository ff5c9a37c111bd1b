"""The limits on experiments: how many may run, and how much they may cost."""

from __future__ import annotations

from bandit_envs.basics.arguments import require

from .history import History
from .plan import Plan

MOST_AT_ONCE = 10_000  # questions in a call, each chosen given those before


def require_room(plan: Plan, history: History, left: float | None, number: int) -> None:
    """Raise unless so many experiments may start.

    Args:
        plan: has the limits.
        history: of the experiments.
        left: remaining budget of costs, None without one.
        number: of the new experiments.
    """
    require(number <= MOST_AT_ONCE, "n", f"at most {MOST_AT_ONCE} experiments in a call", number)
    if left is not None and left <= 0:
        raise RuntimeError(f"the cost_budget of {plan.cost_budget:g} is spent; see `recommend`")
    limit, pending = plan.max_pending, history.pending
    if limit is None or len(pending) + number <= limit:
        return
    if number > limit:
        raise RuntimeError(f"n is {number}, and max_pending is {limit}; ask for fewer at a time")
    tickets = ", ".join(map(str, pending))
    more = "" if number == 1 else f", {number} more are asked for"
    raise RuntimeError(
        f"{len(pending)} experiments are pending{more}, and max_pending is {limit}; tell or drop one of the "
        f"tickets {tickets} first"
    )

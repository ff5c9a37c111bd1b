"""Whether there is room for more experiments."""

from __future__ import annotations

from bandit_envs.basics.arguments import require

from .history import History
from .plan import Plan

MOST_AT_ONCE = 10_000  # questions in a call, each of which is chosen knowing of those before


def require_room(plan: Plan, history: History, left: float | None, number: int) -> None:
    """Raise unless so many experiments may begin.

    Args:
        plan: has what may run and be spent at most.
        history: of the experiments.
        left: of the budget of costs, None without one.
        number: of the experiments.
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

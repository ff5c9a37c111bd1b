"""The display of a tuner in notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bandit_envs.basics.notebook import brief, html_table

from .history import Experiment
from .plan import Plan

LATEST = 20  # number of experiments shown


def heading(plan: Plan, experiments: Sequence[Experiment]) -> str:
    """Return the parameters, and the number of experiments in each state."""
    counts = Counter(each.state for each in experiments)
    states = ", ".join(
        f"{counts[state]} {state}"
        for state in ("told", "pending", "dropped", "failed")
        if counts[state] or state != "failed"
    )
    agent = plan.agent[0] if isinstance(plan.agent, tuple) else plan.agent
    return f"Tuner({plan.goal} over {', '.join(plan.parameters.kinds)}, agent={brief(agent)}: {states})"


def as_html(plan: Plan, experiments: Sequence[Experiment], best: Experiment | None) -> str:
    """Return a table of the latest experiments, newest first, with the best one."""
    names = [*plan.parameters.kinds, *plan.contexts.kinds]
    header = ["ticket", *names, "state", "value", *plan.constraints]
    lines = list(reversed(experiments[-LATEST:]))
    earlier = len(experiments) - len(lines)
    notes = [f"best: {brief(best.value)} at {brief(best.parameters)}"] if best else []
    notes += [f"{earlier} earlier experiments are in tuner.experiments"] if earlier else []
    return html_table(heading(plan, experiments), header, [_row(plan, each) for each in lines], notes)


def _row(plan: Plan, each: Experiment) -> list[str]:
    chosen = [*each.parameters.values(), *each.context.values()]
    costs = [each.costs.get(name) for name in plan.constraints]
    return ["" if value is None else brief(value) for value in (each.ticket, *chosen)] + [
        each.state,
        *("" if value is None else brief(value) for value in (each.value, *costs)),
    ]

"""A tuner's experiments as a table of pandas; the only module of the tuner that needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from .history import Experiment
from .plan import Plan


def frame_of(plan: Plan, experiments: Sequence[Experiment]) -> pd.DataFrame:
    """Return a row an experiment; a name that is taken gets a prefix with its kind, as in "cost value"."""
    columns: dict[str, Any] = {"ticket": [each.ticket for each in experiments]}

    def add(what: str, name: str, values: Any) -> None:
        columns[name if name not in columns else f"{what} {name}"] = values

    for name in plan.parameters.kinds:
        add("parameter", name, [each.parameters[name] for each in experiments])
    for name in plan.contexts.kinds:
        add("context", name, [each.context[name] for each in experiments])
    for name in ("state", "value", "std"):
        add("told", name, [getattr(each, name) for each in experiments])
    for name in plan.constraints:
        add("cost", name, [each.costs.get(name) for each in experiments])
    if plan.cost_budget is not None:
        add("told", "spent", [each.spent for each in experiments])
    reasons = pd.Series([each.reason for each in experiments], dtype=object)  # None stays None
    add("told", "reason", reasons)
    frame = pd.DataFrame(columns)
    numbers = [name for name in ("value", "std", "spent", *plan.constraints) if name in frame]
    known = {name: "float64" for name in numbers if name not in plan.parameters.kinds}
    return frame.astype({"ticket": "Int64", **known})

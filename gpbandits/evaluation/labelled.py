"""A result as an xarray Dataset, with the names of its axes."""

from typing import Any

import numpy as np
import xarray as xr

from gpbandits.evaluation.curves import Curves

DIMENSIONS = ("agent", "trial", "round")


def to_dataset(result: Curves) -> xr.Dataset:
    """Return recorded values by agent, trial and round, (agents, B, T), and what belongs to trials alone."""
    records = list(result.records.values())
    columns = {
        "regret": np.stack(list(result.regret.values())),
        "simple_regret": np.stack([record.simple_regret for record in records]),
        "round_regret": np.stack([record.regret for record in records]),
        "round_violation": np.stack([record.violation for record in records]),
    }
    data: dict[str, Any] = {name: (DIMENSIONS, values) for name, values in columns.items()}
    actions = np.stack([record.action for record in records])
    extra = ("coordinate",) if actions.ndim == 4 else ()
    data["action"] = ((*DIMENSIONS, *extra), actions)
    if result.num_constraints:
        costs = np.stack([record.cost for record in records])
        data["round_cost"] = ((*DIMENSIONS, "constraint"), costs)
    data["seconds"] = (DIMENSIONS[:2], np.stack([record.seconds for record in records]))
    trials = np.arange(result.first_trial, result.first_trial + result.num_trials)
    axes = {"agent": result.agents, "trial": trials, "round": result.rounds}
    return xr.Dataset(data, axes, {"environment": result.environment, "seed": result.seed})

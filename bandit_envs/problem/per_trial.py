"""Name the fields of a setting that may differ between trials, and merge them for a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np

PER_TRIAL = (
    *("noise_std", "noise_bound", "rkhs_bound", "reward_lower_bound"),
    *("safe_seed", "lipschitz", "known_costs"),
)
OF_COSTS = ("safe_seed", "lipschitz")  # several numbers a trial


class Changeable(Protocol):
    """Require the method of a `Setting` that changes fields."""

    def with_facts(self, **facts: Any) -> Self:
        """Return the setting with other values."""
        ...


S = TypeVar("S", bound=Changeable)


def batch_settings(settings: Sequence[S]) -> S:
    """Return the setting of a batch: scalars where the trials agree, else (B,) arrays."""
    return settings[0].with_facts(**{name: _merge(settings, name) for name in PER_TRIAL})


def setting_of_trial(batch: S, trial: int) -> S:
    """Return the setting of one trial of a batch."""
    return batch.with_facts(**{name: _pick(name, getattr(batch, name), trial) for name in PER_TRIAL})


def _merge(settings: Sequence[Changeable], name: str) -> Any:
    values = [getattr(setting, name) for setting in settings]
    if name == "known_costs":
        return None if values[0] is None else _together(values)
    alike = all(np.array_equal(value, values[0]) for value in values)
    return values[0] if alike else np.array(values, dtype=np.int64 if name == "safe_seed" else np.float64)


def _together(costs: list[Any]) -> Any:
    """Return known costs of the trials of a batch: (B, N), or B functions."""
    return tuple(costs) if callable(costs[0]) else np.stack(costs)


def _pick(name: str, value: Any, trial: int) -> Any:
    if name == "known_costs":
        return value[trial] if isinstance(value, tuple) or np.ndim(value) == 2 else value
    if not isinstance(value, np.ndarray):
        return value
    if name in OF_COSTS:
        return value if value.ndim == 1 else value[trial]
    return float(value[trial])

"""Agents have one order: by a first criterion as far as differences are significant, then by loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.statistics.bootstrap import bootstrap_interval


def ordered(losses: Mapping[str, Floats], first: Mapping[str, Floats] | None = None) -> list[str]:
    """Return the labels by least mean loss or, given `first`, by that and then by loss.

    Agents whose paired 95 % interval of the difference to the least mean of `first` contains 0 come first,
    ordered by mean loss; the rest follow by the same rule. A single trial has no interval, and the difference
    itself decides.

    Args:
        losses: losses of each agent on the same trials, (B,) each; less is better.
        first: a criterion that counts before losses, such as violation, (B,) each; None for none.

    Example:
        >>> losses = {"a": np.array([3.0, 3.1]), "b": np.array([1.0, 1.1])}
        >>> ordered(losses), ordered(losses, {"a": np.zeros(2), "b": np.array([7.0, 8.0])})
        (['b', 'a'], ['a', 'b'])
    """
    left = sorted(losses, key=lambda label: losses[label].mean())
    if first is None:
        return left
    order: list[str] = []
    while left:
        order += _least(first, left)
        left = [label for label in left if label not in order]
    return order


def _least(values: Mapping[str, Floats], labels: Sequence[str]) -> list[str]:
    """Return the labels that do not have significantly more than the one of the least mean."""
    least = min(labels, key=lambda label: values[label].mean())
    more, low, _ = bootstrap_interval(np.stack([values[x] - values[least] for x in labels], axis=1))
    significant = np.where(np.isnan(low), more, low) > 0
    return [label for label, differs in zip(labels, significant, strict=True) if not differs]

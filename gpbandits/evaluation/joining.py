"""Parts of one evaluation, blocks of trials and agents on the same trials, are checked and joined."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gpbandits.evaluation.comparison import SETS, SharedTrials
from gpbandits.evaluation.record import join_trials

Kind = TypeVar("Kind", bound=SharedTrials)


def joined(rows: Mapping[str, Sequence[Kind]]) -> Kind:
    """Join the blocks of trials of each agent, one agent a block, in their order.

    Callers guarantee equal trials and equal recorded rounds; all but labels is that of the first block.
    """
    blocks = [block for row in rows.values() for block in row]
    marked: Any = {name: frozenset(x for x, row in rows.items() if getattr(row[0], name)) for name in SETS}
    origins = {repr(sorted(each.items())): each for block in blocks for each in block.origins}
    return dataclasses.replace(
        blocks[0],
        records={
            x: join_trials([next(iter(block.records.values())) for block in row]) for x, row in rows.items()
        },
        tracks={label: track for label, row in rows.items() for track in row[0].tracks.values()},
        windows={label: window for label, row in rows.items() for window in row[0].windows.values()},
        long_term=any(block.long_term for block in blocks),
        origins=tuple(origins.values()),
        **marked,
    )


def join(one: Kind, other: Kind) -> Kind:
    """Join the same agents on trials that follow, or further agents on the same trials; see `Result.join`."""
    if one.records.keys() == other.records.keys():
        first, second = sorted((one, other), key=lambda each: each.first_trial)
        _require_same(first, second)
        end = first.first_trial + first.num_trials
        if second.first_trial != end:
            raise ValueError(
                f"results of the same agents must have trials that follow each other, got {_trials(first)} "
                f"and {_trials(second)}; evaluate(..., first_trial={end}) plays the next ones"
            )
        return joined({label: [each.select([label]) for each in (first, second)] for label in one.agents})
    if shared := sorted(one.records.keys() & other.records.keys()):
        raise ValueError(
            f"results to join must have the same agents or none in common, got {', '.join(shared)} in both; "
            "`select` takes some of them"
        )
    _require_same(one, other)
    if _trials(one) != _trials(other):
        raise ValueError(
            f"results of other agents must be of the same trials, got {_trials(one)} and {_trials(other)}"
        )
    if not all(map(np.array_equal, one.changes, other.changes)):
        raise ValueError("results to join must be of the same trials, got other change-points")
    return joined({label: [each.select([label])] for each in (one, other) for label in each.agents})


def _trials(part: SharedTrials) -> str:
    return f"trials {part.first_trial} to {part.first_trial + part.num_trials - 1}"


def _require_same(one: SharedTrials, other: SharedTrials) -> None:
    """Raise, with the first difference, unless two results are of one evaluation."""
    facts = ("environment", "seed", "entropy", "horizon", "num_constraints", "long_term")
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in facts}
    pairs["recorded rounds"] = (len(one.rounds), len(other.rounds))
    played = [{each["played"] for each in part.origins if each.get("played")} for part in (one, other)]
    if all(played):
        pairs["fingerprint of the environment"] = (sorted(played[0]), sorted(played[1]))
    for name, (mine, theirs) in pairs.items():
        if mine != theirs:
            raise ValueError(f"results to join must have the same {name}, got {mine!r} and {theirs!r}")
    if not np.array_equal(one.rounds, other.rounds):
        raise ValueError("results to join must have recorded the same rounds")

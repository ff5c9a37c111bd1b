"""The blocks of trials of all agents are joined into the result of an environment."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gpbandits.evaluation.result import Record, Result, join_trials

Rows = Mapping[str, Sequence[Result]]  # the blocks of trials of each agent, in order


def joined(environment: str, seed: int, rows: Rows) -> Result:
    """Join the blocks of all agents; callers guarantee equal trials and equal recorded rounds."""
    return Result(
        environment,
        seed,
        {label: join_trials([_only(block) for block in row]) for label, row in rows.items()},
        frozenset(label for label, row in rows.items() if row[0].privileged),
        checkpoints=next(iter(rows.values()))[0].checkpoints,
        tracks={label: track for label, row in rows.items() for track in row[0].tracks.values()},
        windows={label: window for label, row in rows.items() for window in row[0].windows.values()},
        approximate=frozenset(label for label, row in rows.items() if row[0].approximate),
        assuming=frozenset(label for label, row in rows.items() if row[0].assuming),
        unfit=frozenset(label for label, row in rows.items() if row[0].unfit),
        long_term=any(row[0].long_term for row in rows.values()),
    )


def usual_shape(rows: Rows) -> tuple[int, ...]:
    """Return the most frequent shape; blocks of another shape cannot be compared."""
    shapes = Counter(shape_of(block) for row in rows.values() for block in row)
    return max(shapes, key=shapes.__getitem__)


def shape_of(block: Result) -> tuple[int, ...]:
    """Return the recorded rounds and the number of constraints of a block."""
    return *block.rounds.tolist(), block.num_constraints


def _only(block: Result) -> Record:
    """Return the record of the single agent of a cell; cells are stored without labels."""
    (record,) = block.records.values()
    return record

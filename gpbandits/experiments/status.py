"""The status of a study counts its trials and collects its failures."""

from typing import NamedTuple

from gpbandits.experiments.store import Store
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study


class Count(NamedTuple):
    """A count divides the trials of one agent on one environment by their state."""

    done: int
    failed: int  # the last attempt raised; the next run repeats it
    missing: int  # not attempted yet

    @property
    def total(self) -> int:
        """Return the number of trials in the study."""
        return sum(self)


def count_trials(study: Study, store: Store, environment: EnvironmentEntry, agent: AgentEntry) -> Count:
    """Count the trials of one agent on one environment in the store."""
    cells = study.cells_of(environment, agent)
    done = sum(cell.trials for cell in cells if store.holds(cell))
    failed = sum(cell.trials for cell in cells if store.failure(cell) is not None)
    return Count(done, failed, study.trials - done - failed)


def failures(study: Study, store: Store) -> list[tuple[Cell, str]]:
    """Return the cells whose last attempt raised, with the tracebacks."""
    attempts = [(cell, store.failure(cell)) for cell in study.cells()]
    return [(cell, failure) for cell, failure in attempts if failure is not None]

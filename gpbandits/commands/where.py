"""Commands that compute share these options of where they do."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gpbandits.experiments.backends import Backend

Workers = Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one a core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, as in tcp://10.0.0.1:8786, for --backend dask."),
]


TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.001, help="Seconds that a cell, or making its environment or agent, may take."),
]


class Kind(StrEnum):
    """The kind of a backend is local processes or a Dask cluster."""

    LOCAL = "local"
    DASK = "dask"


KindOption = Annotated[
    Kind, typer.Option("--backend", help="Compute in processes of this machine, or on a Dask cluster.")
]


def chosen_backend(kind: Kind, scheduler: str | None, workers: int | None) -> "Backend":
    """Return the backend that the options select."""
    from gpbandits.experiments.backends import local
    from gpbandits.experiments.cluster import dask

    if (kind is Kind.DASK) != (scheduler is not None):
        raise ValueError(f"--scheduler must be given with --backend dask, and only then, got {scheduler!r}")
    if scheduler is None:
        return local(workers)
    if workers is not None:
        raise ValueError(f"--workers is for --backend local: a cluster has its own workers, got {workers}")
    return dask(scheduler)

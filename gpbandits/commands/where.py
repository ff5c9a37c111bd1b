"""Where a command computes: the options of all commands that do."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gpbandits.experiments.backends import Backend

Workers = Annotated[int | None, typer.Option(min=1, help="Processes; by default one a core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, as in tcp://10.0.0.1:8786, for --backend dask."),
]


TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.001, help="Seconds after which a cell has failed, or what it needs cannot be made."),
]


class Kind(StrEnum):
    """Of a backend."""

    LOCAL = "local"
    DASK = "dask"


KindOption = Annotated[Kind, typer.Option("--backend", help="Processes of this machine, or a Dask cluster.")]


def chosen_backend(kind: Kind, scheduler: str | None, workers: int | None) -> "Backend":
    """The backend that the options name."""
    from gpbandits.experiments.backends import local
    from gpbandits.experiments.cluster import dask

    if (kind is Kind.DASK) != (scheduler is not None):
        raise ValueError(
            f"--scheduler must be given with --backend dask and with it alone, got {scheduler!r}"
        )
    if scheduler is None:
        return local(workers)
    if workers is not None:
        raise ValueError(f"--workers is for --backend local: a cluster has its own workers, got {workers}")
    return dask(scheduler)

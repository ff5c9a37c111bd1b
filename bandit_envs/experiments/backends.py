"""Where cells are computed: processes of this machine, or the workers of a Dask cluster."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, cpu_count, delayed, parallel_config

from bandit_envs.experiments.work import Outcome, Task, settle
from bandit_envs.extras import from_extra

Backend = Callable[[Sequence[Task]], Iterator[Outcome]]  # yields outcomes as they come, in any order
_PATIENCE = 0.5  # seconds between looks at the parent


def local(workers: int | None = None) -> Backend:
    """Processes of this machine.

    Args:
        workers: how many; by default one a core.
    """

    def compute_all(tasks: Sequence[Task]) -> Iterator[Outcome]:
        calls = [delayed(_settle_for)(os.getpid(), task) for task in tasks]
        processes = min(workers or cpu_count(), max(len(tasks), 1))
        outcomes: Any = Parallel(processes, return_as="generator_unordered")(calls)
        yield from outcomes

    return compute_all


def dask(scheduler: str) -> Backend:
    """The workers of a Dask cluster, which see the same folders; the cells of a lost worker go to others.

    Args:
        scheduler: its address, such as "tcp://10.0.0.1:8786".
    """

    def compute_all(tasks: Sequence[Task]) -> Iterator[Outcome]:
        with _client(scheduler) as client, parallel_config("dask", client=client):
            calls = [delayed(settle)(task) for task in tasks]
            outcomes: Any = Parallel(return_as="generator_unordered", pre_dispatch="all")(calls)
            yield from outcomes

    return compute_all


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    with from_extra("cluster", "clusters"):
        from distributed import Client
    client: Any
    with Client(scheduler, set_as_default=False) as client:
        threads = client.nthreads()
        if any(count > 1 for count in threads.values()):
            raise ValueError(
                f"workers of {scheduler} must have one thread each, since agents may use global generators, "
                f"got {max(threads.values())}; start them with `dask worker --nthreads 1`"
            )
        yield client


def _settle_for(parent: int, task: Task) -> Outcome:
    _die_with(parent)
    return settle(task)


def _die_with(parent: int) -> None:
    """End this process soon after its parent: nobody else would tell it that the run was killed."""
    if os.getppid() == parent and not any(thread.name == "parent" for thread in threading.enumerate()):
        threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PATIENCE)
    os._exit(1)

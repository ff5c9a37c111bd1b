"""Limit the threads of linear algebra: one, unless the user asks for more; end workers with their parent.

The matrices of a round are small. Two threads take several times as long as one, and far longer on busy
cores, because each product waits for the slower thread. Python in a browser starts no threads at all.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

from bandit_envs.basics.arguments import is_count, require

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)
MOST_WORKERS = 1024  # processes or threads; more are a typing error, and exhaust what the system gives


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Run linear algebra on this number of threads in the block; `evaluate` and others default to one.

    The limit holds for all calls in the block and for the whole process; the number before is restored at the
    end.

        >>> from gpbandits import evaluate, threads
        >>> with threads(4):
        ...     result = evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=1, env_kwargs={"horizon": 5})
    """
    require(is_count(number), "threads", "a positive integer", number)
    before = _chosen.set(number)
    try:
        with _controller(len(sys.modules)).limit(limits=number):
            yield
    finally:
        _chosen.reset(before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run linear algebra on one thread, unless an enclosing block has set a number."""
    if _chosen.get() is None:
        with threads(1):
            yield
    else:
        yield


def chosen_threads() -> int:
    """Return the number of threads that enclosing blocks set, else 1, for worker processes."""
    return _chosen.get() or 1


@lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """Return the controller of the loaded libraries; a search takes 10 ms, so it is kept per module count."""
    return ThreadpoolController()


def check_workers(workers: Any) -> None:
    """Raise unless the value is a number of processes or threads that a machine can have."""
    usable = is_count(workers) and workers <= MOST_WORKERS
    require(usable, "workers", f"a positive integer of at most {MOST_WORKERS}", workers)


def in_browser() -> bool:
    """Return True where Python runs as WebAssembly, as in JupyterLite."""
    return sys.platform == "emscripten"


def require_workers(what: str, remedy: str) -> None:
    """Raise a RuntimeError in a browser: "workers=2" or such starts a process; a remedy does without."""
    if in_browser():
        raise RuntimeError(f"{what} starts a process or a thread, and Python in a browser has none; {remedy}")


PATIENCE = 0.5  # seconds between two looks at the parent


def end_with(parent: int) -> None:
    """End this process within a second after its parent, given by its id; call it as a worker begins.

    A thread looks at the parent. Linux could send a signal instead (PR_SET_PDEATHSIG), but sends it already
    at the end of the thread that started the worker, whose pool may be used by other threads. On Windows,
    where a process keeps the id of an ended parent, it does nothing.
    """
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PATIENCE)
    os._exit(1)

"""How many threads the linear algebra runs on: one, unless the user says more.

The matrices of a round are small. On two threads it takes several times as long as on one, on busy cores many
times: each product waits for the slower thread.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from bandit_envs.basics.arguments import is_count, require

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Run linear algebra on so many threads in this block, as `evaluate` and others do on one.

    It holds for all that is called in the block, and for the whole process: what there was before comes back
    at its end.

        >>> from gpbandits import evaluate, threads
        >>> with threads(4):
        ...     result = evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=1, env_kwargs={"horizon": 5})

    Args:
        number: of threads.
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
    """Run linear algebra on one thread, where no block around it has said how many."""
    if _chosen.get() is None:
        with threads(1):
            yield
    else:
        yield


def chosen_threads() -> int:
    """How many threads the blocks around have said, else 1: for processes that are started here."""
    return _chosen.get() or 1


@lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """The libraries that are loaded; looking for them takes 10 ms, and they come with modules."""
    return ThreadpoolController()

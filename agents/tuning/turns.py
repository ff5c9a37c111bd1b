"""One thread at a time: a call that comes meanwhile waits, so that nothing that is told is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Turn:
    """A lock that the thread which has it may take again; copies and files have one of their own."""

    def __init__(self):
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


class Taking(Protocol):
    """What has a lock."""

    _turn: Turn


T = TypeVar("T", bound=Taking)


def in_turn(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """The same method, of which another thread waits for the end."""

    @wraps(method)
    def waiting(self: T, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._turn.lock:
            return method(self, *args, **kwargs)

    return waiting

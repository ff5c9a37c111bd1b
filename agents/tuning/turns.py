"""A lock by which one thread at a time calls a tuner, so that no report is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Turn:
    """Reentrant lock that copies and files do not share."""

    def __init__(self):
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


class Taking(Protocol):
    """Object with a lock."""

    _turn: Turn


T = TypeVar("T", bound=Taking)


def in_turn(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Return the method with the lock held, so that other threads wait for its end."""

    @wraps(method)
    def waiting(self: T, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._turn.lock:
            return method(self, *args, **kwargs)

    return waiting

"""A time limit ends the computation of a cell."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

GRACE = 5.0  # seconds beyond the limit for compiled code, which signals do not interrupt
_AGAIN = 0.5  # seconds until code that caught the first interrupt is interrupted again
_expendable = threading.Event()


class OverdueError(BaseException):
    """A time limit has passed; not an Exception, so that `except Exception` does not catch it."""


def make_expendable() -> None:
    """Allow this process to be ended with a cell that hangs, since the pool starts another in its place."""
    _expendable.set()


@contextmanager
def within(seconds: float | None, what: str = "the cell") -> Iterator[None]:
    """Raise OverdueError in the block after so many seconds; None sets no limit.

    Where the block cannot be interrupted (compiled code, a thread other than the main one, Windows), an
    expendable process ends GRACE seconds later; any other process continues.

    Args:
        seconds: the limit.
        what: subject of the error message.
    """
    if seconds is None:
        yield
        return
    with _ended(seconds + GRACE), _interrupted(seconds, what):
        yield


@contextmanager
def _interrupted(seconds: float, what: str) -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_signal: object) -> None:
        raise OverdueError(f"{what} took longer than its time limit of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _ended(seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, os._exit, [1])
    timer.daemon = True
    if _expendable.is_set():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()

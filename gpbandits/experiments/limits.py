"""A time limit for whatever a cell does."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

GRACE = 5.0  # seconds that compiled code, which no signal interrupts, has beyond the limit
_AGAIN = 0.5  # seconds until code that caught the first interrupt is interrupted again
_expendable = threading.Event()


class OverdueError(BaseException):
    """Time is up; no Exception, so that nobody who catches those goes on."""


def make_expendable() -> None:
    """Say that this process may be ended together with a cell that hangs: others are started in its place."""
    _expendable.set()


@contextmanager
def within(seconds: float | None, what: str = "the cell") -> Iterator[None]:
    """Raise OverdueError, which says what took too long, in the block after so many seconds, if any.

    Where the block cannot be interrupted (compiled code, another thread than the main one, Windows), the
    process ends a little later if it is expendable, and otherwise nothing happens.
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

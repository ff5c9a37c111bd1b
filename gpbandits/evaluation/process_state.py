"""Settings of the process that everything in it shares: an agent that changes them changes what others play.

Numpy's error handling, filters of warnings, environment variables, the working directory, the recursion limit
and the limits of the operating system are put back after each agent. Threads cannot be ended from outside.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

try:
    import resource
except ImportError:  # pragma: no cover (not on Windows)
    resource = None

ENDING = 1.0  # seconds in which the threads of a closed agent should end
NAMES = {
    "errstate": "numpy's error handling (np.seterr, np.errstate)",
    "filters": "the filters of warnings",
    "environ": "the environment variables",
    "folder": "the working directory",
    "recursion": "the recursion limit",
    "limits": "the limits of the operating system (resource.setrlimit)",
}


class ProcessState(NamedTuple):
    """Hold what an agent should leave as it was; two are equal if nothing was changed in between."""

    errstate: dict[str, Any]
    filters: list[Any]
    environ: dict[str, str]
    folder: str | None  # None where it was removed
    recursion: int
    limits: dict[int, tuple[int, int]]  # (soft, hard) by resource

    @classmethod
    def now(cls) -> ProcessState:
        """Return the state of this process, and of numpy in this thread."""
        folder = None
        with suppress(FileNotFoundError):
            folder = os.getcwd()
        filters, environ = list(warnings.filters), dict(os.environ)
        return cls(dict(np.geterr()), filters, environ, folder, sys.getrecursionlimit(), limits_now())

    def changed(self, other: ProcessState) -> list[str]:
        """Name what differs."""
        return [NAMES[name] for name in self._fields if getattr(self, name) != getattr(other, name)]

    def restore(self) -> None:
        """Put back what differs now, as far as the operating system allows."""
        now = ProcessState.now()
        if now.errstate != self.errstate:
            np.seterr(**self.errstate)
        if now.filters != self.filters:
            warnings.filters[:] = self.filters  # type: ignore[index] (a list in every version)
            with warnings.catch_warnings():  # whose end lets the list count for warnings given before, too
                pass
        if now.environ != self.environ:
            for name in os.environ.keys() - self.environ.keys():
                del os.environ[name]
            os.environ.update(self.environ)
        if now.folder != self.folder and self.folder is not None:
            with suppress(OSError):  # it was removed
                os.chdir(self.folder)
        if now.recursion != self.recursion:
            sys.setrecursionlimit(self.recursion)
        restore_limits(self.limits)


def limits_now() -> dict[int, tuple[int, int]]:
    """Return the soft and the hard limit of each resource of this process; none where systems have none."""
    if resource is None:
        return {}
    known = {value for name, value in vars(resource).items() if name.startswith("RLIMIT_")}
    return {each: resource.getrlimit(each) for each in sorted(known)}


def restore_limits(before: dict[int, tuple[int, int]]) -> bool:
    """Put back the limits of `limits_now`; False where one was lowered for good, as a hard limit is."""
    now, restored = limits_now(), True
    for each in (each for each in before if now[each] != before[each]):
        try:
            resource.setrlimit(each, before[each])  # type: ignore[union-attr]
        except (OSError, ValueError):
            restored = False
    return restored


@contextmanager
def preserved_process() -> Iterator[None]:
    """Put back on leaving what the block has changed in this process."""
    before = ProcessState.now()
    try:
        yield
    finally:
        before.restore()


def left_threads(before: set[threading.Thread]) -> list[str]:
    """Name the threads that were started since and do not end by themselves within a second."""
    started = [each for each in threading.enumerate() if each not in before]
    for each in started:
        each.join(ENDING / len(started))
    return [each.name for each in started if each.is_alive()]

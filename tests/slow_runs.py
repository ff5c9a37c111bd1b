"""Slow runs in processes of their own, a lock that another process holds, and waiting for what they do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from study_cases import tiny

TESTS = Path(__file__).parent
PATIENCE = 60.0  # seconds until a test gives up waiting


def started(folder: Path, *arguments: str, workers: str = "1", **variables: str) -> subprocess.Popen[str]:
    """Start the command line on a slow study of 12 cells, with results in the folder `out`."""
    (folder / "slow.toml").write_text(tiny("players:Slow", trials=12, horizon=10))
    command = [sys.executable, "-m", "gpbandits", "run", str(folder / "slow.toml"), *arguments]
    return subprocess.Popen(
        [*command, "--out", str(folder / "out"), "--workers", workers],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS.parent)))} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "out" / "cells").glob("*.parquet"))


def until(
    condition: Callable[[], object],
    said: Callable[[], str] = lambda: "waited in vain",
    seconds: float = PATIENCE,
    pause: float = 0.01,
) -> None:
    """Wait, and fail with what is said then."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, said()
        time.sleep(pause)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie, for which nobody has waited yet, does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no /proc
        return True


def answers(port: int) -> bool:
    """Whether somebody listens at a port of this machine."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5.0):
        return True
    return False


HOLD = """
import sys, time
from pathlib import Path
from gpbandits.experiments.locks import locked
with locked(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def held_elsewhere(folder: Path, key: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that holds the lock of a cell until it is killed."""
    command = [sys.executable, "-c", HOLD, str(folder.absolute()), key]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            yield holder
        finally:
            holder.kill()

"""Slow runs in processes of their own, a lock that another process holds, and waiting for what they do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from players import FirstArm

TESTS = Path(__file__).parent
PATIENCE = 60.0  # seconds until a test gives up waiting
SLOW = """
[study]
name = "slow"
trials = 12
block_size = 1

[[environments]]
id = "GPBandit-GP-v0"
kwargs = { horizon = 10, num_arms = 8 }

[[agents]]
name = "slow_runs:Slow"
"""


class Slow(FirstArm):
    """An agent that writes its process to the file $NOTES when it is reset, and plays for $PAUSE seconds."""

    def reset(self, seed: int) -> None:
        if "NOTES" in os.environ:
            with open(os.environ["NOTES"], "a") as notes:
                notes.write(f"{os.getpid()}\n")

    def act(self, observation: Any) -> int:
        time.sleep(float(os.environ.get("PAUSE", "0")))
        return 0


def started(folder: Path, *arguments: str, workers: str = "1", **variables: str) -> subprocess.Popen[str]:
    """Start the command line on the slow study, with results in the folder `out`."""
    (folder / "slow.toml").write_text(SLOW)
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

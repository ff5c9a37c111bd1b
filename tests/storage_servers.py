"""Databases that a test starts: a file of SQLite, and a server of PostgreSQL that listens to no network."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))  # which are not on the path
OWNER = "postgres"  # initdb refuses root; Debian's package makes this user


def postgres_binaries() -> Path:
    """Where PostgreSQL is, or skip."""
    if find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: pip install 'psycopg[binary]'")
    found = shutil.which("initdb")
    if not found and not DEBIAN:
        pytest.skip("no PostgreSQL on this machine: apt-get install postgresql")
    return Path(found).parent if found else DEBIAN[-1]


def unprivileged() -> str | None:
    """The user that a server runs as, None for oneself; skip where there is none."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(OWNER).pw_name
    pytest.skip(f"PostgreSQL does not run as root, and there is no user {OWNER!r}")


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The address of a database on a server of its own, which answers on a socket in a folder alone."""
    binaries, user = postgres_binaries(), unprivileged()
    folder = Path(
        tempfile.mkdtemp(prefix="gpbandits-postgres-")
    )  # tmp_path cannot be entered by another user
    if user:
        shutil.chown(folder, user)

    def run(command: str, *arguments: str) -> None:
        place = [str(binaries / command), "-D", str(folder / "data"), *arguments]
        done = subprocess.run(
            place, user=user, cwd=folder, stdout=subprocess.DEVNULL, timeout=120, check=False
        )
        assert done.returncode == 0, f"{command} failed"

    try:
        run("initdb", "--auth=trust", f"--username={OWNER}", "--no-sync", "--encoding=UTF8")
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        run("pg_ctl", "-w", "-t", "60", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql+psycopg://{OWNER}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/study.db"


SERVERS = {"sqlite": sqlite, "postgres": postgres}

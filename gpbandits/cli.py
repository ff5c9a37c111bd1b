"""The console script `gpbandits` checks that its packages are installed and prints an error as one line."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import invalidate_caches
from importlib.util import find_spec
from io import TextIOWrapper

import gymnasium as gym

from bandit_envs.basics.arguments import command_for

PACKAGES = ("jinja2", "joblib", "matplotlib", "pandas", "pyarrow", "rich", "typer")  # of the extra `eval`


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error ends in one line and exit code 2, or in its traceback with --debug."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        _stop(f"{', '.join(missing)} not found; the command line needs {command_for('eval')}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks † must not stop the command
    from gpbandits.commands import app

    try:
        with _modules_of_this_folder():
            app([argument for argument in given if argument != "--debug"], prog_name="gpbandits")
    except (ValueError, OSError, ImportError, gym.error.Error) as error:
        if "--debug" in given or isinstance(error, BrokenPipeError):
            raise
        from gpbandits.commands.terminal import escaped

        said = " ".join(str(error).split()) or type(error).__name__
        _stop(f"{escaped(said)} (--debug shows where)")


@contextmanager
def _modules_of_this_folder() -> Iterator[None]:
    """Let `my_agent:Mine` be imported from the current folder, searched after all installed packages."""
    folder = os.getcwd()
    sys.path.append(folder)
    invalidate_caches()  # a module may be newer than the resolution of its folder's time stamp
    try:
        yield
    finally:
        sys.path.remove(folder)


def _stop(message: str, code: int = 2) -> None:
    print(f"gpbandits: {message}", file=sys.stderr)
    sys.exit(code)

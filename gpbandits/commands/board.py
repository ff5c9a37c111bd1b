"""The command `board` serves a page that shows a study while it runs."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from bandit_envs.basics.extras import from_extra
from gpbandits.commands.terminal import console


def board(
    source: Annotated[Path, typer.Argument(help="Folder of results, or a study file (.toml) with --out.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the results of a study file.")] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Run the study file too, and end it with the page.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port at 127.0.0.1.")] = 8765,
) -> None:
    """Show a study's curves, cells, failures and a film of an agent on a web page of this machine.

    The page follows a study that another `gpbandits run` computes, or computes it itself with --run.
    """
    with from_extra("board", "live boards"):
        from gpbandits.board.app import HOST, serve

    is_study = source.suffix == ".toml"
    folder = _folder_of(source, out, run, is_study)
    # The server re-raises the signal that ended it; its default action would skip the `finally` below.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    command = [sys.executable, "-m", "gpbandits.leashed", "run", str(source), "--out", str(folder)]
    runner = subprocess.Popen(command, stdin=subprocess.PIPE) if run else None
    console().print(f"The board is at http://{HOST}:{port}; Ctrl-C ends it.", soft_wrap=True)
    try:
        serve(folder, source.stem if is_study else folder.resolve().name, port)
    finally:
        if runner is not None:
            runner.terminate()
            runner.wait()


def _folder_of(source: Path, out: Path | None, run: bool, is_study: bool) -> Path:
    from gpbandits.experiments import load_study, open_results

    if is_study:
        load_study(source)  # raises where the file is faulty
        if out is None:
            raise ValueError(
                f"--out must be given with a study file: the folder of its results, got {source} alone"
            )
        return out
    if out is not None or run:
        raise ValueError(f"--out and --run are for a study file (.toml), got the folder {source}")
    open_results(source)
    return source

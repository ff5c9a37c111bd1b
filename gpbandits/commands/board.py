"""Pages and pictures: a report of a study, a study while it runs, an agent at play."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import typer

from bandit_envs.basics.arguments import from_extra
from gpbandits.commands.terminal import console, print_faults

# The command line in a child process that ends when the board ends, even if that is killed.
LEASHED = """
from gpbandits.cli import main
from gpbandits.commands.board import end_with_parent
end_with_parent()
main()
"""


def report(
    folder: Annotated[
        Path, typer.Argument(help="Folder of results, as `gpbandits run` or `reproduce` made it.")
    ],
    figures: Annotated[bool, typer.Option(help="Write figures as PNG and PDF too.")] = True,
    columns: Annotated[
        str | None, typer.Option(help="Columns of summaries, as in `regret,median,microseconds`.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Label of the agent that others are compared to.")
    ] = None,
) -> None:
    """Write a page, tables and figures of the results in a folder, also of an unfinished study."""
    with from_extra("eval", "reports"):
        from gpbandits.experiments import open_results
        from gpbandits.report import write_report

    study, store = open_results(folder)
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    page = write_report(folder, figures, chosen, baseline)
    print_faults(store.survey(study).faults.values())  # known by now: the page has read all files
    places = f"Report in {page}; tables in {folder}/tables" + (f", figures in {folder}/figures." * figures)
    console().print(places, soft_wrap=True)  # a path must not be broken


def watch(
    env: Annotated[str, typer.Argument(help="Id of an environment; `gpbandits envs` lists them.")],
    agents: Annotated[
        list[str], typer.Argument(help="Agents, side by side if several; `gpbandits agents` lists them.")
    ],
    gif: Annotated[Path, typer.Option("--out", "--gif", help="The file to write: .gif, .html or .mp4.")],
    count: Annotated[int, typer.Option("--frames", min=2, help="Frames, spread over the rounds.")] = 40,
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 5.0,
    start: Annotated[int, typer.Option(min=1, help="First round that is shown.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trial.")] = 0,
    kwargs: Annotated[
        str, typer.Option(help="""Keywords of the environment, as in '{"horizon": 50}'.""")
    ] = "{}",
    options: Annotated[
        list[str] | None,
        typer.Option(help="""Options of the agent, as in '{"delta": 0.1}'; of several, one after another."""),
    ] = None,
    strip: Annotated[
        Path | None, typer.Option(help="A figure for print (.pdf, .png, .svg) of the choices in some rounds.")
    ] = None,
    rounds: Annotated[
        list[int] | None,
        typer.Option("--round", help="A round of the strip, which a frame shows; may be repeated."),
    ] = None,
) -> None:
    """Draw the true function, the plays and the agent's band, round by round, as a film, and as a strip."""
    from gpbandits.evaluation.plots import save_figure
    from gpbandits.report.film import watch as filmed
    from gpbandits.report.film_files import make_folder_of

    given = [_table("--options", each) for each in options or ()] or [{}] * len(agents)
    if len(given) != len(agents):
        raise ValueError(f"--options must be given once an agent, or not at all, got {len(given)}")
    if (strip is None) != (not rounds):
        raise ValueError("--strip needs the rounds to show, each as --round, and --round needs a --strip")
    make_folder_of(gif)  # raises before the trial is played, which takes long
    film = filmed(
        env, [*zip(agents, given, strict=True)], seed, count, _table("--kwargs", kwargs), fps, start
    )
    chosen = film.strip(rounds) if rounds else None  # raises before anything is written
    film.save(gif)
    console().print(f"{film.length} pictures in {gif}.", soft_wrap=True)
    if strip is not None and chosen is not None:
        strip.parent.mkdir(parents=True, exist_ok=True)
        save_figure(chosen, strip)
        console().print(f"Rounds {', '.join(map(str, rounds or []))} in {strip}.", soft_wrap=True)


def _table(name: str, text: str) -> dict[str, Any]:
    try:
        table, reason = json.loads(text), ""
    except json.JSONDecodeError as error:
        table, reason = None, f": {error}"
    if not isinstance(table, dict):
        raise ValueError(f"{name} must be a JSON object, got {text!r}{reason}")
    return table


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
        from gpbandits.board.app import HOST, make_app, serve

    is_study = source.suffix == ".toml"
    folder = _folder_of(source, out, run, is_study)
    # The server re-raises the signal that ended it; its default action would skip the `finally` below.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    command = [sys.executable, "-c", LEASHED, "run", str(source), "--out", str(folder)]
    runner = subprocess.Popen(command, stdin=subprocess.PIPE) if run else None
    console().print(f"The board is at http://{HOST}:{port}; Ctrl-C ends it.", soft_wrap=True)
    try:
        serve(make_app(folder, source.stem if is_study else folder.resolve().name), port)
    finally:
        if runner is not None:
            runner.terminate()
            runner.wait()


def compare(
    file: Annotated[Path, typer.Argument(help="File of the tuner (JSON); it is made, or continued.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of a new tuner.")] = 0,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port at 127.0.0.1.")] = 8766,
) -> None:
    """Ask which of two pictures is better, on a web page that draws what your answers say of all pictures.

    A toy for `agents.tuning.PreferenceTuner`: two drawings differ in brightness and contrast.
    """
    with from_extra("board", "pages on which you compare pictures"):
        from gpbandits.board.app import HOST, serve
        from gpbandits.board.pictures import make_pictures

    app = make_pictures(file, seed)
    console().print(f"The pictures are at http://{HOST}:{port}; Ctrl-C ends them.", soft_wrap=True)
    serve(app, port)


def end_with_parent() -> None:
    """End this process once its standard input closes: the parent holds the other end and writes nothing."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


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

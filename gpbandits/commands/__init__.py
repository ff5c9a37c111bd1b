"""The command line has one module a group of commands, registered here in the order of the help text.

A command imports the numerical code inside its function, so that help and a mistyped option take no time.
"""

from importlib.metadata import version
from typing import Annotated

import typer

from gpbandits.commands import board, catalogue, ranking, run, status

app = typer.Typer(
    help="Gaussian-process bandits: environments, agents and studies of both.",
    epilog="Any command takes --debug, which shows the traceback of an error.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,  # `cli.main` prints an error as one line
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"gpbandits {version('gpbandits')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that stand before any command."""


for command in (
    catalogue.envs,
    catalogue.tasks,
    catalogue.agents,
    run.run,
    run.reproduce,
    run.table,
    board.report,
    status.status,
    status.clean,
    status.merge,
    ranking.leaderboard,
    ranking.exam,
    board.watch,
    board.board,
    board.compare,
):
    app.command()(command)

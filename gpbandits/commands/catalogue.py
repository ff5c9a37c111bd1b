"""What there is: the environments and the agents, all of them or one with its keywords."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gpbandits.commands.terminal import console, print_rows

if TYPE_CHECKING:
    from gpbandits.catalogue import Entry

Environment = Annotated[str | None, typer.Argument(metavar="[ID]", help="One of them, with its keywords.")]
Agent = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One of them, with its keywords.")]
EXTRA = ("data",)  # column without which the table fits a narrow terminal


def envs(name: Environment = None) -> None:
    """List the environments, or say what one is and takes."""
    from gpbandits.catalogue import environment, environment_rows

    if name is not None:
        _print_entry(environment(name))
        return
    header = ("id", "problem", "arms", "horizon", "box", "data")
    print_rows("Environments", header, environment_rows(), EXTRA)
    console().print("gpbandits envs ID says what one is and takes.")


def agents(name: Agent = None) -> None:
    """List the agents, or say what one is and takes."""
    from gpbandits.catalogue import agent, agent_rows

    if name is not None:
        _print_entry(agent(name))
        return
    print_rows("Agents", ("name", "algorithm", "handles"), agent_rows())
    console().print("gpbandits agents NAME says what one is and takes.")


def _print_entry(entry: "Entry") -> None:
    console().print(Text(entry.name, style="bold"), Text(entry.text), "", sep="\n")
    for title, header, rows in entry.tables:
        print_rows(title, header, rows)
        console().print()

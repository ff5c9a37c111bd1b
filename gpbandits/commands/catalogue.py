"""What there is: the environments and the agents, all of them or one with its keywords."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gpbandits.commands.prose import filled
from gpbandits.commands.terminal import console, print_rows

if TYPE_CHECKING:
    from gpbandits.catalogue import Entry


def _ids(incomplete: str) -> list[str]:
    from bandit_envs.environment.registration import IDS

    return [each for each in IDS if each.startswith(incomplete)]


def _names(incomplete: str) -> list[str]:
    from agents.registry import names

    return [each for each in names() if each.startswith(incomplete)]


ONE = "One of them, with its keywords."
Environment = Annotated[str | None, typer.Argument(metavar="[ID]", help=ONE, autocompletion=_ids)]
Agent = Annotated[str | None, typer.Argument(metavar="[NAME]", help=ONE, autocompletion=_names)]
Picture = Annotated[Path | None, typer.Option(help="Write a picture (.png) of it after 20 rounds.")]
EXTRA = ("data",)  # column without which the table fits a narrow terminal
PLAYER, STAGE = (
    "gp-agent",
    "GPBandit-GP-v0",
)  # what plays an environment in its picture, and where an agent plays


def envs(name: Environment = None, picture: Picture = None) -> None:
    """List the environments, or say what one is and takes."""
    from gpbandits.catalogue import environment, environment_rows

    if name is not None:
        _print_entry(environment(name))
        _draw(name, PLAYER, picture)
        return
    _require_one(picture, "ID")
    header = ("id", "problem", "arms", "horizon", "box", "data")
    print_rows("Environments", header, environment_rows(), EXTRA)
    console().print("gpbandits envs ID says what one is and takes.")


def agents(name: Agent = None, picture: Picture = None) -> None:
    """List the agents, or say what one is and takes."""
    from gpbandits.catalogue import agent, agent_rows

    if name is not None:
        _print_entry(agent(name))
        _draw(STAGE, name, picture)
        return
    _require_one(picture, "NAME")
    print_rows("Agents", ("name", "algorithm", "handles"), agent_rows())
    console().print("gpbandits agents NAME says what one is and takes.")


def _print_entry(entry: "Entry") -> None:
    terminal = console()
    terminal.print(Text(entry.name, style="bold"))
    terminal.print(filled(entry.text, terminal.width), "", sep="\n", soft_wrap=True)  # code can be pasted
    for title, header, rows in entry.tables:
        print_rows(title, header, rows)
        console().print()


def _require_one(picture: Path | None, what: str) -> None:
    if picture is not None:
        raise ValueError(f"--picture is of one of them; give its {what} too, got {picture} alone")


def _draw(environment: str, agent: str, picture: Path | None) -> None:
    """Write the last of the pictures that `watch` takes."""
    if picture is None:
        return
    from PIL import Image

    from gpbandits.report.film import frames

    if picture.suffix.lower() != ".png":
        raise ValueError(f"--picture must end in .png, got {picture}")
    *_, last = frames(environment, agent, count=2, env_kwargs={"max_episode_steps": 20})
    picture.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(last).save(picture)
    console().print(f"{agent} on {environment}: {picture}", soft_wrap=True)

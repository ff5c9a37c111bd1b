"""The commands `envs`, `tasks` and `agents` list what there is, or describe one with its keywords."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gpbandits.commands.terminal import completed, console, filled, print_rows

if TYPE_CHECKING:
    from gpbandits.catalogue import Entry


ONE = "One of them, with its keywords."
_ids = completed("bandit_envs.environment.registration", "IDS")
Environment = Annotated[str | None, typer.Argument(metavar="[ID]", help=ONE, autocompletion=_ids)]
_names = completed("agents.registry", "names")
Agent = Annotated[str | None, typer.Argument(metavar="[NAME]", help=ONE, autocompletion=_names)]
Picture = Annotated[Path | None, typer.Option(help="Write a picture (.png) of it after 20 rounds.")]
Handles = Annotated[list[str] | None, typer.Option(help="List agents that handle this; may be repeated.")]
EXTRA = ("data",)  # columns that a narrow terminal omits
SHOWN_ROUNDS = 20
PLAYER, STAGE = ("gp-agent", "GPBandit-GP-v0")  # agent in an environment's picture, environment in an agent's


def envs(name: Environment = None, picture: Picture = None) -> None:
    """List the environments, or describe one with its keywords."""
    from gpbandits.catalogue import environment, environment_rows

    if name is not None:
        _print_entry(environment(name))
        _draw(name, PLAYER, picture)
        return
    _require_one(picture, "ID")
    header = ("id", "problem", "arms", "horizon", "box", "data")
    print_rows("Environments", header, environment_rows(), EXTRA)
    console().print("`gpbandits envs ID` describes one with its keywords.")


def tasks() -> None:
    """List the real tasks of GPBandit-Real-v2, with the source and the licence of what was measured."""
    from gpbandits.catalogue import task_rows

    header = ("task", "family", "points", "source", "licence", "data")
    print_rows("Tasks", header, task_rows(), EXTRA)
    console().print('Play one by gymnasium.make("GPBandit-Real-v2", task="digits-late").')


def agents(name: Agent = None, picture: Picture = None, handles: Handles = None) -> None:
    """List the agents, or describe one with its keywords."""
    from gpbandits.catalogue import agent, agent_rows, require_features

    if name is not None:
        _print_entry(agent(name))
        _draw(STAGE, name, picture)
        return
    _require_one(picture, "NAME")
    require_features(handles or [])
    rows = [row for row in agent_rows() if set(handles or []) <= set(row[-1].split(", "))]
    print_rows("Agents", ("name", "algorithm", "handles"), rows)
    console().print("`gpbandits agents NAME` describes one with its keywords.")


def _print_entry(entry: "Entry") -> None:
    terminal = console()
    terminal.print(Text(entry.name, style="bold"))
    terminal.print(filled(entry.text, terminal.width), "", sep="\n", soft_wrap=True)  # keeps code pasteable
    for title, header, rows in entry.tables:
        print_rows(title, header, rows)
        console().print()


def _require_one(picture: Path | None, what: str) -> None:
    if picture is not None:
        raise ValueError(f"--picture needs {what} as well, got {picture} alone")


def _draw(environment: str, agent: str, picture: Path | None) -> None:
    if picture is None:
        return
    from PIL import Image

    from gpbandits.report.film import frames

    if picture.suffix.lower() != ".png":
        raise ValueError(f"--picture must end in .png, got {picture}")
    pictures = list(frames(environment, agent, count=3, env_kwargs={"horizon": 2 * SHOWN_ROUNDS}))
    picture.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pictures[1]).save(picture)
    console().print(f"{agent} on {environment}: {picture}", soft_wrap=True)

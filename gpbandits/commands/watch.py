"""The command `watch` draws a trial of an agent as a GIF."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gpbandits.commands.terminal import console


def watch(
    env: Annotated[str, typer.Argument(help="Id of an environment; `gpbandits envs` lists them.")],
    agent: Annotated[str, typer.Argument(help="Name of an agent; `gpbandits agents` lists them.")],
    gif: Annotated[Path, typer.Option(help="The file to write.")],
    count: Annotated[int, typer.Option("--frames", min=2, help="Frames, spread over the rounds.")] = 40,
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 5.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trial.")] = 0,
    kwargs: Annotated[
        str, typer.Option(help="""Keywords of the environment, as in '{"horizon": 50}'.""")
    ] = "{}",
    options: Annotated[str, typer.Option(help="""Options of the agent, as in '{"delta": 0.1}'.""")] = "{}",
) -> None:
    """Draw the true mean, the actions and the agent's posterior, round by round, as a GIF."""
    from gpbandits.report.film import frames, save_gif

    pictures = frames(env, (agent, _table("--options", options)), seed, count, _table("--kwargs", kwargs))
    number = save_gif(pictures, gif, fps)
    console().print(f"{number} pictures in {gif}.", soft_wrap=True)


def _table(name: str, text: str) -> dict[str, Any]:
    try:
        table = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} must be a JSON object, got {text!r}: {error}") from error
    if not isinstance(table, dict):
        raise ValueError(f"{name} must be a JSON object, got {text!r}")
    return table

"""The commands `submission pack` and `submission check` hand results on real tasks to others."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from gpbandits.commands.terminal import console

app = typer.Typer(help="Hand an agent's results on the real tasks to others, or check what others hand in.")


@app.command()
def pack(
    agent: Annotated[
        str,
        typer.Argument(help="Name of the agent, or package.module:Class, with options as JSON behind it."),
    ],
    out: Annotated[Path, typer.Option(help="The Parquet file to write.")],
    store: Annotated[
        Path, typer.Option(help="Folder in which `leaderboard --suite real` keeps its results.")
    ] = Path("results/leaderboard"),
    trials: Annotated[int, typer.Option(min=1, help="Trials of each task.")] = 20,
    horizon: Annotated[int, typer.Option(min=1, help="Most rounds a trial.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trials.")] = 0,
) -> None:
    """Write what `leaderboard --suite real --agent AGENT` has computed of an agent to one file."""
    from gpbandits.experiments import Store
    from gpbandits.experiments.store import CELLS
    from gpbandits.report.entrants import enter, entrant_of
    from gpbandits.report.holdings import Holdings
    from gpbandits.report.submission import write_submission

    entries = enter(trials, horizon, agents=[agent], seed=seed, suite="real")
    cells, results = Store(store / CELLS), {}
    for study in entries.studies:
        (environment,) = study.environments
        result = Holdings(study, cells, by_installed=True).result(environment)
        if result is not None and agent in result.agents and result.num_trials == trials:
            results[environment.label.removeprefix("Real/")] = result
    if not results:
        run = f"gpbandits leaderboard --suite real --agent {shlex.quote(agent)} --trials {trials}"
        run += f" --horizon {horizon} --seed {seed}"
        raise typer.BadParameter(f"{store} has no task with {trials} trials of {agent}; run {run}")
    entrant = entrant_of(agent)
    write_submission(results, entrant.name, entrant.options, out, agent)
    console().print(f"{agent} on {len(results)} tasks: {out}", soft_wrap=True)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A file that `submission pack` wrote.")],
    replays: Annotated[int, typer.Option(min=1, help="Trials to play again.")] = 5,
) -> None:
    """Play trials of a submission again, which its hash chooses, and accept or refuse it with reasons.

    This runs the agent's code.
    """
    from gpbandits.report.submission import check_submission

    verdict = check_submission(file, replays)
    for task, trial in verdict.replayed:
        console().print(f"played again: {task}, trial {trial}")
    for reason in verdict.reasons:
        console().print(reason, soft_wrap=True, highlight=False)
    console().print("refused" if verdict.reasons else "accepted")
    if verdict.reasons:
        raise typer.Exit(1)

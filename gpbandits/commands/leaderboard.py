"""The command `leaderboard` ranks all agents; `submission` hands results on real tasks to others."""

import shlex
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer

from gpbandits.commands.run import ComputeKind, KindOption, Scheduler, TimeLimit, Workers, chosen_backend
from gpbandits.commands.terminal import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpbandits.evaluation.result import Result
    from gpbandits.experiments.study import Study


submission = typer.Typer(
    help="Hand an agent's results on the real tasks to others, or check what others hand in."
)


class SuiteKind(StrEnum):
    """The kind of a leaderboard's suite is ids or real tasks."""

    IDS = "ids"
    REAL = "real"


_WHO = {
    SuiteKind.IDS: "all agents",
    SuiteKind.REAL: "the classics, the agents that are made for what a task has, and one of another library",
}


def leaderboard(
    out: Annotated[Path, typer.Option(help="Folder of the page, its figures and its tables.")] = Path(
        "leaderboard"
    ),
    store: Annotated[
        Path, typer.Option(help="Folder of the results; its cells are not computed again.")
    ] = Path("results/leaderboard"),
    archive: Annotated[
        Path | None,
        typer.Option(help="Folder for a Parquet file an environment: every trial at four rounds."),
    ] = None,
    suite: Annotated[
        SuiteKind, typer.Option(help="Environments of the ids, or the real tasks of GPBandit-Real-v2.")
    ] = SuiteKind.IDS,
    env: Annotated[
        list[str] | None, typer.Option(help="Id of an environment; by default all of the suite.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of an agent, with options as JSON behind it; by default all but sb3-* and other "
            "libraries', on real tasks a selection."
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=6, help="Trials of every pair; with fewer than 10 few differences show.")
    ] = 20,
    horizon: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most rounds a trial: by default 200 of an id (GrowingDataSVM has 600), all of a real task.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trials.")] = 0,
    workers: Workers = None,
    backend: KindOption = ComputeKind.LOCAL,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
) -> None:
    """Run every agent on every environment that it handles, and rank the agents in each class of problems."""
    from gpbandits.commands.progress import end_if_failed, run_with_progress
    from gpbandits.experiments import Store
    from gpbandits.experiments.store import CELLS
    from gpbandits.report.board import write_board
    from gpbandits.report.entrants import REFERENCE, cut_notes, enter, unit_of_task
    from gpbandits.report.holdings import Holdings
    from gpbandits.report.standings import LOSSLESS, Standings, has_loss

    where = chosen_backend(backend, scheduler, workers)
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=out):
        pass  # an unwritable folder raises here, before anything is computed
    entries = enter(trials, horizon, env or (), agent or (), seed, suite)
    cells = Store(store / CELLS)
    failed = [
        outcome for study in entries.studies for outcome in run_with_progress(study, cells, where, time_limit)
    ]
    found = (
        Holdings(study, cells, by_installed=True).result(study.environments[0]) for study in entries.studies
    )
    played = [result for result in found if result is not None and REFERENCE in result.agents]
    if archive:
        _archive(played, entries.studies, archive)
    results = [result for result in played if has_loss(result, REFERENCE)]
    unscaled = [(result.environment, LOSSLESS) for result in played if result not in results]
    if not results:
        raise typer.BadParameter(f"no environment can be scored: {LOSSLESS}; choose others with --env")
    classes = {}
    for name in sorted({entries.classes[result.environment] for result in results}):
        own = [result for result in results if entries.classes[result.environment] == name]
        classes[name] = Standings(
            own, REFERENCE, cut_notes([result.environment for result in own], entries.cuts)
        )
    raised = [(str(outcome.cell), str(outcome.failure).strip().splitlines()[-1]) for outcome in failed]
    chosen = [part for name in env or () for part in ("--env", name)]
    chosen += [part for name in agent or () for part in ("--agent", name)]
    settings = ["--trials", str(trials), *([] if horizon is None else ["--horizon", str(horizon)])]
    settings += ["--seed", str(seed)]
    settings += [] if suite is SuiteKind.IDS else ["--suite", suite]
    settings += [] if time_limit is None else ["--time-limit", f"{time_limit:g}"]
    command = shlex.join(["gpbandits", "leaderboard", *settings, *chosen])
    units = None
    if suite is SuiteKind.REAL:
        classes["all"] = Standings(results, REFERENCE)
        units = {result.environment: unit_of_task(result.environment) for result in results}
    name = "leaderboard" if suite is SuiteKind.IDS else f"leaderboard-{suite}"
    who = "the agents named below" if agent else _WHO[suite]
    page = write_board(classes, out, command, [*entries.excluded, *unscaled, *raised], name, who, units)
    console().print(
        f"Leaderboard in {page}, its figures in {out}/figures, its tables in {out}/tables.", soft_wrap=True
    )
    end_if_failed(failed)


def _archive(results: "Sequence[Result]", studies: "Sequence[Study]", folder: Path) -> None:
    """Write a Parquet file an environment, with every trial at the quarters of its rounds, and its origin."""
    from gpbandits.evaluation.stamp import stamp
    from gpbandits.report.entrants import REFERENCE
    from gpbandits.reproductions.page import condensed

    entries = {study.environments[0].label: study.environments[0] for study in studies}
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        entry = entries[result.environment]
        quarters = [result.horizon * quarter // 4 for quarter in (1, 2, 3)]
        path = folder / f"{result.environment.removeprefix('Real/')}.parquet"
        condensed(result, quarters).save(path, stamp(entry.id, entry.kwargs, REFERENCE))


@submission.command()
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
    horizon: Annotated[
        int | None, typer.Option(min=1, help="Most rounds a trial: by default all of a task.")
    ] = None,
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
        run += "" if horizon is None else f" --horizon {horizon}"
        run += f" --seed {seed}"
        raise typer.BadParameter(f"{store} has no task with {trials} trials of {agent}; run {run}")
    entrant = entrant_of(agent)
    write_submission(results, entrant.name, entrant.options, out, agent)
    console().print(f"{agent} on {len(results)} tasks: {out}", soft_wrap=True)


@submission.command()
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

"""The commands `exam` and `leaderboard` compare agents with published numbers, and with each other."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from bandit_envs.basics.arguments import require_known
from gpbandits.commands.run import ComputeKind, KindOption, Scheduler, TimeLimit, Workers, chosen_backend
from gpbandits.commands.terminal import completed, console, escaped


def exam(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            help="Parts: hpo-b, crossed-barrel, boxes, real; by default a quick choice of the first three.",
            autocompletion=completed("gpbandits.exam", "PARTS"),
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Who is examined: tuner, a registered agent, or a class such as mine:Agent, with options as "
            "JSON behind it; may be repeated. By default random and tuner."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the results, tables and figures; its cells are not played again.")
    ] = Path("results/exam"),
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds; by default those of each part.")] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="Most questions; by default all.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
) -> None:
    """Play tests of others, and print their published numbers beside ours or those of your agent."""
    from gpbandits.commands.progress import interruptible, repeat_failed
    from gpbandits.exam import PARTS, QUICK, Sitting
    from gpbandits.report.page import write_table

    for name in parts or ():
        require_known("part", name, PARTS)
    sitting = Sitting(out, tuple(agent or ()), seeds, questions, not parts, workers, _bar)
    _ = sitting.entrants  # raises before anything is played
    failures = []
    for name in dict.fromkeys(parts or QUICK):
        with interruptible(lambda: _INTERRUPTED):
            report = PARTS[name].hold(sitting)
        failures += report.failures
        for table in report.tables:
            console().print(table, "")
            write_table(table, out / "tables", table.name)
        if report.figure is not None:
            report.figure.savefig(out / f"{report.tables[0].name}.png", dpi=120)
    console().print(f"Results, tables and figures in {out}.", soft_wrap=True)
    if failures:
        errors = console(stderr=True)
        for cell, traceback in failures:
            errors.print(Text(escaped(f"\n{cell} failed:\n{traceback}")))
        errors.print(repeat_failed(len(failures)))
        raise typer.Exit(1)


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how many cells are played, and the remaining time."""
    from gpbandits.evaluation.progress import bar_columns

    with Progress(*bar_columns("cells"), console=console()) as bars:
        task = bars.add_task(title, total=total)
        yield lambda: bars.advance(task)


_INTERRUPTED = "Interrupted: finished cells are kept; run the command again to continue."


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
    against: Annotated[
        Path | None,
        typer.Option(
            help="Folder that --archive wrote: ranks --agent, which alone is computed, beside its results."
        ),
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
    site: Annotated[
        bool,
        typer.Option(
            "--site",
            help="For a site of MyST: the page includes the files of its tables; by default it has them.",
        ),
    ] = False,
    workers: Workers = None,
    backend: KindOption = ComputeKind.LOCAL,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
) -> None:
    """Run every agent on every environment that it handles, and rank the agents in each class of problems."""
    from gpbandits.commands.progress import end_if_failed, run_with_progress
    from gpbandits.experiments import Store
    from gpbandits.experiments.store import CELLS
    from gpbandits.report.archive import archived_ids, beside, own_part, read_archived, write_archive
    from gpbandits.report.board import write_board
    from gpbandits.report.entrants import REFERENCE, cut_notes, enter, unit_of_task
    from gpbandits.report.holdings import Holdings
    from gpbandits.report.standings import LOSSLESS, Standings, has_loss

    if against and (archive or not agent):
        raise typer.BadParameter("--against needs --agent, and takes no --archive: others were not played")
    where = chosen_backend(backend, scheduler, workers)
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=out):
        pass  # an unwritable folder raises here, before anything is computed
    within = archived_ids(against, suite, env or ()) if against else ()
    entries = enter(trials, horizon, env or (), agent or (), seed, suite, within)
    studies, former = entries.studies, {}
    if against:  # all files are checked before anything is played
        former = {study.environments[0].label: read_archived(against, study) for study in studies}
        parts = [own_part(study, former[study.environments[0].label], agent or ()) for study in studies]
        studies = [part for part in parts if part is not None]
        if not studies:
            raise typer.BadParameter(f"no agent of --agent plays an environment of {against}")
    cells = Store(store / CELLS)
    failed = [outcome for study in studies for outcome in run_with_progress(study, cells, where, time_limit)]
    found = (Holdings(study, cells, by_installed=True).result(study.environments[0]) for study in studies)
    own = {result.environment: result for result in found if result is not None}
    if against:
        own = {label: beside(result, own.get(label)) for label, result in former.items()}
    played = [result for result in own.values() if REFERENCE in result.agents]
    if archive:
        write_archive(played, studies, archive)
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
    given = [("--trials", trials), ("--horizon", horizon), ("--seed", seed)]
    given += [("--suite", None if suite is SuiteKind.IDS else suite), ("--against", against)]
    given += [("--time-limit", None if time_limit is None else f"{time_limit:g}")]
    given += [*(("--env", name) for name in env or ()), *(("--agent", name) for name in agent or ())]
    settings = [str(part) for option, value in given if value is not None for part in (option, value)]
    command = shlex.join(["gpbandits", "leaderboard", *settings, *(["--site"] if site else [])])
    units = None
    if suite is SuiteKind.REAL:
        classes["all"] = Standings(results, REFERENCE)
        units = {result.environment: unit_of_task(result.environment) for result in results}
    name = "leaderboard" if suite is SuiteKind.IDS else f"leaderboard-{suite}"
    who = "the agents named below" if agent else _WHO[suite]
    who += f" ({', '.join(agent or ())} beside results of {against}, which are believed)" if against else ""
    excluded = [*entries.excluded, *unscaled, *raised]
    page = write_board(classes, out, command, excluded, name, who, units, site)
    console().print(
        f"Leaderboard in {page}, its figures in {out}/figures, its tables in {out}/tables.", soft_wrap=True
    )
    end_if_failed(failed)

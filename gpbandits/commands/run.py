"""Running a study, a figure of a paper, or a table of one's own; the options of all commands that compute."""

from enum import StrEnum
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from bandit_envs.basics.arguments import require
from gpbandits.commands.terminal import completed, console, print_rows

if TYPE_CHECKING:
    from gpbandits.experiments.backends import Backend
    from gpbandits.reproductions.study_figure import Compute, Part, Results

ALL = "all"
Workers = Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one a core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, as in `tcp://10.0.0.1:8786`, for --backend dask."),
]

TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.001, help="Seconds that a cell, or making its environment or agent, may take."),
]


class ComputeKind(StrEnum):
    """The kind of a backend is local processes or a Dask cluster."""

    LOCAL = "local"
    DASK = "dask"


KindOption = Annotated[
    ComputeKind, typer.Option("--backend", help="Compute in processes of this machine, or on a Dask cluster.")
]


def chosen_backend(kind: ComputeKind, scheduler: str | None, workers: int | None) -> "Backend":
    """Return the backend that the options select."""
    from gpbandits.experiments.backends import local
    from gpbandits.experiments.cluster import dask

    if (kind is ComputeKind.DASK) != (scheduler is not None):
        raise ValueError(f"--scheduler must be given with --backend dask, and only then, got {scheduler!r}")
    if scheduler is None:
        return local(workers)
    if workers is not None:
        raise ValueError(f"--workers is for --backend local: a cluster has its own workers, got {workers}")
    return dask(scheduler)


def run(
    study: Annotated[Path, typer.Argument(help="A study file, such as those in examples/studies.")],
    out: Annotated[Path, typer.Option(help="Folder of the results; its cells are not computed again.")],
    workers: Workers = None,
    backend: KindOption = ComputeKind.LOCAL,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Share of a job in an array: i/n, auto, or auto/n; see docs/cluster.md."),
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="End with the share, on machines without a shared folder.")
    ] = False,
) -> None:
    """Run every agent of a study on every environment, and print tables that compare the agents.

    The modules that the study names are imported: run only studies from people you trust. With --shard the
    tables come from the job that finds all cells computed.
    """
    from gpbandits.commands.progress import end_if_failed, run_with_progress
    from gpbandits.evaluation.columns import fitting
    from gpbandits.experiments import check_study, keep_study, load_study, write_tables
    from gpbandits.experiments.backends import shard_of

    loaded, text = load_study(study), study.read_bytes()  # read now: the file may be edited during the run
    require(shard or not only, "--only", "given with --shard, whose share it is", shard)
    share = None if shard is None else shard_of(shard)._replace(only=only)
    if share is not None and backend is ComputeKind.DASK:
        raise ValueError(f"--shard is for --backend local: a scheduler shares cells itself, got {shard}")
    where = chosen_backend(backend, scheduler, workers)
    if loaded.modules:
        names = ", ".join(loaded.modules)
        console().print(
            Text(f"Importing {names}, which {study} names: run only studies from people you trust.")
        )
    check_study(loaded, time_limit)
    store = keep_study(out, loaded, text)  # before anything is computed: `status` and a resumed run read it
    failed = run_with_progress(loaded, store, where, time_limit, share)
    missing = 0 if share is None else len(list(store.survey(loaded).missing))
    if missing > len(failed):
        left = f"{missing - len(failed)} cells are missing, which other jobs compute or will."
        remedy = "`gpbandits merge` joins their folders." if only else "Run without --shard for the tables."
        console().print(f"Share {share} is done. {left} {remedy}")
        end_if_failed(failed)
        return
    from gpbandits.report.page import write_figures  # after the cells: matplotlib is slow

    results = store.load(loaded)
    write_tables(out, results)
    for environment, result in results:
        console().print(result.table(**fitting(result, loaded.columns, loaded.baseline)), "")
        if result.num_constraints:
            console().print(result.safety_table(), "")
        if result.alarms:
            console().print(result.detection_table(), "")
        if result.stopped:
            console().print(result.stopping_table(), "")
        write_figures(result, out / "figures", environment.file_name, (".png",))
    console().print(Text(f"Tables of the recorded rounds in {out}/results, figures in {out}/figures."))
    end_if_failed(failed)


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of a figure, or `all`; by default the figures are listed.",
            autocompletion=completed("gpbandits.reproductions", "REPRODUCTIONS", ALL),
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 5 trials of at most 1000 rounds; no claim is judged.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results/reproductions"),
    page: Annotated[
        Path | None, typer.Option(help="Write the results of the folder to this Markdown page.")
    ] = None,
    workers: Workers = None,
    backend: KindOption = ComputeKind.LOCAL,
    scheduler: Scheduler = None,
) -> None:
    """Reproduce a figure of a paper and judge its claims; without a name, list the figures."""
    from rich.markdown import Markdown

    from gpbandits.evaluation.plots import save_figure
    from gpbandits.reproductions import REPRODUCTIONS, find
    from gpbandits.reproductions.page import write_page

    require(name is not None or not quick, "quick", "left out without the name of a figure, or all", quick)
    chosen = REPRODUCTIONS.values() if name == ALL else [find(name)] if name else []
    processes = 0 if backend is ComputeKind.DASK else workers or cpu_count() or 1
    compute = _computing(chosen_backend(backend, scheduler, workers), processes if quick else 0)
    figures = out / ("figures-quick" if quick else "figures")
    for each in chosen:
        findings = each.run(out, quick, compute)
        figures.mkdir(parents=True, exist_ok=True)
        for stem, figure in findings.figures.items():
            save_figure(figure, figures / f"{stem}.png")
        head, why = f"# {each.paper}, {each.title}", f"Why we differ: {each.differs}"
        parts = (head, "The paper says:", findings.claims, findings.text, why)
        console().print(Markdown("\n\n".join(parts)))
        console().print(f"Figures in {figures}.", soft_wrap=True)
    if page is not None:
        write_page(page, list(REPRODUCTIONS.values()), out, quick)
    if not chosen and page is None:
        rows = [(each.name, each.paper, each.title) for each in REPRODUCTIONS.values()]
        print_rows("Reproductions", ("name", "paper", "figure"), rows)


def _computing(backend: "Backend", announced: int) -> "Compute":
    """Return a function that computes a part; for `announced` processes it prints how long that takes."""
    from gpbandits.commands.progress import end_if_failed, run_with_progress
    from gpbandits.experiments import check_study, keep_study
    from gpbandits.experiments.toml import study_text
    from gpbandits.reproductions.study_figure import in_words, seconds_of

    def compute(part: "Part", folder: Path) -> "Results":
        check_study(part.shown)
        store = keep_study(folder, part.whole, study_text(part.whole).encode())
        if announced and not all(map(store.holds, part.shown.cells())):
            duration = in_words(seconds_of(part.shown, announced))
            processes = "one process" if announced == 1 else f"{announced} processes"
            console().print(f"{part.figure}: about {duration} on {processes}.")
        end_if_failed(run_with_progress(part.shown, store, backend))
        return store.load(part.shown)

    return compute


AGENTS = "gp-agent,epsilon-greedy,random"
ENV_ID = "GPBandit-Table-v0"


def table(
    file: Annotated[Path, typer.Argument(help="A CSV, or Parquet, with a row for each run.")],
    arms: Annotated[str, typer.Option(help="Columns that were set, with commas between.")],
    reward: Annotated[str, typer.Option(help="Column to maximise.")],
    out: Annotated[Path, typer.Option(help="Folder of the page, the figures and the results.")],
    minimise: Annotated[bool, typer.Option("--minimise", help="Minimise the reward's column.")] = False,
    cost: Annotated[
        list[str] | None, typer.Option(help="Limit of a column, as in latency=200; may be repeated.")
    ] = None,
    price: Annotated[str | None, typer.Option(help="Column of what a play costs.")] = None,
    budget: Annotated[float | None, typer.Option(help="Amount that all plays may cost.")] = None,
    delay: Annotated[str | None, typer.Option(help="Column of how long a result takes.")] = None,
    context: Annotated[str | None, typer.Option(help="Columns that are seen before the play.")] = None,
    changes: Annotated[str | None, typer.Option(help="Column by whose values rewards change.")] = None,
    never: Annotated[
        list[str] | None,
        typer.Option(help="Arms never to play, as in dose=1,kind=b; may be repeated."),
    ] = None,
    agents: Annotated[str, typer.Option(help="Names of agents, with commas between.")] = AGENTS,
    trials: Annotated[int, typer.Option(min=1, help="Number of trials.")] = 10,
    horizon: Annotated[int | None, typer.Option(min=1, help="Rounds a trial; by default 200.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trials.")] = 0,
    workers: Workers = None,
) -> None:
    """Compare agents on a table: which would have found the best row, how soon, and at what price."""
    from bandit_envs.problems.table import reading_of
    from gpbandits.evaluation.plots import save_figure
    from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study, load_study, open_results
    from gpbandits.experiments.toml import study_text
    from gpbandits.report import write_report
    from gpbandits.report.own_table import add_to_page, found_rows, near_gap, table_figure

    given: dict[str, Any] = {
        "file": str(file),
        "arms": _names(arms),
        "reward": reward,
        "minimise": minimise or None,
        "costs": dict(map(_limit, cost)) if cost else None,
        "price": price,
        "budget": budget,
        "delay": delay,
        "context": None if context is None else _names(context),
        "changes": changes,
        "never": list(map(_entry, never)) if never else None,
        "horizon": horizon,
    }
    kwargs = {name: value for name, value in given.items() if value is not None}
    reading = reading_of(file, **{name: kwargs.get(name) for name in ("arms", "context", "changes", "never")})
    for line in reading.said:
        console().print(Text(line))
    entries = tuple(AgentEntry(name, name) for name in _names(agents))
    study = Study("table", trials, (EnvironmentEntry(ENV_ID, file.stem, kwargs),), entries, seed)
    out.mkdir(parents=True, exist_ok=True)
    times = [each for each in dict.fromkeys((price, delay)) if each and each in reading.table.columns]
    save_figure(table_figure(reading, reward, minimise, times), out / "table.png")
    text = out / "table-study.toml"
    text.write_text(study_text(study), encoding="utf-8")
    run(text, out, workers)
    page = write_report(out)
    ((_, result),) = open_results(out)[1].load(load_study(text))
    header, rows = found_rows(result, near_gap(reading, reward))
    add_to_page(page, reading.said, header, rows)
    print_rows("Best rows found", header, rows)
    console().print(f"Page in {page}, the table in {out / 'table.png'}.", soft_wrap=True)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _entry(text: str) -> dict[str, str]:
    pairs = [name.partition("=") for name in _names(text)]
    words = "columns and their values, as in catalyst=C or dose=1,kind=b"
    require(pairs and all(name and sign for name, sign, _ in pairs), "--never", words, text)
    return {name: value for name, _, value in pairs}


def _limit(text: str) -> tuple[str, float]:
    column, sign, limit = text.rpartition("=")
    require(column and sign, "--cost", "a column and its limit, as in latency=200", text)
    return column, float(limit)

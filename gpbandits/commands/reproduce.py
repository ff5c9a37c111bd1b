"""The command `reproduce` computes a figure of a paper and judges its claims."""

from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bandit_envs.basics.arguments import require
from gpbandits.commands.run import ComputeKind, KindOption, Scheduler, Workers, chosen_backend
from gpbandits.commands.terminal import console, print_rows

if TYPE_CHECKING:
    from gpbandits.experiments.backends import Backend
    from gpbandits.reproductions import Reproduction
    from gpbandits.reproductions.base import Compute, Part, Results

ALL = "all"


def _figures(incomplete: str) -> list[str]:
    from gpbandits.reproductions import REPRODUCTIONS

    return [each for each in (ALL, *REPRODUCTIONS) if each.startswith(incomplete)]


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of a figure, or `all`; by default the figures are listed.", autocompletion=_figures
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
    from gpbandits.reproductions import REPRODUCTIONS, find
    from gpbandits.reproductions.page import write_page

    require(name is not None or not quick, "quick", "left out without the name of a figure, or all", quick)
    chosen = REPRODUCTIONS.values() if name == ALL else [find(name)] if name else []
    processes = 0 if backend is ComputeKind.DASK else workers or cpu_count() or 1
    compute = _computing(chosen_backend(backend, scheduler, workers), processes if quick else 0)
    for reproduction in chosen:
        _reproduce(reproduction, out, quick, compute)
    if page is not None:
        write_page(page, list(REPRODUCTIONS.values()), out, quick)
    if not chosen and page is None:
        rows = [(each.name, each.paper, each.title) for each in REPRODUCTIONS.values()]
        print_rows("Reproductions", ("name", "paper", "figure"), rows)


def _reproduce(reproduction: "Reproduction", out: Path, quick: bool, compute: "Compute") -> None:
    from rich.markdown import Markdown

    from gpbandits.evaluation.plots import save_figure

    findings = reproduction.run(out, quick, compute)
    figures = out / ("figures-quick" if quick else "figures")
    figures.mkdir(parents=True, exist_ok=True)
    for name, figure in findings.figures.items():
        save_figure(figure, figures / f"{name}.png")
    title = f"# {reproduction.paper}, {reproduction.title}"
    parts = (
        title,
        "The paper says:",
        findings.claims,
        findings.text,
        f"Why we differ: {reproduction.differs}",
    )
    console().print(Markdown("\n\n".join(parts)))
    console().print(f"Figures in {figures}.", soft_wrap=True)


def _computing(backend: "Backend", announced: int) -> "Compute":
    """Return a function that computes a part; for `announced` processes it prints how long that takes."""
    from gpbandits.commands.progress import print_failures, run_with_progress
    from gpbandits.experiments import check_study, keep_study
    from gpbandits.experiments.toml import study_text
    from gpbandits.reproductions.base import in_words, seconds_of

    def compute(part: "Part", folder: Path) -> "Results":
        check_study(part.shown)
        store = keep_study(folder, part.whole, study_text(part.whole).encode())
        if announced and not all(map(store.holds, part.shown.cells())):
            duration = in_words(seconds_of(part.shown, announced))
            processes = "one process" if announced == 1 else f"{announced} processes"
            console().print(f"{part.figure}: about {duration} on {processes}.")
        failed = run_with_progress(part.shown, store, backend)
        if failed:
            print_failures(failed)
            raise typer.Exit(1)
        return store.load(part.shown)

    return compute

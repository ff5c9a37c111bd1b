"""Comparing agents on a table of one's own: which would have found the best row, how soon, at what price."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from bandit_envs.basics.arguments import require
from gpbandits.commands.run import Workers
from gpbandits.commands.terminal import console, print_rows

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
    from gpbandits.commands.run import run
    from gpbandits.evaluation.plots import save_figure
    from gpbandits.experiments import load_study, open_results
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
    study = _study(file.stem, kwargs, _names(agents), trials, seed)
    out.mkdir(parents=True, exist_ok=True)
    times = [each for each in dict.fromkeys((price, delay)) if each and each in reading.table.columns]
    save_figure(table_figure(reading, reward, minimise, times), out / "table.png")
    text = out / "table-study.toml"
    text.write_text(study_text(study), encoding="utf-8")
    run(text, out, workers)
    page = write_report(out)
    ((_, result),) = open_results(out)[1].load(load_study(text))
    header, rows = found_rows(result, near_gap(reading, reward))
    add_to_page(page, header, rows)
    print_rows("Best rows found", header, rows)
    console().print(f"Page in {page}, the table in {out / 'table.png'}.", soft_wrap=True)


def _study(label: str, kwargs: dict[str, Any], agents: list[str], trials: int, seed: int) -> Any:
    from gpbandits.experiments.study import AgentEntry, EnvironmentEntry, Study

    entries = tuple(AgentEntry(name, name) for name in agents)
    return Study("table", trials, (EnvironmentEntry(ENV_ID, label, kwargs),), entries, seed)


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

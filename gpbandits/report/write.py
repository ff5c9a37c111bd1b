"""A report is written to the folder of the results."""

import os
from pathlib import Path

from matplotlib.figure import Figure

from bandit_envs.basics.files import write_whole
from gpbandits.evaluation.plots import alarm_figure, regret_figure, save_figure
from gpbandits.evaluation.result import Metric, Result, Scale
from gpbandits.experiments.folder import STUDY, open_results
from gpbandits.report.grid import Grid
from gpbandits.report.holdings import Holdings
from gpbandits.report.page import Report

FIGURES: dict[str, tuple[Scale, Metric]] = {
    "regret-linear": ("linear", "cumulative"),
    "regret-log-log": ("log-log", "cumulative"),
    "simple-regret": ("log-log", "simple"),
}
FIGURES_OF_BUDGETS: dict[str, tuple[Scale, Metric]] = {"budget-regret": ("linear", "budget")}
FIGURES_OF_CONSTRAINTS: dict[str, tuple[Scale, Metric]] = {
    "average-regret": ("linear", "average"),
    "average-violation": ("linear", "average-violation"),
    "hard-violation": ("linear", "hard-violation"),
}


def write_report(folder: str | os.PathLike[str], figures: bool = True) -> Path:
    """Write `report.html`, `tables/` (CSV, LaTeX) and `figures/` (PNG, PDF), and return the path of the page.

    Args:
        folder: folder of results, with the `study.toml`, `plan.json` and cells that `gpbandits run` writes;
            if cells are missing, the report says so and shows the others.
        figures: write files of figures; the page has its own.
    """
    place = Path(folder)
    holdings = Holdings(*open_results(place))
    source = (place / STUDY).read_text(encoding="utf-8")
    report = Report.of(holdings, source, place)
    if not report.sections:
        raise ValueError(f"folder must hold at least one computed cell, got {place} with none; run the study")
    for name, table in report.tables:
        write_table(table, place / "tables", name)
    if figures:
        for section in report.sections:
            write_figures(section.result, place / "figures", section.name)
    page = place / "report.html"
    write_whole(page, report.html().encode())
    return page


def write_table(table: Grid, folder: Path, name: str) -> None:
    """Write a table as CSV and as LaTeX."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.csv", table.csv().encode())
    write_whole(folder / f"{name}.tex", table.latex().encode())


def write_figures(
    result: Result, folder: Path, name: str, suffixes: tuple[str, ...] = (".png", ".pdf")
) -> None:
    """Write the curves of each track and, where they apply, of violation and budget, and the alarms."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = FIGURES | (FIGURES_OF_CONSTRAINTS if result.num_constraints else {})
    chosen |= FIGURES_OF_BUDGETS if result.spent else {}
    for track, part in result.by_track().items():
        label = f"{name}-{track.replace(' ', '-')}" if track else name
        for kind, (scale, metric) in chosen.items():
            _save(regret_figure(part, scale, metric), folder / f"{label}-{kind}", suffixes)
    if result.alarms:
        _save(alarm_figure(result), folder / f"{name}-alarms", suffixes)


def _save(figure: Figure, stem: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        save_figure(figure, stem.with_name(stem.name + suffix))

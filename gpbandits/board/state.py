"""The current content of a folder of results, as JSON for the board's page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpbandits.evaluation.metrics import metric_named
from gpbandits.experiments.folder import PLAN, open_results
from gpbandits.experiments.locks import is_locked
from gpbandits.experiments.status import failures
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import Cell, EnvironmentEntry, Study
from gpbandits.report.chart import style_of
from gpbandits.report.holdings import Holdings
from gpbandits.report.views import views

STATES = ("done", "running", "failed", "missing")


def state_of(folder: Path) -> dict[str, Any]:
    """Return the study's cells, failures and legend; only `waiting` before a run has written its plan.

    Modules that the study names are not imported (see `open_results`).
    """
    if not (folder / PLAN).is_file():
        return {"waiting": True}
    study, store = open_results(folder)
    rows = [
        {
            "environment": environment.label,
            "agent": agent.label,
            "cells": [cell_state(store, cell) for cell in study.cells_of(environment, agent)],
        }
        for environment in study.environments
        for agent in study.agents
    ]
    every = [state for row in rows for state in row["cells"]]
    return {
        "waiting": False,
        "name": study.name,
        "counts": {state: every.count(state) for state in STATES},
        "rows": rows,
        "failures": [{"cell": str(cell), "text": text} for cell, text in failures(study, store)],
        "environments": [entry.label for entry in study.environments],
        "agents": [{"label": each.label, "style": style_of(i)} for i, each in enumerate(study.agents)],
    }


def cell_state(store: Store, cell: Cell) -> str:
    """Return one of STATES; a cell that another process computes is running, even if it failed before."""
    path = store.path(cell)
    if store.holds(cell):
        return "done"
    if store.folder.is_dir() and is_locked(store.folder, path.stem):
        return "running"
    return "failed" if store.failure_path(cell).exists() else "missing"


def curves_of(folder: Path, label: str) -> dict[str, Any]:
    """Return the curves of an environment as SVG, one a measure; none before a cell is done."""
    study, store = open_results(folder)
    result = Holdings(study, store).result(entry_of(study, label))
    if result is None:
        return {"curves": []}
    numbers = {agent.label: number for number, agent in enumerate(study.agents)}
    drawn = [view for view in views(result, numbers) if view.scale == "linear"]
    return {
        "curves": [
            {"metric": view.metric, "name": metric_named(view.metric).text, "svg": view.svg} for view in drawn
        ],
        "trials": result.num_trials,
    }


def entry_of(study: Study, label: str) -> EnvironmentEntry:
    """Return the environment of this label; a ValueError lists the known labels."""
    for entry in study.environments:
        if entry.label == label:
            return entry
    known = ", ".join(repr(entry.label) for entry in study.environments)
    raise ValueError(f"environment must be one of {known}, got {label!r}")

"""What a folder of results holds at this moment, as JSON for the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpbandits.experiments.folder import PLAN, open_results
from gpbandits.experiments.locks import is_locked
from gpbandits.experiments.status import failures
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import Cell, EnvironmentEntry, Study
from gpbandits.report.chart import style_of
from gpbandits.report.holdings import Holdings
from gpbandits.report.views import metrics_of, views

STATES = ("done", "running", "failed", "missing")


def state_of(folder: Path) -> dict[str, Any]:
    """The study's cells, failures and legend; nothing but `waiting` before a run has made its plan.

    Nothing that the study names is imported, as by `open_results`.
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
    """One of STATES; what another process computes is running, also when it failed before."""
    path = store.path(cell)
    if store.holds(cell):
        return "done"
    if store.folder.is_dir() and is_locked(store.folder, path.stem):
        return "running"
    return "failed" if store.failure_path(cell).exists() else "missing"


def curves_of(folder: Path, label: str) -> dict[str, Any]:
    """The curves of an environment as drawings, each by its measure; none before a cell is done."""
    study, store = open_results(folder)
    result = Holdings(study, store).result(entry_of(study, label))
    if result is None:
        return {"curves": []}
    numbers = {agent.label: number for number, agent in enumerate(study.agents)}
    names = metrics_of(result)
    drawn = [view for view in views(result, numbers) if view.scale == "linear"]
    return {
        "curves": [{"metric": view.metric, "name": names[view.metric], "svg": view.svg} for view in drawn],
        "trials": result.num_trials,
    }


def entry_of(study: Study, label: str) -> EnvironmentEntry:
    """The environment of this label; ValueError names those there are."""
    for entry in study.environments:
        if entry.label == label:
            return entry
    known = ", ".join(repr(entry.label) for entry in study.environments)
    raise ValueError(f"environment must be one of {known}, got {label!r}")

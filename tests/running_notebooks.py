"""Notebooks in a kernel of Jupyter, as a person runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def run(notebook: Any, folder: Path) -> Any:
    """The notebook with its outputs; an error of a cell is raised."""
    nbclient = pytest.importorskip("nbclient", reason="needs Jupyter's client")
    pytest.importorskip("ipykernel", reason="needs a kernel of Jupyter")
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]

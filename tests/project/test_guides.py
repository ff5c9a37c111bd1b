"""The guides run as a reader runs them, and as the notebooks that are made of them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "notebooks.py"), run_name="notebooks")
GUIDES = SCRIPT["guides"]()
NEEDS = {"stable_baselines3": "stable_baselines3"}
LONG = (
    "stable_baselines3",
    "constraints",
    "changes",
    "class",
    "ask_and_tell",
)  # they play or train for seconds


def code(guide: Path) -> list[str]:
    cells = SCRIPT["notebook"](guide.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    "guide",
    [pytest.param(g, id=g.stem, marks=[pytest.mark.long] * (g.stem in LONG)) for g in GUIDES],
)
def test_the_cells_of_a_guide_run_in_order(guide, tmp_path, monkeypatch):
    pytest.importorskip(NEEDS.get(guide.stem, "numpy"))
    monkeypatch.chdir(tmp_path)
    install, *cells = code(guide)
    assert install.startswith("%pip install")
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        exec(compile(cell, guide.name, "exec", dont_inherit=True), names)


def test_a_notebook_has_all_text_and_code_of_its_guide_and_no_output(tmp_path):
    SCRIPT["write"](tmp_path)
    assert len(GUIDES) >= 6
    for guide in GUIDES:
        made = json.loads((tmp_path / f"{guide.stem}.ipynb").read_text(encoding="utf-8"))
        kept = "\n".join("".join(cell["source"]) for cell in made["cells"][1:])
        lines = guide.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line not in ("```python", "```") and line not in kept] == []
        assert all(not cell["outputs"] for cell in made["cells"] if cell["cell_type"] == "code")
        assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])


def test_notebooks_are_of_the_format_that_jupyter_reads(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="comes with Jupyter")
    SCRIPT["write"](tmp_path)
    for file in tmp_path.glob("*.ipynb"):
        nbformat.validate(nbformat.read(file, as_version=4))

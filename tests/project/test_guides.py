"""The tutorials and guides run as the notebooks that are made of them, in a kernel of Jupyter."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from pages import outputs, ran

nbformat = pytest.importorskip("nbformat", reason="needs jupytext")
SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "notebooks.py"), run_name="notebooks")
GUIDES = SCRIPT["guides"]()
NEEDS = dict.fromkeys(("stable_baselines3", "reinforcement"), "stable_baselines3") | {"queries": "duckdb"}


@pytest.mark.long
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_runs_in_a_kernel_without_a_warning(guide, tmp_path):
    pytest.importorskip(NEEDS.get(guide.stem, "numpy"))
    made = ran(SCRIPT["notebook"](guide), tmp_path)
    assert [output.text for output in outputs(made) if output.get("name") == "stderr"] == []
    assert any(cell.outputs for cell in made.cells if cell.cell_type == "code")


def test_a_notebook_has_all_text_and_code_of_its_guide_and_no_output(tmp_path):
    SCRIPT["write"](tmp_path)
    assert len(GUIDES) >= 10
    for guide in GUIDES:
        made = nbformat.read(tmp_path / f"{guide.stem}.ipynb", as_version=4)
        nbformat.validate(made)
        kept = "\n".join(cell.source for cell in made.cells[1:])
        lines = guide.read_text(encoding="utf-8").splitlines()
        missing = [line for line in lines if line not in ("```python", "```bash", "```") and line not in kept]
        assert [line for line in missing if not line.startswith("![")] == []  # pictures are on the site alone
        assert "](../figures" not in kept
        assert outputs(made) == []


def test_only_python_is_run_and_the_cell_that_installs_is_the_first():
    for guide in GUIDES:
        cells = [cell for cell in SCRIPT["notebook"](guide).cells if cell.cell_type == "code"]
        assert [cell.source.startswith("%") for cell in cells] == [True] + [False] * (len(cells) - 1)


def test_every_notebook_that_runs_in_a_browser_has_its_button_on_its_page(tmp_path):
    SCRIPT["write"](tmp_path, browser=True)
    shown = set()
    for page in (page for folder in SCRIPT["FOLDERS"] for page in folder.glob("*.md")):
        for built, source in (("lite", ["# Title\n\nText."]), ("html", ["# Title\n\nText."])):
            tags = SimpleNamespace(has=lambda name, built=built: name == built)
            SCRIPT["show_button"](SimpleNamespace(tags=tags), f"{page.parent.name}/{page.stem}", source)
            links = re.findall(r'href="\.\./lite/lab/index\.html\?path=([^"]+)"', source[0])
            assert built == "lite" or links == []
            assert source[0].startswith("# Title\n")
            assert source[0].endswith("\nText.")
            shown |= set(links)
    assert shown == {path.name for path in tmp_path.iterdir()}
    assert {"researcher.ipynb", "engineer.ipynb", "lecturer.ipynb"} <= shown

"""The tutorials and guides as Jupyter notebooks, of their text and their Python cells.

python docs/notebooks.py FOLDER [--browser]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import v4

FOLDERS = [Path(__file__).parent / name for name in ("tutorials", "guides")]
BROWSER = '%pip install "gpbandits[eval]"'  # the wheel that JupyterLite serves
BUTTON = '\n<p><a class="lite" href="../lite/lab/index.html?path={}.ipynb">Run in the browser</a></p>\n'
NO_BROWSER = {"ask_and_tell", "queries", "reinforcement", "stable_baselines3"}  # processes, their packages
INSTALL = (
    '%pip install "gpbandits[eval,rl]"  # works once the package is published; until then from a checkout'
)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
PYODIDE = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
PICTURE = re.compile(
    r"^!\[[^]]*\]\(\.\./[^)]*\)\n*", re.MULTILINE
)  # a file of the site, which is not beside a notebook


def guides() -> list[Path]:
    """The sources, one a notebook."""
    pages = (page for folder in FOLDERS for page in sorted(folder.glob("*.md")))
    return [page for page in pages if "```python" in page.read_text(encoding="utf-8")]


def in_browser() -> list[Path]:
    """The sources of those that run in a browser."""
    return [guide for guide in guides() if guide.stem not in NO_BROWSER]


def show_button(app: Any, name: str, source: list[str]) -> None:
    """Lead from a page to its notebook, if the site has them (an event handler of `source-read`)."""
    if app.tags.has("lite") and name in {f"{page.parent.name}/{page.stem}" for page in in_browser()}:
        title, rest = source[0].split("\n", 1)
        source[0] = f"{title}\n{BUTTON.format(name.rpartition('/')[2])}{rest}"


def notebook(guide: Path, browser: bool = False) -> nbformat.NotebookNode:
    """A page as a notebook: text and code in turn, after a cell that installs, which a test skips."""
    text = PICTURE.sub("", guide.read_text(encoding="utf-8"))
    text = text.replace("```bash\n", "```text\n")  # which would become cells: commands are to be read
    made = jupytext.reads(text, fmt="md")
    install = v4.new_code_cell(BROWSER if browser else INSTALL, metadata={"tags": ["skip-execution"]})
    made.cells.insert(0, install)
    made.metadata = nbformat.from_dict({"kernelspec": PYODIDE if browser else KERNEL})
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"  # the same in every writing
    return made


def write(folder: Path, browser: bool = False) -> None:
    """Write every guide into a folder, or those that run in a browser."""
    folder.mkdir(parents=True, exist_ok=True)
    for guide in in_browser() if browser else guides():
        nbformat.write(notebook(guide, browser), folder / f"{guide.stem}.ipynb")


if __name__ == "__main__":
    write(Path(sys.argv[1]), browser="--browser" in sys.argv)

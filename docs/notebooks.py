"""The guides as Jupyter notebooks, of their text and their Python cells.

python docs/notebooks.py FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

GUIDES = Path(__file__).parent / "guides"
INSTALL = (
    '%pip install "gpbandits[eval,rl]"  # works once the package is published; until then from a checkout'
)
CELL = re.compile(r"^```python\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)


def guides() -> list[Path]:
    """The sources, one a notebook."""
    return sorted(page for page in GUIDES.glob("*.md") if CELL.search(page.read_text(encoding="utf-8")))


def notebook(text: str) -> dict[str, Any]:
    """A notebook (nbformat 4.5) of a page: text and code in turn, after a cell that installs."""
    pieces = CELL.split(text)  # text, code, text, code, ..., text
    kinds = [("code", INSTALL), *(("code" if i % 2 else "markdown", piece) for i, piece in enumerate(pieces))]
    cells = [_cell(number, *each) for number, each in enumerate(kinds) if each[1].strip()]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    of_code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = source.strip().splitlines(keepends=True)
    return {"id": f"cell-{number}", "cell_type": kind, "metadata": {}, "source": lines, **of_code}


def write(folder: Path) -> None:
    """Write every guide into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for guide in guides():
        made = json.dumps(notebook(guide.read_text(encoding="utf-8")), indent=1, ensure_ascii=False)
        (folder / f"{guide.stem}.ipynb").write_text(made + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

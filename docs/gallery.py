"""A page of every example with its pictures, what it prints and its code, as a Sphinx extension.

`sphinx-build -D gallery_run=. docs build/docs` runs all examples, which takes some minutes, and
`-D gallery_run='quickstart|own_rule'` those whose names match. What they draw and print is kept in
`docs/generated/gallery` until their code changes; what was not run is shown without it.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
MOST_SECONDS = 900
HEAD = """# Gallery

Every script of `examples/`: what it shows, what it draws and prints, and its code.

"""


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("gallery_run", "", "env", str)
    app.connect("builder-inited", lambda app: build(Path(app.srcdir), app.config.gallery_run))
    return {"parallel_read_safe": True}


def build(docs: Path, pattern: str) -> None:
    """Run the examples whose names match, and write the pages of all."""
    folder = docs / "generated" / "gallery"
    for example in examples():
        if pattern and re.search(pattern, example.stem):
            run(example, folder / example.stem)
        _write(folder / f"{example.stem}.md", page(example, folder / example.stem))
    _write(folder / "index.md", HEAD + "\n".join(_index(folder)))


def examples() -> list[Path]:
    """The scripts, in the order of their names."""
    return sorted(EXAMPLES.glob("*.py"))


def run(example: Path, folder: Path) -> None:
    """Run a script in a folder of its own, unless the same code has run there."""
    if _is_current(example, folder):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg", "COLUMNS": "110"},
        capture_output=True,
        encoding="utf-8",
        timeout=MOST_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(f"the example {example.name} failed:\n{done.stderr}")
    (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")
    shutil.copy(example, folder / "ran.py")


def page(example: Path, folder: Path) -> str:
    """The page of one example."""
    shown = [f"# {title(example)}", said(example)]
    if _is_current(example, folder):
        pictures = sorted(folder.glob("*.png"))
        shown += [
            f"![{title(example)}: {picture.stem}]({folder.name}/{picture.name})" for picture in pictures
        ]
        shown += ["It prints:", f"```{{literalinclude}} {folder.name}/printed.txt\n:language: text\n```"]
    source = Path(os.path.relpath(example, folder.parent)).as_posix()
    shown += [
        f"```{{literalinclude}} {source}\n:language: python\n```",
        f"{{download}}`{example.name} <{source}>`",
    ]
    return "\n\n".join(shown) + "\n"


def title(example: Path) -> str:
    """Its name as words."""
    return example.stem.replace("_", " ").capitalize()


def said(example: Path) -> str:
    """Its docstring."""
    return ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""


def _is_current(example: Path, folder: Path) -> bool:
    ran = folder / "ran.py"
    return ran.exists() and ran.read_bytes() == example.read_bytes()


def _index(folder: Path) -> Iterator[str]:
    for example in examples():
        about, *_ = said(example).split("\n\n")
        yield f"## [{title(example)}]({example.stem}.md)\n\n{about}\n"
        pictures = (
            sorted((folder / example.stem).glob("*.png"))
            if _is_current(example, folder / example.stem)
            else []
        )
        yield from (f"![{title(example)}]({example.stem}/{picture.name})\n" for picture in pictures[:1])
    names = "\n".join(example.stem for example in examples())
    yield f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text(encoding="utf-8") != text:  # an old page is not read again
        file.write_text(text, encoding="utf-8")

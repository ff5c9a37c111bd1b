"""Run the Python blocks of the tutorials, and show beneath each what it prints and its last value.

python docs/outputs.py FOLDER < PAGE
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import sys
import textwrap
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
WIDTH = 88  # letters of a sentence under a table
NEEDS = {"reinforcement": "stable_baselines3"}


def show_outputs(app: Any, name: str, source: list[str]) -> None:
    """Add the outputs to a page of the folder `tutorials` (an event handler of `source-read`)."""
    folder, _, stem = name.rpartition("/")
    if folder == "tutorials" and find_spec(NEEDS.get(stem, "numpy")):
        # In a process of its own: autodoc replaces the signatures of the functions that it documents.
        place = Path(app.srcdir) / "generated" / "tutorials" / stem
        command = [sys.executable, __file__, str(place)]
        done = subprocess.run(command, input=source[0], capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise RuntimeError(f"{name} cannot be run:\n{done.stderr}")
        source[0] = done.stdout


def with_outputs(text: str, folder: Path) -> str:
    """Return the text with an output after each block; pictures are written into a folder."""
    rmtree(folder, ignore_errors=True)  # a block may go on with a file of an earlier run
    folder.mkdir(parents=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    return BLOCK.sub(lambda block: block[0] + _output(block[1], names, folder), text)


def _output(code: str, names: dict[str, Any], folder: Path) -> str:
    """Return what a block prints as text, and its last value as a picture."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
        value = _run(code, names)
    lines = printed.getvalue().rstrip().splitlines()
    shown = "\n".join(textwrap.fill(line, WIDTH) if _is_prose(line) else line for line in lines)
    shown = f"\n```text\n{shown}\n```\n" if shown else ""
    return shown + _picture(value, folder)


def _is_prose(line: str) -> bool:
    """Return True for a long sentence; columns of a table have wider spaces."""
    return len(line) > WIDTH and "  " not in line and "──" not in line


def _run(code: str, names: dict[str, Any]) -> Any:
    """Run a block, and return the value of its last line if that is an expression."""
    *first, last = ast.parse(code).body
    exec(compile(ast.Module(first, []), "tutorial", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "tutorial", "eval"), names)
    exec(compile(ast.Module([last], []), "tutorial", "exec"), names)
    return None


def _picture(value: Any, folder: Path) -> str:
    if isinstance(gif := getattr(value, "gif", None), bytes):
        data, suffix, title = gif, "gif", "The film"
    elif hasattr(value, "_repr_png_"):
        data, suffix, title = value._repr_png_(), "png", "The figure"
    else:
        return ""
    file = folder / f"{sha256(data).hexdigest()[:12]}.{suffix}"
    file.write_bytes(data)
    return f"\n![{title} that the last line shows](/generated/tutorials/{folder.name}/{file.name})\n"


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(with_outputs(sys.stdin.read(), Path(sys.argv[1])), end="")

"""Limits of Python in a browser: Pyodide starts neither processes nor threads."""

from __future__ import annotations

import sys


def in_browser() -> bool:
    """Return True where Python runs as WebAssembly, as in JupyterLite."""
    return sys.platform == "emscripten"


def require_workers(what: str, remedy: str) -> None:
    """Raise a RuntimeError in a browser, before something that starts a process or a thread.

    Args:
        what: needs it, such as "workers=2".
        remedy: does without.
    """
    if in_browser():
        raise RuntimeError(f"{what} starts a process or a thread, and Python in a browser has none; {remedy}")

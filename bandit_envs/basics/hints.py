"""Suggest the name that a misspelt one was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: str, names: Iterable[str]) -> str:
    """Return the nearest of the names as the end of an error message; "" if none is near."""
    close = get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""

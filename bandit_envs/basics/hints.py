"""What somebody who misspelt a name may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: str, names: Iterable[str]) -> str:
    """The nearest of the names as the end of an error message, or nothing if none is near."""
    close = get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""

"""Packages that are imported where they are used, and named with their extra where they are missing."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def from_extra(extra: str, purpose: str) -> Iterator[None]:
    """Say which extra has a package whose import in this block fails.

    Args:
        extra: of the distribution, such as "eval".
        purpose: what the package is for, such as "figures".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} not found; {purpose} need pip install 'gpbandits[{extra}]'", name=error.name
        ) from error

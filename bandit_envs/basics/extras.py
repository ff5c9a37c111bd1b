"""Import optional packages where they are used, and name the extra that installs a missing one."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def from_extra(extra: str, purpose: str) -> Iterator[None]:
    """Name the extra that installs a package whose import fails in this block.

    Args:
        extra: of the distribution, such as "eval".
        purpose: the use of the package, a plural such as "figures".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} not found; {purpose} need pip install 'gpbandits[{extra}]'", name=error.name
        ) from error

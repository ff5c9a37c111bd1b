"""Make named problems: each factory turns JSON-able keyword arguments into a `Problem`."""

from bandit_envs.problems.by_name import (
    FACTORIES,
    UnknownKeywordError,
    build,
    data_files,
    defaults_of,
    keywords_of,
)

__all__ = ["FACTORIES", "UnknownKeywordError", "build", "data_files", "defaults_of", "keywords_of"]

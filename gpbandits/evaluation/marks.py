"""Marks are the signs that tables and figures put behind an agent's label, with footnotes."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

WIDTH = 29  # characters of a legend


class Mark(NamedTuple):
    """A mark is a sign, the attribute of a result that lists its agents, and a footnote."""

    sign: str
    which: str
    note: str

    def of(self, result: Any) -> Collection[str]:
        """Return the labels with this mark."""
        return getattr(result, self.which)

    @property
    def footnote(self) -> str:
        """Return the footnote of a table."""
        return f"{self.sign} {self.note}."

    @property
    def legend(self) -> str:
        """Return the footnote in lines of a legend."""
        return textwrap.fill(f"{self.sign} {self.note}", WIDTH, subsequent_indent="   ")


MARKS = (
    Mark("†", "privileged", "privileged: told what a learner cannot know"),
    Mark("‡", "pretrained", "pretrained: learnt on other functions beforehand"),
    Mark("≈", "approximate", "approximate: the posterior is not exact"),
    Mark("§", "assuming", "default bound: rests on one that was neither given nor published"),
    Mark("¶", "unfit", "unfit: does not handle a feature of the environment"),
)


def signs(result: Any, label: str) -> str:
    """Return the signs of an agent."""
    return "".join(mark.sign for mark in MARKS if label in mark.of(result))


def marks_in(results: Iterable[Any]) -> list[Mark]:
    """Return the marks of all agents of some results."""
    results = list(results)
    return [mark for mark in MARKS if any(map(mark.of, results))]


def footnotes(*results: Any) -> list[str]:
    """Return the footnotes of a table of these results."""
    return [mark.footnote for mark in marks_in(results)]

"""Docstrings, which are plain text with Google's sections, as the reStructuredText that Sphinx reads."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pydoc import locate

from public import TOP, own_agents, places

from bandit_envs.environment.registration import IDS

CODE = re.compile(r"``[^`]+``|`[^`]+`")
SPEAKING = re.compile(r"(?<!\\)([|*])|(?<=\w)_(?![^\W_])")  # of substitutions, emphasis and links
DIRECTIVE = re.compile(r":\w+:`|^\.\. ")
PAGE = re.compile(r"\bdocs/(\w+)\.md\b")
LITERAL = ("```", ">>>", "...")
FIELD = re.compile(r"Alias for field number \d+")  # what Python says of a named tuple's


def process(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Rewrite a docstring in place, before its sections are read."""
    if lines and FIELD.fullmatch(lines[0]):
        lines[:] = [comment(name)]
    if not any(DIRECTIVE.search(line) for line in lines):  # not one of another library
        lines[:] = as_rst(lines)
    if what in ("attribute", "property") and any(lines):
        lines[0] = (
            f": {lines[0]}"  # napoleon takes what stands before a colon for a type, which is shown anyhow
        )


def comment(name: str) -> str:
    """What stands beside a field of a named tuple in its source, or nothing."""
    owner, _, field = name.rpartition(".")
    said = re.search(rf"^    {field}: .*?  # (.+)$", inspect.getsource(locate(owner)), re.MULTILINE)  # type: ignore[arg-type]
    return said[1] if said else ""


def as_rst(lines: list[str]) -> list[str]:
    """The lines with their names linked; what is set apart by its indentation stays as it is printed."""
    made: list[str] = []
    above, apart = "", None  # the last line with text, and the indentation of what is set apart
    for i, line in enumerate(lines):
        if line.strip():
            if apart is not None and _indent(line) < apart:
                apart = None
            if apart is None and i and not lines[i - 1].strip() and _sets_apart(above, line):
                apart = _indent(line)
                made += [f"{' ' * _indent(above)}::", ""]
            above = line
        plain = apart is not None or line.lstrip().startswith(LITERAL)
        made.append(line if plain else linked(line))
    return made


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _sets_apart(above: str, line: str) -> bool:
    """Whether a paragraph after a blank line is a formula or a table, not a section's text or an example."""
    is_section = re.fullmatch(r"\s*[A-Z]\w*:", above) or above.endswith("::")
    is_deeper = _indent(line) > _indent(above) and not above.lstrip().startswith(("- ", "* "))
    return bool(above) and is_deeper and not is_section and not line.lstrip().startswith(LITERAL)


def linked(line: str) -> str:
    """One line with its names linked and all other text standing for itself."""
    pieces, end = [], 0
    for code in CODE.finditer(line):
        before, after = line[code.start() - 1 : code.start()], line[code.end() : code.end() + 1]
        pieces += [_escaped(line[end : code.start()]), "\\ " * bool(before.strip())]
        pieces += [_link(code[0].strip("`")), "\\ " * bool(after.strip())]
        end = code.end()
    return "".join([*pieces, _escaped(line[end:])])


def skip(app: object, what: str, name: str, obj: object, is_skipped: bool, options: object) -> bool | None:
    """Leave out what a class has of another library."""
    top = (getattr(obj, "__module__", None) or "").partition(".")[0]
    return True if top and top not in {package.__name__ for package in TOP} else None


def to_pages(text: str) -> str:
    """Text whose files of pages, such as docs/boxes.md, are links to them."""
    return PAGE.sub(r":doc:`the page on \1 </\1>`", text)


def _escaped(text: str) -> str:
    return to_pages(SPEAKING.sub(lambda found: f"\\{found[0]}", text))


def _link(code: str) -> str:
    """What a name of ours is linked to; other code is shown as it is."""
    if code in _agents():
        return f":agent:`{code}`"
    if code in IDS:
        return f":environment:`{code}`"
    path = by_last_name().get(code)
    return f":py:obj:`{code} <{path}>`" if path else f"``{code}``"


@cache
def _agents() -> frozenset[str]:
    return frozenset(own_agents())


@cache
def by_last_name() -> dict[str, str]:
    """The path of every class and function whose own name no other has."""
    paths: dict[str, list[str]] = {}
    for path in places().values():
        paths.setdefault(path.rpartition(".")[2], []).append(path)
    return {name: path for name, (path, *others) in paths.items() if not others}

"""Studies from TOML files and as text; whatever is not understood is one clear error."""

import dataclasses
import json
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from gpbandits.evaluation.record import Checkpoints
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry, Study

_SECTIONS: dict[str, type] = {"study": dict, "environments": list, "agents": list, "checkpoints": dict}
_KINDS = {str: "a string", int: "an integer", dict: "a table", list: "an array"}


def document_of(study: Study) -> dict[str, Any]:
    """Return the study as the document that `toml.parse_study` reads."""
    values = dataclasses.asdict(study)
    parts = {name: values.pop(name) for name in ("checkpoints", "environments", "agents")}
    return {"study": values, **parts, "environments": [*parts["environments"]], "agents": [*parts["agents"]]}


def study_text(study: Study) -> str:
    """Return the study as TOML; an option that is None, which TOML lacks, is a ValueError."""
    lines = []
    for name, content in document_of(study).items():
        for section in content if isinstance(content, list) else [content]:
            lines.append(f"[[{name}]]" if isinstance(content, list) else f"[{name}]")
            lines += [*(f"{key} = {_value(each)}" for key, each in section.items()), ""]
    return "\n".join(lines)


def _value(value: Any) -> str:
    """Return a value in TOML, which is JSON except for tables, infinities and the character DEL."""
    match value:
        case bool() | str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case dict():
            keys = [x if re.fullmatch(r"[A-Za-z0-9_-]+", x) else _value(x) for x in value]
            pairs = zip(keys, map(_value, value.values()), strict=True)
            return f"{{ {', '.join(f'{key} = {part}' for key, part in pairs)} }}"
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
    raise ValueError(f"options of a study must be text, numbers, booleans, arrays and tables, got {value!r}")


def load_study(path: str | os.PathLike[str]) -> Study:
    """Read a study; `examples/studies/demo.toml` shows the format."""
    try:
        return parse_study(tomllib.loads(Path(path).read_text(encoding="utf-8-sig")))
    except (ValueError, OSError, RecursionError) as error:  # syntax and encoding errors are ValueErrors
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"cannot read the study {os.fspath(path)}: {reason}") from error


def parse_study(document: dict[str, Any]) -> Study:
    """Turn a parsed TOML document into a study."""
    _check_keys("the file", document, list(_SECTIONS))
    for section, kind in _SECTIONS.items():
        tables = " of tables" if kind is list else ""
        _check_kind(section, document.get(section, kind()), kind, tables)
    return Study(
        environments=_entries(EnvironmentEntry, "environments", "id", document),
        agents=_entries(AgentEntry, "agents", "name", document),
        checkpoints=Checkpoints(**_checked(Checkpoints, "[checkpoints]", document.get("checkpoints", {}))),
        **_checked(Study, "[study]", document.get("study", {}), without=list(_SECTIONS)),
    )


def _entries(entry: type, section: str, named_by: str, document: dict[str, Any]) -> tuple[Any, ...]:
    made = []
    for number, table in enumerate(document.get(section, []), start=1):
        place = f"[[{section}]] number {number}"
        _check_kind(place, table, dict)
        made.append(entry(**_checked(entry, place, {"label": table.get(named_by), **table})))
    return tuple(made)


def _checked(made: type, place: str, table: dict[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """Return the table if its keys and kinds are those of the dataclass `made`, `without` some fields."""
    fields = [field for field in dataclasses.fields(made) if field.name not in without]
    _check_keys(place, table, [field.name for field in fields])
    kinds = get_type_hints(made)
    for field in fields:
        if field.name in table:
            kind = get_origin(kinds[field.name]) or kinds[field.name]
            _check_kind(f"{field.name} in {place}", table[field.name], kind)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ValueError(f"{place} needs the key {field.name!r}")
    return table


def _check_keys(place: str, table: dict[str, Any], allowed: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            raise ValueError(f"{place} has the unknown key {key!r}; allowed are {', '.join(allowed)}")


def _check_kind(place: str, value: Any, kind: type, of: str = "") -> None:
    if type(value) is not kind:  # not isinstance: True is an int
        raise ValueError(f"{place} must be {_KINDS[kind]}{of}, got {value!r}")
    try:
        json.dumps(value if kind is dict else None)
    except TypeError as error:
        raise ValueError(
            f"{place} must hold only text, numbers, booleans, arrays and tables: {error}"
        ) from error

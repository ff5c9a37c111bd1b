"""A study is written as a document or TOML text that `parse_study` and `load_study` read back."""

import dataclasses
import json
import re
from typing import Any

from gpbandits.experiments.study import Study

_APART = ("environments", "agents", "checkpoints")  # sections of their own


def document_of(study: Study) -> dict[str, Any]:
    """Return the study as the document that `toml.parse_study` reads."""
    values = {
        field.name: getattr(study, field.name)
        for field in dataclasses.fields(study)
        if field.name not in _APART
    }
    return {
        "study": values,
        "checkpoints": dataclasses.asdict(study.checkpoints),
        "environments": [dataclasses.asdict(entry) for entry in study.environments],
        "agents": [dataclasses.asdict(entry) for entry in study.agents],
    }


def study_text(study: Study) -> str:
    """Return the study as TOML; an option that is None, which TOML lacks, is a ValueError."""
    sections = [
        (f"[[{name}]]" if isinstance(content, list) else f"[{name}]", values)
        for name, content in document_of(study).items()
        for values in (content if isinstance(content, list) else [content])
    ]
    return "\n".join(_section(head, values) for head, values in sections)


def _section(head: str, values: dict[str, Any]) -> str:
    return "\n".join([head, *(f"{name} = {_value(value)}" for name, value in values.items()), ""])


def _value(value: Any) -> str:
    """Return a value in TOML, which is JSON except for tables, infinities and the character DEL."""
    match value:
        case bool() | str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case dict():
            return f"{{ {', '.join(f'{_key(key)} = {_value(part)}' for key, part in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
    raise ValueError(f"options of a study must be text, numbers, booleans, arrays and tables, got {value!r}")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)

"""Studies as text: what `load_study` and `parse_study` read the same study from."""

import dataclasses
import json
import re
from typing import Any

from gpbandits.experiments.study import Study

_APART = ("environments", "agents", "checkpoints")  # sections of their own


def document_of(study: Study) -> dict[str, Any]:
    """The study as `toml.parse_study` reads it."""
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
    """The study as TOML; ValueError where an option is None, which TOML cannot say."""
    sections = [
        (f"[[{name}]]" if isinstance(content, list) else f"[{name}]", values)
        for name, content in document_of(study).items()
        for values in (content if isinstance(content, list) else [content])
    ]
    return "\n".join(_section(head, values) for head, values in sections)


def _section(head: str, values: dict[str, Any]) -> str:
    return "\n".join([head, *(f"{name} = {_value(value)}" for name, value in values.items()), ""])


def _value(value: Any) -> str:
    """A value of TOML: JSON's but for tables, infinities and one character that it has to escape."""
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

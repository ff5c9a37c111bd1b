"""Studies as text: the TOML file that `load_study` reads the same study from."""

import dataclasses
import json
import re
from typing import Any

from gpbandits.experiments.study import Study

_APART = ("environments", "agents", "checkpoints")  # sections of their own


def study_text(study: Study) -> str:
    """The study as TOML; ValueError where an option is None, which TOML cannot say."""
    values = {
        field.name: getattr(study, field.name)
        for field in dataclasses.fields(study)
        if field.name not in _APART
    }
    sections = [("[study]", values), ("[checkpoints]", dataclasses.asdict(study.checkpoints))]
    sections += [("[[environments]]", dataclasses.asdict(entry)) for entry in study.environments]
    sections += [("[[agents]]", dataclasses.asdict(entry)) for entry in study.agents]
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

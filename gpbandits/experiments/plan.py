"""The plan of a run stores its study, and the code versions that are part of each cell's name, as data.

Results are read by the plan, without importing the modules that the study names.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandit_envs.basics.files import write_whole
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study
from gpbandits.experiments.toml import document_of, parse_study

FORMAT = 1
# raised for arbitrary content of the file
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


@dataclasses.dataclass(frozen=True)
class Plan:
    """A plan holds a study and, by `_pair`, the code of each agent on each environment at its start."""

    study: Study
    codes: Mapping[str, dict[str, Any]]

    def code(self, cell: Cell) -> dict[str, Any]:
        """Return the code part of a cell's configuration; empty for a cell that is not in the plan."""
        return self.codes.get(_pair(cell.environment, cell.agent), {})


def write_plan(path: Path, study: Study) -> None:
    """Write the plan of a study, which imports the modules that it names."""
    codes = [
        [study.cells_of(environment, agent)[0].code for agent in study.agents]
        for environment in study.environments
    ]
    content = {"format": FORMAT, "study": document_of(study), "codes": codes}
    write_whole(path, json.dumps(content, indent=1).encode())


def load_plan(path: Path) -> Plan:
    """Read a plan; a damaged file or another format is a ValueError."""
    text = path.read_bytes()
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r} rather than {FORMAT}")
        study = parse_study(content["study"])
        codes = {
            _pair(environment, agent): dict(code)
            for environment, row in zip(study.environments, content["codes"], strict=True)
            for agent, code in zip(study.agents, row, strict=True)
        }
    except _UNREADABLE as error:
        raise ValueError(
            f"{os.fspath(path)} is damaged, or of another version of gpbandits: {error}; run it again: "
            "what is computed is kept"
        ) from error
    return Plan(study, codes)


def _pair(environment: EnvironmentEntry, agent: AgentEntry) -> str:
    return json.dumps([environment.id, environment.kwargs, agent.name, agent.options], sort_keys=True)

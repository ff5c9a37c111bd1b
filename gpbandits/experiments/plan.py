"""The plan of a run: its study, and the code that each cell is named by, as data.

Whoever reads results reads the plan, and imports nothing that the study names.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandit_envs.basics.files import write_whole
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study
from gpbandits.experiments.toml import parse_study
from gpbandits.experiments.written import document_of

FORMAT = 1
_UNREADABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)  # of a file of whatever kind


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run computes.

    Args:
        study: whose cells.
        codes: of each agent on each environment, by `_pair`; what `Cell.code` was when the run began.
    """

    study: Study
    codes: Mapping[str, dict[str, Any]]

    def code(self, cell: Cell) -> dict[str, Any]:
        """What the cell is named by beside its content; nothing for one that is not in the plan."""
        return self.codes.get(_pair(cell.environment, cell.agent), {})


def write_plan(path: Path, study: Study) -> None:
    """Write the plan of a study; the modules that it names are imported for that."""
    codes = [
        [study.cells_of(environment, agent)[0].code for agent in study.agents]
        for environment in study.environments
    ]
    content = {"format": FORMAT, "study": document_of(study), "codes": codes}
    write_whole(path, json.dumps(content, indent=1).encode())


def load_plan(path: Path) -> Plan:
    """Read a plan; ValueError where the file is damaged, or of another format."""
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

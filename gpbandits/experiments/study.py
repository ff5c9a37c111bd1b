"""A study is a table of environments x agents x trials; its cells are the units of work and of storage."""

import dataclasses
import hashlib
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bandit_envs.basics.arguments import require, require_known, require_seed
from gpbandits.evaluation.provenance import OURS, named_files, sources, versions
from gpbandits.evaluation.record import Checkpoints

OF_CODE = ("versions", "sources", "files")  # the keys of a configuration that describe the code
MOST_CELLS = 1_000_000  # files, which one folder can hold
MOST_TRIALS = 100_000  # in a cell, whose records are in memory together
_CUT = "\0cut\0"  # which no option is
_LONGEST = 120  # bytes of a file name without its suffixes; file systems allow 255
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # devices on Windows


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of data as canonical JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def key_of(configuration: Mapping[str, Any]) -> str:
    """Return the name of the cell of this configuration, the first 128 bits of its digest."""
    return digest_of(configuration)[:32]


def keys_of(cells: Iterable["Cell"], code: Callable[["Cell"], Mapping[str, Any]]) -> Iterator[str]:
    """Yield `key_of` of each cell of a study and its code; what cells of a pair share is written once."""
    shared: dict[tuple[int, int], list[str]] = {}  # what `key_of` hashes but for these two numbers
    for cell in cells:
        pair = id(cell.environment), id(cell.agent)
        if pair not in shared:
            cut = {**cell.content, **code(cell), "first_trial": _CUT, "trials": _CUT}
            shared[pair] = json.dumps(cut, sort_keys=True).split(json.dumps(_CUT))
        before, between, after = shared[pair]
        text = f"{before}{cell.first_trial}{between}{cell.trials}{after}"
        yield hashlib.sha256(text.encode()).hexdigest()[:32]


def content_of(configuration: Mapping[str, Any]) -> str:
    """Return the configuration without its code, as canonical JSON."""
    content = {name: value for name, value in configuration.items() if name not in OF_CODE}
    return json.dumps(content, sort_keys=True)


@dataclasses.dataclass(frozen=True)
class EnvironmentEntry:
    """An environment entry is `gymnasium.make(id, **kwargs)`, printed as `label`."""

    id: str
    label: str
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """Return the label as a portable file name; a long one ends in its hash."""
        name = re.sub(r"[^\w.]+", "-", self.label).strip("-.") or "environment"
        if _RESERVED.fullmatch(name):
            return f"{name}-"
        if len(name.encode()) <= _LONGEST:
            return name
        digest = hashlib.sha256(self.label.encode()).hexdigest()[:8]
        return f"{name.encode()[: _LONGEST - 9].decode(errors='ignore')}-{digest}"


@dataclasses.dataclass(frozen=True)
class AgentEntry:
    """An agent entry is a registered name or a class path with its options, printed as `label`."""

    name: str
    label: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell is one agent on one environment for one block of trials."""

    environment: EnvironmentEntry
    agent: AgentEntry
    seed: int
    first_trial: int
    trials: int
    checkpoints: Checkpoints

    @property
    def content(self) -> dict[str, Any]:
        """Return the computation as JSON, without the code and without labels, which may change."""
        return {
            "environment": self.environment.id,
            "kwargs": self.environment.kwargs,
            "agent": self.agent.name,
            "options": self.agent.options,
            "seed": self.seed,
            "first_trial": self.first_trial,
            "trials": self.trials,
            "checkpoints": vars(self.checkpoints),
        }

    @property
    def code(self) -> dict[str, Any]:
        """Return the code that computes the cell here; imports the modules that the study names."""
        return {
            "versions": versions(self.agent.name),
            "sources": sources(self.environment.id, self.agent.name),
            "files": named_files(
                self.environment.id, self.environment.kwargs, self.agent.name, self.agent.options
            ),
        }

    @property
    def configuration(self) -> dict[str, Any]:
        """Return all that the numbers depend on, as JSON."""
        return self.content | self.code

    @property
    def key(self) -> str:
        """Return the hash of the configuration."""
        return key_of(self.configuration)

    def __str__(self) -> str:
        last = self.first_trial + self.trials - 1
        return f"{self.agent.label} on {self.environment.label}, trials {self.first_trial} to {last}"


@dataclasses.dataclass(frozen=True)
class Study:
    """A study runs every agent on the same trials of every environment.

    Args:
        trials: number of trials of each agent on each environment.
        environments, agents: at least one each, with different labels.
        seed: trial i is drawn from (seed, i).
        block_size: trials in a cell; blocks start at its multiples, so that more trials reuse stored cells.
        baseline: label of the agent to which tables have differences; "" is the first in order.
        columns: names of the columns of tables, as `Result.table` takes them, where an environment has them;
            [] is the usual ones. Neither changes what is computed.
    """

    name: str
    trials: int
    environments: tuple[EnvironmentEntry, ...]
    agents: tuple[AgentEntry, ...]
    seed: int = 0
    description: str = ""
    block_size: int = 10
    checkpoints: Checkpoints = dataclasses.field(default_factory=Checkpoints)
    baseline: str = ""
    columns: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        require(self.trials >= 1, "trials", "at least 1", self.trials)
        require(self.block_size >= 1, "block_size", "at least 1", self.block_size)
        require_seed("seed", self.seed)
        _check_labels("environments", [entry.label for entry in self.environments])
        _check_labels("agents", labels := [entry.label for entry in self.agents])
        if self.baseline:
            require_known("baseline", self.baseline, labels)
        _check_file_names(self.environments)
        _check_size(self)

    @property
    def modules(self) -> list[str]:
        """Return the modules outside our packages that entries name ("module:Agent", "module:Id-v0")."""
        names = [entry.id for entry in self.environments] + [entry.name for entry in self.agents]
        paths = {name.partition(":")[0] for name in names if ":" in name}
        return sorted(path for path in paths if path.split(".")[0] not in OURS)

    def cells(self) -> Iterator[Cell]:
        """Yield every cell, first blocks first, so that an interrupted run can be compared."""
        pairs = itertools.product(self.environments, self.agents)
        return itertools.chain.from_iterable(zip(*(self.cells_of(*pair) for pair in pairs), strict=True))

    def cells_of(self, environment: EnvironmentEntry, agent: AgentEntry) -> list[Cell]:
        """Return the blocks of trials of one agent on one environment, in order."""
        firsts = range(0, self.trials, self.block_size)
        sizes = (min(self.block_size, self.trials - first) for first in firsts)
        return [
            Cell(environment, agent, self.seed, first, size, self.checkpoints)
            for first, size in zip(firsts, sizes, strict=True)
        ]


def _check_labels(what: str, labels: list[str]) -> None:
    if not labels:
        raise ValueError(f"a study needs at least one entry of [[{what}]], got none")
    ((label, times),) = Counter(labels).most_common(1)
    if times > 1:
        raise ValueError(
            f"labels of [[{what}]] must differ, got {label!r} twice; give each entry its own label"
        )


def _check_size(study: Study) -> None:
    block = min(study.trials, study.block_size)
    require(block <= MOST_TRIALS, "block_size", f"at most {MOST_TRIALS} trials in a cell", block)
    pairs = len(study.environments) * len(study.agents)
    cells = pairs * -(-study.trials // study.block_size)
    if cells > MOST_CELLS:
        raise ValueError(
            f"trials must give at most {MOST_CELLS} cells, got {study.trials}: with blocks of "
            f"{study.block_size} for {pairs} pairs of an environment and an agent that is {cells}; "
            "ask for fewer trials, or for larger blocks"
        )


def _check_file_names(environments: Sequence[EnvironmentEntry]) -> None:
    known: dict[str, str] = {}
    for entry in environments:
        name = unicodedata.normalize("NFKC", entry.file_name).casefold()  # some file systems ignore case
        if (other := known.setdefault(name, entry.label)) != entry.label:
            raise ValueError(
                f"labels of [[environments]] must differ as names of files, got {other!r} and "
                f"{entry.label!r}, both {entry.file_name!r}; change one in letters or digits"
            )

"""Entrants of an exam by name: the package's `Tuner`, or any agent, asked for an experiment at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from agents.options import require_taken
from agents.protocol import adapted
from agents.registry import AgentFactory, agent_modules, resolve_agent
from agents.tuning import Linear, Tuner
from agents.tuning.parameters import Parameter
from agents.tuning.space import Space, Values
from bandit_envs.basics.arguments import require
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting
from gpbandits.evaluation.provenance import digest
from gpbandits.report.entrants import entrant_of

TUNER = "tuner"  # the entrant that is `Tuner` with its default agent
OFFERED = ("agent", "noise_std", "standardise", "repeats")  # options of a tuner that an entrant may have
EXACT: dict[str, Any] = {"noise_std": 0.0, "repeats": False}  # what a person knows of exact values


class TablePlayer(Protocol):
    """Chooses rows of a table, none twice."""

    def ask(self) -> int:
        """Return the row to look up now."""
        ...

    def tell(self, row: int, value: float) -> None:
        """Report the exact value of a row, asked for or given as a first point."""
        ...


@dataclass(frozen=True)
class Entrant:
    """An entrant is "tuner", a registered agent or a class path, with options; `label` is how it is typed."""

    name: str
    label: str
    options: Mapping[str, Any]

    @classmethod
    def named(cls, text: str) -> Entrant:
        """Return the entrant of a text such as "tuner", 'gp-bucb {"width": 2}' or "mine:Agent", or raise."""
        require(isinstance(text, str) and text.strip(), "agent", "a name or package.module:Class", text)
        entry = entrant_of(text)
        entrant = cls(entry.name, entry.label, entry.options)
        if entrant.name == TUNER:
            known = set(entry.options) <= set(OFFERED)
            require(known, "agent", f"tuner with some of {', '.join(OFFERED)}", text)
            entrant.on_box({"x": Linear(0.0, 1.0)}, 1, 0)  # raises for an impossible value
        else:
            factory = entrant._factory
            learns = "one that learns from first points not of its choice, and sees no truth"
            require(not (factory.features.on_policy or factory.features.privileged), "agent", learns, text)
            require_taken(factory.make, factory.options, "the agent ", {"setting", "num_trials"})
            require(not factory.missing, "agent", f"one without {', '.join(factory.missing)}", text)
        return entrant

    def lacking(self, *demanded: str) -> list[str]:
        """Return the demanded features that the entrant says it lacks; the tuner lacks none."""
        return [] if self.name == TUNER else self._factory.lacking(demanded)

    def on_table(self, rows: Floats, questions: int, seed: int) -> TablePlayer:
        """Return a player of a table, (A, d), for so many questions with the first points."""
        if self.name == TUNER:
            return _TunerOnTable(rows, questions, seed, self.options)
        return _AgentOnTable(self._factory, rows, questions, seed)

    def on_box(self, parameters: Mapping[str, Parameter], questions: int, seed: int, **plan: Any) -> Tuner:
        """Return a tuner that minimises an exact function of a box."""
        given = {"goal": "minimise", "seed": seed, "budget": questions, **EXACT, **plan}
        if self.name == TUNER:
            return Tuner(parameters, **{**given, **self.options})
        return Tuner(parameters, agent=(self.name, dict(self.options)), **given)

    def code(self, module: str) -> str:
        """Return a digest of the code that plays a part of this module."""
        own = [] if self.name == TUNER else [each.split(".")[0] for each in agent_modules(self.name)]
        words = " ".join(map(digest, sorted({"bandit_envs", "agents", __name__, module, *own})))
        return hashlib.sha256(words.encode()).hexdigest()[:12]

    @property
    def _factory(self) -> AgentFactory:
        return resolve_agent((self.name, self.options))


def generator(part: str, task: str, seed: int) -> np.random.Generator:
    """Return the generator of the first points of a task, the same for every entrant."""
    return np.random.default_rng([seed, *f"{part}/{task}".encode()])


class _TunerOnTable:
    """Asks a tuner whose parameters are a row of the table."""

    def __init__(self, rows: Floats, questions: int, seed: int, options: Mapping[str, Any]):
        self.space, self.ticket = TableSpace(rows), -1
        given = {"seed": seed, "budget": questions, "num_arms": len(rows), **EXACT, **options}
        self.tuner = Tuner(self.space, **given)
        self.asked: int | None = None

    def ask(self) -> int:
        self.ticket, parameters = self.tuner.ask()
        self.asked = self.space.index(parameters)
        return self.asked

    def tell(self, row: int, value: float) -> None:
        if row == self.asked:
            self.tuner.tell(self.ticket, value)
        else:
            self.tuner.add(self.space.point(row), value)


class _AgentOnTable:
    """Asks an agent on the table as its finite set, with rows that were looked up left out.

    An agent that offers no choice among some arms is answered with the nearest row that is left where it
    chooses a former one.
    """

    def __init__(self, factory: AgentFactory, rows: Floats, questions: int, seed: int):
        self.rows, self.rounds = rows, 0
        self.left = np.ones(len(rows), dtype=np.bool_)
        setting = Setting(arms=rows, horizon=questions, noise_std=0.0)
        self.observation = setting.scaled_contexts[0]
        self.agent = adapted(factory(setting))
        self.agent.reset(seed)

    @one_thread()
    def ask(self) -> int:
        self.agent.offer(self.left.copy())
        row = int(self.agent.act(self.observation))
        require(0 <= row < len(self.rows), "action", f"an arm below {len(self.rows)}", row)
        if self.left[row]:
            return row
        distance = ((self.rows - self.rows[row]) ** 2).sum(axis=1)
        return int(np.where(self.left, distance, np.inf).argmin())

    @one_thread()
    def tell(self, row: int, value: float) -> None:
        self.left[row] = False
        now = np.array([self.rounds])
        info = delivery(self.rounds, now, np.array([value]), np.zeros((1, 0)))
        self.agent.update(self.observation, row, value, info)
        self.rounds += 1


class TableSpace(Space):
    """A space holds the rows of a table, (A, d) in [0, 1] and different, as points with a number a column."""

    def __init__(self, rows: Floats):
        names = [f"x{i + 1}" for i in range(rows.shape[1])]
        super().__init__("parameters", dict.fromkeys(names, Linear(0.0, 1.0)))
        self.rows, listed = rows, rows.tolist()
        self._points = [dict(zip(names, row, strict=True)) for row in listed]
        self._index = {tuple(row): i for i, row in enumerate(listed)}

    @property
    def size(self) -> float:
        return len(self.rows)

    def spread(self, number: int) -> list[Values]:
        return self._points[:number]

    def features(self, values: Any) -> Floats:
        return self.rows[self.index(values)]

    def to_data(self) -> list[list[Any]]:
        raise ValueError("a tuner on the rows of a table is not saved: its file would lack them")

    def index(self, values: Values) -> int:
        """Return the row of a point."""
        return self._index[tuple(values.values())]

    def point(self, row: int) -> Values:
        """Return the point of a row."""
        return self._points[row]

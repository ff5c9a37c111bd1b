"""Record an agent's history, from which it can be rebuilt.

An agent's state follows from its construction, its seed and its observations. A file holds these and loading
replays them: every agent can be saved, plug-ins included, its generators and caches are restored bit for bit,
and it continues with the same actions. Loading takes as long as the agent took to choose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_switch
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.problem.setting import Setting

from ..options import require_types
from ..registry import require_registered, resolve_agent
from ..showing import facts_of
from .data import decode, encode
from .files import MAX_BYTES, parsing, playing, read, write
from .journal import EVENTS, Journal, rows_of

FORM = "gpbandits agent"
READ = (
    "t",
    "feedback_mask",
    "feedback_step",
    "feedback_reward",
    "feedback_std",
    "feedback_cost",
    "cost",
    "action_mask",
)  # of `info`
MADE = {"name": str, "setting": Setting, "num_trials": int | None, "options": dict[str, Any]}


class Recorded:
    """Plays as the named agent and records its history; other attributes are the agent's own.

    The record grows by some 100 bytes per round and trial until the next reset. To play without a record, as
    `evaluate` does, use the agent of `resolve_agent(name)`.

    Args:
        name: the agent's registered name, or a class path.
        setting: the published problem.
        num_trials: None, or B.
        options: the agent's options.
    """

    def __init__(self, name: str, setting: Setting, num_trials: int | None, options: Mapping[str, Any]):
        self._agent = resolve_agent((name, options))(setting, num_trials)
        self._made = {"name": name, "setting": setting, "num_trials": num_trials, "options": dict(options)}
        self._journal = Journal()

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything, the record too; see `Agent`."""
        self._agent.reset(seed)
        words = list(map(int, seed)) if isinstance(seed, Sequence | np.ndarray) else int(seed)
        self._journal = Journal()
        self._journal.write("reset", words)

    def start(self, info: dict[str, Any]) -> None:
        """Read which arms the first round has, if the agent has a `start`; see `Agent`."""
        if hasattr(self._agent, "start"):
            self._agent.start(info)
            self._journal.write("start", {key: info[key] for key in READ if key in info})

    def act(self, observation: Any) -> Any:
        """Choose an action; see `Agent`."""
        action = self._agent.act(observation)
        self._journal.write("act", observation)  # after the call: one that failed is not recorded
        return action

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; see `Agent`."""
        self._agent.update(observation, action, reward, info)
        kept = (*READ, "oracle") if getattr(self._agent, "privileged", False) else READ
        seen = {key: info[key] for key in kept if key in info}
        self._journal.write("update", observation, action, reward, seen)

    def drop(self, rounds: Any, trial: Any = None) -> None:
        """Forget pending plays that will never be delivered; see `GPAgent.drop`."""
        self._agent.drop(rounds, *([] if trial is None else [trial]))
        self._journal.write("drop", rounds, trial)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to one file; after `agents.load` it continues with the same actions.

        Raises:
            ValueError: a kernel or an option cannot be encoded, see `agents.saving.data`.
        """
        self._require_data()
        events, columns = self._journal.events, encode(self._journal.columns)
        write(path, FORM, {"made": encode(self._made), "events": events, "columns": columns})

    def _require_data(self) -> None:
        """Raise an error that names an option that is an object, such as a user-defined part."""
        for name, value in self._made["options"].items():
            try:
                encode(value)
            except ValueError as error:
                whose = f"the option {name!r} of {self._made['name']}"
                raise ValueError(f"cannot save {whose}, which is no data: {error}") from error

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, trust: bool = False, max_bytes: int = MAX_BYTES
    ) -> Recorded:
        """Rebuild a saved agent; see `agents.load`."""
        require_switch("trust", trust)
        content = read(path, FORM, max_bytes=max_bytes)
        with parsing(path):
            made, events = decode(content["made"]), content["events"]
            require_types("an agent", made, MADE)
            require_registered(made["name"], trust)
            columns = decode(content["columns"])
            columns += [[]] * (len(columns) == EVENTS.index("start"))  # older files have no such calls
            rows = {
                kind: zip(*map(rows_of, each), strict=True)
                for kind, each in zip(EVENTS, columns, strict=True)
            }
            calls = [(kind, next(rows[kind])) for kind in events]
        with playing(path):
            agent = cls(**made)
            for kind, arguments in calls:
                getattr(agent, kind)(*arguments)
        return agent

    def __repr__(self) -> str:
        options = "".join(f", {name}={brief(value)}" for name, value in self._made["options"].items())
        return f"agents.make({self._made['name']!r}, ...{options})"

    def _repr_html_(self) -> str:
        options = {name: brief(value) for name, value in self._made["options"].items()}
        return html_facts(self._made["name"], {**facts_of(self._agent), **options})

    def __getattr__(self, name: str) -> Any:
        if name == "_agent" or name.startswith("__"):  # not set yet while unpickling
            raise AttributeError(name)
        return getattr(self._agent, name)

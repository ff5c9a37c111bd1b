"""An agent with its record, from which it can be made again.

What an agent is in mid-run follows from how it was made, its seed, and what it was told. So a file holds
these, and loading plays them again: every agent can be saved, a plug-in too, its generators and caches come
back bit for bit, and it goes on with the same actions. Loading takes as long as the agent took to choose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bandit_envs.problem.setting import Setting

from ..registry import require_registered, resolve_agent
from .data import decode, encode
from .files import MAX_BYTES, parsing, playing, read, write
from .types import require_types

FORM = "gpbandits agent"
READ = ("t", "feedback_mask", "feedback_step", "feedback_reward", "feedback_cost", "cost")  # of `info`
MADE = {"name": str, "setting": Setting, "num_trials": int | None, "options": dict[str, Any]}


class Recorded:
    """Plays as the agent of a name plays, and remembers what it was told; all else is the agent's own.

    Args:
        name: of the agent, or a class path.
        setting: what is published.
        num_trials: None, or B.
        options: of the agent.
    """

    def __init__(self, name: str, setting: Setting, num_trials: int | None, options: Mapping[str, Any]):
        self._agent = resolve_agent((name, options))(setting, num_trials)
        self._made = {"name": name, "setting": setting, "num_trials": num_trials, "options": dict(options)}
        self._record: list[tuple[str, tuple[Any, ...]]] = []

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything; see the agent's own."""
        self._agent.reset(seed)
        words = list(map(int, seed)) if isinstance(seed, Sequence | np.ndarray) else int(seed)
        self._record = [("reset", (words,))]

    def act(self, observation: Any) -> Any:
        """Choose; see the agent's own."""
        seen = _copy(observation)
        action = self._agent.act(observation)
        self._record.append(("act", (seen,)))  # what did not happen is not recorded
        return action

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn; see the agent's own."""
        self._agent.update(observation, action, reward, info)
        kept = (*READ, "oracle") if getattr(self._agent, "privileged", False) else READ
        seen = {key: _copy(info[key]) for key in kept if key in info}
        self._record.append(("update", (_copy(observation), _copy(action), _copy(reward), seen)))

    def drop(self, rounds: Any, trial: Any = None) -> None:
        """Forget pending plays whose values will never come; see the agent's own."""
        self._agent.drop(rounds, *([] if trial is None else [trial]))
        self._record.append(("drop", (_copy(rounds), _copy(trial))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to one file, from which `agents.load` makes it go on with the same actions.

        Raises:
            ValueError: a kernel or an option is not data, see `agents.saving.data`.
        """
        self._require_data()
        kinds = [kind for kind, _ in self._record]
        columns = [_columns([each for kind, each in self._record if kind == name]) for name in EVENTS]
        write(path, FORM, {"made": encode(self._made), "events": kinds, "columns": encode(columns)})

    def _require_data(self) -> None:
        """Raise, by name, for an option that is an object, such as a part of the user's own."""
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
        """Make a saved agent again; see `agents.load`."""
        content = read(path, FORM, max_bytes=max_bytes)
        with parsing(path):
            made, events = decode(content["made"]), content["events"]
            require_types("an agent", made, MADE)
            require_registered(made["name"], trust)
            rows = dict(zip(EVENTS, map(_rows, decode(content["columns"])), strict=True))
            calls = [(kind, next(rows[kind])) for kind in events]
        with playing(path):
            agent = cls(**made)
            for kind, arguments in calls:
                getattr(agent, kind)(*arguments)
        return agent

    def __getattr__(self, name: str) -> Any:
        if name == "_agent" or name.startswith("__"):  # while it is being unpickled there is none
            raise AttributeError(name)
        return getattr(self._agent, name)


ARRAYS = (np.ndarray, np.generic, float, int)
EVENTS = ("reset", "act", "update", "drop")


def _copy(value: Any) -> Any:
    """What its owner may not change: arrays may be buffers that the next round overwrites."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return list(value) if isinstance(value, list) else value


def _columns(rows: list[tuple[Any, ...]]) -> list[Any]:
    """What each argument was over all calls; as one array where shapes agree, for the file's sake."""
    return [_stacked(list(column)) for column in zip(*rows, strict=True)]


def _stacked(values: list[Any]) -> Any:
    if isinstance(values[0], dict) and values[0] and all(each.keys() == values[0].keys() for each in values):
        return {key: _stacked([each[key] for each in values]) for key in values[0]}
    if not all(isinstance(each, ARRAYS) for each in values):
        return values
    arrays = [np.asarray(each) for each in values]
    alike = len({(each.shape, each.dtype) for each in arrays}) == 1
    return np.stack(arrays) if alike else values


def _rows(columns: list[Any]) -> Any:
    """An iterator of the arguments of each call."""
    return zip(*map(_unstacked, columns), strict=True)


def _unstacked(column: Any) -> Any:
    if isinstance(column, dict):
        keys = list(column)
        return (
            dict(zip(keys, row, strict=True)) for row in zip(*map(_unstacked, column.values()), strict=True)
        )
    return iter(column)

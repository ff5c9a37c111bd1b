"""Agents whose calls are recorded, from which they can be made again.

An agent's state follows from its construction, its seed and its observations. Loading repeats its calls, and
compares its actions: every agent can be saved, plug-ins included, and continues bit for bit; it takes as long
as the agent took.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import require, require_switch
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.problem.feedback import OPTIONAL, REQUIRED
from bandit_envs.problem.setting import Setting

from ..protocol import adapted, facts_of
from ..registry import require_registered, resolve_agent
from .data import NUMERIC, decode, encode, require_types
from .files import MAX_BYTES, parsing, playing, read, write

METHODS = ("reset", "start", "act", "update", "offer", "drop")  # that are recorded
PLAIN = frozenset((float, int, bool, np.float64, np.int64))  # types of most numbers
NUMBERS = (np.ndarray, np.generic, float, int)
ROUNDING = 1e-6  # of a coordinate in [-1, 1], that another processor may round otherwise
BLOCK = 256  # calls that are packed together
FORM = "gpbandits agent"
READ = ("t", "feedback_mask", *REQUIRED, *OPTIONAL, "cost", "action_mask")  # of `info`
MADE = {"name": str, "setting": Setting, "num_trials": int | None, "options": dict[str, Any]}

Call = tuple[str, dict[str, Any]]  # its name, and its arguments, in order


class Saving:
    """Records the calls of the agent whose class it extends, since the last reset, and saves them.

    A call that fails is not recorded, nor is one that the agent makes of itself, which follows from another.
    The record grows by some 100 bytes per round and trial. To play without one, as `evaluate` does, use the
    agent of `resolve_agent(name)`.
    """

    _made: dict[str, Any]  # the arguments of `recorded`
    _reads: Sequence[str]  # keys of `info`
    _recorded: list[Any]  # blocks of calls that are packed, and last a list of those that wait
    _recording: bool  # while a call lasts

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything, the record too; see `Agent`."""
        words = list(seed) if isinstance(seed, Sequence | np.ndarray) else seed
        self._call("reset", (seed,), {"seed": words})

    def start(self, info: dict[str, Any]) -> None:
        """Read which arms the first round has, if the agent has a `start`; see `Agent`."""
        if hasattr(super(), "start"):
            self._call("start", (info,), {"info": _seen(info, READ)})

    def act(self, observation: Any) -> Any:
        """Choose an action; see `Agent`."""
        if isinstance(observation, np.ndarray) and observation.dtype.kind not in NUMERIC:
            require(False, "observation", "numbers, as the environment's reset and step return", observation)
        return self._call("act", (observation,), {"observation": observation})

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; see `Agent`."""
        seen = _seen(info, self._reads)
        kept = {"observation": observation, "action": action, "reward": reward, "info": seen}
        self._call("update", (observation, action, reward, info), kept)

    def offer(self, arms: Any) -> bool:
        """Let the next choice alone be among some arms; False if the agent cannot; see `BaseAgent.offer`."""
        known = hasattr(super(), "offer")
        return known and self._call("offer", (arms,), {"arms": np.asarray(arms)}) is not False

    def drop(self, rounds: Any, trial: Any = None) -> None:
        """Forget pending plays that will never be delivered; see `GPAgent.drop`."""
        kept = {"rounds": rounds} if trial is None else {"rounds": rounds, "trial": trial}
        self._call("drop", tuple(kept.values()), kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to one file; after `agents.load` it continues with the same actions.

        Raises:
            ValueError: a kernel or an option cannot be encoded, see `agents.saving.data`, the file is not one
                of an agent, or another process holds it.
        """
        for name, value in self._made["options"].items():
            try:
                encode(value)
            except ValueError as error:  # an object, such as a part of the user's own
                whose = f"the option {name!r} of {self._made['name']}"
                raise ValueError(f"cannot save {whose}, which is no data: {error}") from error
        blocks = [*self._recorded[:-1], packed(self._recorded[-1])]
        calls = [[names, encode(columns)] for names, columns in blocks]
        write(path, FORM, {"made": encode(self._made), "calls": calls})

    @staticmethod
    def load(path: str | os.PathLike[str], *, trust: bool = False, max_bytes: int = MAX_BYTES) -> Saving:
        """Rebuild a saved agent; see `agents.load`."""
        require_switch("trust", trust)
        content = read(path, FORM, max_bytes=max_bytes)
        with parsing(path):
            made = decode(content["made"])
            require_types("an agent", made, MADE)
            require_registered(made["name"], trust)
            calls = [call for names, columns in content["calls"] for call in unpacked(names, decode(columns))]
        with playing(path):
            agent, t = recorded(**made), 0
            for name, kept in calls:
                if name == "act":
                    _require_same(t, agent.act(kept["observation"]), kept["action"])
                else:
                    getattr(agent, name)(*kept.values())
                t += name == "update"
        return agent

    def _call(self, name: str, given: tuple[Any, ...], kept: dict[str, Any]) -> Any:
        """Make a call, and record copies of what is kept of its arguments; of `act` the action too."""
        own = getattr(super(), name)
        if self._recording:
            return own(*given)
        try:
            self._recording = True
            result = own(*given)
        finally:
            self._recording = False
        if name == "act":
            kept["action"] = result
        call = name, _owned(kept)
        if name == "reset":
            self._recorded = [[call]]
            return result
        waiting = self._recorded[-1]
        waiting.append(call)
        if len(waiting) >= BLOCK:  # more where packing them was interrupted
            self._recorded[-1:] = packed(waiting), []
        return result

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle and copy by the agent's own class, since this one has no name of its own."""
        return _blank, (type(self).__bases__[1],), self.__getstate__()

    def __repr__(self) -> str:
        options = "".join(f", {name}={brief(value)}" for name, value in self._made["options"].items())
        return f"agents.make({self._made['name']!r}, ...{options})"

    def _repr_html_(self) -> str:
        options = {name: brief(value) for name, value in self._made["options"].items()}
        return html_facts(self._made["name"], {**facts_of(self), **options})


def packed(calls: Sequence[Call]) -> tuple[list[str], dict[str, Any]]:
    """Return the names of calls in order, and of each name the arguments in columns."""
    names = [name for name, _ in calls]
    rows = {each: [kept for name, kept in calls if name == each] for each in dict.fromkeys(names)}
    return names, {name: stacked(each) for name, each in rows.items()}


def unpacked(names: Sequence[str], columns: Mapping[str, Any]) -> list[Call]:
    """Invert `packed`."""
    rows = {name: rows_of(columns[name]) for name in METHODS if name in columns}
    return [(name, next(rows[name])) for name in names]


def stacked(values: Sequence[Any]) -> Any:
    """Return values as data: an array where all have a shape and a type, columns of dicts, else a list."""
    first = values[0]
    if isinstance(first, dict) and first:
        if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
            return {key: stacked([value[key] for value in values]) for key in first}
    elif isinstance(first, NUMBERS) and len(set(map(type, values))) == 1:
        one, several = np.asarray(first), isinstance(first, np.ndarray)
        alike = not several or all(x.dtype == one.dtype and x.shape == one.shape for x in values)
        if alike and one.dtype.kind in NUMERIC:
            whole = np.concatenate(values).reshape(len(values), *one.shape) if one.ndim else np.array(values)
            if whole.dtype == one.dtype:  # else a number is too large for it
                return whole
    return list(values)


def rows_of(data: Any) -> Iterator[Any]:
    """Iterate over the rows of a column's data."""
    if isinstance(data, dict):
        keys, columns = list(data), map(rows_of, data.values())
        return (dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True))
    return iter(data)


def _owned(kept: dict[str, Any]) -> dict[str, Any]:
    """Put copies that nobody can change into a dict: arrays may be buffers that the next round overwrites."""
    for key, value in kept.items():
        if type(value) in PLAIN:
            continue
        if isinstance(value, np.ndarray):
            kept[key] = value.copy()
        elif isinstance(value, dict):
            kept[key] = _owned({**value})
        elif isinstance(value, list):
            kept[key] = deepcopy(value)
    return kept


def _seen(info: Any, keys: Sequence[str]) -> dict[str, Any]:
    """Return the entries that are recorded; the agent itself raises where `info` is not a dict."""
    seen: dict[str, Any] = {}
    for key in keys if isinstance(info, dict | Mapping) else ():  # `Mapping` alone is slow
        if key in info:
            seen[key] = info[key]
    return seen


def _require_same(t: int, played: Any, kept: Any) -> None:
    """Raise unless an action is the recorded one; points of a box may differ by rounding."""
    one, other = np.asarray(played), np.asarray(kept)
    if one.dtype.kind in NUMERIC and other.dtype.kind in NUMERIC:
        rtol = ROUNDING if "f" in (one.dtype.kind, other.dtype.kind) else 0.0
        same = one.shape == other.shape and np.allclose(one, other, rtol=rtol, atol=rtol)
    else:
        same = np.array_equal(one, other)
    if not same:
        raise ValueError(
            f"in round {t} it plays {brief(one.tolist())} where {brief(other.tolist())} was played"
        )


def recorded(name: str, setting: Setting, num_trials: int | None, options: Mapping[str, Any]) -> Saving:
    """Return an agent that is of its own class and of `Saving`."""
    agent = resolve_agent((name, options))(setting, num_trials)
    own = {*dir(type(agent))} - vars(agent).keys() if "__dict__" in dir(agent) else set()
    words = "an agent whose class defines its methods and no __slots__"
    require({*METHODS} & {*dir(agent)} <= own, name, words, agent)
    agent.__class__ = _with_saving(type(agent))
    agent._made = {"name": name, "setting": setting, "num_trials": num_trials, "options": dict(options)}
    agent._reads = (*READ, "oracle") if adapted(agent).privileged else READ
    agent._recorded, agent._recording = [[]], False
    return agent


@cache
def _with_saving(own: type) -> type:
    if issubclass(own, Saving):  # its factory called `make`
        return own
    named = {"__module__": own.__module__, "__qualname__": own.__qualname__, "__doc__": own.__doc__}
    return type(own.__name__, (Saving, own), named)


def _blank(own: type) -> Any:
    kind: Any = _with_saving(own)
    return kind.__new__(kind)

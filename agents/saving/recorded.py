"""Agents whose calls are recorded, from which they can be made again.

An agent's state follows from its construction, its seed and its observations. Loading repeats its calls, and
compares its actions: every agent can be saved, plug-ins included, and continues bit for bit; it takes as long
as the agent took.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bandit_envs.basics.arguments import require, require_switch
from bandit_envs.basics.notebook import brief
from bandit_envs.problem.feedback import OPTIONAL, REQUIRED
from bandit_envs.problem.setting import Setting

from ..protocol import Agent, adapted
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


class Saving(Agent, Protocol):
    """Agent of `agents.make`, which can be saved."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to one file; see `Recorder.save`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Recorder:
    """Makes the calls of an agent's methods, which its own replace, and records them since the last reset.

    A call that fails is not recorded, nor is one that the agent makes of itself, which follows from another.
    The record grows by some 100 bytes per round and trial. To play without one, as `evaluate` does, use the
    agent of `resolve_agent(name)`.
    """

    def __init__(self, agent: Any, made: dict[str, Any]):
        self.agent, self.made = agent, made  # `made` are the arguments of `recorded`
        self._reads = (*READ, "oracle") if adapted(agent).privileged else READ
        self._calls: list[Any] = [[]]  # blocks that are packed, and last a list of calls that wait
        self._calling = False

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything, the record too; see `Agent`."""
        words = list(seed) if isinstance(seed, Sequence | np.ndarray) else seed
        self._call("reset", {"seed": seed}, seed=words)

    def start(self, info: dict[str, Any]) -> None:
        """Read which arms the first round has, if the agent has a `start`; see `Agent`."""
        if hasattr(type(self.agent), "start"):
            self._call("start", {"info": info}, info=_seen(info, READ))

    def act(self, observation: Any) -> Any:
        """Choose an action; see `Agent`."""
        if isinstance(observation, np.ndarray) and observation.dtype.kind not in NUMERIC:
            require(False, "observation", "numbers, as the environment's reset and step return", observation)
        return self._call("act", {"observation": observation})

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; see `Agent`."""
        given = {"observation": observation, "action": action, "reward": reward, "info": info}
        self._call("update", given, info=_seen(info, self._reads))

    def offer(self, arms: Any) -> bool:
        """Let the next choice alone be among some arms; False if the agent cannot; see `BaseAgent.offer`."""
        known = hasattr(type(self.agent), "offer")
        return known and self._call("offer", {"arms": arms}, arms=np.asarray(arms)) is not False

    def drop(self, rounds: Any, trial: Any = None) -> None:
        """Forget pending plays that will never be delivered; see `GPAgent.drop`."""
        self._call("drop", {"rounds": rounds} if trial is None else {"rounds": rounds, "trial": trial})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to one file; after `agents.load` it continues with the same actions.

        Raises:
            ValueError: a kernel or an option cannot be encoded, see `agents.saving.data`, the file is not one
                of an agent, or another process holds it.
        """
        for name, value in self.made["options"].items():
            try:
                encode(value)
            except ValueError as error:  # an object, such as a part of the user's own
                whose = f"the option {name!r} of {self.made['name']}"
                raise ValueError(f"cannot save {whose}, which is no data: {error}") from error
        blocks = [*self._calls[:-1], packed(self._calls[-1])]
        calls = [[names, encode(columns)] for names, columns in blocks]
        write(path, FORM, {"made": encode(self.made), "calls": calls})

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
            agent = recorded(**made)
            _repeat(agent, calls)
        return agent

    def _call(self, name: str, given: dict[str, Any], **kept: Any) -> Any:
        """Make a call and record copies of what it is given, or of what is `kept` of that."""
        own = getattr(type(self.agent), name)
        if self._calling:
            return own(self.agent, *given.values())
        try:
            self._calling = True
            result = own(self.agent, *given.values())
        finally:
            self._calling = False
        if name == "act":
            kept["action"] = result
        call = name, _owned(given | kept)
        if name == "reset":
            self._calls = [[call]]
            return result
        self._calls[-1].append(call)
        if len(self._calls[-1]) >= BLOCK:  # more where packing them was interrupted
            self._calls[-1:] = packed(self._calls[-1]), []
        return result


def packed(calls: Sequence[Call]) -> tuple[list[str], dict[str, Any]]:
    """Return the names of calls in order, and of each name the arguments in columns."""
    names = [name for name, _ in calls]
    return names, {each: stacked([kept for name, kept in calls if name == each]) for each in {*names}}


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


def _owned(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies that nobody can change: arrays may be buffers that the next round overwrites."""
    owned = dict(kept)
    for key, value in kept.items():
        if type(value) in PLAIN:
            continue
        if isinstance(value, np.ndarray):
            owned[key] = value.copy()
        elif isinstance(value, dict):
            owned[key] = _owned(value)
        elif isinstance(value, list):
            owned[key] = deepcopy(value)
    return owned


def _seen(info: Any, keys: Sequence[str]) -> dict[str, Any]:
    """Return the entries that are recorded; the agent itself raises where `info` is not a dict."""
    seen: dict[str, Any] = {}
    for key in keys if isinstance(info, dict | Mapping) else ():  # `Mapping` alone is slow
        if key in info:
            seen[key] = info[key]
    return seen


def _repeat(agent: Saving, calls: Sequence[Call]) -> None:
    """Make the recorded calls again; a ValueError names the first round in which another action is played."""
    t = 0
    for name, kept in calls:
        if name == "act":
            _require_same(t, agent.act(kept["observation"]), kept["action"])
        else:
            getattr(agent, name)(*kept.values())
        t += name == "update"


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
    """Return an agent with a recorder of its calls."""
    agent = resolve_agent((name, options))(setting, num_trials)
    made = {"name": name, "setting": setting, "num_trials": num_trials, "options": dict(options)}
    if getattr(agent, "_made", None) is None:  # else its factory called `make`
        own = {*dir(type(agent))} - vars(agent).keys() if hasattr(agent, "__dict__") else set()
        words = "an agent whose class defines its methods and no __slots__"
        require({*METHODS} & {*dir(agent)} <= own, name, words, agent)
    recorder, agent._made = Recorder(agent, made), made
    for method in (*METHODS, "save"):
        setattr(agent, method, getattr(recorder, method))
    return agent

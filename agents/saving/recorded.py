"""Agents that record their calls, from which they can be made again.

An agent's state follows from its construction, its seed and its observations. Loading replays these: every
agent can be saved, plug-ins included, and continues bit for bit; it takes as long as the agent took.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require, require_switch
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.problem.feedback import OPTIONAL, REQUIRED
from bandit_envs.problem.setting import Setting

from ..protocol import adapted, facts_of
from ..registry import require_registered, resolve_agent
from .data import NUMERIC, decode, encode, require_types
from .files import MAX_BYTES, parsing, playing, read, write

EVENTS = ("reset", "act", "update", "drop", "start", "offer")  # append: files list columns in this order
PLAIN = frozenset((float, int, bool, np.float64, np.int64))  # types of most numbers
NUMBERS = (np.ndarray, np.generic, float, int)
ROUNDING = 1e-6  # of a coordinate in [-1, 1], that another processor may round otherwise
BLOCK = 256  # calls that are moved to columns together
FORM = "gpbandits agent"
READ = ("t", "feedback_mask", *REQUIRED, *OPTIONAL, "cost", "action_mask")  # of `info`
MADE = {"name": str, "setting": Setting, "num_trials": int | None, "options": dict[str, Any]}


Call = tuple[str, tuple[Any, ...]]  # its name and its arguments


class Block(NamedTuple):
    """Hold calls in columns."""

    events: list[str]  # names of the calls, in order
    columns: list[list[Any]]  # of each kind of call, the data of each argument, see `stacked`

    @classmethod
    def of(cls, calls: Sequence[Call]) -> Block:
        """Return some calls as a block."""
        each = [[arguments for name, arguments in calls if name == event] for event in EVENTS]
        columns = [[stacked(values) for values in zip(*of_kind, strict=True)] for of_kind in each]
        return cls([name for name, _ in calls], columns)

    @property
    def calls(self) -> Iterator[Call]:
        """Iterate over the calls again."""
        rows = {
            name: zip(*map(rows_of, each), strict=True)
            for name, each in zip(EVENTS, self.columns, strict=True)
        }
        return ((name, next(rows[name])) for name in self.events)


class CallLog:
    """Records the calls since the last reset; an interrupted call, or record of it, leaves no trace.

    Calls wait in a list and are moved to columns in blocks: one call of numpy serves all that wait.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[Block, ...], list[Call]] = (), []  # blocks, and calls not yet in one
        self._calling = False  # while a call lasts: those that an agent makes of itself follow from it

    def record(self, name: str, call: Callable[[], Any], *arguments: Any, answer: bool = False) -> Any:
        """Make a call and record a copy, unless it fails or is part of another; a reset begins anew.

        With `answer` what the call returns is recorded too, so that a replay that differs is found.
        """
        if self._calling:
            return call()
        try:
            self._calling = True
            result = call()
        finally:
            self._calling = False
        if name == "reset":
            self.__init__()
        kept = (*arguments, result) if answer else arguments
        self._kept[1].append((name, tuple(_owned(kept))))
        if len(self._kept[1]) >= BLOCK:  # more where packing them was interrupted
            self._packed()
        return result

    @property
    def whole(self) -> Block:
        """Return all calls as one block."""
        return Block.of([call for block in self._packed() for call in block.calls])

    def _packed(self) -> tuple[Block, ...]:
        """Move the latest calls to a block, at once or not at all, and return all blocks."""
        blocks, latest = self._kept
        if latest:
            self._kept = (*blocks, Block.of(latest)), []
        return self._kept[0]


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


def _owned(values: Iterable[Any]) -> list[Any]:
    """Return copies that nobody can change: arrays may be buffers that the next round overwrites."""
    owned: list[Any] = []
    for value in values:
        if type(value) in PLAIN:
            owned.append(value)
        elif isinstance(value, np.ndarray):
            owned.append(value.copy())
        elif isinstance(value, dict):
            owned.append(dict(zip(value, _owned(value.values()), strict=True)))
        else:
            owned.append(_owned(value) if isinstance(value, list) else value)
    return owned


def _seen(info: Any, keys: Sequence[str]) -> dict[str, Any]:
    """Return the entries that are logged; the agent itself raises where `info` is not a dict."""
    seen: dict[str, Any] = {}
    for key in keys if isinstance(info, dict | Mapping) else ():  # `Mapping` alone is slow
        if key in info:
            seen[key] = info[key]
    return seen


class Saving:
    """Records the calls of the agent whose class it extends, and writes them to a file; see `recorded`.

    The record grows by some 100 bytes per round and trial until the next reset. To play without a record, as
    `evaluate` does, use the agent of `resolve_agent(name)`.
    """

    _made: dict[str, Any]  # the arguments of `recorded`
    _log: CallLog
    _reads: Sequence[str]  # keys of `info`
    _methods: Collection[str]  # of these events, which the agent has

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything, the record too; see `Agent`."""
        own: Any = super()
        words = list(seed) if isinstance(seed, Sequence | np.ndarray) else seed
        self._log.record("reset", partial(own.reset, seed), words)

    def start(self, info: dict[str, Any]) -> None:
        """Read which arms the first round has, if the agent has a `start`; see `Agent`."""
        own: Any = super()
        if "start" in self._methods:
            self._log.record("start", partial(own.start, info), _seen(info, READ))

    def act(self, observation: Any) -> Any:
        """Choose an action; see `Agent`."""
        own: Any = super()
        if isinstance(observation, np.ndarray) and observation.dtype.kind not in NUMERIC:
            require(False, "observation", "numbers, as the environment's reset and step return", observation)
        return self._log.record("act", partial(own.act, observation), observation, answer=True)

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; see `Agent`."""
        own: Any = super()
        seen = _seen(info, self._reads)
        told = observation, action, reward
        self._log.record("update", partial(own.update, *told, info), *told, seen)

    def offer(self, arms: Any) -> bool:
        """Let the next choice alone be among some arms; False if the agent cannot; see `BaseAgent.offer`."""
        own: Any = super()
        known = "offer" in self._methods
        return known and self._log.record("offer", partial(own.offer, arms), np.asarray(arms)) is not False

    def drop(self, rounds: Any, trial: Any = None) -> None:
        """Forget pending plays that will never be delivered; see `GPAgent.drop`."""
        own: Any = super()
        given = (rounds,) if trial is None else (rounds, trial)
        self._log.record("drop", partial(own.drop, *given), rounds, trial)

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
        events, columns = self._log.whole
        write(path, FORM, {"made": encode(self._made), "events": events, "columns": encode(columns)})

    @staticmethod
    def load(path: str | os.PathLike[str], *, trust: bool = False, max_bytes: int = MAX_BYTES) -> Saving:
        """Rebuild a saved agent; see `agents.load`."""
        require_switch("trust", trust)
        content = read(path, FORM, max_bytes=max_bytes)
        with parsing(path):
            made = decode(content["made"])
            require_types("an agent", made, MADE)
            require_registered(made["name"], trust)
            columns = decode(content["columns"])
            lacks = len(EVENTS) - len(columns)  # in older files, of the latest kinds of calls
            columns += [[]] * (lacks if lacks <= len(EVENTS) - EVENTS.index("start") else 0)
            calls = list(Block(content["events"], columns).calls)
        with playing(path):
            agent = recorded(**made)
            _replay(agent, calls)
        return agent

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle and copy by the agent's own class, since this one has no name of its own."""
        return _blank, (type(self).__bases__[1],), self.__getstate__()

    def __repr__(self) -> str:
        options = "".join(f", {name}={brief(value)}" for name, value in self._made["options"].items())
        return f"agents.make({self._made['name']!r}, ...{options})"

    def _repr_html_(self) -> str:
        options = {name: brief(value) for name, value in self._made["options"].items()}
        return html_facts(self._made["name"], {**facts_of(self), **options})


def _replay(agent: Saving, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
    """Make the recorded calls again; a ValueError names the first round in which another action is played.

    Files of older versions lack the actions of `act`: there, those that were reported to `update` count.
    """
    t, played = 0, None
    for kind, arguments in calls:
        if kind == "act":
            observation, *kept = arguments
            played = agent.act(observation)
            if kept:
                _require_same(t, played, kept[0])
                played = None
            continue
        getattr(agent, kind)(*arguments)
        if kind == "update":
            if played is not None:
                _require_same(t, played, arguments[1])
            t, played = t + 1, None


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
    methods = {*EVENTS} & {*dir(agent)}
    own = {*dir(type(agent))} - vars(agent).keys() if "__dict__" in dir(agent) else set()
    require(methods <= own, name, "an agent whose class defines its methods and no __slots__", agent)
    agent.__class__ = _with_saving(type(agent))
    agent._made = {"name": name, "setting": setting, "num_trials": num_trials, "options": dict(options)}
    agent._log, agent._methods = CallLog(), methods
    agent._reads = (*READ, "oracle") if adapted(agent).privileged else READ
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

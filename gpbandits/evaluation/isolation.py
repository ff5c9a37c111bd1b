"""An isolated agent runs in a process of its own, without access to the environment's memory.

An agent in this process could read the environment. An isolated one receives the setting, its seed,
observations and feedback through a pipe; after the trials its process ends and frees its memory. What it
answers, its errors too, is read as plain data, so no code of it runs in this process.
`Result.entropy`, from which environments are drawn, is never sent, so an agent cannot build them from its
seed and trial. It is no sandbox: files, and memory that the system lets it read, remain accessible.

An answer is one line of JSON and the bytes of its arrays. Unlike a pickle it names no class, so that whoever
wrote it decides what the reader gets, not what the reader does; and no part of it is larger than it says.
"""

from __future__ import annotations

import builtins
import json
import math
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from traceback import format_exception
from typing import Any

import numpy as np

from agents.protocol import BaseAgent, adapted
from agents.registry import AgentFactory
from agents.stopping.by_name import Stops
from bandit_envs.basics.arguments import is_integer
from bandit_envs.basics.threads import chosen_threads, require_workers, threads
from bandit_envs.problem.setting import Setting

MOST_BYTES = 2**27  # of an answer; more than the arms that an agent certifies in a batch
MOST_TEXT = 2**22  # of its JSON, whose lists take some 20 times as much memory
NUMBERS = {np.dtype(code).str for code in "?bhilqBHILQefd"}  # types of arrays
ARRAY, DICT = "array", "dict"
Array = np.ndarray | np.generic


class NotPlainError(ValueError):
    """A value is no plain data, or bytes are not what `write` returns."""


def write(value: Any) -> bytes:
    """Return a value as bytes; raise a NotPlainError, which names its type, for anything but plain data."""
    arrays: list[bytes] = []
    try:
        text = json.dumps(_to_json(value, arrays))
    except (ValueError, RecursionError) as error:
        raise NotPlainError(str(error)) from error
    whole = b"".join([text.encode(), b"\n", *arrays])
    if len(text) > MOST_TEXT or len(whole) > MOST_BYTES:
        raise NotPlainError(f"at most {MOST_TEXT} bytes of text and {MOST_BYTES} in all, got {len(whole)}")
    return whole


def read(content: bytes) -> Any:
    """Invert `write`; tuples become lists, and 0-dimensional arrays numpy's numbers."""
    text, newline, rest = content.partition(b"\n")
    if not newline or len(text) > MOST_TEXT or len(content) > MOST_BYTES:
        raise NotPlainError(f"bytes of `write`, got {content[:20]!r}, {len(content)} in all")
    left = memoryview(rest)

    def take(name: Any, shape: list[Any]) -> Any:
        """Return the next array, which may be written to, or a number of numpy where it has no axis."""
        nonlocal left
        if name not in NUMBERS or not all(is_integer(each) and 0 <= each <= MOST_BYTES for each in shape):
            raise ValueError(f"an array must have a type of numbers and sizes, got {name!r}"[:200])
        dtype, count = np.dtype(name), math.prod(shape)
        size = dtype.itemsize * count
        if size > len(left):
            raise ValueError(f"an array of {count} numbers must have as many, got {len(left)} bytes")
        flat = np.frombuffer(left, dtype, count) if count else np.empty(0, dtype)
        left = left[size:]
        return flat.reshape(shape).copy() if shape else flat[0]

    try:
        value = _from_json(json.loads(text), take)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
        raise NotPlainError(f"bytes of `write`, got others: {str(error)[:200]}") from error
    if left:
        raise NotPlainError(f"bytes of `write`, got {len(left)} more than its arrays have")
    return value


def cut(text: str, most: int) -> str:
    """Return text of at most about so many characters: its beginning and its end, where errors are named."""
    left = len(text) - most
    if left <= 0:
        return text
    return f"{text[: most // 2]}\n[{left} characters are left out]\n{text[-(most - most // 2) :]}"


def _to_json(value: Any, arrays: list[bytes]) -> Any:
    """Return JSON of a value, and append the bytes of its arrays in their order."""
    if isinstance(value, Array):
        native = np.asarray(value, dtype=value.dtype.newbyteorder("="))
        if native.dtype.str not in NUMBERS:
            raise NotPlainError(f"an array of numbers, got one of {value.dtype}")
        arrays.append(native.tobytes())
        return {ARRAY: [native.dtype.str, *native.shape]}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | tuple):
        return [_to_json(each, arrays) for each in value]
    if type(value) is dict and all(type(key) is str for key in value):
        return {DICT: {key: _to_json(each, arrays) for key, each in value.items()}}
    raise NotPlainError(f"numbers, arrays of numbers, text, or lists of these, got a {type(value).__name__}")


def _from_json(data: Any, take: Callable[[str, list[int]], Any]) -> Any:
    if isinstance(data, list):
        return [_from_json(each, take) for each in data]
    if not isinstance(data, dict):
        return data
    ((kind, inner),) = data.items()
    if kind == DICT:
        return {key: _from_json(each, take) for key, each in inner.items()}
    if kind != ARRAY:
        raise ValueError(f"{ARRAY} or {DICT} must be the kind of an object, got {kind[:20]!r}")
    return take(inner[0], inner[1:])


PATIENCE = 5.0  # seconds within which a process should end by itself
# attributes of an agent, read after the episode; `privileged` and `track` are read at once
ASKED = ("alarms", "feedback_window", "assumes_bound", "infeasible_since", "certified", "stops")
LONGEST = 10_000  # characters of an error's message, and of its traceback
# Errors by name that one text makes; others, of an agent's own or a library's, are their nearest base class.
ERRORS: dict[str, type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and not issubclass(kind, Warning | StopIteration | StopAsyncIteration | ExceptionGroup)
    and (kind is UnicodeError or not issubclass(kind, UnicodeError))
    and kind is not Exception
}


class AgentProcessError(RuntimeError):
    """The process of an agent ended before the episode, or answered what no agent answers."""


def isolated(factory: AgentFactory) -> AgentFactory:
    """Return a factory of the agents in processes of their own; a ValueError if these cannot import them."""
    try:
        parcel = pickle.dumps(factory)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(_unimportable(factory.make, error)) from error
    if getattr(factory.make, "__module__", None) == "__main__":
        raise ValueError(_unimportable(factory.make, "it is defined in __main__"))

    def many(setting: Setting, num_trials: int | None = None) -> Isolated:
        return Isolated(parcel, setting, num_trials)

    def only_many(setting: Setting, num_trials: int) -> Isolated:
        return Isolated(parcel, setting, num_trials)

    def one(setting: Setting) -> Isolated:
        return Isolated(parcel, setting, None)

    make: Any = only_many if factory.in_batches_only else many if factory.batched else one
    if factory.declares:
        make.features = factory.features
    if factory.requires:
        make.requires = factory.requires
    return AgentFactory(make, name=factory.name)


def _asked(name: str) -> Any:
    """Return the property that asks the agent of the other process for an attribute."""
    return property(lambda agent: agent._ask(name))


class Isolated(BaseAgent):
    """An isolated agent forwards calls to the agent that it has made in another process."""

    def __init__(self, parcel: bytes, setting: Setting, num_trials: int | None):
        require_workers("isolate=True", "leave it out")
        context = multiprocessing.get_context("spawn")  # a fork would inherit the memory
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, chosen_threads()), daemon=True)
        with _known_start_method():
            self._process.start()
        theirs.close()
        try:
            self.privileged, self.track = self._ask("make", parcel, setting, num_trials)
        except BaseException:
            self.close()
            raise

    alarms, feedback_window = _asked("alarms"), _asked("feedback_window")
    assumes_bound, infeasible_since = _asked("assumes_bound"), _asked("infeasible_since")
    certified = _asked("certified")

    @property
    def stops(self) -> Stops | None:
        """Return when stopping rules first said stop."""
        answer = self._ask("stops")
        return None if answer is None else Stops(**answer)

    def reset(self, seed: Any) -> None:
        """Reset the agent."""
        self._ask("reset", seed)

    def start(self, info: dict[str, Any]) -> None:
        """Pass the arms of the first round to an agent with `start`."""
        self._ask("start", info)

    def act(self, observation: Any) -> Any:
        """Choose an action."""
        return self._ask("act", observation)

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round."""
        self._ask("update", observation, action, reward, info)

    def close(self) -> None:
        """End the process."""
        self._pipe.close()  # ends the loop of the process
        self._process.join(PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _ask(self, what: str, *given: Any) -> Any:
        try:
            self._pipe.send((what, given))
            content = self._pipe.recv_bytes(MOST_BYTES)
        except (EOFError, OSError) as broken:
            self._process.join(PATIENCE)
            raise AgentProcessError(self._ending(what, broken)) from broken
        try:
            answer, error = read(content)
            raised = error and _restored(*error)
        except (NotPlainError, ValueError, TypeError, KeyError) as unreadable:
            raise AgentProcessError(
                f"the process of the agent must answer {what!r} in plain data, and did not: {unreadable}"
            ) from unreadable
        if raised is not None:
            raise raised
        return answer

    def _ending(self, what: str, broken: Exception) -> str:
        if (code := self._process.exitcode) is None:
            return f"the process of the agent must answer {what!r} in at most {MOST_BYTES} bytes: {broken}"
        guard = "; a script has to call evaluate below `if __name__ == '__main__':`"
        ended = f"the process of the agent ended during {what!r}, with exit code {code}"
        return ended + guard * (what == "make")


@contextmanager
def _known_start_method() -> Iterator[None]:
    """Set the start method "spawn", since joblib's workers have one that a new process does not know."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)


def _serve(pipe: Connection, number: int) -> None:
    """Make an agent and answer what is asked of it, on so many threads."""
    agent: Any = None
    with threads(number), suppress(EOFError):  # at the end
        while True:
            what, given = pipe.recv()
            try:
                if what == "make":
                    parcel, setting, num_trials = given
                    agent = adapted(pickle.loads(parcel)(setting, num_trials))
                    answer = [agent.privileged, agent.track]
                else:
                    answer = getattr(agent, what) if what in ASKED else getattr(agent, what)(*given)
                pipe.send_bytes(_written(what, answer))
            except Exception as error:
                pipe.send_bytes(write([None, _described(error)]))
    if agent is not None:
        agent.close()


def _written(what: str, answer: Any) -> bytes:
    if what not in (*ASKED, "make", "act"):
        return write([None, None])  # what reset and update return is not used
    try:
        return write([answer._asdict() if isinstance(answer, Stops) else answer, None])
    except NotPlainError as error:
        raise TypeError(f"{what!r} of an isolated agent must be plain data: {error}") from error


def _described(error: Exception) -> list[str]:
    """Return the nearest built-in class of an error, its message and its traceback."""
    kind = next((x.__name__ for x in type(error).__mro__ if ERRORS.get(x.__name__) is x), "")
    message = str(error) if kind else f"{type(error).__name__}: {error}"
    trace = "".join(format_exception(error))
    return [kind or "RuntimeError", cut(message, LONGEST), cut(trace, LONGEST)]


def _restored(kind: str, message: str, trace: str) -> Exception:
    if not (isinstance(message, str) and isinstance(trace, str)):
        raise NotPlainError("an error has a message and a traceback")
    error = ERRORS[kind](cut(message, 2 * LONGEST))
    error.add_note(cut(f"in the process of the agent: {trace}", 2 * LONGEST))
    return error


def _unimportable(make: Callable[..., Any], why: Any) -> str:
    return (
        f"isolate=True needs agents that another process can import, got {make!r} ({why}); "
        "define it at the top of a module, or give its path 'package.module:Class'"
    )

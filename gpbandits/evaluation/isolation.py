"""An isolated agent runs in a process of its own, without access to the environment's memory.

An agent in this process could read the environment. An isolated one receives the setting, its seed,
observations and feedback through a pipe; after the trials its process ends and frees its memory. What it
answers, its errors too, is read as plain data (`plain.py`), so no code of it runs in this process.
`Result.entropy`, from which environments are drawn, is never sent, so an agent cannot build them from its
seed and trial. It is no sandbox: files, and memory that the system lets it read, remain accessible.
"""

import builtins
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from traceback import format_exception
from typing import Any

from agents.protocol import BaseAgent, adapted
from agents.registry import AgentFactory
from agents.stopping.by_name import Stops
from bandit_envs.basics.threads import chosen_threads, require_workers, threads
from bandit_envs.problem.setting import Setting
from gpbandits.evaluation.plain import MOST_BYTES, NotPlainError, cut, read, write

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

    def one(setting: Setting) -> Isolated:
        return Isolated(parcel, setting, None)

    def many(setting: Setting, num_trials: int | None = None) -> Isolated:
        return Isolated(parcel, setting, num_trials)

    def only_many(setting: Setting, num_trials: int) -> Isolated:
        return Isolated(parcel, setting, num_trials)

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

    alarms, feedback_window, assumes_bound = (
        _asked("alarms"),
        _asked("feedback_window"),
        _asked("assumes_bound"),
    )
    infeasible_since, certified = _asked("infeasible_since"), _asked("certified")

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
    with threads(number):
        _answer(pipe)


def _answer(pipe: Connection) -> None:
    agent: Any = None
    while True:
        try:
            what, given = pipe.recv()
        except EOFError:
            if agent is not None:
                agent.close()
            return
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

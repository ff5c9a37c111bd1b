"""An isolated agent runs in a process of its own, without access to the environment's memory.

An agent in this process could read the environment. An isolated one receives the setting, its seed,
observations and feedback through a pipe; after the trials its process ends and frees its memory.
`Result.entropy`, from which environments are drawn, is never sent, so an agent cannot build them from its
seed and trial. It is no sandbox: files, and memory that the system lets it read, remain accessible.
"""

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from agents.registry import AgentFactory
from bandit_envs.basics.threads import chosen_threads, require_workers, threads
from bandit_envs.problem.setting import Setting

PATIENCE = 5.0  # seconds within which a process should end by itself
DECLARED = ("features", "requires")  # attributes of a factory
SAID = ("privileged", "track")  # attributes of an agent, read at once
# attributes of an agent, read later
ASKED = ("alarms", "feedback_window", "assumes_bound", "infeasible_since", "certified", "stops")


class AgentProcessError(RuntimeError):
    """The process of an agent ended before the episode."""


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
    for said in DECLARED:
        if hasattr(factory.make, said):
            setattr(make, said, getattr(factory.make, said))
    return AgentFactory(make, name=factory.name)


class Isolated:
    """An isolated agent forwards calls to the agent that it has made in another process."""

    def __init__(self, parcel: bytes, setting: Setting, num_trials: int | None):
        require_workers("isolate=True", "leave it out")
        context = multiprocessing.get_context("spawn")  # a fork would inherit the memory
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, chosen_threads()), daemon=True)
        with _known_start_method():
            self._process.start()
        theirs.close()
        self.privileged, self.track = self._ask("make", parcel, setting, num_trials)

    def __getattr__(self, name: str) -> Any:
        if name not in ASKED:
            raise AttributeError(name)
        return self._ask(name)

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
            answer, error = self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as broken:
            self._process.join(PATIENCE)
            guard = "; a script has to call evaluate below `if __name__ == '__main__':`"
            raise AgentProcessError(
                f"the process of the agent ended during {what!r}, with exit code "
                f"{self._process.exitcode}{guard if what == 'make' else ''}"
            ) from broken
        if error is not None:
            raise error
        return answer


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
            getattr(agent, "close", lambda: None)()
            return
        try:
            if what == "make":
                parcel, setting, num_trials = given
                agent = pickle.loads(parcel)(setting, num_trials)
                answer = tuple(getattr(agent, name, None) for name in SAID)
            elif what == "start" and not hasattr(agent, what):
                answer = None
            else:
                answer = getattr(agent, what, None) if what in ASKED else getattr(agent, what)(*given)
            pipe.send((answer, None))
        except Exception as error:
            pipe.send((None, _portable(error)))


def _portable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _unimportable(make: Callable[..., Any], why: Any) -> str:
    return (
        f"isolate=True needs agents that another process can import, got {make!r} ({why}); "
        "define it at the top of a module, or give its path 'package.module:Class'"
    )

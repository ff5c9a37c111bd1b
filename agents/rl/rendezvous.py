"""A program that drives its own loop, driven from ours: in a thread, and one of the two always waits."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any

Ask = Callable[[Any], Any]

PATIENCE = (
    10.0  # seconds that `close` waits for a thread to leave; it is a daemon, so it never blocks an exit
)


class Leave(BaseException):
    """Raised in the program where it asks, to end it; no `except Exception` of a library stops it."""


class Rendezvous:
    """Runs `work(ask)` in a thread: `ask(question)` waits there until `answer` is called here.

    Turns are taken strictly, so the program is as reproducible as one without threads.

    Args:
        work: the program; must not hold a reference to whoever holds this object, so that one that is
            forgotten is closed.
        name: of the thread.
    """

    def __init__(self, work: Callable[[Ask], None], name: str = "rendezvous"):
        self._questions: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        arguments = (work, self._questions, self._answers)
        self._thread = Thread(target=_run, args=arguments, daemon=True, name=name)
        self._thread.start()

    def question(self) -> Any:
        """Wait for the next question, or raise what the program raised."""
        question = self._questions.get()
        if isinstance(question, _Ended):
            self._questions.put(question)  # whoever asks again gets the same answer
            raise question.error
        return question

    def answer(self, value: Any) -> None:
        """Answer the last question; the program goes on."""
        self._answers.put(value)

    def close(self) -> None:
        """End the program where it asks next, and wait for its thread."""
        self._answers.put(Leave())
        if self._thread is not current_thread():
            self._thread.join(PATIENCE)


class _Ended:
    def __init__(self, error: BaseException):
        self.error = error


def _run(work: Callable[[Ask], None], questions: SimpleQueue[Any], answers: SimpleQueue[Any]) -> None:
    def ask(question: Any) -> Any:
        questions.put(question)
        answer = answers.get()
        if isinstance(answer, Leave):
            raise answer
        return answer

    try:
        work(ask)
        questions.put(
            _Ended(RuntimeError("the learner stopped before the last round; does a callback do so?"))
        )
    except BaseException as error:
        questions.put(_Ended(error))

"""A program with its own loop, run in a thread that alternates strictly with the caller."""

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
    """Exception that ends the program at its next question; `except Exception` does not catch it."""


class Rendezvous:
    """Thread that runs `work(ask)`: `ask(question)` waits there until `answer` is called here.

    One of the two always waits, so the program is as reproducible as one without threads.

    Args:
        work: the program; must not hold a reference to the owner of this object, so that the thread ends when
            the owner is garbage-collected.
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
            self._questions.put(question)  # later calls raise the same error
            raise question.error
        return question

    def answer(self, value: Any) -> None:
        """Answer the last question; the program continues."""
        self._answers.put(value)

    def close(self) -> None:
        """End the program at its next question, and wait for its thread."""
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

"""A progress bar shows the remaining time of a study and the current ranking."""

import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import typer
from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text

from bandit_envs.basics.types import Floats
from gpbandits.commands.terminal import console, escaped, print_faults
from gpbandits.evaluation.formats import number
from gpbandits.evaluation.progress import bar_columns
from gpbandits.experiments import Outcome, Store, Study, run
from gpbandits.experiments.backends import Backend, Shard

INTERRUPTED = 130  # what shells return after Ctrl-C
ENDED = 143  # and after SIGTERM, by which schedulers preempt jobs


class EndedError(KeyboardInterrupt):
    """The process was asked to end by SIGTERM; like Ctrl-C it ends a run between files, never within one."""


@contextmanager
def interruptible(said: Callable[[], str]) -> Iterator[None]:
    """End the command with these words where Ctrl-C or SIGTERM interrupt the block, by their exit codes."""

    def end(*_signal: object) -> None:
        raise EndedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        console().print(said())
        raise typer.Exit(ENDED if isinstance(interrupt, EndedError) else INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


class Standing:
    """A standing is the mean regret of this run's finished trials on the environment of the latest cell."""

    def __init__(self) -> None:
        self._regret: dict[str, dict[str, list[Floats]]] = defaultdict(lambda: defaultdict(list))
        self._latest = ""

    def add(self, outcome: Outcome) -> None:
        """Add the regret of a finished cell."""
        if outcome.regret is not None:
            self._latest = outcome.cell.environment.label
            self._regret[self._latest][outcome.cell.agent.label].append(outcome.regret)

    def __str__(self) -> str:
        if not self._latest:
            return ""
        parts = list(self._regret[self._latest].items())  # a copy: rich calls this from its own thread
        finals = {label: np.concatenate(each) for label, each in parts}
        ranked = sorted(finals, key=lambda label: finals[label].mean())
        return f"mean regret on {self._latest} (trials of this run): " + ", ".join(
            f"{label} {number(finals[label].mean())} ({len(finals[label])})" for label in ranked
        )


class Bars(Progress):
    """A progress bar counts cells and shows the remaining time, with the standing below it."""

    def __init__(self) -> None:
        self.standing = Standing()
        super().__init__(*bar_columns("cells"), console=console())

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bar and, until the run is finished, the standing."""
        yield from super().get_renderables()
        if not self.finished:
            yield Text(str(self.standing), style="dim", overflow="ellipsis", no_wrap=True)


def run_with_progress(
    study: Study, store: Store, backend: Backend, time_limit: float | None = None, shard: Shard | None = None
) -> list[Outcome]:
    """Compute the missing cells and return the failures.

    Ctrl-C prints how to continue and exits with 130, SIGTERM with 143.
    """
    known = store.survey(study)
    print_faults(known.faults.values())
    own = known.keys if shard is None else shard.ordered(known.keys)
    total, done = len(own), sum(key in known.valid for key in own)
    with Bars() as bars:
        task = bars.add_task(study.name, total=total, completed=done)

        def show(outcome: Outcome) -> None:
            nonlocal done
            done += outcome.failure is None
            bars.standing.add(outcome)
            bars.advance(task)

        def said() -> str:
            bars.stop()
            return f"Interrupted: {done} of {total} cells are kept; run the command again to continue."

        with interruptible(said):
            return run(study, store, None, show, backend, time_limit, shard, known)


def repeat_failed(number: int) -> str:
    """Say how many cells failed, and how to repeat them."""
    several, these = ("s", "only these") if number > 1 else ("", "it alone")
    return f"{number} cell{several} failed; run the same command again to repeat {these}."


def end_if_failed(failed: list[Outcome]) -> None:
    """Print the tracebacks of failed cells on the error stream, then one line for each, and exit with 1."""
    if not failed:
        return
    errors = console(stderr=True)
    for outcome in failed:
        errors.print(Text(escaped(f"\n{outcome.cell} failed:\n{outcome.failure}")))
    errors.print(Text(repeat_failed(len(failed))))
    for outcome in failed:
        errors.print(Text(escaped(f"  {outcome.cell}: {outcome.reason}")), soft_wrap=True)
    raise typer.Exit(1)

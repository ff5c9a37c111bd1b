"""What a run of experiments reports, by a bar or lines, a log and a callback, and what ends it early."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from bandit_envs.basics.arguments import is_number, require

from .continuous import plain
from .history import Experiment
from .pictures.bar import bar_of
from .scale import sign_of
from .space import Values

# "gpbandits.tuner", without a handler: who wants to see it configures logging.
LOG = logging.getLogger("gpbandits").getChild("tuner")


@dataclass
class Reports:
    """What a run reports of its experiments, and what ends it: a target, or the answer of a callback."""

    tuner: Any
    n: int
    target: float | None = None
    callback: Callable[[Experiment], Any] | None = None
    progress: bool | None = None
    done: int = 0
    stopped: bool = False
    _failed: int = 0
    _bar: Any = None
    _writes: bool = False  # a line an experiment

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Log the beginning and the end of the block, and show in it how far the run is."""
        plan, on_terminal = self.tuner.plan, sys.stderr.isatty()
        LOG.info("%d experiments over %s, to %s", self.n, ", ".join(plan.parameters.kinds), plan.goal)
        wanted = self.progress
        if wanted is None:  # lines of a log would be written into a bar, and say more
            wanted = on_terminal and not LOG.isEnabledFor(logging.INFO)
        self._bar = bar_of(self.n) if wanted and on_terminal and find_spec("rich") else None
        self._writes = wanted and self._bar is None
        with nullcontext() if self._bar is None else self._bar:
            yield
        LOG.info("%d of %d experiments were run%s", self.done, self.n, self._record())

    def ended(self, ticket: int) -> None:
        """Report an experiment that has ended."""
        self.done += 1
        if not (self._bar or self._writes or self.callback or LOG.isEnabledFor(logging.INFO)):
            return
        each = next(each for each in self.tuner.experiments if each.ticket == ticket)
        found = each.reason if each.value is None else f"{each.value:.6g}"
        line = f"{self.done}/{self.n}: {each.state} {found} at {text_of(each.parameters)}{self._record()}"
        LOG.info("%s", line)
        if self._writes:
            print(line, file=sys.stderr, flush=True)
        self._failed += each.state == "failed"
        if self._bar is not None:
            lost = f", {self._failed} failed" if self._failed else ""
            self._bar.update(0, advance=1, description=f"{self._record()[2:] or 'no value'}{lost}")
        if self.callback is not None and self.callback(each) is True:
            self.stopped = True

    def enough(self) -> bool:
        """Return True if no further experiment should start."""
        best = self.tuner.best
        if self.target is None or best is None or self.stopped:
            return self.stopped
        sign = sign_of(self.tuner.plan.goal)
        return bool(sign * best.value >= sign * self.target)

    def _record(self) -> str:
        best = self.tuner.best_value
        return "" if best is None else f", best {best:.6g}"


def check_reports(target: Any, callback: Any, progress: Any) -> None:
    """Raise where an argument of reports is impossible."""
    require(target is None or is_number(plain(target)), "target", "None or a finite number", target)
    usable = callback is None or callable(callback)
    require(usable, "callback", "None or a function of an `agents.tuning.Experiment`", callback)
    require(progress is None or isinstance(progress, bool), "progress", "None, True or False", progress)


def text_of(parameters: Values) -> str:
    """Return parameters on one line, rounded."""
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in parameters.items()
    )

"""A table of a result has final regret, paired differences and their intervals."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.notebook import html_table
from bandit_envs.basics.types import Ints
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.detection import Detection
from gpbandits.evaluation.formats import MISSING, emphasised, inert, latex, markdown
from gpbandits.evaluation.marks import footnotes
from gpbandits.evaluation.measures import Measure
from gpbandits.evaluation.metrics import headed
from gpbandits.evaluation.statistics import (
    ENOUGH,
    FEW,
    RESAMPLES,
    Interval,
    bootstrap_interval,
    paired_difference,
    quantile_band,
    skew_notes,
    wilson_interval,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderResult

HARD, SOFT = "hard violation", "violation/round"  # columns where there are constraints
COVERAGE = (
    "Coverage: of the arms that can be certified from the safe seed by exact costs and their slopes, the "
    "share that the agent certified in the end or has played."
)
SAFETY = (
    "A play is unsafe if its noiseless mean violates a cost. The share of runs has Wilson's 95 % interval; "
    "the first round is the median of runs with an unsafe play, counted from 1."
)
SIMPLE = (
    "Simple regret is that of the best feasible, delivered play of the round's context and segment, within "
    "the agent's window if it has one; the largest possible without such a play."
)
SPENDING = "Budget regret: rho* times the spent budget minus rewards, rho* the best reward a unit of cost."
# A narrower console omits the bands, and averages, which are regret over the horizon.
_NARROW, _SPARED = 90, ("median [10, 90 %]", "average")
_NEXT = ("µs/round", SOFT, "simple")  # columns omitted next, in this order, before labels or numbers break
_GAP = 4  # characters between columns
_SHORT = 8  # longest word of a heading that never breaks


class TableSummary(NamedTuple):
    """A summary describes one agent at the horizon."""

    label: str
    regret: Interval  # mean cumulative regret, 95 % bootstrap
    band: Interval  # median and the 10 and 90 % quantiles of the trials
    difference: Interval | None  # to the baseline on the same trials, 95 % bootstrap; None for itself
    average_regret: float  # R_T over the rounds played
    simple_regret: float
    violation: float  # time average of V_T
    hard_violation: Interval  # of all rounds together, mean with 95 % bootstrap
    seconds_per_decision: float


def summarise(result: Curves, baseline: str | None = None) -> list[TableSummary]:
    """Summarise each agent, in order, with differences to `baseline`, by default that of the result."""
    final = {label: regret[:, -1] for label, regret in result.main.items()}
    average, violation = result.curves("average"), result.curves("average-violation")
    baseline = baseline or result.baseline
    if baseline not in final:
        raise ValueError(f"unknown baseline {baseline!r}; choose one of {', '.join(result.agents)}")
    return [
        TableSummary(
            label,
            bootstrap_interval(final[label]),
            quantile_band(final[label]),
            None if label == baseline else paired_difference(final[label], final[baseline]),
            float(average[label][:, -1].mean()),
            float(result.simple_regret[label][:, -1].mean()),
            float(violation[label][:, -1].mean()),
            bootstrap_interval(result.hard_violation[label][:, -1]),
            float(result.seconds_per_decision[label].mean()),
        )
        for label in result.ordered
    ]


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of text cells prints as aligned columns, and as a rich table on a rich console.

    Cells in bold are given by row and column; as text they are followed by an asterisk.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    bold: frozenset[tuple[int, int]] = frozenset()

    @staticmethod
    def of(result: Curves, summaries: list[TableSummary]) -> Table:
        """Lay out the summaries of a result."""
        baseline = next(summary.label for summary in summaries if summary.difference is None)

        constrained, budget = bool(result.num_constraints), bool(result.spent)
        columns: list[tuple[str, Callable[[TableSummary], str], bool]] = [
            ("agent", lambda row: result.marked(row.label), True),
            (HARD, lambda row: interval_text(row.hard_violation), constrained),
            ("budget regret" if budget else "cumulative regret", lambda row: interval_text(row.regret), True),
            ("median [10, 90 %]", lambda row: interval_text(row.band), True),
            (f"minus {baseline}", lambda row: interval_text(row.difference, signed=True), True),
            ("average", lambda row: number(row.average_regret), not budget),
            ("simple", lambda row: number(row.simple_regret), True),
            *((each.heading, partial(_of_measure, result, each), True) for each in headed(result)),
            (SOFT, lambda row: number(row.violation), constrained),
            ("rounds", lambda row: number(float(result.played[row.label].mean())), budget),
            ("spent", lambda row: number(float(result.spent[row.label][:, -1].mean())), budget),
            ("µs/round", lambda row: number(row.seconds_per_decision * 1e6), True),
        ]
        shown = [(heading, cell) for heading, cell, applies in columns if applies]
        header = tuple(heading for heading, _ in shown)
        rows = tuple(tuple(cell(row) for _, cell in shown) for row in summaries)
        return Table(result.environment, header, rows, _notes(result, baseline))

    def __str__(self) -> str:
        rows = emphasised(self.rows, self.bold, "{}*")
        widths = [max(map(len, column)) for column in zip(self.header, *rows, strict=True)]
        lines = [_line(cells, widths) for cells in (self.header, *rows)]
        rule = "─" * len(lines[0])
        return "\n".join([self.title, rule, lines[0], rule, *lines[1:], rule, *self.notes])

    def _repr_html_(self) -> str:
        return html_table(self.title, self.header, self.rows, self.notes, self.bold)

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as texts in a pandas DataFrame; numbers of trials are in `Result.to_frame`."""
        with from_extra("eval", "data frames"):
            import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.header))

    def to_csv(self) -> str:
        """Return the cells as comma-separated values."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows(map(inert, row) for row in (self.header, *self.rows))
        return file.getvalue()

    def to_markdown(self) -> str:
        """Return a Markdown table with the notes below."""
        return markdown(self.header, self.rows, self.notes, self.bold)

    def to_latex(self) -> str:
        """Return a LaTeX table with the rules of booktabs and the notes as caption."""
        return latex(self.title, self.header, self.rows, self.notes, self.bold)

    def _columns(self, width: int) -> list[int]:
        """Return the indices of the columns that fit a console of this width."""
        dropped = set() if width >= _NARROW else set(_SPARED)
        for name in _NEXT:
            if self._need(shown := self._without(dropped)) <= width:
                return shown
            dropped.add(name)
        return self._without(dropped)

    def _without(self, dropped: set[str]) -> list[int]:
        return [i for i, name in enumerate(self.header) if name not in dropped]

    def _need(self, shown: list[int]) -> int:
        """Return the least width of some columns in which no label and no number breaks."""
        return sum(map(self._least, shown)) + _GAP * (len(shown) - 1)

    def _widths(self, shown: list[int], room: int) -> dict[int, int]:
        """Distribute the spare width to headers from left to right; {} if labels break anyway."""
        left, widths = room - self._need(shown), {}
        for i in shown if left >= 0 else ():
            column = (self.header[i], *(piece for row in self.rows for piece in row[i].split(" [")))
            extra = min(left, max(map(len, column)) + 1 - self._least(i))
            widths[i], left = self._least(i) + max(extra, 0), left - max(extra, 0)
        return widths

    def _least(self, i: int) -> int:
        """Return the width of the widest label, piece of a cell or short word of the heading."""
        words = [word for word in self.header[i].split() if len(word) <= _SHORT]
        cells = [piece for row in self.rows for piece in ([row[i]] if i == 0 else row[i].split())]
        return max(map(len, words + cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        natural = len(str(self).splitlines()[1])
        interval_start = " [" if options.max_width >= natural else "\n["
        shown = self._columns(options.max_width)
        widths = self._widths(shown, options.max_width) if options.max_width < natural else {}
        table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
        for i in shown:
            side: Any = "right" if i else "left"
            table.add_column(Text(self.header[i]), justify=side, overflow="fold", width=widths.get(i))
        for rank, row in enumerate(self.rows):
            places = {(rank, i) for i in shown} if not self.bold and not rank else self.bold
            styles = ("bold" if (rank, i) in places else "" for i in shown)
            cells = (row[i].replace(" [", interval_start) for i in shown)
            table.add_row(*map(Text, cells, styles))
        yield Text(self.title, style="bold")
        yield table
        yield from (Text(note, style="dim") for note in self.notes)


def detection_table(result: Curves) -> Table:
    """Return a table with one row for each agent that detects changes."""
    columns: dict[str, Callable[[Detection], str]] = {
        "delay": lambda found: number(found.mean_delay),
        "missed": lambda found: number(found.missed_share),
        "false alarms/run": lambda found: interval_text(
            bootstrap_interval(found.false_alarms.astype(np.float64))
        ),
        "false alarms/round": lambda found: number(found.false_alarm_rate),
        "runs with one": lambda found: number(found.false_run_share),
    }
    detecting = [(label, result.detections[label]) for label in result.ordered if label in result.detections]
    rows = tuple(
        (result.marked(label), *(cell(found) for cell in columns.values())) for label, found in detecting
    )
    changes = sum(map(len, result.changes))
    notes = (
        f"{changes} changes in {result.num_trials} trials of {result.horizon} rounds, seed {result.seed}.",
        "Delay: rounds from a change to the first alarm before the next change; without one the change is "
        "missed. Every other alarm is false.",
    )
    return Table(f"{result.environment}: detection", ("agent", *columns), rows, notes)


def _of_measure(result: Curves, measure: Measure, row: TableSummary) -> str:
    held = result.held(measure.name)
    return interval_text(measure.estimate(held[row.label][:, -1])) if row.label in held else MISSING


def safety_table(result: Curves) -> Table:
    """Return a table of unsafe plays, their first round, hard violation and coverage, one row an agent."""
    if not result.num_constraints:
        raise ValueError("a table of safety needs costs, got a result without constraints")
    header = ("agent", "runs with an unsafe play", "unsafe plays/run", "first unsafe round", HARD)
    header += ("coverage",) if result.coverage else ()
    rows = tuple(
        (
            result.marked(label),
            interval_text(unsafe_share(plays)),
            interval_text(bootstrap_interval(plays[:, -1].astype(np.float64))),
            number(first_of(result.first_unsafe[label])),
            interval_text(bootstrap_interval(result.hard_violation[label][:, -1])),
            *((interval_text(bootstrap_interval(result.coverage[label])),) if result.coverage else ()),
        )
        for label in result.ordered
        for plays in [result.unsafe_plays[label]]
    )
    notes = (SAFETY, COVERAGE) if result.coverage else (SAFETY,)
    return Table(f"{result.environment}: safety", header, rows, notes)


def order_of(result: Curves) -> str:
    """Say in which order tables list the agents of a result with constraints."""
    asked = "violation" if result.long_term else "hard violation"
    return (
        f"In order: the least mean {asked} and what does not differ significantly from it (sign flips of all "
        "pairs, with Holm's correction at 5 %), by regret; then the rest likewise."
    )


def unsafe_share(plays: Ints) -> Interval:
    """Return the share of runs with an unsafe play and Wilson's interval, from running counts (B, T)."""
    return wilson_interval(np.asarray((plays[:, -1] > 0).mean()), len(plays))


def first_of(rounds: Ints) -> float:
    """Return the median first unsafe round, counted from 1, of runs with one; NaN without any."""
    seen = rounds[rounds >= 0]
    return float(np.median(seen + 1)) if len(seen) else float("nan")


def number(value: float, signed: bool = False) -> str:
    """Format with three significant digits, integers in full, powers of ten only below 0.0001."""
    sign = "+" if signed else ""
    if not np.isfinite(value):
        return MISSING if np.isnan(value) else f"{value:{sign}}"
    if 0 < abs(value) < 1e-4:
        return f"{value:{sign}.2e}"
    decimals = 2 - int(np.floor(np.log10(abs(value)))) if value else 0
    return f"{value:{sign}.{max(decimals, 0)}f}"


def interval_text(interval: Interval | None, signed: bool = False) -> str:
    """Return an estimate with its interval, if it has one; a dash for None."""
    if interval is None:
        return MISSING
    estimate, low, high = (number(float(part), signed) for part in interval)
    return f"{estimate} [{low}, {high}]" if low != MISSING else estimate


def _line(cells: Sequence[str], widths: list[int]) -> str:
    first, *others = cells
    padded = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *padded])


def _notes(result: Curves, baseline: str) -> tuple[str, ...]:
    trials = "1 trial" if result.num_trials == 1 else f"{result.num_trials} trials"
    size = f"{trials} of {result.horizon} rounds, seed {result.seed}."
    method = (
        "Means with 95 % BCa bootstrap intervals over trials "
        f"({RESAMPLES} resamples); differences are paired by trial, positive ones mean more regret."
    )
    violation = (
        "Hard violation: the sum over rounds of the norms of the positive parts of the costs; violation: the "
        "norm of the positive part of their sums, in which costs of different signs cancel. Regret may be "
        f"negative while a constraint is violated. {order_of(result)}"
    )
    notes = {
        size: True,
        method: result.num_trials > 1,
        FEW: 1 < result.num_trials < ENOUGH,
        violation: result.num_constraints > 0,
        SIMPLE: bool(result.windows or result.num_constraints or any(map(len, result.changes))),
        SPENDING: bool(result.spent),
    }
    finals = {label: result.main[label][:, -1] for label in result.ordered}
    skewed = skew_notes(finals, baseline)
    return (*(note for note, applies in notes.items() if applies), *skewed, *footnotes(result))

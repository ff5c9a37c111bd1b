"""A table of a result has final regret, paired differences and their intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.notebook import html_table, printable
from bandit_envs.basics.types import Ints
from gpbandits.evaluation import statistics
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.formats import Cell, csv_text, emphasised, latex, markdown, parts, text
from gpbandits.evaluation.marks import drawn_from, footnotes
from gpbandits.evaluation.measures import Measure
from gpbandits.evaluation.metrics import headed

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
    "the agent's window if it has one, to the best arm of all; the largest possible without such a play."
)
SPENDING = "Budget regret: rho* times the spent budget minus rewards, rho* the best reward a unit of cost."
# A narrower console omits the bands, and averages, which are regret over the horizon.
_NARROW, _SPARED = 90, ("median [10, 90 %]", "average")
_NEXT = ("µs/round", SOFT, "simple")  # columns omitted next, in this order, before labels or numbers break
_GAP = 4  # characters between columns
_SHORT = 8  # longest word of a heading that never breaks


Columns = Mapping[str, Callable[[str], Cell]]  # heading -> cell of an agent's label


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of labels, numbers and intervals, which prints as aligned columns and on a rich console.

    Cells in bold are given by row and column; as text they are followed by an asterisk. None is a dash.
    Columns of `signed` are differences, printed with their signs.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]
    bold: frozenset[tuple[int, int]] = frozenset()
    name: str = ""  # stem of its files in a report
    signed: frozenset[str] = frozenset()

    @staticmethod
    def by_agent(
        result: Curves,
        what: str,
        columns: Columns,
        notes: Sequence[str],
        among: Collection[str] | None = None,
    ) -> Table:
        """Return a table with a row an agent (of those `among` some) in order; `what` names its files."""
        labels = [label for label in result.ordered if among is None or label in among]
        rows = tuple((result.marked(x), *(cell(x) for cell in columns.values())) for x in labels)
        title = f"{result.environment}: {what}" if what else result.environment
        return Table(title, ("agent", *columns), rows, tuple(notes), name=what.partition(" ")[0])

    @cached_property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the cells as text."""
        signs = [name in self.signed for name in self.header]
        return tuple(tuple(map(text, row, signs)) for row in self.rows)

    def __str__(self) -> str:
        rows, header = emphasised(self.texts, self.bold, "{}*"), [*map(printable, self.header)]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [_line(cells, widths) for cells in (header, *rows)]
        rule = "─" * len(lines[0])
        title, *notes = map(printable, (self.title, *self.notes))
        return "\n".join([title, rule, lines[0], rule, *lines[1:], rule, *notes])

    def _repr_html_(self) -> str:
        return html_table(self.title, self.header, self.texts, self.notes, self.bold)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame of labels and numbers; an interval has columns for its ends.

        Numbers of trials are in `Result.to_frame`.

        Example:
            >>> few = {"num_arms": 20, "horizon": 30}
            >>> result = evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=2, env_kwargs=few)
            >>> frame = result.table().to_frame()
            >>> width = frame["cumulative regret high"] - frame["cumulative regret low"]
        """
        with from_extra("eval", "data frames"):
            import pandas as pd

        header, rows = self._numbers()
        return pd.DataFrame(
            [[np.nan if part is None else part for part in row] for row in rows], columns=header
        )

    def to_csv(self) -> str:
        """Return comma-separated values with all digits; an interval has columns for its ends."""
        header, rows = self._numbers()
        return csv_text([header, *(["" if part is None else part for part in row] for row in rows)])

    def _numbers(self) -> tuple[list[str], list[list[str | float | None]]]:
        """Return headings and rows with an interval in three columns; what is missing is None."""
        spans = [
            any(isinstance(row[i], statistics.Interval) for row in self.rows) for i in range(len(self.header))
        ]
        named = zip(self.header, spans, strict=True)
        header = [[name, f"{name} low", f"{name} high"] if span else [name] for name, span in named]
        rows = [[parts(*each) for each in zip(row, spans, strict=True)] for row in self.rows]
        return list(chain(*header)), [list(chain(*row)) for row in rows]

    def to_markdown(self) -> str:
        """Return a Markdown table with the notes below."""
        return markdown(self.header, self.texts, self.notes, self.bold)

    def to_latex(self) -> str:
        """Return a LaTeX table with the rules of booktabs and the notes as caption."""
        return latex(self.title, self.header, self.texts, self.notes, self.bold)

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

    def _widths(self, shown: list[int], width: int) -> dict[int, int]:
        """Distribute the spare width to headers from left to right; {} if labels break anyway."""
        left, widths = width - self._need(shown), {}
        for i in shown if left >= 0 else ():
            column = (self.header[i], *(piece for row in self.texts for piece in row[i].split(" [")))
            extra = min(left, max(map(len, column)) + 1 - self._least(i))
            widths[i], left = self._least(i) + max(extra, 0), left - max(extra, 0)
        return widths

    def _least(self, i: int) -> int:
        """Return the width of the widest label, piece of a cell or short word of the heading."""
        words = [word for word in self.header[i].split() if len(word) <= _SHORT]
        cells = [piece for row in self.texts for piece in ([row[i]] if i == 0 else row[i].split())]
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
            table.add_column(
                Text(printable(self.header[i])), justify=side, overflow="fold", width=widths.get(i)
            )
        for rank, row in enumerate(self.texts):
            places = {(rank, i) for i in shown} if not self.bold and not rank else self.bold
            styles = ("bold" if (rank, i) in places else "" for i in shown)
            cells = (row[i].replace(" [", interval_start) for i in shown)
            table.add_row(*map(Text, cells, styles))
        yield Text(printable(self.title), style="bold")
        yield table
        yield from (Text(printable(note), style="dim") for note in self.notes)


def result_table(result: Curves, baseline: str | None = None) -> Table:
    """Return final values of each agent, and differences to `baseline`, by default that of the result."""
    baseline = baseline or result.baseline
    final = {label: regret[:, -1] for label, regret in result.main.items()}
    constrained, budget = bool(result.num_constraints), bool(result.spent)
    charged = "budget regret" if budget else "cumulative regret"

    def mean(values: Mapping[str, Any]) -> Callable[[str], Cell]:
        return lambda x: float(values[x][:, -1].mean())

    def difference(x: str) -> Cell:
        return None if x == baseline else statistics.paired_difference(final[x], final[baseline])

    columns: list[tuple[str, Callable[[str], Cell], bool]] = [
        (HARD, lambda x: statistics.bootstrap_interval(result.hard_violation[x][:, -1]), constrained),
        (charged, lambda x: statistics.bootstrap_interval(final[x]), True),
        ("median [10, 90 %]", lambda x: statistics.quantile_band(final[x]), True),
        (f"minus {baseline}", difference, True),
        ("average", mean(result.curves("average")), not budget),
        ("simple", mean(result.simple_regret), result.has_simple_regret),
        *((each.heading, partial(_of_measure, result, each), True) for each in headed(result)),
        (SOFT, mean(result.curves("average-violation")), constrained),
        ("rounds", lambda x: float(result.played[x].mean()), budget),
        ("spent", lambda x: float(result.spent[x][:, -1].mean()), budget),
        ("µs/round", lambda x: float(result.seconds_per_decision[x].mean()) * 1e6, True),
    ]
    shown = {heading: cell for heading, cell, applies in columns if applies}
    made = Table.by_agent(result, "", shown, _notes(result, baseline))
    return dataclasses.replace(made, signed=frozenset({f"minus {baseline}"}))


def _of_measure(result: Curves, measure: Measure, label: str) -> Cell:
    held = result.held(measure.name)
    return measure.estimate(held[label][:, -1]) if label in held else None


def detection_table(result: Curves) -> Table:
    """Return a table with one row for each agent that detects changes."""
    found = result.detections
    columns: Columns = {
        "delay": lambda x: found[x].mean_delay,
        "missed": lambda x: found[x].missed_share,
        "false alarms/run": lambda x: statistics.bootstrap_interval(found[x].false_alarms.astype(np.float64)),
        "false alarms/round": lambda x: found[x].false_alarm_rate,
        "runs with one": lambda x: found[x].false_run_share,
    }
    changes = sum(map(len, result.changes))
    notes = (
        f"{changes} changes in {result.num_trials} trials of {result.horizon} rounds, {drawn_from(result)}.",
        "Delay: rounds from a change to the first alarm before the next change; without one the change is "
        "missed. Every other alarm is false.",
    )
    return Table.by_agent(result, "detection", columns, notes, found)


def safety_table(result: Curves) -> Table:
    """Return unsafe plays, their first round, hard violation and coverage, one row an agent."""
    if not result.num_constraints:
        raise ValueError("a table of safety needs costs, got a result without constraints")
    plays, first, covered = result.unsafe_plays, result.first_unsafe, result.coverage
    columns: Columns = {
        "runs with an unsafe play": lambda x: statistics.wilson_interval(
            np.asarray((plays[x][:, -1] > 0).mean()), result.num_trials
        ),
        "unsafe plays/run": lambda x: statistics.bootstrap_interval(plays[x][:, -1].astype(np.float64)),
        "first unsafe round": lambda x: _median_first(first[x]),
        HARD: lambda x: statistics.bootstrap_interval(result.hard_violation[x][:, -1]),
        **({"coverage": lambda x: statistics.bootstrap_interval(covered[x])} if covered else {}),
    }
    return Table.by_agent(result, "safety", columns, [SAFETY, *([COVERAGE] if covered else [])])


def order_of(result: Curves) -> str:
    """Say in which order tables list the agents of a result with constraints."""
    asked = "violation" if result.long_term else "hard violation"
    return (
        f"In order: the least mean {asked} and what does not differ significantly from it (sign flips of all "
        "pairs, with Holm's correction at 5 %), by regret; then the rest likewise."
    )


def _median_first(rounds: Ints) -> float:
    """Return the median first unsafe round, counted from 1, of runs with one; NaN without any."""
    seen = rounds[rounds >= 0]
    return float(np.median(seen + 1)) if len(seen) else float("nan")


def _line(cells: Sequence[str], widths: list[int]) -> str:
    first, *others = cells
    padded = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *padded])


def _notes(result: Curves, baseline: str) -> tuple[str, ...]:
    trials = "1 trial" if result.num_trials == 1 else f"{result.num_trials} trials"
    size = f"{trials} of {result.horizon} rounds, {drawn_from(result)}."
    method = (
        f"Means with 95 % BCa bootstrap intervals over trials ({statistics.RESAMPLES} resamples); "
        "differences are paired by trial, positive ones mean more regret."
    )
    violation = (
        "Hard violation: the sum over rounds of the norms of the positive parts of the costs; violation: the "
        "norm of the positive part of their sums, in which costs of different signs cancel. Regret may be "
        f"negative while a constraint is violated. {order_of(result)}"
    )
    notes = {
        size: True,
        method: result.num_trials > 1,
        statistics.FEW: 1 < result.num_trials < statistics.ENOUGH,
        violation: result.num_constraints > 0,
        SIMPLE: result.has_simple_regret
        and bool(result.windows or result.num_constraints or any(map(len, result.changes))),
        SPENDING: bool(result.spent),
    }
    finals = {label: result.main[label][:, -1] for label in result.ordered}
    skewed = statistics.skew_notes(finals, baseline)
    return (*(note for note, applies in notes.items() if applies), *skewed, *footnotes(result))

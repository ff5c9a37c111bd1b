"""Markdown of a figure: its claims with verdicts, their tests, and means at the last round."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, groupby

from gpbandits.evaluation.formats import footnotes, signs, text
from gpbandits.evaluation.measures import metric_named
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.evaluation.tables import detection_table
from gpbandits.reproductions.verdicts import OPEN, UNJUDGED, Judged, Row, table

Cells = dict[str, tuple[str, ...]]  # of a table, by agent
WIDEST = 4  # most columns of numbers of a table whose columns are environments
SHORT = {OPEN: "n.s.", UNJUDGED: ""}  # in tables; the sentences above them have the words
_METRIC = re.compile(r" \(([^()]*)\)$")  # at the end of a test


def claims_text(judged: Sequence[Judged]) -> str:
    """Return the paper's sentences once each, with a number and a verdict for each reading."""
    lines = []
    for says, same in groupby(enumerate(judged, 1), key=lambda pair: pair[1].says):
        found = [(f"**{i}**", " ".join(filter(None, (_plain(each), each.reading)))) for i, each in same]
        numbers, verdicts = zip(*found, strict=True)
        lines.append(f"- {', '.join(numbers)} {says} {' '.join(verdicts)}")
    return "\n".join(lines)


def _plain(judged: Judged) -> str:
    return f"*{judged.verdict.replace('*', '').capitalize()}.*"


def verdict_line(judged: Sequence[Judged]) -> str:
    """Return the verdicts by the numbers of the claims; neighbours with one verdict share it."""
    runs = groupby(enumerate(judged, 1), key=lambda pair: pair[1].verdict)
    numbered = [(", ".join(str(i) for i, _ in same), verdict) for verdict, same in runs]
    return "; ".join(f"{numbers}: {verdict.replace(OPEN, SHORT[OPEN])}" for numbers, verdict in numbered)


def table_of_tests(judged: Sequence[Judged]) -> str:
    """Return a table of the tests, with a column a problem if they are few; empty without tests."""
    rows = [(str(i), row) for i, each in enumerate(judged, 1) for row in each.rows]
    metrics = {match[1] if (match := _METRIC.search(row.tested)) else "" for _, row in rows}
    if len(metrics) == 1 and "" not in metrics:
        rows = [(i, row._replace(tested=_METRIC.sub("", row.tested))) for i, row in rows]
        return _tests(f"test ({metrics.pop()})", rows)
    return _tests("test", rows) if rows else ""


def _tests(header: str, rows: Sequence[tuple[str, Row]]) -> str:
    problems = list(dict.fromkeys(row.problem for _, row in rows))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for i, row in rows:
        found.setdefault((i, row.tested), {})[row.problem] = _measured(row)
    if len(problems) == 1:
        return table(
            ("claim", header, "measured"), _once([(*key, *by.values()) for key, by in found.items()])
        )
    if len(problems) <= WIDEST and len(rows) > len(found):
        cells = [(*key, *(by.get(problem, "") for problem in problems)) for key, by in found.items()]
        return table(("claim", header, *problems), _once(cells))
    listed = [(i, row.problem, row.tested, _measured(row)) for i, row in rows]
    return table(("claim", "problem", header, "measured"), _once(listed))


def _measured(row: Row) -> str:
    """Return the measurement and the verdict, and the p-value where it is near the level."""
    near = row.p_value and row.verdict != UNJUDGED and 0.01 < float(row.p_value) < 0.2
    parts = row.measured, SHORT.get(row.verdict, row.verdict), f"(p = {row.p_value})" if near else ""
    return " ".join(filter(None, parts))


def means_text(results: Sequence[Result], metrics: Sequence[Metric]) -> str:
    """Return the means at the last round, and delays and false alarms of the agents that detect changes."""
    sizes = [f"{each.num_trials} trials of {each.horizon} rounds, seed {each.seed}" for each in results]
    equal = len(set(sizes)) == 1
    places = [
        each.environment if equal else f"{each.environment} ({size})"
        for each, size in zip(results, sizes, strict=True)
    ]
    intro = (f"{places[0]}: {sizes[0]}." if len(results) == 1 else f"{sizes[0]}:") if equal else ""
    found = {place: _means(each, results, metrics) for place, each in zip(places, results, strict=True)}
    detected = {place: _detected(each) for place, each in zip(places, results, strict=True)}
    texts = [metric_named(metric).text for metric in metrics]
    (detections,) = {tuple(columns) for columns, _ in detected.values()} or {()}
    alarms = {place: cells for place, (_, cells) in detected.items() if cells}
    tables = [_columns(shown, names) for shown, names in ((found, texts), (alarms, detections)) if shown]
    return "\n\n".join(filter(None, [intro, *tables[:1], " ".join(footnotes(*results)), *tables[1:]]))


def _means(result: Result, results: Sequence[Result], metrics: Sequence[Metric]) -> Cells:
    """Return the means of each agent, the one with the least of the first metric first."""
    curves = [result.curves(metric) for metric in metrics]
    first = curves[0]
    return {
        label + signs(label, *results): tuple(text(bootstrap_interval(each[label][:, -1])) for each in curves)
        for label in sorted(first, key=lambda label: first[label][:, -1].mean())
    }


def _detected(result: Result) -> tuple[list[str], Cells]:
    """Return the names and cells of the columns of the table of detections, without the rate a round."""
    found = detection_table(result)
    kept = [i for i, name in enumerate(found.header) if name not in ("agent", "false alarms/round")]
    return [found.header[i] for i in kept], {row[0]: tuple(row[i] for i in kept) for row in found.texts}


def _columns(found: Mapping[str, Cells], names: Sequence[str]) -> str:
    """Return environments beside each other if they have the same agents and fit, else one after another."""
    agents = list(next(iter(found.values())))
    equal = all(set(agents) == set(cells) for cells in found.values())
    if len(found) > 1 and not (equal and len(found) * len(names) <= WIDEST):
        rows = [(place, agent, *cells) for place, by in found.items() for agent, cells in by.items()]
        return table(("environment", "agent", *names), _once(rows))
    rows = [(agent, *chain(*(by[agent] for by in found.values()))) for agent in agents]
    if len(found) > 1 and len(names) == 1:
        return table((f"agent ({names[0]})", *found), rows)
    heads = [f"{place}, {name}" if len(found) > 1 else name for place in found for name in names]
    return table(("agent", *heads), rows)


def _once(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave the first cell empty where it is that of the row above."""
    above = ["", *(first for first, *_ in rows)]
    return [("" if row[0] == last else row[0], *row[1:]) for last, row in zip(above, rows, strict=False)]

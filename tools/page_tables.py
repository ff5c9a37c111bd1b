"""Write the tables that pages include of stored results, after those have changed.

    python tools/page_tables.py
    python tools/page_tables.py stopping duels

Each is a file in a folder beside its results; its heading stays as it is there. Pages that a command makes
(reproductions, leaderboards, docs/survives.md) have their tables from that.
"""

import argparse
import runpy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gpbandits.report.stored import Cells, cells_of, read_cells, write_cells

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
Lines = Sequence[str]  # of a table in Markdown, with or without its heading
Named = Iterator[tuple[str, Lines]]  # by the file's path within the results, without its suffix


def stopping() -> Named:
    """Yield a table a setting."""
    script = _script("benchmarks/stopping.py")
    for name, lines in script["tables"](script["read"](RESULTS / "stopping.csv")).items():
        yield f"stopping/{name}", lines


def clicks() -> Named:
    """Yield regrets, differences and bands, and a table a further problem."""
    script = _script("benchmarks/clicks.py")
    *regrets, others = script["read"](RESULTS)
    for name, lines in (script["tables"](*regrets) | script["tables_of_others"](others)).items():
        yield f"clicks/{name}", lines


def duels() -> Named:
    """Yield a table a norm."""
    script = _script("benchmarks/duels.py")
    for bound, lines in script["tables"](script["read"](RESULTS / "duels.csv")).items():
        yield f"duels/norm-{bound}", lines


def moves() -> Named:
    """Yield costs of moves, and regret under drift; the bands are shown as they are stored."""
    tables = _script("benchmarks/movement.py")["tables"]
    of_moves, _, drifting = tables(RESULTS / "movement.csv", RESULTS / "drift_bands.csv")
    yield "movement/moves", of_moves
    yield "movement/drift", drifting


def changes() -> Named:
    """Yield regrets where functions change, and where they come back, and false alarms."""
    script = _script("examples/papers/changes.py")
    shown = [run for run in script["read"](RESULTS / "changes.csv") if run.agent not in HIDDEN]
    yield "changes/regret", script["as_markdown"](shown)
    yield "changes/returning", script["as_markdown"](script["read"](RESULTS / "recurring.csv"))
    yield "changes/alarms", script["alarms_as_markdown"](script["read_counts"](RESULTS / "false_alarms.csv"))


HIDDEN = ("r-gp-ucb", "tv-gp-ucb", "w-gp-ucb")  # of the agents that forget


def constraints() -> Named:
    """Yield the bench, the data rates, and the safe agents."""
    script, safe = _script("examples/papers/constrained_bench.py"), _script("examples/papers/safe_bench.py")
    runs = script["read"](RESULTS / "constraints.csv")
    yield "constraints/bench", script["bench_as_markdown"](runs)
    rates = [run for run in runs if run.problem == "data rates"]
    yield "constraints/data-rates", script["elsewhere_as_markdown"](rates)
    yield "constraints/safe", safe["as_markdown"](safe["read"](RESULTS / "safe.csv"))


def logs() -> Named:
    """Yield coverage, and values of the campaigns."""
    yield "logs/coverage", _script("tools/log_coverage.py")["lines"](_rows("log_coverage"))
    yield "logs/campaigns", _script("tools/open_bandit_values.py")["lines"](_rows("open_bandit"))


def reinforcement() -> Named:
    """Yield presets, fresh trials, the ranking and discounts, and both tracks."""
    script, shown = _script("tools/tune_rl.py"), _script("examples/reinforcement/one_table.py")
    yield "presets/grid", script["as_markdown"](script["read"](RESULTS / "presets.csv"))
    yield "presets/fresh", script["fresh_as_markdown"](RESULTS / "presets_fresh.csv")
    yield "presets/ranking", script["ranking_as_markdown"](RESULTS / "presets_ranked.csv")
    yield "presets/late", script["late_as_markdown"](script["read"](RESULTS / "presets_late.csv"))
    for track, labels in (("from-scratch", LEARNERS), ("pretrained", shown["TRAINED"])):
        results = shown["kept"](RESULTS / "rl-and-gp" / track)
        yield f"rl-and-gp/{track}", shown["table"](results, labels).splitlines()


LEARNERS = (
    "GP-UCB",
    "GP-UCB-SDF",
    "GP-UCB-CPD",
    "GP agent",
    "PPO",
    "A2C",
    "DQN",
    "DQN, attributed",
    "SAC",
    "TD3",
)


def field() -> Named:
    """Yield entrants, the subsets on which the default does not have the least, and pairs of parts."""
    script = _script("examples/papers/field.py")
    runs = script["read"](RESULTS / "field.csv")
    ranked = script["ranking"](runs)
    names = [tuple(cells[:3]) for cells in cells_of(ranked)]
    firsts = {name[0]: i for i, name in reversed([*enumerate(names)])}
    firsts |= {name[1]: i for i, name in reversed([*enumerate(names)]) if name[0] == "config"}
    chosen = {*firsts.values(), names.index(("config", "evidence", "delivered"))}
    yield "field/ranking", [ranked[i] for i in sorted(chosen)]
    yield "field/subsets", [line for line in script["champions"](runs) if not line.endswith("| the same |")]
    yield "field/matches", script["matches"](runs)


def calibration() -> Named:
    """Yield a line a width that the page shows."""
    script, name = _script("examples/papers/calibration.py"), "calibration/widths"
    shown = {label for label, *_ in read_cells(RESULTS / f"{name}.csv")}
    findings = script["read"](RESULTS / "calibration.csv")
    yield name, [script["as_markdown"](finding) for finding in findings if finding.label in shown]


def elimination() -> Named:
    """Yield regrets by kernel and horizon, and those under attack."""
    script, attacked = _script("examples/papers/elimination.py"), _script("examples/papers/attacked.py")
    yield "elimination/regret", script["as_markdown"](script["read"](RESULTS / "elimination.csv"))
    yield "elimination/attacked", attacked["as_markdown"](attacked["read"](RESULTS / "attacked.csv"))


def real() -> Named:
    """Yield the marks, the agent of today beside them, and beside the design sheet."""
    script = _script("tools/real_marks.py")
    former, now = script["before"](script["scores"](script["MARKED"])), script["of_today"](script["scores"]())
    yield "real-tasks/marks", script["as_markdown"](former)
    yield "real-tasks/sheet", script["beside_sheet"]()
    yield "real-tasks/today", script["beside_marks"](former, now, script["errors"]())


PAGES: dict[str, Callable[[], Named]] = {
    each.__name__: each
    for each in (
        *(stopping, clicks, duels, moves, changes, constraints, logs, reinforcement, field, calibration),
        *(elimination, real),
    )
}


def _script(path: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / path))


def _rows(name: str) -> list[dict[str, str]]:
    header, *rows = read_cells(RESULTS / f"{name}.csv")
    return [dict(zip(header, row, strict=True)) for row in rows]


def with_heading(lines: Lines, file: Path) -> Cells:
    """Return the cells of a table's lines under the heading of its file."""
    cells = cells_of(lines)
    header = read_cells(file)[0]
    return [header, *(cells[1:] if len(cells) < len(lines) else cells)]  # the rule is below a heading


def main() -> None:
    """Write the tables of the pages that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"{', '.join(PAGES)}; by default all")
    for page in parser.parse_args().pages or PAGES:
        for name, lines in PAGES[page]():
            file = RESULTS / f"{name}.csv"
            write_cells(with_heading(lines, file), file)


if __name__ == "__main__":
    main()

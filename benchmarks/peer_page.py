"""What `benchmarks/peers.py` found, kept as JSON and told in docs/performance.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpbandits.report.stored import write_including

ROOT = Path(__file__).parents[1]
STORED, PAGE = ROOT / "docs" / "results" / "peers.json", ROOT / "docs" / "performance.md"
FILES = ("results/peers/workloads.csv", "results/peers/growth.csv")


class Row(NamedTuple):
    """A way to play a workload."""

    workload: str
    way: str
    microseconds: float  # a round of one trial, median of the repeats
    ratio: tuple[float, float, float]  # to ours in the same repeat: median, least and largest
    check: str


class Growth(NamedTuple):
    """What a round costs at several sizes."""

    way: str
    size: str
    sizes: list[int]
    microseconds: list[float]

    @property
    def slope(self) -> float:
        """Of the logarithm of the cost in that of the size, by least squares."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.microseconds), 1)[0])


class Findings(NamedTuple):
    """All that the page says."""

    machine: str
    versions: dict[str, str]
    workloads: dict[str, str]  # what each is
    rows: list[Row]
    growth: list[Growth]
    left_out: list[str]


def write(findings: Findings) -> None:
    """Keep the numbers, and the page that says them."""
    plain = findings._asdict() | {
        "rows": [row._asdict() for row in findings.rows],
        "growth": [each._asdict() for each in findings.growth],
    }
    STORED.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    write_including(page(findings), PAGE, FILES)


def read(path: Path = STORED) -> Findings:
    """Read what `write` kept."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    rows = [Row(**row | {"ratio": tuple(row["ratio"])}) for row in plain["rows"]]
    growth = [Growth(**each) for each in plain["growth"]]
    return Findings(**plain | {"rows": rows, "growth": growth})


def page(findings: Findings) -> str:
    """The whole of docs/performance.md, which has its own tables from `FILES`."""
    versions = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    return TEXT.format(
        machine=findings.machine,
        versions=versions,
        workloads="\n".join(f"- **{name}**: {what}" for name, what in findings.workloads.items()),
        rows="\n".join(lines(findings.rows)),
        growth="\n".join(map(growth_line, findings.growth)),
    )


WAYS = ("scikit-learn", "BoTorch", "GPy")


def lines(rows: list[Row]) -> Iterator[str]:
    """The lines of the table: our microseconds, the others' multiples of them, and what was compared."""
    for workload, group in groupby(rows, key=lambda row: row.workload):
        ways = {row.way: row for row in group}
        ours, others = ways[OURS], [ways[way] for way in WAYS if way in ways]
        multiples = [multiple(ways[way].ratio) if way in ways else "-" for way in WAYS]
        checks = {row.way: row.check.partition(",")[0] for row in (ours, *others) if row.check}
        cells = [workload, short(ours.microseconds), *multiples, joined(checks)]
        yield f"| {' | '.join(cells)} |"


def joined(checks: dict[str, str]) -> str:
    """All checks, with the words in which they begin alike once."""
    if len({*checks.values()}) == 1:
        return next(iter(checks.values()))
    words = {way: check.split() for way, check in checks.items()}
    alike = len([*takewhile(lambda each: len({*each}) == 1, zip(*words.values(), strict=False))])
    rests = (f"{way} {' '.join(each[alike:])}" for way, each in words.items())
    return f"{' '.join(next(iter(words.values()))[:alike])}: {', '.join(rests)}"


def multiple(ratio: tuple[float, float, float]) -> str:
    """How many times ours, with the least and the largest of the repeats."""
    median, *ends = map(short, ratio)
    return median if ends == [median, median] else "{} ({} to {})".format(median, *ends)


def growth_line(growth: Growth) -> str:
    """One line of the table of slopes."""
    sizes, costs = ", ".join(map(str, growth.sizes)), ", ".join(map(short, growth.microseconds))
    return f"| {growth.way} | {growth.size} | {sizes} | {costs} | {growth.slope:.2f} |"


def short(value: float) -> str:
    """Two digits, without an exponent."""
    return np.format_float_positional(value, precision=2, unique=False, fractional=False, trim="-")


OURS = "gpbandits"
TEXT = """# What a round costs, here and elsewhere

For readers who ask how fast a round is. One process plays a problem with this package, and asks
scikit-learn, BoTorch and GPy, given the same plays, kernel, noise variance and width, for their arm.
They compute the posterior from scratch each time; here it is updated. Later rounds are timed, on one
thread, in time of the processor. Machines differ: read the ratios.

{machine}; {versions}.

{workloads}

Microseconds a trial's round, and how many times that the others take (least to largest). GPy has no search
for the best point of a box.

| workload | gpbandits | scikit-learn | BoTorch | GPy | check |
|---|---|---|---|---|---|
{rows}

## A round beside a bare loop

`python benchmarks/step.py --write` plays a trial in this package and in a bare numpy loop of the same
mathematics, without classes, checks and feedback records: microseconds a round of act and update, of the
loop, their ratio, the step of the environment, and the share of rounds with the same arm (a Thompson loop
draws other samples). Lines of 64 trials are a trial's share. Machines differ in what Python costs beside
numpy: numbers are the least and the largest of the two that were measured, whose tables lie in
`docs/results/step` (that of `amd-epyc` is of the code of 27 November 2026, and does not name the model of its
processor).

```{{csv-table}}
:file: results/step.csv
:header-rows: 1
```

[CSV](results/step.csv)

Under contexts a kernel that is a product of two with few weights is kept as these weights, as by the loop;
any other by rows, as by the loop of the line `by rows`. A Thompson loop takes a Cholesky factor of the
weights' covariance; ours takes Matheron's rule from the plays, so that every form of a posterior draws the
same sample. Beside a loop of the same rule and samples, which plays the same arms, stand the lines of `the
same samples`.

Steps of environments, by `python benchmarks/env_step.py --write`:

```{{csv-table}}
:file: results/env_step.csv
:header-rows: 1
```

[CSV](results/env_step.csv)

Long runs, by `python benchmarks/long_run.py --write`:

```{{csv-table}}
:file: results/long_run.csv
:header-rows: 1
```

[CSV](results/long_run.csv)

From 200,000 points of a product of kernels on, GP-UCB in one trial keeps bounds of its scores on slabs of
points and computes slabs until none can hold the best: the arms are those of all scores, to 1e-9 of a prior
deviation. All scores are computed by other rules and beliefs, in batches, under constraints and restarts, and
where first plays are random, arms come and go, prior means differ, or values are corrected, weighted or
gathered (`repeat`).

Changes that were tried, each row measured before and after, in turns, in time of the processor; shares of
two changes in one row were not measured apart:

```{{csv-table}}
:file: results/shorter.csv
:header-rows: 1
```

[CSV](results/shorter.csv)

What a round of one trial takes beyond the loop is Python: calls between the parts, which
`python benchmarks/one_round.py --show` counts, and small arrays. `python benchmarks/compiled.py --write`
plays the bare loop compiled by numba too, without objects: what an extra with compiled rounds saved would be
at most the difference of the two loops. It is left out, because last bits would depend on what is installed.

```{{csv-table}}
:file: results/compiled.csv
:header-rows: 1
```

[CSV](results/compiled.csv)

## Tuners and studies

`python benchmarks/tuner.py --write`: processor's time of a question of the default `Tuner` and of a report,
and what it keeps, in a process whose bare loop is in the first line; other processes ran beside it. The
posterior, a Cholesky factor of 8 n^2 bytes, is made anew for each question; a kernel is learnt from the
latest 200 results, more rarely the more there are. The bound set for a question in six dimensions after 100
results was 5 ms on a machine whose bare loop takes 16 us; in that unit the table has 5.2 ms: it is not met.

```{{csv-table}}
:file: results/tuner.csv
:header-rows: 1
```

[CSV](results/tuner.csv)

Under k > 512 plays the search screens 512^2 / k points of a box. Median simple regret (quartiles) of the
best of 20 questions after 700 random points, 12 seeds, by `python benchmarks/crowded_boxes.py --write`:

```{{csv-table}}
:file: results/crowded_boxes.csv
:header-rows: 1
```

[CSV](results/crowded_boxes.csv)

`python benchmarks/studies.py --write`: studies beside their cells. Efficiency is that
of two workers whose cells take a second of the clock:

```{{csv-table}}
:file: results/studies.csv
:header-rows: 1
```

[CSV](results/studies.csv)

## How the cost of a round grows

| way | with | sizes | microseconds a round | slope in logarithms |
|---|---|---|---|---|
{growth}

`pip install ".[peers]"` and `python benchmarks/peers.py --write` make this page and its data anew.
"""

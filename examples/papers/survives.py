"""What holds on real tasks of what our pages say of samples of Gaussian processes: docs/survives.md, whole.

The results are those that the leaderboard of the real tasks archived.

    python examples/papers/survives.py --write docs/survives.md
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from statements import (
    AGENT,
    ARCHIVE,
    LOSS,
    STATEMENTS,
    Statement,
    counts,
    finals,
    on_tasks,
    read,
    signs_of,
)

from bandit_envs.basics.types import Floats
from bandit_envs.problems.real import tasks
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import ENOUGH, Interval, bootstrap_interval
from gpbandits.report.board import FEWEST, signed_ranks
from gpbandits.report.entrants import unit_of_task
from gpbandits.report.stored import write_including

LARGE = 1e4
WIDEST = 4  # rivals in a table, so that none is cut at 1280 px
WORDS = {-1: "less", 1: "more", 0: "no significant difference"}
HEAD = """# What survives on real tasks

For readers who choose an agent by what our pages found on samples of Gaussian processes: afterwards you
know which of it holds on [real tasks](real.md), where delays, limits, costs and noise were measured.

{about}

A statement is judged by the pairs of its agent with another one on a task, at the last round: all sign
flips, paired by trial, with Holm's correction over the pairs of the statement. It *holds* where some
differences are significant and all these have the right sign, holds *in part* where there are both signs,
is *reversed* where all have the other one, and *does not come out* where none is significant. Every task
but the digits has its own table, and no verdict reaches beyond these tables. The loss is that of the
[leaderboard](leaderboard-real.md): the positive part of the regret, of the budget regret under a budget,
and under limits the violation too, both relative to random play; under a budget both are a unit of what was
spent.

Tables below a statement have means with 95 % intervals, and * marks the least. On tasks that are not named
below them the difference is not significant.
"""
PAIRS = "Mean losses over tasks, of agents that played all of them, and pairs of `gp-agent` with others."
OVER = """Few trials tell little of one task, and many tasks more of an agent. Here the units are tasks, not
trials (the digits, which are played in five families, count once): mean losses over those that both agents
played, on how many of them `gp-agent` has less, and p of a Wilcoxon signed-rank test of the differences,
two-sided, with Holm's correction over the rows. Agents that share fewer than {} units are left out."""
BESIDE = """Means at the last round, of `gp-agent` and of its rival, the other agent of least loss: regret
(under a budget the budget regret), the violation where there are limits, and simple regret, that of the best
play whose result was delivered."""
FOOT = """## How to make it again

```bash
python examples/papers/survives.py --write docs/survives.md
```

`docs/results/real` has every trial at the quarters of its rounds."""


def summary(statement: Statement, found: Mapping[str, Result]) -> str:
    """Return the line of a statement: pairs of a rival and a task, by sign, and what that amounts to."""
    less, more, equal = counts(list(signs_of(statement, found).values()))
    return f"| {statement.text} | {less} | {more} | {equal} | {_word(less, more)} |"


def _word(less: int, more: int) -> str:
    if less and more:
        return "holds in part"
    return "holds" if less else "is reversed" if more else "does not come out"


def by_family(statement: Statement, found: Mapping[str, Result]) -> Iterator[str]:
    """Yield a line a family: means, pairs by sign, and who has significantly less than the agent where."""
    signs, values = signs_of(statement, found), on_tasks(statement, found)
    for family in dict.fromkeys(tasks()[name].family for name in values):
        names = [name for name in values if tasks()[name].family == family]
        own = {pair: sign for pair, sign in signs.items() if pair[1] in names}
        ahead = ", ".join(f"`{other}` on {name}" for (other, name), sign in own.items() if sign > 0)
        mean = {
            label: float(np.mean([values[name][label].mean() for name in names]))
            for label in values[names[0]]
            if all(label in values[name] for name in names)
        }
        best = min((label for label in mean if label != statement.one), key=lambda label: mean[label])
        means = f"{mean[statement.one]:.3f}", f"{mean[best]:.3f} (`{best}`)"
        cells = (family, len(names), *means, *counts(list(own.values())), ahead or "nobody")
        yield f"| {' | '.join(map(str, cells))} |"


def beside_the_best(found: Mapping[str, Result]) -> Iterator[str]:
    """Yield a line a task: regret, violation and simple regret of the agent and of its nearest rival."""
    for name, result in found.items():
        losses = {label: own.mean() for label, own in finals(result, LOSS).items() if label != AGENT}
        rival = min(losses, key=lambda label: losses[label])
        violation = result.hard_violation if result.num_constraints else {}
        pairs = [
            " and ".join(f"{curves[label][:, -1].mean():.3g}" for label in (AGENT, rival)) if curves else "-"
            for curves in (result.main, violation, result.simple_regret)
        ]
        yield f"| {name} | {rival} | {' | '.join(pairs)} |"


def over_tasks(statement: Statement, found: Mapping[str, Result]) -> Iterator[str]:
    """Yield a line for each other agent: losses, tasks on which the agent has less, and p over tasks."""
    losses = on_tasks(statement, found)
    units = {name: unit_of_task(f"Real/{name}") for name in losses}
    rivals: dict[str, Floats] = {}
    for other in sorted({label for own in losses.values() for label in own} - {statement.one}):
        pairs: dict[str, list[list[float]]] = {}
        for name, own in losses.items():
            if other in own:
                both = [float(own[statement.one].mean()), float(own[other].mean())]
                pairs.setdefault(units[name], []).append(both)
        if len(pairs) >= FEWEST:
            rivals[other] = np.array([np.mean(each, axis=0) for each in pairs.values()])
    tested = signed_ranks([table[:, 0] - table[:, 1] for table in rivals.values()]) if rivals else []
    for (other, table), p in zip(rivals.items(), tested, strict=True):
        fewer = int((table[:, 0] < table[:, 1]).sum())
        one, theirs = table.mean(axis=0)
        yield f"| {other} | {len(table)} | {one:.3f} | {theirs:.3f} | {fewer} | {p:.2g} |"


def as_markdown(statement: Statement, found: Mapping[str, Result]) -> Iterator[str]:
    """Yield tables of a line a task, with each agent's mean and 95 % interval; a star marks the least mean.

    Tables of more agents than a page is wide for become several, which begin with the statement's agent.
    """
    values = on_tasks(statement, found)
    for rivals in _rivals(statement, values):
        yield from ["", *_table(statement, values, [statement.one, *rivals])]


def _rivals(statement: Statement, values: Mapping[str, dict[str, Floats]]) -> list[list[str]]:
    """Return the rivals of each table of a statement."""
    rivals = sorted({label for own in values.values() for label in own} - {statement.one})
    return [rivals[start : start + WIDEST] for start in range(0, len(rivals), WIDEST)]


def _table(
    statement: Statement, values: Mapping[str, dict[str, Floats]], agents: Sequence[str]
) -> Iterator[str]:
    yield f"| {statement.quantity} | {' | '.join(agents)} |"
    yield f"|{'---|' * (1 + len(agents))}"
    for name, own in values.items():
        least = min(each.mean() for each in own.values())
        unit = 1.0 if least < LARGE else 1000.0  # so that columns are narrow
        cells = [_cell(own[label] / unit, least / unit) if label in own else "-" for label in agents]
        yield f"| {name}{', in 1000' if unit > 1 else ''} | {' | '.join(cells)} |"


def _cell(own: Floats, least: float) -> str:
    return _text(bootstrap_interval(own)) + (" *" if own.mean() == least else "")


def _text(interval: Interval) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, interval))


def verdicts(statement: Statement, found: Mapping[str, Result]) -> Iterator[str]:
    """Yield on which tasks the agent has significantly less or more than each other."""
    signs = signs_of(statement, found)
    for other in statement.others:
        own = {name: sign for (against, name), sign in signs.items() if against == other}
        where = {word: [n for n, sign in own.items() if sign == code] for code, word in WORDS.items()}
        said = "; ".join(
            f"{word}: {', '.join(names) if len(names) < len(own) else f'all {len(own)} tasks'}"
            for word, names in where.items()
            if names and (word != WORDS[0] or len(names) == len(own))
        )
        if said:
            yield f"- `{statement.one}` against `{other}`: {said}"


def about(found: Mapping[str, Result]) -> str:
    """Say what was played, and whether that is enough."""
    numbers = sorted({result.num_trials for result in found.values()})
    trials = " to ".join(map(str, numbers[:: max(len(numbers) - 1, 1)]))
    own = sum(AGENT in result.agents for result in found.values())
    said = f"{len(found)} of the {len(tasks())} tasks are judged here, in {trials} trials each; "
    said += f"`{AGENT}` on {own} of them."
    if len(found) == len(tasks()) and numbers[0] >= ENOUGH:
        return said
    missing = f"This page is provisional until all have {ENOUGH} trials"
    return f"{said} **{missing}: few trials leave most differences open.**"


def page(found: Mapping[str, Result]) -> str:
    """Return the page."""
    columns = "less | more | no significant difference |"
    first, *others = STATEMENTS
    heads = f"family | tasks | loss | least of others | {columns} significantly less loss"
    lines = [HEAD.format(about=about(found)), f"| statement | {columns} verdict |", "|---|---|---|---|---|"]
    lines += [summary(each, found) for each in STATEMENTS]
    lines += ["", "## The agent for real problems", "", PAIRS, "", f"| {heads} |", f"|{'---|' * 8}"]
    lines += by_family(first, found)
    heads = f"another | tasks | loss of `{AGENT}` | loss of the other | tasks with less | p"
    lines += ["", "### Over tasks", "", OVER.format(FEWEST), "", f"| {heads} |", f"|{'---|' * 6}"]
    lines += over_tasks(first, found)
    heads = "task | rival | regret | violation | simple regret"
    lines += ["", "### Regret by task", "", BESIDE, "", f"| {heads} |", f"|{'---|' * 5}"]
    lines += beside_the_best(found)
    for each in others:
        judged = list(as_markdown(each, found))
        lines += ["", f"## {each.text}"]
        lines += [*judged, "", *verdicts(each, found)] if judged else ["", "Not measured yet."]
    return "\n".join([*lines, "", FOOT, ""])


def files(found: Mapping[str, Result]) -> list[str]:
    """Return the files of the page's tables in its order, by their paths from the page."""
    stems = ["statements", "families", "over-tasks", "regret"]
    for each in STATEMENTS[1:]:
        tables = len(_rivals(each, on_tasks(each, found)))
        stems += [each.stem] if tables == 1 else [f"{each.stem}-{i}" for i in range(1, tables + 1)]
    return [f"results/survives/{stem}.csv" for stem in stems]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--archive", type=Path, default=ARCHIVE, help="of `leaderboard --archive`")
    parser.add_argument(
        "--write",
        type=Path,
        help="the page to write, which includes the files of its tables; by default it is printed whole",
    )
    options = parser.parse_args()
    found = read(options.archive)
    text = page(found)
    if options.write:
        write_including(text, options.write, files(found))
    else:
        print(text)


if __name__ == "__main__":
    main()

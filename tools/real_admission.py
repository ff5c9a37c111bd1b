"""Which tables become real tasks, by criteria that read the table alone, never what an agent did on it.

    python tools/real_admission.py --write

A table is refused where a criterion gives a reason. Prints the lists of docs/real.md: the halves of the
suite, and what was refused, with every reason; HPO-B's tables are grouped by search space. It needs all
packages and measurements of the real tasks.
"""

import argparse
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import f, spearmanr

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.data.runs import Runs, load_runs
from bandit_envs.problems.real import (
    HALVES,
    HORIZON,
    PLAYS,
    WORKERS,
    Task,
    excess_of,
    halves,
    pays,
    real,
    rewards_of,
    tasks,
)
from gpbandits.report.stored import cells_of, read_cells, write_cells

REFUSED = Path(__file__).with_name("refused.toml")
SHOWN = Path(__file__).parents[1] / "docs" / "results" / "real-tasks" / "refused.csv"
SIGNIFICANT = 1e-3  # p-value of an F-test that all configurations are equal
SIGNAL = 0.2  # std between configurations over that of runs: halves of 200 plays then differ by 2.8 errors
NEIGHBOURS, EXPLAINED = 5, 0.1  # share of the variance that so many nearest configurations explain
NEAR, FIRST, FOUND = 0.05, 10, 0.9  # chance that so many random plays find one near the best
SEEN = 0.5  # share of the horizon within which the best must be delivered
CHEAP = 0.75  # score of playing the cheapest configuration
BINDING = 0.01  # what a limit must cost, over the distance from the median to the best configuration
FIXED = 0.95  # score of the best single arm in all data sets or at all times
ALIKE = 0.95  # rank correlation of two tables of a family
LARGEST, LARGEST_EXACT = 62_208, 20_000  # points; of exact values, of which noise allows more
REPEATED = 1.05  # runs a configuration, below which values count as exact
SAMPLE = 1000  # configurations whose neighbours are asked
TIMED, LIMITED = ("late", "everything"), ("limit", "everything")
TUNING = "hpob-"


@cache
def candidates() -> dict[str, Task]:
    """Return what was considered and refused, by name."""
    rows = tomllib.loads(REFUSED.read_text(encoding="utf-8"))
    return {name: Task.of(row) for name, row in rows.items()}


def reasons(task: Task) -> list[str]:
    """Return why a task is refused by its own table, in words; nothing if it is admitted."""
    if task.problem or len(task.tables) > 1:
        return [said for said in [_constant(task)] if said]
    runs = load_runs(next(iter(task.tables)))
    return [said for criterion in CRITERIA.values() if (said := criterion(task, runs))]


def signal(task: Task, runs: Runs) -> str:
    """Refuse where the differences between configurations cannot be seen in 200 plays."""
    rewards = rewards_of(task.reward, runs)
    count, values = np.diff(runs.first), rewards.mean("reward")
    within = np.sum(rewards.residuals("reward") ** 2)
    free, total = len(values) - 1, int(count.sum())
    if total == len(values) or within == 0.0:  # exact: nothing hides a difference
        return "" if np.ptp(values) > 0.0 else "all configurations are equal"
    noise = within / (total - len(values))
    between = np.sum(count * (values - np.average(values, weights=count)) ** 2) / free
    p = f.sf(between / noise, free, total - len(values))
    each = (total - np.sum(count**2) / total) / free  # runs of a configuration, for unequal numbers
    ratio = np.sqrt(max(between - noise, 0.0) / each / noise)
    if p > SIGNIFICANT:
        return f"no difference between configurations is significant (F-test, p = {p:.2g})"
    return "" if ratio >= SIGNAL else f"configurations differ by {ratio:.2g} stds of a run"


def structure(task: Task, runs: Runs) -> str:
    """Refuse where configurations near to each other have nothing in common."""
    values = rewards_of(task.reward, runs).mean("reward")
    asked = np.random.default_rng(0).permutation(len(values))[:SAMPLE]
    found: Any = KDTree(runs.unit).query(runs.unit[asked], k=NEIGHBOURS + 1)[1]
    near = [
        [other for other in row if other != own][:NEIGHBOURS] for own, row in zip(asked, found, strict=True)
    ]
    error = np.mean((values[asked] - values[near].mean(axis=1)) ** 2)
    share = 1.0 - error / values.var()
    return "" if share >= EXPLAINED else f"neighbours explain {share:.2f} of the variance"


def headroom(task: Task, runs: Runs) -> str:
    """Refuse where ten random plays find one of the best configurations."""
    values = rewards_of(task.reward, runs).mean("reward")
    share = share_near_best(values)
    found = 1.0 - (1.0 - share) ** FIRST
    return "" if found < FOUND else f"{100 * share:.0f} % of the configurations are within 5 % of the best"


def share_near_best(values: Floats) -> float:
    """Return the share of values within 5 % of the distance from the median to the best, of the best."""
    best = values.max()
    return float(np.mean(values >= best - NEAR * (best - np.median(values))))


def size(task: Task, runs: Runs) -> str:
    """Refuse tables that are larger than what is measured of them is worth."""
    points, exact = len(runs.unit), runs.first[-1] < REPEATED * len(runs.unit)
    if exact and points < HORIZON / 2 and task.family == "laboratory":
        return f"its {points} exact values can all be tried in less than half of the rounds"
    most = LARGEST_EXACT if exact else LARGEST
    return "" if points <= most else f"{points} points are more than {most}"


def observed(task: Task, runs: Runs) -> str:
    """Refuse where the result of the best configuration is not delivered within half of the horizon."""
    if task.family not in TIMED:
        return ""
    worth, times = _worth(task, runs), runs.mean("train_time")
    rounds = WORKERS * times[worth >= worth.max()].min() / np.median(times)
    return "" if rounds <= SEEN * HORIZON else f"the best takes {rounds:.0f} of {HORIZON} rounds"


def cheapest(task: Task, runs: Runs) -> str:
    """Refuse where playing the fastest, cheapest or smallest configuration is nearly the best."""
    prices = {}
    if task.family in (*TIMED, "budget"):
        prices["cheapest" if _spends(task, runs) else "fastest"] = runs.mean("train_time")
    if task.family in LIMITED:
        prices[f"least {task.limited}"] = runs.mean(task.limited)
    for name, price in prices.items():
        chosen = np.argsort(price, kind="stable")
        score = max(_score(task, runs, chosen[: max(1, count)]) for count in (1, len(price) // 100))
        if score >= CHEAP:
            return f"the {name} configuration alone has {score:.2f} of the way from random play to the best"
    return ""


def paid(task: Task, runs: Runs) -> str:
    """Refuse a budget that does not pay for the dearest run."""
    return "" if task.family != "budget" or pays(runs) else f"{PLAYS} median runs do not pay for the dearest"


def binding(task: Task, runs: Runs) -> str:
    """Refuse limits that the best configuration keeps."""
    if task.family not in LIMITED:
        return ""
    values = rewards_of(task.reward, runs).mean("reward")
    lost = values.max() - values[_kept(task, runs)].max()
    share = lost / (values.max() - np.median(values))
    return (
        ""
        if share >= BINDING
        else "the limit costs nothing: the best configuration, or one like it, keeps it"
    )


CRITERIA: dict[str, Callable[[Task, Runs], str]] = {
    "signal": signal,
    "structure": structure,
    "room": headroom,
    "size": size,
    "observed": observed,
    "cheapest": cheapest,
    "paid": paid,
    "binding": binding,
}


def _constant(task: Task) -> str:
    """Refuse where one arm is nearly the best in all data sets or at all times."""
    values = values_of(task)
    regret = values.max(axis=1, keepdims=True) - values
    score = 1.0 - regret.mean(axis=0).min() / regret.mean()
    return "" if score < FIXED else f"one arm alone has {score:.2f} of the way from random play to the best"


def values_of(task: Task) -> Floats:
    """Return the mean rewards of the arms in each data set or at each time of a task, (S, A)."""
    if not task.problem:
        return np.array([rewards_of(task.reward, load_runs(table)).mean("reward") for table in task.tables])
    name = next(name for name, other in tasks().items() if other == task)
    made = real(task=name)
    return made.reward.among(made.decisions.points).reshape(-1, made.decisions.num_arms)


def repeated(name: str, task: Task, others: Mapping[str, Task]) -> str:
    """Return in which other task a task's function is played, in words; nothing for its own function.

    A task that states a `reason` may share its table. Of a search space of HPO-B one table is played.
    """
    for other, each in others.items():
        if other == name or task.reason:
            continue
        if set(task.tables) & set(each.tables):
            return f"its table is played in {other}"
        if task.family == each.family and len(task.tables) == len(each.tables) == 1 and _equal(task, each):
            return f"its table is like that of {other}"
        if task.family == each.family == "tuning" and _space(task) == _space(each):
            return f"{other} is played of this search space, with fewer configurations near the best"
    return ""


def _equal(task: Task, other: Task) -> bool:
    runs = [load_runs(each.tables[0]) for each in (task, other)]
    if runs[0].unit.shape != runs[1].unit.shape or not np.array_equal(runs[0].unit, runs[1].unit):
        return False
    first, second = (rewards_of(task.reward, each).mean("reward") for each in runs)
    found: Any = spearmanr(first, second)
    return bool(found.statistic >= ALIKE)


def _space(task: Task) -> str:
    return task.tables[0].partition("_")[0]


def _spends(task: Task, runs: Runs) -> bool:
    return task.family == "budget" or (task.family == "everything" and pays(runs))


def _kept(task: Task, runs: Runs) -> Bools:
    """Return which configurations keep the limit, (A,), all without one."""
    metric = runs.mean(task.limited) if task.family in LIMITED else np.ones(len(runs.unit))
    return excess_of(metric) <= 0.0 if task.family in LIMITED else metric > 0.0


def _earned(task: Task, runs: Runs) -> Floats:
    values = rewards_of(task.reward, runs).mean("reward")
    return values - np.median(values) if task.gain else values


def _worth(task: Task, runs: Runs) -> Floats:
    """Return the reward, or under a budget the reward per time, of what keeps the limit, else -inf, (A,)."""
    price = runs.mean("train_time") if _spends(task, runs) else 1.0
    return np.where(_kept(task, runs), _earned(task, runs) / price, -np.inf)


def _score(task: Task, runs: Runs, chosen: Ints) -> float:
    """Return 1 - regret / random's of playing some configurations alone, whatever limits they keep."""
    price = runs.mean("train_time") if _spends(task, runs) else np.ones(len(runs.unit))
    earned, best = _earned(task, runs), _worth(task, runs).max()
    own, random = (best - earned[rows].sum() / price[rows].sum() for rows in (chosen, slice(None)))
    return float(1.0 - own / random)


def halves_as_markdown() -> list[str]:
    """Return a line a half."""
    own = halves()
    return [f"| {half} | {', '.join(f'`{n}`' for n in own if own[n] == half)} |" for half in HALVES]


def why(name: str, task: Task) -> str:
    """Return all reasons of a refusal, the table's own ones first."""
    said = [*reasons(task), repeated(name, task, tasks())]
    return "; ".join(each for each in said if each)


def refused_as_markdown(refused: Mapping[str, Task]) -> list[str]:
    """Return a line for each set of reasons, in which a task that has them stands by its name."""
    by_reason: dict[str, list[str]] = {}
    for name, task in refused.items():
        by_reason.setdefault(why(name, task), []).append(f"`{name}`")
    return [f"| {', '.join(names)} | {reason} |" for reason, names in by_reason.items()]


def main() -> None:
    """Print both; `--write` renews the table of the page, whose last line sums up the tables of HPO-B."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"renew {SHOWN.name} of docs/real.md")
    write = parser.parse_args().write
    print("\n".join(halves_as_markdown()))
    own = {name: task for name, task in candidates().items() if not name.startswith(TUNING)}
    lines = refused_as_markdown(own)
    if write:
        header, *_, last = read_cells(SHOWN)
        write_cells([header, *cells_of(lines), last], SHOWN)
    print("\n".join(lines))
    print("\n".join(refused_as_markdown({n: t for n, t in candidates().items() if n not in own})))


if __name__ == "__main__":
    main()

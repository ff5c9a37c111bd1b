"""Print the lists of docs/real.md: the halves of the suite, and what was refused, with every reason.

    python tools/real_admission.py

It needs all packages and measurements of the real tasks. HPO-B's tables are grouped by search space.
"""

from collections.abc import Mapping

from bandit_envs.problems.admission import reasons, repeated
from bandit_envs.problems.halves import HALVES, halves
from bandit_envs.problems.real import Task, candidates, tasks

TUNING = "hpob-"


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
    """Print both."""
    print("\n".join(halves_as_markdown()))
    own = {name: task for name, task in candidates().items() if not name.startswith(TUNING)}
    print("\n".join(refused_as_markdown(own)))
    print("\n".join(refused_as_markdown({n: t for n, t in candidates().items() if n not in own})))


if __name__ == "__main__":
    main()

"""The halves of the real tasks: constants are chosen on one and confirmed on the other; both are reported."""

import hashlib
from collections import Counter
from functools import cache

from bandit_envs.problems.real import Task, tasks

HALVES = DEVELOPMENT, CONFIRMATION = ("development", "confirmation")
ONE = ("nasbench201",)  # families of tables whose rewards have rank correlations of 0.96 and more


@cache
def halves() -> dict[str, str]:
    """Return the half of each task, by its name.

    The names of the tables alone decide: a family's tasks, in the order of a hash of their tables' names, go
    in turn to the half that has fewer of the family, first to development. Tasks of one table, and of tables
    that are alike, are in one half.
    """
    half: dict[str, str] = {}
    for family in dict.fromkeys(task.family for task in tasks().values()):
        own = sorted({unit_of(task) for task in tasks().values() if task.family == family}, key=_hash)
        count = Counter(half[unit] for unit in own if unit in half)
        for unit in own:
            if unit not in half:
                half[unit] = min(HALVES, key=lambda each: count[each])
                count[half[unit]] += 1
    return {name: half[unit_of(task)] for name, task in tasks().items()}


def unit_of(task: Task) -> str:
    """Return what is in one half as a whole: the recorded problem, the first table, or tables alike."""
    name = task.problem or task.tables[0]
    family = name.partition("/")[0]
    return family if family in ONE else name


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()

"""Shares of a study for the jobs of an array, which meet in one folder and need no scheduler of ours."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
FORMS = 'i/n such as 3/20, "auto" in an array of Slurm, SGE or LSF, or auto/n in one of PBS'
# Variables that schedulers set in a job of an array: its index, the first index, the step and the last index.
SLURM = "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_MAX"
SGE = "SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_STEPSIZE", "SGE_TASK_LAST"
LSF = "LSB_JOBINDEX", "", "LSB_JOBINDEX_STEP", "LSB_JOBINDEX_END"
ALONE = "PBS_ARRAY_INDEX", "PBS_ARRAYID"  # of PBS and Torque, which do not say how many jobs there are


class Shard(NamedTuple):
    """Share i of n of a study: every n-th cell, then what others have left.

    Shares say where a job begins. A job that has finished its own goes on with missing cells that no other
    is computing, from the end, so that all are computed if some jobs never start or are preempted.
    """

    place: int  # counted from 1
    number: int

    def ordered(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in the order in which this job takes them: its own, then the others."""
        own = range(self.place - 1, len(items), self.number)
        others = [i for i in reversed(range(len(items))) if i % self.number != self.place - 1]
        return [items[i] for i in (*own, *others)]

    def __str__(self) -> str:
        return f"{self.place}/{self.number}"


def shard_of(text: str, variables: Mapping[str, str] = os.environ) -> Shard:
    """Return the share that `--shard` names.

    Args:
        text: "3/20"; "auto", by the variables of the scheduler; or "auto/20" where these lack the number.
        variables: of the process.
    """
    said, _, number = text.partition("/")
    if said != "auto":
        return _checked(text, said, number)
    for names, absent in ((SLURM, ""), (SGE, "undefined"), (LSF, "0")):
        if variables.get(names[0], absent) != absent:
            return _of_array(names, variables)
    index = next((variables[name] for name in ALONE if name in variables), None)
    if index is None:
        searched = ", ".join((SLURM[0], SGE[0], LSF[0], *ALONE))
        raise ValueError(f"--shard auto must run in a job of an array, got none of {searched}; give {FORMS}")
    if not number:
        raise ValueError(f"--shard must be auto/n in an array of PBS, which does not publish n, got {text!r}")
    return _checked(f"{index}/{number} by {text}", index, number)


def _of_array(names: tuple[str, str, str, str], variables: Mapping[str, str]) -> Shard:
    index, first, step, last = (int(variables.get(name) or 1) for name in names)
    return Shard((index - first) // step + 1, (last - first) // step + 1)


def _checked(text: str, index: str, number: str) -> Shard:
    usable = index.isdecimal() and number.isdecimal() and 1 <= int(index) <= int(number)
    if not usable:
        raise ValueError(f"--shard must be {FORMS}, with i from 1 to n, got {text!r}")
    return Shard(int(index), int(number))

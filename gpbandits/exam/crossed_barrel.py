"""Crossed barrel: printed structures by their toughness, one experiment each (Liang et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.data.runs import load_runs, origins
from gpbandits.exam.entrants import Entrant, first_rows
from gpbandits.exam.part import Milestone, Published
from gpbandits.exam.played import PlayedPart

FIRST, BEST = 2, 30  # random first structures; how many of the toughest are to be found
LIANG_ET_AL = origins()["materials/Crossed barrel"]
LIANG = {12: Published(1.1), 30: Published(5.9, 0.4), 60: Published(11.5, 0.3), 96: Published(17.2, 0.2)}


class CrossedBarrel(PlayedPart):
    """Find the 30 toughest of 600 structures, asking for none twice."""

    name = "crossed-barrel"
    title = "Crossed barrel"
    source = f"{LIANG_ET_AL.authors}, doi:{LIANG_ET_AL.doi}; PV-Lab/Benchmarking"
    quantity = f"of the {BEST} best of 600, found"
    kept = tuple(range(FIRST, 101))
    milestones = tuple(Milestone(f"question {q}", q) for q in LIANG)
    seeds, quick_seeds = 50, 3
    quick_tasks = ("crossed-barrel",)
    better = 1
    notes = (
        f"The {FIRST} random first structures count as questions. Values are means of three replicates, and "
        "exact. Random play finds 30 n / 600 of n in the mean.",
    )

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.quick_tasks

    def play(self, task: str, entrant: Entrant, seed: int, questions: int) -> Floats:
        runs = load_runs("materials/Crossed barrel")
        toughness = runs.mean("value")
        player = entrant.on_table(runs.unit, questions, seed)
        chosen = first_rows(len(toughness), FIRST, self.name, task, seed)
        for row in chosen:
            player.tell(row, float(toughness[row]))
        while len(chosen) < questions:
            chosen.append(player.ask())
            player.tell(chosen[-1], float(toughness[chosen[-1]]))
        among = np.zeros(len(toughness), dtype=np.bool_)
        among[np.argsort(toughness)[-BEST:]] = True
        found = among[chosen].cumsum().astype(np.float64)
        return found[self.kept_until(task, questions) - 1]

    def published(self, at: Milestone, tasks: Sequence[str]) -> dict[str, Published]:
        return {"GP Matern, LCB 2": LIANG[at.question]} if at.question in LIANG and tasks else {}

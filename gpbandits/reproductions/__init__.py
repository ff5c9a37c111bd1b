"""Reproductions compute the figures of papers and compare them with the papers' claims.

To add a paper, write a module with a tuple `FIGURES` and name it in `PAPERS`, before studies of no paper.
"""

from bandit_envs.basics.arguments import require_known
from gpbandits.reproductions import (
    avanesov2020,
    beyond,
    chowdhury2017,
    contested,
    shi2022,
    srinivas2010,
    verma2022,
)
from gpbandits.reproductions.study_figure import Findings, Reproduction, StudyFigure, study_path

__all__ = ["PAPERS", "REPRODUCTIONS", "Findings", "Reproduction", "StudyFigure", "find", "study_path"]

PAPERS = (srinivas2010, chowdhury2017, verma2022, shi2022, avanesov2020, beyond, contested)
REPRODUCTIONS: dict[str, Reproduction] = {
    reproduction.name: reproduction for paper in PAPERS for reproduction in paper.FIGURES
}


def find(name: str) -> Reproduction:
    """Return the reproduction of this name; an unknown name is a ValueError."""
    require_known("reproduction", name, REPRODUCTIONS)
    return REPRODUCTIONS[name]

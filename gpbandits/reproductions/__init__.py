"""Reproductions compute the figures of papers and compare them with the papers' claims.

To add a paper, write `claims/NAME.toml`, see `papers`, and name it in `PAPERS`, before studies of no paper.
"""

from bandit_envs.basics.arguments import require_known
from gpbandits.reproductions.papers import figures_of
from gpbandits.reproductions.study_figure import Findings, Reproduction, StudyFigure, study_path

__all__ = ["PAPERS", "REPRODUCTIONS", "Findings", "Reproduction", "StudyFigure", "find", "study_path"]

PAPERS = ("srinivas2010", "chowdhury2017", "verma2022", "shi2022", "avanesov2020", "beyond", "contested")
REPRODUCTIONS: dict[str, Reproduction] = {
    figure.name: figure for paper in PAPERS for figure in figures_of(paper)
}


def find(name: str) -> Reproduction:
    """Return the reproduction of this name; an unknown name is a ValueError."""
    require_known("reproduction", name, REPRODUCTIONS)
    return REPRODUCTIONS[name]

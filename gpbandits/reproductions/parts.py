"""A study may hold the numbers of several figures, each a part of it."""

from gpbandits.experiments import Study
from gpbandits.reproductions import REPRODUCTIONS
from gpbandits.reproductions.quick import SUFFIX
from gpbandits.reproductions.study_figure import StudyFigure


def parts_of(study: Study) -> dict[str, Study]:
    """Return the part of a study of each figure, by name, without figures that show all of it."""
    figures = [each for each in REPRODUCTIONS.values() if isinstance(each, StudyFigure)]
    named = [figure for figure in figures if study.name.removesuffix(SUFFIX) in figure.studies]
    parts = {figure.name: figure.part(study) for figure in named if figure.shows(study)}
    return {name: part for name, part in parts.items() if part != study}

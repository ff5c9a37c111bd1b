"""Reproductions compute the figures of papers and compare them with the papers' claims.

To add a paper, write `claims/NAME.toml` and name it in `PAPERS`, before studies of no paper.
A file has the figures in the paper's order, each with the sentences about it and the checks of each sentence.
In `[all]` stands what its figures share. A check whose entries are lists is one of each combination, the
first list varying slowest; a statement is one for each word of its list `each`. `{name}` in a text is the
text of that name in `[texts]`, or the word of `each`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_known
from gpbandits.evaluation.statistics import Interval
from gpbandits.reproductions import powers
from gpbandits.reproductions.srinivas2010 import SampleFunctions, Spectra
from gpbandits.reproductions.study_figure import Findings, Reproduction, StudyFigure, study_path
from gpbandits.reproductions.verdicts import Across, Check, Claim, SeldomBeforeChange, Statement

__all__ = ["PAPERS", "REPRODUCTIONS", "Findings", "Reproduction", "StudyFigure", "find", "study_path"]

PAPERS = ("srinivas2010", "chowdhury2017", "verma2022", "shi2022", "avanesov2020", "beyond", "contested")
FIGURES: dict[str, type[Reproduction]] = {
    "study": StudyFigure,
    "power": powers.PowerFigure,
    "worst": powers.WorstFigure,
    "spectra": Spectra,
    "samples": SampleFunctions,
}
CHECKS: dict[str, type[Check]] = {
    "claim": Claim,
    "across": Across,
    "alarms": SeldomBeforeChange,
    "late": powers.LateGrowth,
    "sublinear": powers.Sublinear,
    "exponent": powers.Exponent,
    "growth": powers.Growth,
}


def figures_of(paper: str) -> list[Reproduction]:
    """Return the figures of a file of claims."""
    text = files("gpbandits.reproductions").joinpath("claims", f"{paper}.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    return [_figure({**document["all"], **given}, document.get("texts", {})) for given in document["figures"]]


def _figure(given: dict[str, Any], texts: Mapping[str, str]) -> Reproduction:
    if "statements" in given:
        given["statements"] = [x for said in given["statements"] for x in _statements(said, texts)]
    values = _filled(given, texts)
    if "printed" in values:
        printed = values["printed"]
        values["printed"] = powers.Power(printed["constant"], _interval(printed["exponent"]))
    made: dict[str, Any] = {x: tuple(each) if isinstance(each, list) else each for x, each in values.items()}
    return FIGURES[made.pop("kind", "study")](**made)


def _statements(given: dict[str, Any], texts: Mapping[str, str]) -> Iterator[Statement]:
    for word in given.pop("each", [""]):
        said = _filled(given, {**texts, "each": word})
        checks = [check for each in said.pop("checks", []) for check in _checks(each)]
        yield Statement(checks=tuple(checks), **said)


def _checks(given: dict[str, Any]) -> Iterator[Check]:
    kind = CHECKS[given.pop("test", "claim")]
    if "printed" in given:
        given["printed"] = _interval(given["printed"])
    if kind is powers.LateGrowth:
        given["since"] = tuple(given["since"])
    listed = [each if isinstance(each, list) else [each] for each in given.values()]
    return (kind(**dict(zip(given, values, strict=True))) for values in product(*listed))


def _interval(given: Any) -> Interval:
    """Return [estimate, low, high] as an interval, and a number, or a fraction such as "11/14", exactly."""
    return Interval(*np.array(given)) if isinstance(given, list) else powers.exactly(float(Fraction(given)))


def _filled(given: Any, texts: Mapping[str, str]) -> Any:
    """Return data with the texts filled in, each as one line."""
    if isinstance(given, dict):
        return {name: _filled(each, texts) for name, each in given.items()}
    if isinstance(given, list):
        return [_filled(each, texts) for each in given]
    return given.format_map(texts).replace("\n", " ") if isinstance(given, str) else given


REPRODUCTIONS: dict[str, Reproduction] = {
    figure.name: figure for paper in PAPERS for figure in figures_of(paper)
}


def find(name: str) -> Reproduction:
    """Return the reproduction of this name; an unknown name is a ValueError."""
    require_known("reproduction", name, REPRODUCTIONS)
    return REPRODUCTIONS[name]

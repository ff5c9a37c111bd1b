"""A figure of regret at the horizon against a number that varies between environments, with its power."""

import dataclasses
import re

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.evaluation.table import number
from gpbandits.experiments import Study
from gpbandits.reproductions.base import Findings, Results
from gpbandits.reproductions.claims import interval
from gpbandits.reproductions.power_law import Power, final, power_figure, power_law
from gpbandits.reproductions.quick import shortened
from gpbandits.reproductions.study_figure import StudyFigure

LONGEST = 10_000  # rounds of a short version


@dataclasses.dataclass(frozen=True, kw_only=True)
class PowerFigure(StudyFigure):
    """Regret at the horizon as C x^c, where environments are labelled "x = 900".

    Args:
        of: the symbol of x; T is the horizon, whatever the label says: the short version has a shorter one.
        axis: what x is.
        printed: the paper's C and c, and the interval of c.
    """

    of: str
    axis: str
    printed: Power

    def short(self, study: Study) -> Study:
        """Fewer trials, of as many rounds: a power of the horizon needs horizons."""
        return shortened(study, rounds=LONGEST)

    def findings(self, results: Results) -> Findings:
        """One figure; a table of regrets by x, the fits, and the claims."""
        found = [result for _, result in results]
        if not found:
            return Findings({}, "")
        x = np.array([self._x(result) for result in found])
        figure = power_figure(x, found, self.axis, self.printed)
        size = f"{found[0].num_trials} trials, seed {found[0].seed}; cumulative regret at the horizon:"
        return Findings(
            {self.name: figure}, "\n\n".join([size, self._table(x, found), *self._claims(results)])
        )

    def _x(self, result: Result) -> float:
        if self.of == "T":
            return float(result.horizon)
        (digits,) = re.findall(rf"^{self.of} = (\d+)", result.environment)
        return float(digits)

    def _table(self, x: Floats, results: list[Result]) -> str:
        header = ["agent", *(f"{self.of} = {value:.0f}" for value in x), "fit"]
        rows = []
        for label in results[0].agents:
            regret = final(results, label)
            power = power_law(regret, x)
            fit = f"{number(power.constant)} {self.of}^c, c = {interval(power.exponent)}"
            means = [interval(bootstrap_interval(column)) for column in regret.T]
            rows.append([results[0].marked(label), *means, fit])
        return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])

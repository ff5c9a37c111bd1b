"""Reproductions of figures, figures that studies reproduce, and their shorter versions for `--quick`."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.environment.envs import make
from bandit_envs.rendering.picture import ShownFigure
from gpbandits.evaluation import evaluate
from gpbandits.evaluation.formats import footnotes
from gpbandits.evaluation.measures import metric_named
from gpbandits.evaluation.panels import tidy
from gpbandits.evaluation.plots import regret_figure
from gpbandits.evaluation.result import Metric, Result, Scale
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study, load_study
from gpbandits.reproductions.markdown import claims_text, means_text, table_of_tests
from gpbandits.reproductions.verdicts import Judged, Statement, corrected

TRIALS, ROUNDS = 5, 1000
SUFFIX = "-quick"  # appended to the names of shortened studies
REHEARSED = 10  # rounds
COLUMNS = 3  # panels in a row
BOXES = 18  # most boxes of a panel
BOX, MEDIAN = "#9CC3E6", "#D55E00"
Drawing = Literal["curves", "boxes"]
Results = Sequence[tuple[EnvironmentEntry, Result]]


def shortened(study: Study, rounds: int = ROUNDS) -> Study:
    """Return the study with at most `TRIALS` trials of at most so many rounds."""
    environments = []
    for entry in study.environments:
        env = make(entry.id, **entry.kwargs)
        env.reset(seed=0)
        horizon = min(env.get_wrapper_attr("setting").horizon, rounds)
        env.close()
        environments.append(dataclasses.replace(entry, kwargs={**entry.kwargs, "horizon": horizon}))
    name, trials = f"{study.name}{SUFFIX}", min(study.trials, TRIALS)
    return dataclasses.replace(study, name=name, trials=trials, environments=tuple(environments))


def seconds_of(study: Study, workers: int) -> float:
    """Estimate the duration of a study in seconds from the first rounds of its agents.

    It is an order of magnitude: rounds become slower as a posterior grows or hyperparameters are learnt, and
    the first may be the slowest if work is done once.
    """
    cells = [_seconds(study, entry, agent) for entry in study.environments for agent in study.agents]
    return max(sum(cells) / workers, *cells)


def in_words(seconds: float) -> str:
    """Return a duration in words, such as "3 minutes"."""
    for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} seconds"


def _seconds(study: Study, entry: EnvironmentEntry, agent: AgentEntry) -> float:
    """Estimate the seconds of one agent on one environment: the setup and all rounds."""
    limited = {**entry.kwargs, "max_episode_steps": REHEARSED}
    options = {"trials": study.trials, "seed": study.seed, "env_kwargs": limited}
    begin = perf_counter()
    result = evaluate(entry.id, {agent.label: (agent.name, agent.options)}, **options)
    whole = perf_counter() - begin
    deciding = float(result.seconds[agent.label].sum())
    rounds = entry.kwargs.get("horizon", REHEARSED)
    return whole + deciding * max(rounds / result.horizon - 1.0, 0.0)


class Part(NamedTuple):
    """A part is the share of a study that one figure shows."""

    figure: str
    shown: Study  # with the figure's environments and agents only
    whole: Study
    rounds: tuple[int, ...] = ()  # at which the figure's claims are tested, beside the last


Compute = Callable[[Part, Path], Results]  # computes the cells that the folder lacks, and returns the results


@dataclasses.dataclass(frozen=True)
class Findings:
    """The findings of a reproduction are its figures, its numbers and its verdicts."""

    figures: Mapping[str, Figure]  # by file stem
    text: str  # Markdown of the numbers
    judged: Sequence[Judged]  # the paper's sentences about the figure, in their order

    @property
    def unjudged(self) -> "Findings":
        """Return the findings without verdicts, for too few trials."""
        return dataclasses.replace(self, judged=[each.unjudged for each in self.judged])

    @property
    def claims(self) -> str:
        """Return Markdown of the paper's sentences, numbered, and of the tests of each."""
        return "\n\n".join(filter(None, [claims_text(self.judged), table_of_tests(self.judged)]))


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """A reproduction computes one figure of a paper and judges its claims.

    Args:
        name: such as "srinivas2010-figure-5a".
        paper: the paper's authors and year.
        title: the figure's number and subject.
        differs: the differences from the paper and their reasons.
    """

    name: str
    paper: str
    title: str
    differs: str

    @property
    def number(self) -> str:
        """Return the title up to its colon, such as "Figure 5a"."""
        return self.title.partition(":")[0]

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Reproduce the figure.

        Args:
            folder: folder of the cells of its study, which the figures of one study share.
            quick: take the shorter version, see `shortened`, without verdicts.
            compute: computes the part of a study that the figure shows.
        """
        raise NotImplementedError


def box_figure(result: Result, metric: Metric) -> Figure:
    """Draw quartiles at evenly spread rounds, whiskers to 1.5 times the interquartile range, and outliers."""
    curves = result.curves(metric)
    rows = -(-len(curves) // COLUMNS)
    figure = ShownFigure.of_size(3.4 * COLUMNS, 2.5 * rows + 0.3)
    panels = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).flatten()
    wanted = np.linspace(result.horizon / BOXES, result.horizon, BOXES)  # evenly spread, the last included
    index = np.unique(np.searchsorted(result.rounds, np.rint(wanted)).clip(max=len(result.rounds) - 1))
    at, line = result.rounds[index], {"color": "0.25", "linewidth": 0.8}
    for axes, (label, curve) in zip(panels, curves.items(), strict=False):
        axes.boxplot(
            curve[:, index], positions=at, widths=0.6 * np.diff(at, prepend=0).min(), manage_ticks=False,
            patch_artist=True, boxprops=line | {"facecolor": BOX}, whiskerprops=line, capprops=line,
            medianprops={"color": MEDIAN, "linewidth": 1.4},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
        )  # fmt: skip
        axes.set_title(result.marked(label), fontsize="medium")
        tidy(axes, axis="y")
        axes.set_xlim(0, result.horizon * 1.03)
    for lowest in panels[max(len(curves) - COLUMNS, 0) : len(curves)]:
        lowest.tick_params(labelbottom=True)
    for empty in panels[len(curves) :]:
        empty.remove()
    figure.suptitle(f"{result.environment}: {result.num_trials} trials", fontsize="large")
    figure.supxlabel("\n".join(["round $t$", *footnotes(result)]), fontsize="medium")
    figure.supylabel(metric_named(metric).label, fontsize="medium")
    return figure


@dataclasses.dataclass(frozen=True)
class StudyFigure(Reproduction):
    """A study figure reproduces a figure of a paper from parts of one or several studies.

    Args:
        name, paper, title, differs: see `Reproduction`.
        statements: the paper's sentences about the figure, in its order.
        studies: names of the studies' files; by default that of the figure's name.
        environments: prefixes of the labels of its environments; by default all.
        agents: labels of its agents; by default all.
        scale: scale of the axes; by default logarithmic for simple regret and linear for others.
        drawing: "curves" of means with intervals, or "boxes" of single trials over time, as in `box_figure`.
    """

    statements: tuple[Statement, ...]
    studies: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = ("regret",)
    environments: tuple[str, ...] = ("",)
    agents: tuple[str, ...] = ()
    scale: Scale | None = None
    drawing: Drawing = "curves"

    def __post_init__(self) -> None:
        object.__setattr__(self, "studies", self.studies or (self.name,))

    def load(self) -> list[Study]:
        """Load the whole studies."""
        return [load_study(study_path(name)) for name in self.studies]

    def shows(self, study: Study) -> bool:
        """Return True if some environment and some agent of a study belong to the figure."""
        return all(self._chosen(study))

    def part(self, study: Study) -> Study:
        """Return the part of a study that the figure shows."""
        environments, agents = self._chosen(study)
        return dataclasses.replace(study, environments=environments, agents=agents)

    def _chosen(self, study: Study) -> tuple[tuple[EnvironmentEntry, ...], tuple[AgentEntry, ...]]:
        environments = tuple(e for e in study.environments if e.label.startswith(self.environments))
        return environments, tuple(a for a in study.agents if not self.agents or a.label in self.agents)

    def short(self, study: Study) -> Study:
        """Return the short version of one of its studies."""
        return shortened(study)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Return the rounds at which agents are compared, beside the last."""
        checks = [check for statement in self.statements for check in statement.checks]
        return tuple(sorted({at for check in checks for at in check.reads}))

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        studies = map(self.short, self.load()) if quick else self.load()
        parts = [Part(self.name, self.part(study), study, self.rounds) for study in studies]
        found = self.findings([pair for part in parts for pair in compute(part, folder / part.whole.name)])
        return found.unjudged if quick else found

    def findings(self, results: Results) -> Findings:
        """Return curves, Markdown tables of means with 95 % bootstrap intervals, and verdicts."""
        boxes = self.drawing == "boxes"  # whose means another figure tabulates
        figures = {
            "-".join((self.name, *([environment.file_name] if len(results) > 1 else []), metric)): (
                box_figure(result, metric) if boxes else regret_figure(result, self.scale, metric)
            )
            for environment, result in results
            for metric in self.metrics
        }
        means = "" if boxes else means_text([result for _, result in results], self.metrics)
        return Findings(figures, means, self.judged(results))

    def judged(self, results: Results) -> list[Judged]:
        """Judge each statement by its tests, corrected for the number of tests of the figure."""
        found = [result for _, result in results]
        tests = [(each, each.rows(found)) for each in self.statements]
        rows = iter(corrected([row for _, of_statement in tests for row in of_statement]))
        return [each.judged(list(islice(rows, len(of_statement)))) for each, of_statement in tests]


def study_path(name: str) -> Path:
    """Return the path of a study's file in the installed package or in the checkout's examples."""
    installed = Path(str(files("gpbandits"))) / "reproductions" / "studies"
    folder = installed if installed.is_dir() else installed.parents[2] / "examples" / "studies"
    return folder / f"{name}.toml"

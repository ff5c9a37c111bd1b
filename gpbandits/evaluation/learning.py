"""Learning curves: regret while learners of stable-baselines3 train, beside agents of an evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.formats import DASHES, marks_in, styles
from gpbandits.evaluation.panels import BESIDE, LOOK, Panels, Size, tidy
from gpbandits.evaluation.plots import literal
from gpbandits.evaluation.statistics import Interval, bootstrap_interval

Training = tuple[Ints, Floats]  # steps, and the mean regret of a round at each, (n,)
GREY = "0.35"


def learning_figure(
    result: Curves,
    learners: Mapping[str, Any],
    *,
    points: int = 40,
    ax: Axes | None = None,
    size: Size = None,
    title: str | None = None,
) -> Figure:
    """Draw regret a round over training steps, and that of a result's agents as lines; see `Result`."""
    named = isinstance(learners, Mapping) and len(learners) > 0
    require(named, "learners", "label -> a RegretCallback, or several, one a seed", learners)
    require(is_count(points), "points", "a positive integer", points)
    trained = {label: _trainings(label, given) for label, given in learners.items()}
    lines = len(trained) + len(result.agents) + 2 * len(marks_in([result]))
    panels = Panels.new(1, lines, size) if ax is None else Panels.given(ax, 1)
    (axes,) = panels.axes
    for (label, runs), style in zip(trained.items(), styles(len(trained)), strict=True):
        steps, (mean, low, high) = learning_curve(runs, points)
        seeds = f"{len(runs)} seeds" if len(runs) > 1 else "1 seed"
        axes.fill_between(steps, low, high, color=style.colour, alpha=0.18, linewidth=0)
        axes.plot(steps, mean, color=style.colour, linewidth=1.4, label=literal(f"{label}, {seeds}"))
    for label, dashes in zip(result.ordered, [*DASHES[1:], *DASHES[1:]] * len(result.agents), strict=False):
        level = float(result.average_regret[label][:, -1].mean())
        axes.axhline(level, color=GREY, linestyle=dashes, linewidth=1.1, label=literal(result.marked(label)))
    axes.autoscale_view(scalex=False)  # which axhline leaves out where a line lies in the margin
    for mark in marks_in([result]):
        axes.plot([], [], " ", label=mark.legend)
    axes.set(xlabel="training steps", ylabel="regret a round (reward units)")
    axes.set_title(result.environment if title is None else title)
    tidy(axes)
    said = f"lines: {result.num_trials} trials\nof {result.horizon} rounds"
    axes.legend(**BESIDE, **LOOK, title=said)
    panels.fit()
    return panels.figure


def learning_curve(runs: Sequence[Training], points: int) -> tuple[Floats, Interval]:
    """Return the last steps of equal stretches of training, (n,), and the regret a round in each.

    The estimate is the mean over seeds with its 95 % bootstrap interval, up to the shortest training.
    """
    shortest = min(len(steps) for steps, _ in runs)
    parts = [part for part in np.array_split(np.arange(shortest), points) if len(part)]
    means = np.array([[regret[part].mean() for part in parts] for _, regret in runs])
    return np.array([runs[0][0][part[-1]] for part in parts], dtype=np.float64), bootstrap_interval(means)


def _trainings(label: str, given: Any) -> list[Training]:
    """Return the histories of one learner's seeds; raise unless each has rounds."""
    runs = list(given) if isinstance(given, list | tuple) else [given]
    found = [getattr(each, "history", None) for each in runs]
    used = [each for each in found if each is not None and len(each[0])]
    expected = "a RegretCallback that a model has learnt with, or several"
    require(len(used) == len(runs) > 0, f"learners[{label!r}]", expected, given)
    return used

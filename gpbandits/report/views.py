"""A view draws one measure of a result on one scale; the page switches between views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_args

from gpbandits.evaluation.metrics import METRICS, metric_named, metrics_of
from gpbandits.evaluation.plots import visible
from gpbandits.evaluation.result import Metric, Result, Scale
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.report.chart import Line, line_chart

NAMES: dict[Metric, str] = {name: each.text for name, each in METRICS.items()}
_POINTS = 60  # of a curve, few because a page holds all views of all environments


class View(NamedTuple):
    """A view is the drawing of a measure on a scale."""

    metric: Metric
    scale: Scale
    svg: str


def views(result: Result, numbers: Mapping[str, int]) -> list[View]:
    """Draw every measure on every scale: the mean over trials and its 95 % bootstrap interval.

    Args:
        result: the result to draw.
        numbers: number of each agent, for colour and dashes.
    """
    return [
        View(metric, scale, _drawn(result, numbers, metric, scale))
        for metric in metrics_of(result)
        for scale in get_args(Scale)
    ]


def _drawn(result: Result, numbers: Mapping[str, int], metric: Metric, scale: Scale) -> str:
    index = visible(result.rounds, scale, _POINTS)
    rounds = result.rounds[index].astype(float)
    lines = [
        Line(numbers[label], result.marked(label), rounds, *bootstrap_interval(curve[:, index]))
        for label, curve in result.curves(metric).items()
    ]
    text = metric_named(metric).text
    return line_chart(lines, scale, f"{text} on {result.environment}, {scale} axes", "round", text)

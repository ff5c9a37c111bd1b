"""Shi & Eryilmaz (2022), Appendix E: the figures, what the paper says of them, and where we differ."""

from functools import partial

from gpbandits.evaluation.result import Metric
from gpbandits.reproductions.claims import Claim, Statement
from gpbandits.reproductions.study_figure import StudyFigure

_AVERAGES: tuple[Metric, ...] = ("average", "average-violation")
_READINGS = (
    "the pseudocode's argmax, GP(0, k) with a kernel of variance 1 in every epoch",
    "our default: the plays of all epochs, their values standardised under the new multipliers",
)
_figure = partial(StudyFigure, paper="Shi & Eryilmaz (2022)", metrics=_AVERAGES)
_OTHERS = ("bandit OCO, one point", "bandit OCO, two points", "ADMMBO")
_MORE = "More on the page of readings."
_OPEN = (
    "The paper names neither length-scale nor B, R, lambda and delta; ours were chosen on this problem. Its "
    "algorithm taken literally learns nothing in epochs of 20 rounds: our default reuses the plays of all "
    f"epochs under the new multipliers. A grid of 31 x 31 points. {_MORE}"
)
_RATES = (
    "The constants of the utilities are ours, as those of the cited experiment are not public here, and "
    f"regret is shown instead of utility. {_MORE}"
)


def _below(label: str, metric: Metric) -> tuple[Claim, ...]:
    """The paper's algorithm is below the others."""
    return tuple(Claim(label, other, metric) for other in _OTHERS)


def _statements(algorithm: str, says: str, metrics: tuple[Metric, ...]) -> tuple[Statement, ...]:
    """A sentence for each reading of the algorithm: the pseudocode's, and our default's."""
    return tuple(
        Statement(
            says,
            tuple(claim for metric in metrics for claim in _below(label, metric)),
            reading=how,
        )
        for label, how in zip(_LABELS[algorithm], _READINGS, strict=True)
    )


def _of_utility(algorithm: str) -> tuple[Statement, ...]:
    """The others earn more than the paper's algorithm, by either reading of it."""
    return tuple(
        Statement(
            "ADMMBO and OCO have higher utility.",
            tuple(Claim(other, label, "average") for other in _OTHERS),
            reading=f"Tested as less regret; the algorithm is {how}",
        )
        for label, how in zip(_LABELS[algorithm], _READINGS, strict=True)
    )


_SMALL = {2: ("2", "noiseless constraints"), 4: ("3", "noisy constraints")}
_SERVERS = {6: ("2", "noiseless constraints"), 8: ("3", "noisy constraints")}
_LABELS = {number: (f"Algorithm {number}, paper", f"Algorithm {number}, reuse") for number in ("2", "3")}


def _boxes_and_means(
    number: int, shown: str, statements: tuple[Statement, ...], differs: str
) -> tuple[StudyFigure, StudyFigure]:
    """Two figures of the same trials, the box plots of this number and the means after them, judged once."""
    figure = partial(_figure, studies=(f"shi2022-figures-{number}-{number + 1}",), differs=differs)
    means = figure(
        name=f"shi2022-figure-{number + 1}",
        title=f"Figure {number + 1}: means, {shown}",
        statements=statements,
    )
    judged_there = f"Tested at Figure {number + 1}, which shows the means of the same trials."
    boxes = figure(
        name=f"shi2022-figure-{number}",
        title=f"Figure {number}: box plots, {shown}",
        drawing="boxes",
        statements=tuple(Statement(says, reading=judged_there) for says in _said(statements)),
    )
    return boxes, means


def _said(statements: tuple[Statement, ...]) -> dict[str, None]:
    """Each sentence once, whatever readings of the algorithm it is tested of."""
    return dict.fromkeys(each.says for each in statements)


FIGURES = (
    _figure(
        name="shi2022-figure-1",
        title="Figure 1: the trade-off between epochs L and their length S",
        studies=("shi2022-figure-1",),
        statements=(
            *(
                Statement(
                    "Larger S has less regret and more violation, for three of five choices of (L, S).",
                    (
                        Claim(f"{label}, S = 7", f"{label}, S = 70", "average-violation"),
                        Claim(f"{label}, S = 70", f"{label}, S = 7", "average"),
                    ),
                    reading=how,
                )
                for label, how in zip(("paper", "reuse"), _READINGS, strict=True)
            ),
        ),
        differs=(
            "With plays reused the trade-off holds for all our choices; with a fresh posterior in every "
            "epoch there is none, because a short epoch ends before it has learnt anything. The paper's "
            f"(L, S) are not named. {_MORE}"
        ),
    ),
    *(
        figure
        for number, (algorithm, shown) in _SMALL.items()
        for figure in _boxes_and_means(
            number,
            f"{shown}, small feasible region",
            _statements(
                algorithm,
                f"Regret and violation of Algorithm {algorithm} are sublinear, and their averages tend to 0; "
                "bandit OCO is stuck after few iterations, and ADMMBO is worse, too.",
                _AVERAGES,
            ),
            _OPEN,
        )
    ),
    *(
        figure
        for number, (algorithm, shown) in _SERVERS.items()
        for figure in _boxes_and_means(
            number,
            f"{shown}, data rates",
            (
                *_statements(
                    algorithm,
                    f"The average violation of Algorithm {algorithm} approaches 0, those of ADMMBO and OCO "
                    "stay away from 0.",
                    ("average-violation",),
                ),
                *_of_utility(algorithm),
            ),
            _RATES,
        )
    ),
)

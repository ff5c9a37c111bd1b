"""The figures of Shi & Eryilmaz (2022), Appendix E, have these claims and deviations."""

from collections.abc import Callable
from functools import partial

from gpbandits.evaluation.result import Metric
from gpbandits.reproductions.powers import Sublinear
from gpbandits.reproductions.study_figure import StudyFigure
from gpbandits.reproductions.verdicts import Across, Check, Claim, Statement

_AVERAGES: tuple[Metric, ...] = ("average_regret", "average_violation")
_READINGS = ("(paper)", "(reuse)")  # of the algorithm, in the labels of its agents
_ABOUT_READINGS = (
    'Agents marked "paper" take the pseudocode\'s argmax and GP(0, k) with a kernel of variance 1 in every '
    'epoch; those marked "reuse" are our default: the plays of all epochs, their values standardised under '
    "the new multipliers."
)
_figure = partial(StudyFigure, paper="Shi & Eryilmaz (2022)", metrics=_AVERAGES)
_OTHERS = ("bandit OCO, one point", "bandit OCO, two points", "ADMMBO")
_OPEN = (
    "The paper names neither length-scale nor B, R, lambda and delta; ours were chosen on this problem. Its "
    "algorithm taken literally learns nothing in epochs of 20 rounds: our default reuses the plays of all "
    "epochs under the new multipliers, which see rewards and costs in units of the reward's prior standard "
    "deviation, 1.88, and so grow 1.88 times as slowly as in the paper's units; the pseudocode's reading has "
    "the paper's units. ADMMBO, whose runs end near round 90 in the paper, plays its incumbent from then on: "
    "it is compared at 90 and at the end. A grid of 31 x 31 points."
)
_SLATER = (
    "Theorem 2 needs a point with slack above 2 R (sqrt(4 m / S) + sqrt(log(2 L / delta) / S)) plus a term "
    "of learning, hence above 0.198 for R = 0.1, m = 1, S = 20, L = 18 and delta = 0.1. The discs have a "
    "slack of 0.05 at most: Slater's condition, as the theorem needs it, fails on the paper's own problem."
)
_RATES = (
    "The constants of the utilities are ours, as those of the cited experiment are not public here, and "
    "regret is shown instead of utility. ADMMBO, whose runs end near round 50 in the paper, plays its "
    "incumbent from then on: it is compared at 50 and at the end."
)
_DISCS_END, _RATES_END = 90, 50  # last rounds of the paper's runs of ADMMBO
_HALF = 175  # of 350 rounds
_SMALL = {2: ("2", "noiseless constraints"), 4: ("3", "noisy constraints")}
_SERVERS = {6: ("2", "noiseless constraints"), 8: ("3", "noisy constraints")}
_LABELS = {number: (f"Algorithm {number}, paper", f"Algorithm {number}, reuse") for number in ("2", "3")}


def _by_reading(
    labels: tuple[str, ...], says: str, checks: Callable[[str], tuple[Check, ...]]
) -> tuple[Statement, ...]:
    """Return a sentence for each reading of the algorithm: the pseudocode's, and our default."""
    pairs = zip(labels, _READINGS, strict=True)
    return tuple(Statement(says, checks(label), reading=reading) for label, reading in pairs)


def _below_others(algorithm: str, says: str, metrics: tuple[Metric, ...], ends: int) -> tuple[Statement, ...]:
    """State that the paper's algorithm is below the others, and below ADMMBO also where its runs end."""
    places = [*((other, None) for other in _OTHERS), ("ADMMBO", ends)]

    def checks(label: str) -> tuple[Claim, ...]:
        return tuple(Claim(label, other, metric, at) for metric in metrics for other, at in places)

    return _by_reading(_LABELS[algorithm], says, checks)


def _sublinear(algorithm: str, says: str, metrics: tuple[Metric, ...]) -> tuple[Statement, ...]:
    """State that sums grow more slowly than t in the second half of the rounds, by either reading."""
    return _by_reading(_LABELS[algorithm], says, lambda x: tuple(Sublinear(x, m, _HALF) for m in metrics))


def _slower(problem: str) -> tuple[Across, ...]:
    """Claim that Algorithm 2 has less average violation than Algorithm 3, by either reading of both."""
    noiseless, noisy = (f"{problem}, {constraints} constraints" for constraints in ("noiseless", "noisy"))
    pairs = zip(_LABELS["2"], _LABELS["3"], strict=True)
    return tuple(Across(two, noiseless, noisy, "average_violation", other=three) for two, three in pairs)


def _of_utility(algorithm: str) -> tuple[Statement, ...]:
    """State that the others have more utility than the paper's algorithm, by either reading of it."""

    def checks(label: str) -> tuple[Claim, ...]:
        ends = Claim("ADMMBO", label, "average_regret", at=_RATES_END)
        return *(Claim(other, label, "average_regret") for other in _OTHERS), ends

    return _by_reading(_LABELS[algorithm], "ADMMBO and OCO have higher utility.", checks)


def _boxes_and_means(
    number: int, shown: str, statements: tuple[Statement, ...], differs: str
) -> tuple[StudyFigure, StudyFigure]:
    """Return two figures of the same trials, box plots of this number and means of the next, judged once."""
    figure = partial(_figure, studies=(f"shi2022-figures-{number}-{number + 1}",))
    means = figure(
        name=f"shi2022-figure-{number + 1}",
        title=f"Figure {number + 1}: means, {shown}",
        statements=statements,
        differs=differs,
    )
    boxes = figure(
        name=f"shi2022-figure-{number}",
        title=f"Figure {number}: box plots, {shown}",
        drawing="boxes",
        statements=(),
        differs=f"The trials are those of Figure {number + 1}, which has their means and the claims.",
    )
    return boxes, means


FIGURES = (
    _figure(
        name="shi2022-figure-1",
        title="Figure 1: the trade-off between epochs L and their length S",
        statements=_by_reading(
            ("paper", "reuse"),
            "Larger S has less regret and more violation, for three of five choices of (L, S).",
            lambda label: (
                Claim(f"{label}, S = 7", f"{label}, S = 70", "average_violation"),
                Claim(f"{label}, S = 70", f"{label}, S = 7", "average_regret"),
            ),
        ),
        differs=(
            "With plays reused the trade-off holds for all our choices; with a fresh posterior in every "
            "epoch there is none, because a short epoch ends before it has learnt anything. The paper's "
            f"(L, S) are not named. {_ABOUT_READINGS}"
        ),
    ),
    *(
        figure
        for number, (algorithm, shown) in _SMALL.items()
        for figure in _boxes_and_means(
            number,
            f"{shown}, small feasible region",
            (
                *_sublinear(
                    algorithm,
                    f"Regret and violation of Algorithm {algorithm} are sublinear, and their averages "
                    "tend to 0.",
                    ("regret", "violation"),
                ),
                *_below_others(
                    algorithm,
                    "Bandit OCO is stuck after few iterations, and ADMMBO is worse, too.",
                    _AVERAGES,
                    _DISCS_END,
                ),
            ),
            _OPEN if algorithm == "2" else f"{_SLATER} Otherwise as in Figure 3.",
        )
    ),
    *(
        figure
        for number, (algorithm, shown) in _SERVERS.items()
        for figure in _boxes_and_means(
            number,
            f"{shown}, data rates",
            (
                *_sublinear(
                    algorithm, f"The average violation of Algorithm {algorithm} approaches 0.", ("violation",)
                ),
                *_below_others(
                    algorithm,
                    "The average violations of ADMMBO and OCO stay away from 0.",
                    ("average_violation",),
                    _RATES_END,
                ),
                *_of_utility(algorithm),
            ),
            _RATES if algorithm == "2" else "As in Figure 7.",
        )
    ),
    _figure(
        name="shi2022-figures-5-9",
        title="Figures 5 and 9: violation of Algorithm 3 beside that of Algorithm 2",
        studies=tuple(f"shi2022-figures-{number}-{number + 1}" for number in (*_SMALL, *_SERVERS)),
        agents=(*_LABELS["2"], *_LABELS["3"]),
        metrics=("average_violation",),
        statements=tuple(
            Statement(
                f"The average violation converges more slowly in Algorithm 3 than in Algorithm 2: {problem}.",
                _slower(problem),
                "Tested at the last round, by either reading of both.",
            )
            for problem in ("small feasible region", "data-rate allocation")
        ),
        differs="The discs lack the slack that Theorem 2 needs, see Figure 5.",
    ),
)

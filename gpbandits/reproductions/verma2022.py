"""Verma, Dai & Low (2022), section 6: the figures, what the paper says of them, and where we differ."""

from functools import partial

from gpbandits.reproductions.claims import Claim, Statement
from gpbandits.reproductions.study_figure import StudyFigure

_figure = partial(StudyFigure, paper="Verma, Dai & Low (2022)", metrics=("simple", "cumulative"))
_MORE = "More on the page of studies of delayed feedback."


def _claims(labels: tuple[str, ...], metric: str = "simple", at: int | None = 50) -> tuple[Claim, ...]:
    """The first label has less of the metric than each of the others."""
    kind = "simple" if metric == "simple" else "cumulative"
    return tuple(Claim(labels[0], other, kind, at) for other in labels[1:])


def _both(suffix: str, metric: str = "simple", at: int | None = 50) -> tuple[Claim, ...]:
    """The order of UCB agents and that of Thompson agents."""
    ucb = tuple(f"{name}{suffix}" for name in ("GP-UCB-SDF", "GP-BUCB", "GP-UCB"))
    thompson = tuple(f"{name}{suffix}" for name in ("GP-TS-SDF", "GP-BTS", "asy-TS"))
    return (*_claims(ucb, metric, at), *_claims(thompson, metric, at))


FIGURES = (
    _figure(
        name="verma2022-figure-1",
        title="Figure 1: synthetic functions under several delays and windows, UCB",
        studies=("verma2022-figure-1",),
        statements=(
            Statement("Too small a window m is bad.", _claims(("GP-UCB-SDF, m = 20", "GP-UCB-SDF, m = 5"))),
            Statement(
                "m = 20 and m = 40 are comparable at a mean of 10.",
                (Claim("GP-UCB-SDF, m = 20", "GP-UCB-SDF, m = 40", "simple", 50, alike=True),),
            ),
            Statement(
                "GP-UCB-SDF has smaller simple regret than GP-BUCB and GP-UCB under both laws.",
                _claims(("GP-UCB-SDF, m = 20", "GP-BUCB", "GP-UCB")),
            ),
        ),
        differs=(
            "The amplitude of the prior decides: functions in [0, 1] have a variance near 0.05. At "
            "amplitude 1 hallucination explores enough and censoring pays for more; at 0.05 it is "
            "censoring that leaves lesser peaks. The paper learns the kernel, this study knows it; "
            f"horizon and noise are ours. {_MORE}"
        ),
    ),
    _figure(
        name="verma2022-figure-2",
        title="Figure 2: tuning a support vector machine",
        studies=("verma2022-figures-2-3-poisson", "verma2022-figures-2-3-constant"),
        environments=("SVM",),
        statements=(
            Statement(
                "GP-UCB-SDF and GP-TS-SDF outperform the baselines under both laws of delay.",
                (*_both(", learnt"), *_both(", published")),
            ),
        ),
        differs=(
            "One configuration in 900 has the least error and all agents end within a few validation "
            "patients of it, so that most orders are not told apart. The CNN panels (e to h) are not run. "
            f"{_MORE}"
        ),
    ),
    _figure(
        name="verma2022-figure-3",
        title="Figure 3: tuning logistic regression",
        studies=("verma2022-figures-2-3-poisson", "verma2022-figures-2-3-constant"),
        environments=("logistic",),
        statements=(
            Statement(
                "GP-UCB-SDF and GP-TS-SDF outperform the baselines under both laws of delay.",
                (*_both(", learnt"), *_both(", published")),
            ),
        ),
        differs=(
            "The surface has too many good settings to tell agents apart: their errors differ by much less "
            f"than one validation patient. {_MORE}"
        ),
    ),
    _figure(
        name="verma2022-figure-4",
        title="Figure 4: contexts, 50 tasks and growing data",
        studies=("verma2022-figure-4-tasks", "verma2022-figure-4-growing"),
        metrics=("cumulative",),
        statements=(
            Statement(
                "GP-UCB-SDF and GP-TS-SDF have less cumulative regret than the baselines.",
                _both("", "cumulative", None),
            ),
        ),
        differs=(
            "Cumulative regret charges each exploring play, SDF's width grows with the deviations of pending "
            "plays, and a new context makes configurations uncertain again. How contexts enter the paper's "
            f"kernel is not said. {_MORE}"
        ),
    ),
    _figure(
        name="verma2022-figure-5",
        title="Figure 5: synthetic functions, Thompson sampling",
        studies=("verma2022-figure-5",),
        statements=(
            Statement(
                "GP-TS-SDF has smaller simple regret than asy-TS and GP-BTS under both laws of delay.",
                _claims(("GP-TS-SDF, m = 20", "GP-BTS", "asy-TS")),
            ),
        ),
        differs=f"As in Figure 1 the amplitude of the prior decides. {_MORE}",
    ),
)

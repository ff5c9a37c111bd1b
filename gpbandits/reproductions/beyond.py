"""These studies belong to no paper: they vary a paper's open choices, or combine all features."""

from functools import partial

from gpbandits.evaluation.result import Metric
from gpbandits.reproductions.avanesov2020 import IN_K, IN_T
from gpbandits.reproductions.powers import Exponent, Power, PowerFigure
from gpbandits.reproductions.study_figure import StudyFigure
from gpbandits.reproductions.verdicts import Claim, SeldomBeforeChange, Statement

PAPER = "Beyond the papers"
_figure = partial(StudyFigure, paper=PAPER)
_DEFAULT = "c = 5, the default"
_KNOWN, _WRONG, _LEARNT = "known length-scale", "wrong length-scale", "marginal likelihood"
_WHOLE, _PARTS = "all parts", ("the context", "pending feedback", "the restart")
_BOTH: tuple[Metric, ...] = ("average_regret", "average_violation")
_COMPARED = ("GP-UCB-SDF, m = 20", "GP-BUCB", "GP-UCB")
_AT = 50


def _ridge(of: str, axis: str, printed: Power) -> PowerFigure:
    """Return the figure of exponents of regret with other constants of the detector's ridge."""
    return PowerFigure(
        name=f"avanesov2020-ridge-{of.lower()}",
        paper=PAPER,
        title=f"Avanesov's power of {of} with other constants c",
        studies=("avanesov2020-ridge",),
        environments=(f"{of} =",),
        of=of,
        axis=axis,
        printed=printed,
        statements=(
            Statement("With c = 4 the power is the paper's.", (Exponent("c = 4", of, printed.exponent),)),
            Statement("With c = 10 the power is the paper's.", (Exponent("c = 10", of, printed.exponent),)),
        ),
        differs=(
            "c = 5 was chosen so that the paper's curves come out; these are the same studies on fewer "
            "trials with two other constants."
        ),
    )


def _ahead(amplitude: str) -> tuple[Claim, ...]:
    """Claim that GP-UCB-SDF has less simple regret than the baselines at an amplitude."""
    first, *others = _COMPARED
    places = (f"Poisson 10, amplitude {amplitude}", f"constant 10, amplitude {amplitude}")
    return tuple(
        Claim(first, other, "simple_regret", _AT, environment=place) for other in others for place in places
    )


def _as_good(suffix: str) -> Statement:
    """State that the agents of the text have less simple regret than a variant of them."""
    names = ("GP-UCB-SDF", "GP-TS-SDF")
    claims = tuple(Claim(name, f"{name}, {suffix}", "simple_regret", _AT) for name in names)
    return Statement(f"The agents of the text have less simple regret than {suffix}.", claims)


FIGURES = (
    _figure(
        name="verma2022-known-kernel",
        title="Verma's Figures 1 and 5 with a known kernel of two amplitudes",
        studies=("verma2022-figures-1-5-known",),
        metrics=("simple_regret", "regret"),
        statements=(
            Statement(
                "At amplitude 0.05 GP-UCB-SDF has less simple regret than the baselines.", _ahead("0.05")
            ),
            Statement("At amplitude 1 it has, too.", _ahead("1")),
        ),
        differs=(
            "A function with values in [0, 1] has a variance near 0.05. At amplitude 1 unplayed points may "
            "be as good as the maximum, and hallucination explores enough; at 0.05 they are at most about "
            "one std above the least value, and the bias of pending plays makes SDF explore."
        ),
    ),
    _figure(
        name="verma2022-variants",
        title="Verma's variants: what the text does not show",
        metrics=("simple_regret", "regret"),
        statements=(
            _as_good("sigma with noise"),
            Statement(
                "GP-TS-SDF has less simple regret than without nu.",
                (Claim("GP-TS-SDF", "GP-TS-SDF, without nu", "simple_regret", _AT),),
            ),
            _as_good("fits on all"),
        ),
        differs=(
            "Published code and text can differ: a posterior std that includes the noise, samples of the "
            "posterior itself without nu, and hyperparameters fitted on censored values too."
        ),
    ),
    _figure(
        name="shi2022-readings",
        title="Shi's readings: what the paper leaves open",
        metrics=_BOTH,
        statements=(
            Statement(
                "Using all plays again has less violation than a fresh posterior in every epoch.",
                (
                    Claim("default", "restart", "average_violation"),
                    Claim("B = 1 instead of 2", "restart, B = 1 instead of 2", "average_violation"),
                ),
            ),
            Statement(
                "It has less violation than the paper's reading.",
                tuple(
                    Claim("default", f"paper, {which}", "average_violation")
                    for which in ("B = 2", "kernel of the objective learnt")
                ),
            ),
            Statement(
                "An epoch that begins at the incumbent has less regret.",
                (Claim("restart", "restart, no incumbent", "average_regret"),),
            ),
        ),
        differs="Algorithm 2, noiseless constraints; B = 2 was chosen for the default at length-scale 1.5.",
    ),
    _figure(
        name="shi2022-three-constraints",
        title="Three constraints, with and without delays",
        metrics=(*_BOTH, "average_hard_violation"),
        statements=(
            Statement(
                "The agents for constraints have less violation than the one without.",
                tuple(
                    Claim(f"Algorithm {which}", "IGP-UCB, unconstrained", "average_violation")
                    for which in ("2, reuse", "2, restart", "3, reuse")
                ),
            ),
            Statement(
                "Under delays a fresh posterior in every epoch costs more than using all plays again.",
                (
                    Claim(
                        "Algorithm 2, reuse",
                        "Algorithm 2, restart",
                        "average_regret",
                        environment="three constraints, del",
                    ),
                ),
            ),
        ),
        differs="Three costs drawn from a GP, satisfied together by 30 % of 100 arms; not in the paper.",
    ),
    _figure(
        name="avanesov2020-readings",
        title="Avanesov's readings: what the paper leaves open",
        statements=(
            Statement(
                "False alarms are improbable with c = 10, as the paper has them, and with c = 4 and 5.",
                tuple(SeldomBeforeChange(label, 0.1) for label in ("c = 10", _DEFAULT, "c = 4")),
                "Improbable: in less than a tenth of the trials.",
            ),
            Statement(
                "The formula of the ridge without a constant (c = 1) costs more regret than c = 5.",
                (Claim(_DEFAULT, "c = 1"),),
            ),
            Statement(
                "c = 4 has the same regret as c = 5, c = 10 more.",
                (Claim(_DEFAULT, "c = 4", equal=True), Claim(_DEFAULT, "c = 10")),
            ),
            Statement(
                "The integral over [0, 5] read as an average, a threshold five times as large, costs more.",
                (Claim(_DEFAULT, "integral averaged"),),
            ),
            Statement("Ten times D costs more.", (Claim(_DEFAULT, "10 D"),)),
            Statement(
                "With the theory's noise in the model the oracle has more regret than CPD with the noise's.",
                (Claim(_DEFAULT, "oracle, theory"),),
            ),
        ),
        differs="T = 1200 and K = 4, one reading changed at a time. Nothing was chosen after these runs.",
    ),
    _ridge("T", "horizon $T$, three periods", IN_T),
    _ridge("K", "stationary periods $K$, $T = 2700$", IN_K),
    _figure(
        name="avanesov2020-peers",
        title="Algorithms that forget on Avanesov's problem",
        statements=(
            Statement(
                "Algorithms that forget have less regret than the detector on its own problem.",
                tuple(Claim(f"{name}GP-UCB", "GP-UCB-CPD") for name in ("R-", "SW-", "W", "TV-")),
            ),
        ),
        differs=(
            "Every agent has its defaults; those of the peers follow from a guess of the variation, B_T = 1 "
            "prior std, which was not fitted. They play no arms uniformly at random, and their widths are "
            "smaller than the paper's. The paper makes no such comparison."
        ),
    ),
    _figure(
        name="composite-ablation",
        title="Everything at once: what each part of an agent is worth",
        metrics=("regret", "hard_violation", "violation"),
        statements=(
            Statement(
                "Without the context, without pending feedback or without the restart regret is larger.",
                tuple(Claim(_WHOLE, f"less {part}") for part in _PARTS),
            ),
            Statement(
                "Without the constraint hard violation is larger.",
                (Claim(_WHOLE, "less the constraint", "hard_violation"),),
            ),
            Statement(
                "An agent that is given the changes has less regret.", (Claim("true change-points", _WHOLE),)
            ),
            Statement(
                "The censored belief has less regret than ignoring pending feedback.",
                (Claim("censored feedback", "less pending feedback"),),
            ),
        ),
        differs=(
            "Delay and horizon were chosen on 12 trials of another seed so that each feature matters; the "
            "agent has its defaults. Violation can lower regret, so both must be read together. The third "
            "statement was written for a slower detector; by default the agent now detects a change with "
            "the first value after it and keeps the plays since, while the agent that is given the changes "
            "keeps no plays and plays some arms at random."
        ),
    ),
    _figure(
        name="unknown-kernel",
        title="A length-scale that is not known",
        statements=(
            Statement(
                "A length-scale sixteen times too long costs more regret than balancing shorter ones, "
                "shrinking it on a schedule, or learning it.",
                tuple(Claim(label, _WRONG) for label in ("LB-GP-UCB", "A-GP-UCB", _LEARNT)),
            ),
            Statement(
                "Balancing has less regret than scheduled shrinking.", (Claim("LB-GP-UCB", "A-GP-UCB"),)
            ),
            Statement(
                "Balancing has less regret than knowing the length-scale.",
                (Claim("LB-GP-UCB", _KNOWN),),
                "The theorem bounds it by a logarithm more. A valid width is wider than the best one at 600 "
                "rounds, and longer length-scales explore less as long as they find the maximum.",
            ),
            Statement(
                "Marginal likelihood, which has no guarantee, has less regret than balancing.",
                (Claim(_LEARNT, "LB-GP-UCB"),),
            ),
            Statement(
                "With nested length-scales PE-GP-UCB plays as with the shortest; balancing has less regret.",
                (Claim("LB-GP-UCB", "PE-GP-UCB"),),
            ),
        ),
        differs=(
            "Bands hold with probability 0.9 and B_0 = 2 is a true bound for the candidates; marginal "
            "likelihood is given the true norm. Only some trials are trapped at a lesser peak, so the "
            "intervals of the wrong length-scale and of the learnt one are wide. LB-GP-UCB escapes without "
            "eliminating a candidate."
        ),
    ),
)

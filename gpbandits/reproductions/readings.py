"""These studies vary the open choices of Verma et al. (2022) and Shi & Eryilmaz (2022), one at a time."""

from functools import partial

from gpbandits.evaluation.result import Metric
from gpbandits.reproductions.study_figure import StudyFigure
from gpbandits.reproductions.verdicts import Claim, Statement

_figure = partial(StudyFigure, paper="Beyond the papers")
_BOTH: tuple[Metric, ...] = ("average", "average-violation")
_KNOWN = ("GP-UCB-SDF, m = 20", "GP-BUCB", "GP-UCB")
_AT = 50


def _ahead(amplitude: str) -> tuple[Claim, ...]:
    """Claim that GP-UCB-SDF has less simple regret than the baselines at an amplitude."""
    first, *others = _KNOWN
    places = (f"Poisson 10, amplitude {amplitude}", f"constant 10, amplitude {amplitude}")
    return tuple(
        Claim(first, other, "simple", _AT, environment=place) for other in others for place in places
    )


def _as_good(suffix: str) -> Statement:
    """State that the agents of the text have less simple regret than a variant of them."""
    names = ("GP-UCB-SDF", "GP-TS-SDF")
    claims = tuple(Claim(name, f"{name}, {suffix}", "simple", _AT) for name in names)
    return Statement(f"The agents of the text have less simple regret than {suffix}.", claims)


FIGURES = (
    _figure(
        name="verma2022-known-kernel",
        title="Verma's Figures 1 and 5 with a known kernel of two amplitudes",
        studies=("verma2022-figures-1-5-known",),
        metrics=("simple", "cumulative"),
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
        studies=("verma2022-variants",),
        metrics=("simple", "cumulative"),
        statements=(
            _as_good("sigma with noise"),
            Statement(
                "GP-TS-SDF has less simple regret than without nu.",
                (Claim("GP-TS-SDF", "GP-TS-SDF, without nu", "simple", _AT),),
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
        studies=("shi2022-readings",),
        metrics=_BOTH,
        statements=(
            Statement(
                "Using all plays again has less violation than a fresh posterior in every epoch.",
                (
                    Claim("default", "restart", "average-violation"),
                    Claim("B = 1 instead of 2", "restart, B = 1 instead of 2", "average-violation"),
                ),
            ),
            Statement(
                "It has less violation than the paper's reading.",
                tuple(
                    Claim("default", f"paper, {which}", "average-violation")
                    for which in ("B = 2", "kernel of the objective learnt")
                ),
            ),
            Statement(
                "An epoch that begins at the incumbent has less regret.",
                (Claim("restart", "restart, no incumbent", "average"),),
            ),
        ),
        differs="Algorithm 2, noiseless constraints; B = 2 was chosen for the default at length-scale 1.5.",
    ),
    _figure(
        name="shi2022-three-constraints",
        title="Three constraints, with and without delays",
        studies=("shi2022-three-constraints",),
        metrics=(*_BOTH, "average-hard-violation"),
        statements=(
            Statement(
                "The agents for constraints have less violation than the one without.",
                tuple(
                    Claim(f"Algorithm {which}", "IGP-UCB, unconstrained", "average-violation")
                    for which in ("2, reuse", "2, restart", "3, reuse")
                ),
            ),
            Statement(
                "Under delays a fresh posterior in every epoch costs more than using all plays again.",
                (
                    Claim(
                        "Algorithm 2, reuse",
                        "Algorithm 2, restart",
                        "average",
                        environment="three constraints, del",
                    ),
                ),
            ),
        ),
        differs="Three costs drawn from a GP, satisfied together by 30 % of 100 arms; not in the paper.",
    ),
)

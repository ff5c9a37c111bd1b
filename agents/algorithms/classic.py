"""Named algorithms for stationary rewards, each composed of a model, a width and a rule.

All but sampling rules take `repeat`.

`irgp_ucb`, `pims` and `eims` explore at random: bounds on their expected regret need no delta and no horizon.
They hold for f ~ GP(0, k), Gaussian noise of variance lambda and feedback without delay, see
`acquisition.randomised`.

Readable forms: tests/references/stationary.py, randomised.py, improvement.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import require
from bandit_envs.problem.setting import Setting

from ..acquisition import rules
from ..acquisition.by_name import IMPROVED, Always, WithMargin, WithWidth
from ..acquisition.candidates import Rule
from ..acquisition.improvement import improvable, incumbent_of
from ..acquisition.randomised import EIMS, PIMS, OfSize
from ..acquisition.robust import dmm
from ..agent.assembly import Agent, assemble
from ..beliefs.ridges import RATIOS, Ridges, require_ratios
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..named import is_name
from ..options import typed
from ..protocol import handles, states_propensities
from ..widths.base import KernelUCBWidth, Width
from ..widths.by_name import DMM, improved_width, make_width


class WidthOptions(ModelOptions, total=False):
    """Options of an upper confidence bound: of its width, and of the model."""

    delta: float
    """Failure probability of the band; default 0.1."""
    beta_scale: float | None
    """Factor of beta_t with "finite-set", "compact" and "change-point"; default None: 1. The experiments of
    Srinivas et al. use 0.2."""
    gamma: Any
    """Information gain of "rkhs", "self-normalised" and "amm", see `make_gamma`; default None: a true bound
    for the first and the realised gain for the others."""


@typed
def upper_bound(
    setting: Setting,
    num_trials: int | None,
    parts: Mapping[str, Any],
    *,
    rule: Callable[[Width], Rule] = rules.UCB,
    width: Any = None,
    delta: float = 0.1,
    beta_scale: float | None = None,
    gamma: Any = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Return the agent of an upper confidence bound and of `parts` of a `GPAgent`."""
    width_of = partial(make_width, width, delta=delta, beta_scale=beta_scale, gamma=gamma)
    return assemble(Model.of(setting, **options), WithWidth(rule, width_of), num_trials, **parts)


@handles("delay", "context", "box", "noise", "availability")
def gp_ucb(
    setting: Setting,
    *,
    width: str | float | Width | None = None,
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """GP-UCB: argmax mu + sqrt(beta_t) sigma (Srinivas et al. 2010, Algorithm 1).

    Args:
        width: "finite-set" (Theorem 1, the default on a finite set), "compact" (Theorem 2), "rkhs" (Theorem
            3), "self-normalised" (the default on a box), "real-beta" (that, but larger for lambda > 1),
            "amm" (never larger than that, for the same functions), "dmm" (narrower still, see `dmm_ucb`),
            "constant" (sqrt(2 + 2 log(N / 2)) on N arms, without a regret bound), a number, or a `Width`.
    """
    if not is_name(width, DMM):
        return upper_bound(setting, num_trials, {}, width=width, **options)
    for name in ("beta_scale", "gamma"):
        given = options.pop(name, None)
        require(given is None, name, 'left out with the width "dmm", which does not take it', given)
    return dmm_ucb(setting, num_trials=num_trials, **options)


@handles("delay", "context", "box", "noise", "availability")
def dmm_ucb(
    setting: Setting,
    *,
    ratios: Any = RATIOS,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """DMM-UCB: argmax of the smallest of the bands of several regularisations (Flynn & Reeb 2024).

    All bands hold at once with probability 1 - delta, for R-sub-Gaussian noise and functions of norm B,
    `rkhs_bound`; `agent.refuted` marks trials whose observations no function of that norm explains. The
    paper's lambda is R^2 for the squared exponential and `noise_variance="smoothness"` for Matern kernels.

    Args:
        ratios: of the regularisations to lambda, one of them 1; each costs a posterior. Default the paper's.
    """
    require_ratios(ratios)
    belief = partial(Ridges, ratios=ratios)
    return assemble(Model.of(setting, **options), partial(dmm, delta=delta), num_trials, belief=belief)


@handles("delay", "context", "box", "noise", "availability")
def igp_ucb(
    setting: Setting,
    *,
    delta: float = 0.1,
    gamma: Any = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """IGP-UCB: B + R/s sqrt(2 (gamma_{t-1} + 1 + ln(1/delta))) (Chowdhury & Gopalan 2017, Algorithm 1).

    s is the largest prior std, which the paper takes as 1. The theorem requires noise_variance = (1 + 2/T)
    s^2; the default R^2 is that of the paper's experiments. `gamma` is the realised gain, or a value of
    `make_gamma`.
    """
    width_of = partial(improved_width, gamma=gamma, delta=delta, union=1)
    return assemble(Model.of(setting, **options), WithWidth(rules.UCB, width_of), num_trials)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def gp_ts(
    setting: Setting,
    *,
    width: str | float | Width = IMPROVED,
    delta: float = 0.1,
    gamma: Any = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """GP-TS: argmax of one sample of GP(mu, v_t^2 k) (Chowdhury & Gopalan 2017, Algorithm 2).

    Args:
        width: v_t: "improved", the paper's, for which it bounds the regret; 1, plain Thompson sampling; or a
            width of `gp_ucb`, whose multiplier then scales the samples, which no theorem covers.
        gamma: information gain of a width that has one, see `make_gamma`; default the realised one, but the
            true bound that Theorem 3 of Srinivas et al. needs for "rkhs".
    """
    improved = partial(improved_width, union=2) if is_name(width, IMPROVED) else partial(make_width, width)
    width_of = partial(improved, delta=delta, gamma=gamma)
    return assemble(Model.of(setting, **options), WithWidth(rules.Thompson, width_of), num_trials)


@handles("delay", "context", "box", "noise", "availability")
def kernel_ucb(
    setting: Setting, *, eta: float = 1.0, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """KernelUCB: argmax mu + eta s / sqrt(lambda) sigma, s the prior std (Valko et al. 2013)."""
    width_of = partial(_kernel_ucb_width, eta)
    return assemble(Model.of(setting, **options), WithWidth(rules.UCB, width_of), num_trials)


def _kernel_ucb_width(eta: float, model: Model) -> Width:
    return KernelUCBWidth(eta, model.relative_variance)


@handles("delay", "context", "box", "noise", "availability")
def gp_ei(
    setting: Setting,
    *,
    incumbent: str | None = None,
    xi: float = 0.0,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """GP-EI: expected improvement (Mockus 1975) over the incumbent plus xi.

    An arm with a posterior std of 0 has no expected improvement, so a known best arm may never be played.

    Args:
        incumbent: "max_mean" (largest posterior mean over played points; default), "best_value" (best noisy
            observation, what the papers' curves need), or on a box without contexts "noisy" (default there):
            the plays' own values are sampled, as in noisy EI (Letham et al. 2019).
        xi: least improvement that counts, in prior deviations.
    """
    rule, best = WithMargin(rules.ExpectedImprovement, xi), improvable(incumbent, setting)
    return assemble(Model.of(setting, **options), rule, num_trials, incumbent=best)


@handles("delay", "context", "box", "noise", "availability")
def gp_pi(
    setting: Setting,
    *,
    incumbent: str = "max_mean",
    xi: float = 0.01,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """GP-PI: probability of improvement (Kushner 1964) over the incumbent plus xi; see `gp_ei`."""
    rule, best = WithMargin(rules.ProbabilityOfImprovement, xi), incumbent_of(incumbent)
    return assemble(Model.of(setting, **options), rule, num_trials, incumbent=best)


@handles("delay", "context", "box", "noise", "availability")
def pure_exploitation(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """Pure exploitation: argmax of the posterior mean."""
    return assemble(Model.of(setting, **options), Always(rules.PosteriorMean()), num_trials)


@handles("delay", "context", "box", "noise", "availability")
def pure_exploration(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """Pure exploration: argmax of the posterior variance, the greedy experimental design."""
    return assemble(Model.of(setting, **options), Always(rules.PosteriorVariance()), num_trials)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def irgp_ucb(
    setting: Setting,
    *,
    size: int | str | None = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """IRGP-UCB: argmax mu + sqrt(zeta) sigma, zeta = 2 log(N / 2) + E, E exponential (Takeno et al. 2023).

    Args:
        size: N; default the number of arms, and on a box 512 as there are candidates in a round; "compact"
            grows with t on a box without contexts, by a formula from memory that is neither confirmed nor
            proved here.
    """
    return assemble(Model.of(setting, **options), OfSize(size), num_trials)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def pims(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """PIMS: probability of improvement on the maximum of a posterior sample (Takeno et al. 2024)."""
    return assemble(Model.of(setting, **options), Always(PIMS()), num_trials)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def eims(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """EIMS: expected improvement on the maximum of a posterior sample (Takeno et al. 2025).

    A known best arm may never be played, as with `gp_ei`: then regret is linear ("Contested claims" of the
    page of reproductions).
    """
    return assemble(Model.of(setting, **options), Always(EIMS()), num_trials)

"""The named algorithms that strike off arms in batches of plays that look at no value, with delays too.

They are near-optimal in rate, R_T = O~(sqrt(T gamma_T log N)) with probability 1 - delta, and poor in
practice: four times worse than an upper confidence bound or more, at every horizon of docs/elimination.md.
Plays of a batch depend on none of its values, so delays up to the end of a batch change nothing. No bound
holds with learnt hyperparameters (`refit_every`), through which they do, nor where arms are missing from
rounds: they then play the design among the available active arms, or any available arm. B is the setting's
`rkhs_bound`, or 1 where none is published; bounds then hold only if 1 is large enough.

Readable forms: tests/references/elimination.py, stationary.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import is_integer, is_number, require, require_probability
from bandit_envs.basics.options import count, positive, probability
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, Among
from ..acquisition.candidates import Rule
from ..acquisition.rules import AnyArm, PosteriorVariance
from ..agent.assembly import Agent, TrialList, assemble, each_model
from ..agent.single_trial import ArmAgent
from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered
from ..beliefs.eliminating import Eliminating, HalfWidth
from ..beliefs.imputed import Hallucinated
from ..model.choice import argmax_with_ties
from ..model.defaults import ModelOptions, rests_on_default
from ..model.model import Model
from ..model.rounds import Delivery
from ..named import is_name, name_or_other
from ..options import Delta, require_absent, require_arms, require_once, typed
from ..protocol import handles
from ..restarts.base import BatchEnds, SubExponential, Wait, doubling_lengths, growing_lengths, quantile_wait
from ..widths.bounded_norm import ConstantBand, PlainBand, SplitBand

BANDS = {"split": SplitBand, "plain": PlainBand}
FIRST = 16  # plays of the first batch where batches double
Late = Annotated[float, probability("it is 3/2 of the probability that a play is late")]
FirstBatch = Annotated[int, count("it is the number of plays of the first batch")]
WAITS = ("quantile", "sub-exponential", "max_delay")
TIE = 1e-9  # in prior stds
HERE = np.zeros(1, dtype=np.int64)  # index of the single trial
NO_STAGE = -1  # the stage of plays that belong to none


class EliminationOptions(ModelOptions, total=False):
    """Options of agents that strike off arms after batches: of their bands, and of the model."""

    band: str | float
    """"split" (default), which is never wider than "plain", the paper's; or w of w sigma, without a bound."""
    delta: float
    """Failure probability of all bands; default 0.1."""


@handles("delay", "noise", "availability", "horizon")
def bpe(setting: Setting, *, num_trials: int | None = None, **options: Unpack[EliminationOptions]) -> Agent:
    """BPE: batched pure exploration in about log log T batches (Li & Scarlett 2022)."""
    return _eliminating(setting, PosteriorVariance(), growing_lengths(setting.horizon), num_trials, **options)


@handles("delay", "noise", "availability", "horizon")
def phased_elimination(
    setting: Setting,
    *,
    first: FirstBatch = FIRST,
    num_trials: int | None = None,
    **options: Unpack[EliminationOptions],
) -> Agent:
    """Phased elimination: batches that double, plays of the largest variance (Iwazaki & Takeno 2025).

    With `band="plain"` it is their phased uncertainty sampling.

    Args:
        first: plays of the first batch, any positive integer.
    """
    lengths = doubling_lengths(setting.horizon, first)
    return _eliminating(setting, PosteriorVariance(), lengths, num_trials, **options)


@handles("delay", "noise", "availability", "horizon")
def reds(
    setting: Setting,
    *,
    first: FirstBatch = FIRST,
    num_trials: int | None = None,
    **options: Unpack[EliminationOptions],
) -> Agent:
    """REDS: batches that double, uniform plays of the active arms (Salgia et al. 2024, as restated)."""
    lengths = doubling_lengths(setting.horizon, first)
    return _eliminating(setting, AnyArm(), lengths, num_trials, **options)


@handles("delay", "context", "box", "noise", "availability")
def mvr(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """MVR: plays of the largest variance, pending ones counted; recommend at the end (Vakili et al. 2021).

    With probability 1 - delta the recommended arm's regret is at most 2 w sqrt(C_1 g_T / T), C_1 =
    2 / log(1 + 1 / lambda), w = B + (R / sqrt(lambda)) sqrt(2 log(2 N / delta)), where nothing is pending.
    """
    rule = Always(PosteriorVariance())
    return assemble(Model.of(setting, **options), rule, num_trials, belief=Hallucinated)


@typed
def _eliminating(
    setting: Setting,
    design: Rule,
    lengths: list[int],
    num_trials: int | None,
    *,
    band: str | float = "split",
    delta: float = 0.1,
    **options: Unpack[ModelOptions],
) -> Agent:
    require_plan(setting, delta, options, 'they are struck off one by one; take "mvr"')
    belief, restart = eliminating_by(band, delta, len(lengths)), partial(BatchEnds, lengths=lengths)
    rule = Always(Among(design))
    return assemble(Model.of(setting, **options), rule, num_trials, belief=belief, restart=restart)


def require_plan(setting: Setting, delta: float, options: ModelOptions, remedy: str) -> None:
    """Raise unless batches can be planned: of arms, none of which is played at random."""
    require_arms(setting, remedy)
    require_absent(options, ("initial",), "these agents play no arm at random")
    require_probability("delta", delta)


def eliminating_by(band: str | float, delta: float, batches: int) -> partial[Eliminating]:
    """Return the builder of a belief that eliminates by a band at level delta for all arms and batches."""
    expected = f"one of {', '.join(BANDS)} or a positive number"
    name, number = name_or_other("band", band, BANDS, expected)
    require(name is not None or (is_number(number) and number > 0), "band", expected, band)
    return partial(Eliminating, band_of=partial(_band_of, band, delta, batches))


def _band_of(band: str | float, delta: float, batches: int, model: Model) -> HalfWidth:
    if isinstance(band, str):
        return BANDS[band].of(model, delta, model.gram.size * batches)
    return ConstantBand(band)


@handles("delay", "noise", "availability", "horizon")
def bpe_delay(
    setting: Setting,
    *,
    wait: str | int | None = None,
    late: Late = 0.01,
    num_trials: int | None = None,
    **options: Unpack[EliminationOptions],
) -> Agent:
    """BPE-Delay: batches of `bpe`, each u rounds longer, bands of delivered feedback (Vakili et al. 2023).

    The extra rounds are played like the others. Bands hold for any subset of delivered feedback, provided
    that delays do not depend on rewards: late feedback costs regret, not the guarantee. The paper's study
    takes a `band` of sqrt(6).

    Args:
        wait: u: "quantile" of the published law of delays, by default; "sub-exponential", the paper's tail
            bound, for a published Poisson law; "max_delay", by default where no law is published; or a
            number of rounds, 0 being `bpe`. Never more than `max_delay`.
        late: 3/2 of the bound on the probability that any play up to the end of a batch is late.
    """
    extra = _wait(setting, wait, late)
    lengths = growing_lengths(setting.horizon, lambda t: min(extra(t), setting.max_delay))
    return _eliminating(setting, PosteriorVariance(), lengths, num_trials, **options)


def _wait(setting: Setting, wait: Any, late: float) -> Wait:
    if is_integer(wait):
        require(wait >= 0, "wait", "0 or a positive integer", wait)
        return lambda t: int(wait)
    if wait is None:
        wait = "max_delay" if setting.delay is None else "quantile"
    require(is_name(wait, *WAITS), "wait", f"one of {', '.join(WAITS)} or an integer", wait)
    if wait == "max_delay" or not setting.max_delay:
        return lambda t: setting.max_delay
    if wait == "quantile":
        require(setting.delay is not None, "wait", "a number or max_delay where no law is published", wait)
        return partial(quantile_wait, setting, late)
    law = setting.delay
    if not isinstance(law, PoissonDelay):
        require(False, "wait", f"quantile, max_delay or a number where the law is {law!r}, not Poisson", wait)
    return SubExponential.of_poisson(law.mean, late)  # type: ignore[union-attr]


class SupKernelUCB(ArmAgent):
    r"""Agent of S = ceil(log2 sqrt T) + 1 stages, each with the posterior of its own plays Psi_s.

    In a round, from s = 1 and all available arms A:
    (i) where w sigma_s <= 1 / sqrt T on A, play argmax mu_s + w sigma_s, and keep it in no stage;
    (ii) else where w sigma_s > 2^-s somewhere on A, play the arm of the widest band and keep it in Psi_s;
    (iii) else A <- {mu_s + w sigma_s >= max_A (mu_s + w sigma_s) - 2^(1-s)}, and s <- s + 1.

    Thresholds are in prior stds. The order is from memory; the widest band in (ii), in place of any, and the
    play as in (i) past the last stage, are our readings. Pending plays count in sigma_s, which needs no
    value, so that a stage's design stays independent of its noise under delay.
    """

    def __init__(self, model: Model, band_of: Callable[[Model], HalfWidth]):
        super().__init__(model)
        self.band = band_of(model)
        self.stages = math.ceil(math.log2(math.sqrt(self.setting.horizon))) + 1

    @property
    def assumes_bound(self) -> bool:
        """True where the band uses a default for B."""
        return rests_on_default(self.band)

    def begin(self) -> None:
        stages = range(self.stages)
        self.processes: list[Belief] = [Hallucinated(self.model, 1) for _ in stages]  # of the Psi_s
        self.belief = Delivered(self.model, 1)  # of all values, for recommendations
        self.stage_of: list[int] = []  # of each play
        self._asked = NO_STAGE, NO_STAGE  # the chosen arm and its stage

    def act(self, observation: Floats) -> int:
        self._asked = self._chosen(self.context(observation), self.tie_breaker())
        return self._asked[0]

    def noted(self, point: Ints, played: Ints, news: Feedback) -> None:
        asked, stage = self._asked
        if asked != int(point[0]) % self.setting.decisions.num_arms:  # the caller played another arm
            stage = NO_STAGE
        self.stage_of.append(stage)
        if stage != NO_STAGE:
            self.processes[stage].play(point)
        for x, s, y in zip(played[:, None], news.round.tolist(), news.reward[:, None], strict=True):
            self.belief.receive(Delivery.of_values(HERE, x, y))
            if self.stage_of[s] != NO_STAGE:
                self.processes[self.stage_of[s]].receive(Delivery.of_values(HERE, x, y))

    def dropped(self, rounds: Ints, point: Ints) -> None:
        for s, x in zip(rounds.tolist(), point[:, None], strict=True):
            if self.stage_of[s] != NO_STAGE:
                self.processes[self.stage_of[s]].drop(HERE, x, np.array([self.round - s]))

    def _chosen(self, context: Ints, uniform: Floats) -> tuple[int, int]:
        active, narrowest = self.available().copy(), self.model.prior_std / math.sqrt(self.setting.horizon)
        for s, belief in enumerate(self.processes):
            std = belief.std(context)
            half = self.band(std, std)
            upper = belief.mean(context) + half
            threshold = self.model.prior_std * 2.0 ** -(s + 1)  # stages are counted from 0 here
            if (half[active] > narrowest).any():
                if (half[active] > threshold).any():
                    return self._best(half, active, uniform), s
                if s + 1 < self.stages:
                    active &= upper >= upper[active].max() - 2.0 * threshold
                    continue
            return self._best(upper, active, uniform), NO_STAGE
        raise AssertionError("there is at least one stage")

    def _best(self, scores: Floats, active: Bools, uniform: Floats) -> int:
        among = np.where(active, scores, -np.inf)
        return int(argmax_with_ties(among, TIE * self.model.prior_std, uniform, active)[0])


@handles("delay", "context", "availability", "horizon")
def sup_kernel_ucb(
    setting: Setting,
    *,
    band: Annotated[float, positive("it multiplies a standard deviation")] | None = None,
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> SupKernelUCB | TrialList:
    """SupKernelUCB: R_T = O~(sqrt(gamma_T T)), for theory rather than use (Valko et al. 2013).

    Args:
        band: w of w sigma, without a proof; default B + (R / sqrt(lambda)) sqrt(2 log(2 T N / delta)).
    """
    require_arms(setting, "they are left out by stages")
    require_absent(options, ("initial", "refit_every"), "stages choose plays")
    require_once(options, "stages choose plays")
    model, own = Model.of(setting, **options), "plain" if band is None else band
    band_of = partial(_band_of, own, delta, setting.horizon)
    return each_model(model, partial(SupKernelUCB, band_of=band_of), num_trials)

"""BPE-Delay: elimination in batches that wait for the feedback of their plays."""

from __future__ import annotations

from typing import Any, Unpack

from bandit_envs.basics.arguments import is_integer, require, require_probability
from bandit_envs.laws.delays import Poisson
from bandit_envs.problem.setting import Setting

from ..acquisition.rules import PosteriorVariance
from ..agent.assembly import Agent
from ..capabilities import handles
from ..model.options import ModelOptions
from ..restarts.batches import growing_lengths
from ..restarts.waiting import Fixed, Quantile, SubExponential, Wait
from ..validation import PerTrial
from .elimination import eliminating

WAITS = ("quantile", "sub-exponential", "max_delay")


@handles("delay", "noise", "availability", "horizon")
def bpe_delay(
    setting: Setting,
    *,
    wait: str | int | None = None,
    late: float = 0.01,
    band: str | float = "split",
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """BPE-Delay: batches of `bpe`, each u rounds longer, bands of delivered feedback (Vakili et al. 2023).

    The extra rounds are played like the others. Bands hold for any subset of delivered feedback, provided
    that delays do not depend on rewards: late feedback costs regret, not the guarantee.

    Args:
        setting: the published setting.
        wait: u: "quantile" of the published law of delays, by default; "sub-exponential", the paper's tail
            bound, for a published Poisson law; "max_delay", by default where no law is published; or a
            number of rounds, 0 being `bpe`. Never more than `max_delay`.
        late: 3/2 of the bound on the probability that any play up to the end of a batch is late.
        band, delta: see `bpe`; the paper's study takes a band of sqrt(6).
        num_trials: None, or B.
        **options: of the model, see `ModelOptions`.
    """
    extra = _wait(setting, wait, late)
    lengths = growing_lengths(setting.horizon, lambda t: min(extra(t), setting.max_delay))
    return eliminating(setting, PosteriorVariance(), lengths, band, delta, num_trials, options)


def _wait(setting: Setting, wait: Any, late: float) -> Wait:
    require_probability("late", late)
    if is_integer(wait):
        require(wait >= 0, "wait", "0 or a positive integer", wait)
        return Fixed(int(wait))
    if wait is None:
        wait = "max_delay" if setting.delay is None else "quantile"
    require(isinstance(wait, str) and wait in WAITS, "wait", f"one of {', '.join(WAITS)} or an integer", wait)
    if wait == "max_delay" or not setting.max_delay:
        return Fixed(setting.max_delay)
    if wait == "quantile":
        require(setting.delay is not None, "wait", "a number or max_delay where no law is published", wait)
        return Quantile(setting, late)
    law = setting.delay
    if not isinstance(law, Poisson):
        require(False, "wait", f"quantile, max_delay or a number where the law is {law!r}, not Poisson", wait)
    return SubExponential.of_poisson(law.mean, late)  # type: ignore[union-attr]

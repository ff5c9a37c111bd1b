"""Stop when the regret is small enough with a stated probability.

`MinimaGap` and `Plateau`, rules of other packages, stop when little changes; they say nothing about regret.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.special import betaincinv

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.options import Checked, count, not_negative, one_of, positive, probability
from bandit_envs.basics.types import Floats

from ..acquisition.improvement import log_expected_improvement
from ..widths.base import Width
from .stopping_candidates import LIKELY, MOST_JOINT, StoppingCandidates, StopVerdict

Eps = Annotated[float, positive("it is the regret that is good enough, in units of the reward")]
MOST_CANDIDATES = 5  # plays that are tested, those that are best in most draws
FIRST_DRAWS, GROWTH = 16, 1.5  # of the i-th look, 16 x 1.5^(i - 1)
MOST_LOOKS = 40  # with which 10^8 draws are made
ZETA = 0.1 / 1.1  # so that sum_i ZETA i^-1.1 <= 1
LAST_FIRST = 21  # the last of the first rounds, whose median the threshold is taken from


class OnceReady(Checked):
    """Base of rules, which stop nothing while no play can be recommended, or only from made-up values."""

    def __call__(self, candidates: StoppingCandidates) -> StopVerdict:
        """Return the verdict, or why there can be none yet."""
        if candidates.assumed:
            return StopVerdict(False, None, f"{candidates.assumed} plays count with made-up values")
        if candidates.best is not None:
            return self.verdict(candidates)
        known = "none is likely to keep all costs" if candidates.played.any() else "none has a value yet"
        return StopVerdict(False, None, f"no play can be recommended: {known}")

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        """Return the verdict where some play can be recommended."""
        raise NotImplementedError


@dataclass(frozen=True)
class Gap(OnceReady):
    """max (mu + w sigma) - max over plays (mu - w sigma) <= eps (Makarova et al. 2022).

    The recommended play is that of the second maximum. Where the band holds in all rounds its regret is at
    most eps at the stop. With noise the gap stays above 2 w sigma(j), so that a small eps never stops.

    Args:
        width: w, made from the model; valid in all rounds for the promise.
        eps: regret that is good enough.
    """

    width: Width
    eps: Eps

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        gap, best = gap_of(candidates, self.width)
        reason = f"the best arm may be better by {gap:.3g}, eps is {self.eps:.3g}"
        return StopVerdict(gap <= self.eps, best, reason)


def gap_of(candidates: StoppingCandidates, width: Width) -> tuple[float, int]:
    """Return the gap between the largest upper end and the largest lower end of a play, and that play."""
    half = width_now(width, candidates) * candidates.std
    low = np.where(candidates.likely, candidates.mean - half, -np.inf)
    best = int(low.argmax())
    return float((candidates.mean + half).max() - low[best]), best


def width_now(width: Width, candidates: StoppingCandidates) -> float:
    """Return the width of the band after the rounds so far, that of round t + 1."""
    return float(width(np.array([candidates.plays + 1]), np.array([candidates.gain]))[0])


@dataclass(frozen=True)
class BestArm(OnceReady):
    """UCB(x) - LCB(i) <= eps for all x != i, i the arm of the largest lower end (LUCB).

    It stops once i was played. With "difference" bands, |f(x) - f(i) - mu(x) + mu(i)| <= w std(f(x) - f(i)),
    valid where the band is an ellipsoid, as by "amm"; correlated arms then need fewer plays.

    Args:
        width: w, valid in all rounds.
        eps: by which the best arm may be better.
        bands: "single" or "difference".
    """

    width: Width
    eps: Eps
    bands: Annotated[str, one_of("single", "difference")] = "single"

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        width = width_now(self.width, candidates)
        half = width * candidates.std
        if self.bands == "single":
            best = int(np.where(candidates.feasible >= LIKELY, candidates.mean - half, -np.inf).argmax())
            ahead = candidates.mean + half - (candidates.mean - half)[best]
        else:
            best = int(np.where(candidates.feasible >= LIKELY, candidates.mean, -np.inf).argmax())
            ahead = candidates.mean - candidates.mean[best] + width * candidates.difference(best)
        ahead[best] = -np.inf
        rival = int(ahead.argmax())
        others = f"{candidates.name(rival)} may be better by {ahead[rival]:.3g}, eps is {self.eps:.3g}"
        known = bool(candidates.played[best])
        return StopVerdict(bool(ahead[rival] <= self.eps) and known, best if known else None, others)


@dataclass(frozen=True)
class RegretBound(OnceReady):
    """P(x keeps all costs, and max f - f(x) <= eps | data) >= 1 - delta for some play x (Wilson 2024).

    The maximum is over what keeps all costs; costs are our extension. Joint draws from the posterior decide,
    by looks at 16, 24, 36, ... of them. At each, Clopper-Pearson intervals of five plays, at levels that add
    up to `error` over all looks and rounds, lie on the passing side (one of them), on the failing side (all),
    or the next look follows. Undecided at `most` draws counts as failing. Under the right prior, known from
    the first round on, a run stops with its promise broken with probability at most delta P(it stops) +
    error, however often one looks. On a box the maximum is over the candidates that were looked at.

    Args:
        eps: regret that is good enough.
        delta: probability by which the posterior may miss it.
        error: probability of a false stop by the draws, over the whole run.
        most: draws of a round.
    """

    eps: Eps
    delta: Annotated[float, probability("it is the share of runs that may break the promise")] = 0.05
    error: Annotated[float, probability("it is the share of runs that draws may stop falsely")] = 0.01
    most: Annotated[int, count("it is a number of draws")] = 4096

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        if len(candidates.mean) > MOST_JOINT:
            remedy = f'a rule of at most {MOST_JOINT} arms here; take "knowledge-gradient"'
            raise ArgumentError("stopping", f"must be {remedy}, got {len(candidates.mean)} arms")
        (plays,) = candidates.likely.nonzero()
        best = candidates.draw(FIRST_DRAWS)[:, plays].argmax(axis=1)
        share = np.bincount(best, minlength=len(plays)) + (plays == candidates.best)
        likely, drawn = plays[np.argsort(-share, kind="stable")[:MOST_CANDIDATES]], 0
        good = low = np.zeros(len(likely))
        level = self.error * ZETA * (candidates.plays + 1) ** -1.1 * ZETA / MOST_CANDIDATES
        for look in range(1, MOST_LOOKS):
            more = min(round(FIRST_DRAWS * GROWTH ** (look - 1)), self.most) - drawn
            draws = candidates.draw(more)
            there = draws[:, likely]  # minus infinity where a cost is broken, and the maximum may be so too
            within = np.isfinite(there) & (there >= draws.max(axis=1)[:, None] - self.eps)
            good, drawn = good + within.sum(axis=0).astype(np.float64), drawn + more
            low, high = interval(good, drawn, level * look**-1.1)
            if low.max() >= 1.0 - self.delta or high.max() < 1.0 - self.delta or drawn >= self.most:
                break
        best = int(likely[low.argmax()])
        of = "the regret of" if not candidates.costs else "all costs are kept and the regret of"
        words = f"{of} {candidates.name(best)} is at most {self.eps:.3g} in {good.max():.0f} of "
        words += f"{drawn} draws, and {1.0 - self.delta:.3g} of them are asked for"
        return StopVerdict(bool(low.max() >= 1.0 - self.delta), best, words)


def interval(good: Floats, drawn: int, level: float) -> tuple[Floats, Floats]:
    """Return the two-sided Clopper-Pearson interval of probabilities at an error level, (c,) each."""
    low = np.where(good > 0, betaincinv(np.maximum(good, 1), drawn - good + 1, level / 2), 0.0)
    high = np.where(good < drawn, betaincinv(good + 1, np.maximum(drawn - good, 1), 1 - level / 2), 1.0)
    return low, high


@dataclass
class MinimaGap(OnceReady):
    """The change of the best mean in a round is small (Ishibashi et al. 2023).

    G = |mu(j) - mu'(j')| + E[(f(j') - f(j))^+] + gap' sqrt(KL / 2), where primes are of the round before, gap
    is that of `Gap`, KL = 1/2 (ln(1 + v / lambda) - v / (v + lambda) + v (y - mu'(x))^2 / (v + lambda)^2) is
    between the two posteriors and v = sigma'(x)^2 at the play x. It says nothing without noise, as KL grows
    without bound, and measures the last step, not the regret.

    Args:
        width: of the gap.
        threshold: stop where G is below it; None is `share` times the median of G over rounds 2 to 21.
        share: of that median.
    """

    width: Width
    threshold: Annotated[float, positive("it is in units of the reward")] | None = None
    share: Annotated[float, positive("it is a share of the first rounds' median")] = 0.01
    _before: StoppingCandidates | None = field(default=None, repr=False)
    _seen: list[float] = field(default_factory=list, repr=False)

    def __call__(self, candidates: StoppingCandidates) -> StopVerdict:
        verdict = super().__call__(candidates)
        self._before = candidates
        return verdict

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        before = self._before
        if before is None or before.best is None or candidates.latest is None:
            return StopVerdict(False, candidates.best, "a change needs two rounds")
        change = self._change(before, candidates, *candidates.latest)
        self._seen.append(change)
        limit = self.threshold
        if limit is None:
            if candidates.plays < LAST_FIRST:
                reason = f"the threshold is known after {LAST_FIRST} rounds"
                return StopVerdict(False, candidates.best, reason)
            limit = self.share * float(np.median(self._seen[: LAST_FIRST - 1]))
        reason = f"the change is {change:.3g}, the threshold {limit:.3g}"
        return StopVerdict(change < limit, candidates.best, reason)

    def _change(self, before: StoppingCandidates, now: StoppingCandidates, point: int, value: float) -> float:
        assert before.best is not None
        assert now.best is not None
        x, old = int((before.point == point).argmax()), before.best  # the arms of both rounds are the same
        v, noise = before.std[x] ** 2, float(before.noise[x])
        spread = float(now.difference(now.best)[old])
        ahead = float(now.mean[old] - now.mean[now.best])
        gap, _ = gap_of(before, self.width)
        with np.errstate(divide="ignore"):
            kl = np.log1p(v / noise) - v / (v + noise) + v * (value - before.mean[x]) ** 2 / (v + noise) ** 2
        gained = float(np.exp(log_expected_improvement(np.array([ahead]), np.array([spread]))[0]))
        return abs(float(now.mean[now.best] - before.mean[old])) + gained + gap * float(np.sqrt(kl / 4.0))


@dataclass(frozen=True)
class Plateau(OnceReady):
    """The best value grew by at most a share of the values' inter-quartile range in the last rounds.

    Under constraints it is the best of the values whose observed costs were kept.

    Args:
        rounds: number of last values.
        share: of the inter-quartile range of all values; 0 asks for no growth at all.
    """

    rounds: Annotated[int, count("it is a number of values")] = 5
    share: Annotated[float, not_negative("it is a share of the values' inter-quartile range")] = 0.01

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        values = candidates.values
        if len(values) <= self.rounds:
            reason = f"{self.rounds + 1} values are needed, {len(values)} were delivered"
            return StopVerdict(False, candidates.best, reason)
        worth = np.where(candidates.kept, values, -np.inf)
        if np.isneginf(before := worth[: -self.rounds].max()):
            return StopVerdict(False, candidates.best, "no earlier value kept all costs")
        growth = float(worth.max() - before)
        limit = self.share * float(np.subtract(*np.quantile(values, [0.75, 0.25])))
        words = f"the best value grew by {growth:.3g} in {self.rounds} plays, the limit is {limit:.3g}"
        return StopVerdict(growth <= limit, candidates.best, words)

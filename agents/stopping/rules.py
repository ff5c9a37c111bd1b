"""Stop when no further play is worth its price (Xie et al. 2025, and its exact form under noise).

`MinimaGap` and `Plateau`, rules of other packages, stop when little changes; they say nothing about regret.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bandit_envs.basics.arguments import require_choice, require_positive
from bandit_envs.basics.types import Floats

from ..acquisition.improvement import change_of_lead, gittins_index, log_expected_improvement
from ..widths.base import Width
from .by_regret import gap_of
from .outlook import Outlook, StopVerdict, unready

REMEDY = "it is what a unit of cost is worth, in units of the reward"
LAST_FIRST = 21  # the last of the first rounds, whose median the threshold is taken from


@dataclass(frozen=True)
class ByPrice:
    """Base of rules that stop once no candidate's expected gain exceeds p c(x), its price.

    Any policy that plays only points with gain(x) > p c(x), and stops when there is none, has
    E[f(j_tau) - p C_tau] >= E[f(j_1) - p C_1] under the right prior: f(j) - p C is a submartingale until the
    stop, with j the play of the largest mean and C the costs so far. Scaling rewards and p together changes
    nothing.

    Args:
        price: p > 0.
    """

    price: float

    def __post_init__(self) -> None:
        require_positive("price", self.price, REMEDY)

    def __call__(self, outlook: Outlook) -> StopVerdict:
        if (verdict := unready(outlook)) is not None:
            return verdict
        gain, price = self.gain(outlook), self.price * outlook.cost
        best = int((gain / price).argmax())
        where = outlook.name(best)
        numbers = f"its price of {price[best]:.3g}: the best expected gain is {gain[best]:.3g} at {where}"
        if (gain <= price).all():
            return StopVerdict(True, outlook.best, f"no play is worth {numbers}")
        return StopVerdict(False, outlook.best, f"a play is worth more than {numbers}")

    def gain(self, outlook: Outlook) -> Floats:
        """Return the expected gain of a play of each candidate, (n,)."""
        raise NotImplementedError


class GradientWorthPrice(ByPrice):
    """The two-point knowledge gradient E[max(mu'(x), mu'(j))] - mu(j), exact under noise.

    A play of x changes mu(x) - mu(j) by a normal deviate of std d(x) = |S_xx - S_jx| / sqrt(S_xx + lambda),
    so the gain is EI(mu(x) - mu(j), d(x)); 0 at x = j, whose replication cannot change the choice. Without
    noise it is expected improvement. While plays are pending, expected improvement is at least their joint
    gain and takes its place.
    """

    def gain(self, outlook: Outlook) -> Floats:
        if outlook.pending:
            return outlook.improvement()
        assert outlook.best is not None
        every, best = np.arange(len(outlook.mean)), np.array([outlook.best])
        change = change_of_lead(outlook.std**2, outlook.covariance(every, best)[:, 0], outlook.noise)
        change[outlook.best] = 0.0
        return outlook.improvement(change)


class ImprovementWorthPrice(ByPrice):
    """EI(mu(x) - M, sigma(x)), M the best mean over plays: what one play without noise would gain.

    With noise it counts the uncertainty about plays as gain, and stops three to four times later.
    """

    def gain(self, outlook: Outlook) -> Floats:
        return outlook.improvement()


class IndexAboveMean(ByPrice):
    """All Gittins indices v are at most the best mean M, where EI(mu(x) - v, sigma(x)) = p c(x).

    The same rounds as by `ImprovementWorthPrice`, since EI decreases in its reference value.
    """

    def __call__(self, outlook: Outlook) -> StopVerdict:
        if (verdict := unready(outlook)) is not None:
            return verdict
        assert outlook.best is not None
        price = np.maximum(self.price * outlook.cost / np.maximum(outlook.feasible, 1e-300), 1e-300)
        index = gittins_index(outlook.mean[None], outlook.std[None], price[None])[0]
        top, mean = int(index.argmax()), outlook.mean[outlook.best]
        where = outlook.name(top)
        words = f"the largest index is {index[top]:.3g} at {where}, the best mean {mean:.3g}"
        return StopVerdict(bool(index[top] <= mean), outlook.best, words)


@dataclass
class MinimaGap:
    """The change of the best mean in a round is small (Ishibashi et al. 2023).

    G = |mu(j) - mu'(j')| + E[(f(j') - f(j))^+] + gap' sqrt(KL / 2), where primes are of the round before, gap
    is that of `Gap`, KL = 1/2 (ln(1 + v / lambda) - v / (v + lambda) + v (y - mu'(x))^2 / (v + lambda)^2) is
    between the two posteriors and v = sigma'(x)^2 at the play x. It says nothing without noise, as KL grows
    without bound, and measures the last step, not the regret.

    Args:
        width: of the gap.
        threshold: stop where G is below it; None is `share` times the median of G over rounds 2 to 21.
        share: of that median.
        reading: "wilson" as above; "xie" has E[(f(j) - f(j'))^+].
    """

    width: Width
    threshold: float | None = None
    share: float = 0.01
    reading: str = "wilson"
    _before: Outlook | None = field(default=None, repr=False)
    _seen: list[float] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        require_choice("reading", self.reading, ("wilson", "xie"))
        require_positive("share", self.share, "it is a share of the first rounds' median")
        if self.threshold is not None:
            require_positive("threshold", self.threshold, "it is in units of the reward")

    def __call__(self, outlook: Outlook) -> StopVerdict:
        before, self._before = self._before, outlook
        if (verdict := unready(outlook)) is not None:
            return verdict
        if before is None or before.best is None or outlook.latest is None:
            return StopVerdict(False, outlook.best, "a change needs two rounds")
        change = self._change(before, outlook, *outlook.latest)
        self._seen.append(change)
        limit = self.threshold
        if limit is None:
            if outlook.plays < LAST_FIRST:
                return StopVerdict(False, outlook.best, f"the threshold is known after {LAST_FIRST} rounds")
            limit = self.share * float(np.median(self._seen[: LAST_FIRST - 1]))
        return StopVerdict(
            change < limit, outlook.best, f"the change is {change:.3g}, the threshold {limit:.3g}"
        )

    def _change(self, before: Outlook, now: Outlook, point: int, value: float) -> float:
        assert before.best is not None
        assert now.best is not None
        x, old = int((before.point == point).argmax()), before.best  # the arms of both rounds are the same
        v, noise = before.std[x] ** 2, float(before.noise[x])
        spread = float(now.difference(now.best)[old])
        lost = float(now.mean[old] - now.mean[now.best])
        ahead = lost if self.reading == "wilson" else -lost
        gap, _ = gap_of(before, self.width)
        with np.errstate(divide="ignore"):
            kl = np.log1p(v / noise) - v / (v + noise) + v * (value - before.mean[x]) ** 2 / (v + noise) ** 2
        gained = float(np.exp(log_expected_improvement(np.array([ahead]), np.array([spread]))[0]))
        return abs(float(now.mean[now.best] - before.mean[old])) + gained + gap * float(np.sqrt(kl / 4.0))


@dataclass(frozen=True)
class Plateau:
    """The best value grew by at most a share of the values' inter-quartile range in the last rounds.

    Args:
        rounds: number of last values.
        share: of the inter-quartile range of all values; 0 asks for no growth at all.
    """

    rounds: int = 5
    share: float = 0.01

    def __post_init__(self) -> None:
        require_positive("rounds", self.rounds, "it is a number of values")

    def __call__(self, outlook: Outlook) -> StopVerdict:
        if (verdict := unready(outlook)) is not None:
            return verdict
        values = outlook.values
        if len(values) <= self.rounds:
            return StopVerdict(
                False, outlook.best, f"{self.rounds + 1} values are needed, {len(values)} were delivered"
            )
        growth = float(values.max() - values[: -self.rounds].max())
        limit = self.share * float(np.subtract(*np.quantile(values, [0.75, 0.25])))
        words = f"the best value grew by {growth:.3g} in {self.rounds} plays, the limit is {limit:.3g}"
        return StopVerdict(growth <= limit, outlook.best, words)

"""Stop when no play is worth its price (Xie 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bandit_envs.basics.options import positive
from bandit_envs.basics.types import Floats

from ..acquisition.improvement import change_of_lead, gittins_index
from .rules import OnceReady
from .stopping_candidates import StoppingCandidates, StopVerdict

Price = Annotated[float, positive("it is what a unit of cost is worth, in units of the reward")]


@dataclass(frozen=True)
class ByPrice(OnceReady):
    """Base of rules that stop once no candidate's expected gain exceeds p c(x), its price.

    Any policy that plays only points with gain(x) > p c(x), and stops when there is none, has
    E[f(j_tau) - p C_tau] >= E[f(j_1) - p C_1] under the right prior: f(j) - p C is a submartingale until the
    stop, with j the play of the largest mean and C the costs so far. Scaling rewards and p together changes
    nothing.

    Args:
        price: p > 0.
    """

    price: Price

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        gain, price = self.gain(candidates), self.price * candidates.cost
        best = int((gain / price).argmax())
        where = candidates.name(best)
        numbers = f"its price of {price[best]:.3g}: the best expected gain is {gain[best]:.3g} at {where}"
        if (gain <= price).all():
            return StopVerdict(True, candidates.best, f"no play is worth {numbers}")
        return StopVerdict(False, candidates.best, f"a play is worth more than {numbers}")

    def gain(self, candidates: StoppingCandidates) -> Floats:
        """Return the expected gain of a play of each candidate, (n,)."""
        raise NotImplementedError


class GradientWorthPrice(ByPrice):
    """The two-point knowledge gradient E[max(mu'(x), mu'(j))] - mu(j), exact under noise.

    A play of x changes mu(x) - mu(j) by a normal deviate of std d(x) = |S_xx - S_jx| / sqrt(S_xx + lambda),
    so the gain is EI(mu(x) - mu(j), d(x)); 0 at x = j, whose replication cannot change the choice. Without
    noise it is expected improvement. While plays are pending, d(x) is the std of f(x) - f(j): no feedback, of
    x and of all pending plays, tells more of that difference than its value, so the gain is at least theirs.
    """

    def gain(self, candidates: StoppingCandidates) -> Floats:
        assert candidates.best is not None
        every, best = np.arange(len(candidates.mean)), np.array([candidates.best])
        if candidates.pending:
            change = candidates.difference(candidates.best)
        else:
            shared = candidates.covariance(every, best)[:, 0]
            change = change_of_lead(candidates.std**2, shared, candidates.noise)
        change[candidates.best] = 0.0
        return candidates.improvement(change)


class ImprovementWorthPrice(ByPrice):
    """EI(mu(x) - M, sigma(x)), M the best mean over plays: what one play without noise would gain.

    With noise it counts the uncertainty about plays as gain, and stops three to four times later.
    """

    def gain(self, candidates: StoppingCandidates) -> Floats:
        return candidates.improvement()


class IndexAboveMean(ByPrice):
    """All Gittins indices v are at most the best mean M, where EI(mu(x) - v, sigma(x)) = p c(x).

    The same rounds as by `ImprovementWorthPrice`, since EI decreases in its reference value.
    """

    def verdict(self, candidates: StoppingCandidates) -> StopVerdict:
        assert candidates.best is not None
        price = np.maximum(self.price * candidates.cost / np.maximum(candidates.feasible, 1e-300), 1e-300)
        index = gittins_index(candidates.mean[None], candidates.std[None], price[None])[0]
        top, mean = int(index.argmax()), candidates.mean[candidates.best]
        where = candidates.name(top)
        words = f"the largest index is {index[top]:.3g} at {where}, the best mean {mean:.3g}"
        return StopVerdict(bool(index[top] <= mean), candidates.best, words)

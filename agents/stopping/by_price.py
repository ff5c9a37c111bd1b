"""Stop when no further play is worth its price (Xie et al. 2025, and its exact form under noise)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_positive
from bandit_envs.basics.types import Floats

from ..acquisition.improvement import change_of_lead, gittins_index
from .outlook import Outlook, StopVerdict, unready

REMEDY = "it is what a unit of cost is worth, in units of the reward"


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
        """Compare the gain of every candidate with its price."""
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
        """Compare the index of every candidate with the best mean."""
        if (verdict := unready(outlook)) is not None:
            return verdict
        assert outlook.best is not None
        price = np.maximum(self.price * outlook.cost / np.maximum(outlook.feasible, 1e-300), 1e-300)
        index = gittins_index(outlook.mean[None], outlook.std[None], price[None])[0]
        top, mean = int(index.argmax()), outlook.mean[outlook.best]
        where = outlook.name(top)
        words = f"the largest index is {index[top]:.3g} at {where}, the best mean {mean:.3g}"
        return StopVerdict(bool(index[top] <= mean), outlook.best, words)

"""Stop when the regret of the recommended play is small enough with a stated probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from bandit_envs.basics.arguments import ArgumentError, require_choice, require_positive, require_probability
from bandit_envs.basics.types import Floats

from ..widths.base import Width
from .outlook import MOST_JOINT, Outlook, StopVerdict, unready

EPS = "it is the regret that is good enough, in units of the reward"


@dataclass(frozen=True)
class Gap:
    """max (mu + w sigma) - max over plays (mu - w sigma) <= eps (Makarova et al. 2022).

    The recommended play is that of the second maximum. Where the band holds in all rounds its regret is at
    most eps at the stop. With noise the gap stays above 2 w sigma(j), so that a small eps never stops.

    Args:
        width: w, made from the model; valid in all rounds for the promise.
        eps: regret that is good enough.
    """

    width: Width
    eps: float

    def __post_init__(self) -> None:
        require_positive("eps", self.eps, EPS)

    def __call__(self, outlook: Outlook) -> StopVerdict:
        """Compare the gap between the bands with eps."""
        if (verdict := unready(outlook)) is not None:
            return verdict
        gap, best = gap_of(outlook, self.width)
        return StopVerdict(
            gap <= self.eps, best, f"the best arm may be better by {gap:.3g}, eps is {self.eps:.3g}"
        )


def gap_of(outlook: Outlook, width: Width) -> tuple[float, int]:
    """Return the gap between the largest upper end and the largest lower end of a play, and that play."""
    half = width_now(width, outlook) * outlook.std
    low = np.where(outlook.played, outlook.mean - half, -np.inf)
    best = int(low.argmax())
    return float((outlook.mean + half).max() - low[best]), best


def width_now(width: Width, outlook: Outlook) -> float:
    """Return the width of the band after the rounds so far, that of round t + 1."""
    return float(width(np.array([outlook.plays + 1]), np.array([outlook.gain]))[0])


@dataclass(frozen=True)
class BestArm:
    """UCB(x) - LCB(i) <= eps for all x != i, i the arm of the largest lower end (LUCB).

    It stops once i was played. With "difference" bands, |f(x) - f(i) - mu(x) + mu(i)| <= w std(f(x) - f(i)),
    valid where the band is an ellipsoid, as by "amm"; correlated arms then need fewer plays.

    Args:
        width: w, valid in all rounds.
        eps: by which the best arm may be better.
        bands: "single" or "difference".
    """

    width: Width
    eps: float
    bands: str = "single"

    def __post_init__(self) -> None:
        require_positive("eps", self.eps, EPS)
        require_choice("bands", self.bands, ("single", "difference"))

    def __call__(self, outlook: Outlook) -> StopVerdict:
        """Compare every other arm's advantage with eps."""
        if (verdict := unready(outlook)) is not None:
            return verdict
        width = width_now(self.width, outlook)
        half = width * outlook.std
        if self.bands == "single":
            best = int((outlook.mean - half).argmax())
            ahead = outlook.mean + half - (outlook.mean - half)[best]
        else:
            best = int(outlook.mean.argmax())
            ahead = outlook.mean - outlook.mean[best] + width * outlook.difference(best)
        ahead[best] = -np.inf
        rival = int(ahead.argmax())
        others = f"{outlook.name(rival)} may be better by {ahead[rival]:.3g}, eps is {self.eps:.3g}"
        known = bool(outlook.played[best])
        return StopVerdict(bool(ahead[rival] <= self.eps) and known, best if known else None, others)


MOST_CANDIDATES = 5  # plays that are tested, those that are best in most draws
FIRST_DRAWS, GROWTH = 16, 1.5  # of the i-th look, 16 x 1.5^(i - 1)
MOST_LOOKS = 40  # with which 10^8 draws are made
ZETA = 0.1 / 1.1  # so that sum_i ZETA i^-1.1 <= 1


@dataclass(frozen=True)
class RegretBound:
    """P(max f - f(x) <= eps | data) >= 1 - delta for some play x (Wilson 2024).

    Joint draws from the posterior decide, by looks at 16, 24, 36, ... of them. At each, Clopper-Pearson
    intervals of five plays, at levels that add up to `error` over all looks and rounds, lie on the passing
    side (one of them), on the failing side (all), or the next look follows. Undecided at `most` draws counts
    as failing. Under the right prior the promise is broken in at most delta + error of the runs, however
    often one looks.

    Args:
        eps: regret that is good enough.
        delta: probability by which the posterior may miss it.
        error: probability of a false stop by the draws, over the whole run.
        most: draws of a round.
    """

    eps: float
    delta: float = 0.05
    error: float = 0.01
    most: int = 4096

    def __post_init__(self) -> None:
        require_positive("eps", self.eps, EPS)
        require_probability("delta", self.delta, "it is the share of runs that may break the promise")
        require_probability("error", self.error, "it is the share of runs that draws may stop falsely")
        require_positive("most", self.most, "it is a number of draws")

    def __call__(self, outlook: Outlook) -> StopVerdict:
        """Test the plays most likely to be the best by joint draws."""
        if (verdict := unready(outlook)) is not None:
            return verdict
        if len(outlook.mean) > MOST_JOINT:
            remedy = f'a rule of at most {MOST_JOINT} arms here; take "knowledge-gradient"'
            raise ArgumentError("stopping", f"must be {remedy}, got {len(outlook.mean)} arms")
        (plays,) = outlook.played.nonzero()
        best = outlook.draw(FIRST_DRAWS)[:, plays].argmax(axis=1)
        share = np.bincount(best, minlength=len(plays)) + (plays == outlook.best)
        candidates, drawn = plays[np.argsort(-share, kind="stable")[:MOST_CANDIDATES]], 0
        good = low = np.zeros(len(candidates))
        level = self.error * ZETA * (outlook.plays + 1) ** -1.1 * ZETA / MOST_CANDIDATES
        for look in range(1, MOST_LOOKS):
            more = min(round(FIRST_DRAWS * GROWTH ** (look - 1)), self.most) - drawn
            draws = outlook.draw(more)
            within = draws.max(axis=1)[:, None] - draws[:, candidates] <= self.eps
            good, drawn = good + within.sum(axis=0).astype(np.float64), drawn + more
            low, high = interval(good, drawn, level * look**-1.1)
            if low.max() >= 1.0 - self.delta or high.max() < 1.0 - self.delta or drawn >= self.most:
                break
        best = int(candidates[low.argmax()])
        words = f"the regret of {outlook.name(best)} is at most {self.eps:.3g} in {good.max():.0f} of "
        words += f"{drawn} draws, and {1.0 - self.delta:.3g} of them are asked for"
        return StopVerdict(bool(low.max() >= 1.0 - self.delta), best, words)


def interval(good: Floats, drawn: int, level: float) -> tuple[Floats, Floats]:
    """Return the two-sided Clopper-Pearson interval of probabilities at an error level, (c,) each."""
    low = np.where(good > 0, betaincinv(np.maximum(good, 1), drawn - good + 1, level / 2), 0.0)
    high = np.where(good < drawn, betaincinv(good + 1, np.maximum(drawn - good, 1), 1 - level / 2), 1.0)
    return low, high

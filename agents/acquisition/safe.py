"""Rules that choose among safe arms, and learn where more of them are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.safety import Safety
from ..widths.base import Width
from .candidates import Candidates
from .rules import UCB

BLOCK = 64  # safe arms tested as expanders in one block
TIE = 1e-9  # in prior stds
C1 = 1.0 / (np.pi * np.log(2.0))
C2 = 2.0 * C1 - 1.0
LEAST = 1e-12  # smallest variance; below it the cost at an arm is known
ARMS_AT_ONCE = 256  # safe arms at once


@dataclass(frozen=True)
class SafeOpt:
    """The widest band among maximisers M and expanders G (Sui et al. 2015, Berkenkamp et al. 2016).

    M = {x in S: uf(x) >= max_S lf}, bands are max(uf - lf, max_j (ug_j - lg_j)) in prior stds. Only arms
    outside M with bands at least as wide as M's widest are tested as expanders, in descending order until one
    expands, as in the authors' code: no other arm could be played. Where arms are missing from a round, M and
    G contain available arms of S only; the arms that they may certify are sought among all.
    """

    width: Width

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the band widths of M and G, minus infinity elsewhere, (B, A)."""
        safety = safety_of(candidates)
        wide = np.maximum(2.0 * _reach(candidates, self.width), safety.widest)
        scores = np.where(maximisers(candidates, self.width, safety.playable), wide, -np.inf)
        wanted = wide >= scores.max(axis=1, keepdims=True) - TIE
        others = np.asarray(safety.playable & np.isneginf(scores) & wanted)
        found = widest_expanders(safety, others, wide)
        return np.where(found, wide, scores)


@dataclass(frozen=True)
class StageOpt:
    """The expander of the widest cost band, then argmax_S uf (Sui et al. 2018).

    The first stage ends after `rounds`, or when S has settled. Where no arm expands, it plays the widest band
    of the maximisers, as in the authors' code. Line 12 of the paper's Algorithm 1 says "if all eps_t^i <
    eps then expand" with eps_t^i undefined; we read it the other way round, with eps = 0.
    """

    width: Width
    rounds: int  # T0, the longest first stage

    def __call__(self, candidates: Candidates) -> Floats:
        """Return widths in the first stage, uf in the second, minus infinity elsewhere, (B, A)."""
        safety = safety_of(candidates)
        expanding = np.asarray((candidates.t <= self.rounds) & ~safety.settled)
        later = UCB(self.width)(candidates)
        if not expanding.any():
            return later
        among = np.asarray(safety.playable & expanding[:, None])
        found = widest_expanders(safety, among, safety.widest)
        wide = np.maximum(2.0 * _reach(candidates, self.width), safety.widest)
        without = np.where(maximisers(candidates, self.width, safety.playable), wide, -np.inf)
        expands = found.any(axis=1, keepdims=True)
        first = np.where(expands, np.where(found, safety.widest, -np.inf), without)
        return np.where(expanding[:, None], first, later)


def safety_of(candidates: Candidates) -> Safety:
    """Return the belief about costs, or raise an error where the rule has none."""
    if candidates.safety is None:
        raise ValueError(
            "rule must be played with a safe set, got none; take one of the agents for safe plays"
        )
    return candidates.safety


def maximisers(candidates: Candidates, width: Width, safe: Bools) -> Bools:
    """Return M, the mask of safe arms that may be the best of them, (B, A)."""
    reach = _reach(candidates, width)
    surely = np.where(safe, candidates.mean - reach, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(safe & (candidates.mean + reach >= surely))


def widest_expanders(safety: Safety, among: Bools, wide: Floats) -> Bools:
    """Return the mask of the widest-band expanders among some safe arms, (B, A), tested trial by trial."""
    found = np.zeros_like(among)
    for i in np.flatnonzero(among.any(axis=1)).tolist():
        (arms,) = among[i].nonzero()
        arms = arms[np.argsort(-wide[i, arms], kind="stable")]
        best = -np.inf
        for begin in range(0, len(arms), BLOCK):
            block = arms[begin : begin + BLOCK]
            if wide[i, block[0]] < best - TIE:
                break
            these = block[safety.expands(i, block)]
            found[i, these] = True
            best = max(best, wide[i, these].max(initial=-np.inf))
    return found


def _reach(candidates: Candidates, width: Width) -> Floats:
    """Return w sigma, (B, A)."""
    return (width(candidates.t, candidates.gain) + candidates.bias)[:, None] * candidates.std


@dataclass(frozen=True)
class ISE:
    r"""argmax_{x in S} max_z H(z) - EH(z | x), then argmax_S uf (Bottero et al. 2022).

    H is the entropy of the event that a cost is kept at z, and EH its expectation after a play of x:

        H = ln 2 exp(-c1 r),    r = mu(z)^2 / sd(z)^2,
        EH = ln 2 sqrt((1 - q) / (1 + c2 q)) exp(-c1 r / (1 + c2 q)),
        q = sd(x)^2 / (sd(x)^2 + lambda) corr(x, z)^2,    c1 = 1 / (pi ln 2),    c2 = 2 c1 - 1.

    The paper has one cost; with several we take the largest gain. It only explores: the later change to
    maximising rewards is ours.
    """

    width: Width
    rounds: int  # number of first rounds that explore

    def __call__(self, candidates: Candidates) -> Floats:
        """Return gains in the first rounds, uf later, (B, A)."""
        safety = safety_of(candidates)
        scores = UCB(self.width)(candidates)
        for i in (candidates.t <= self.rounds).nonzero()[0].tolist():
            (arms,) = safety.playable[i].nonzero()
            scores[i] = -np.inf
            for begin in range(0, len(arms), ARMS_AT_ONCE):
                block = arms[begin : begin + ARMS_AT_ONCE]
                scores[i, block] = information(safety, i, block)
        return scores


def information(safety: Safety, trial: int, arms: Ints) -> Floats:
    """Return max_z H(z) - EH(z | x) of arms x of a trial, over arms z and costs, (n,); 0 without costs."""
    best = np.zeros(len(arms))
    for j, belief in enumerate(safety.costs):
        mean, variance = safety.mean[j, trial], np.maximum(safety.std[j, trial] ** 2, LEAST)
        own = variance[arms]
        squared = safety.covariance(j, trial, arms) ** 2 / (own[:, None] * variance)
        share = (own / (own + belief.spread.noise[trial]))[:, None] * np.minimum(squared, 1.0)
        gain = _entropy(mean**2 / variance, np.zeros(1)) - _entropy(mean**2 / variance, share)
        best = np.maximum(best, gain.max(axis=1))
    return best


def _entropy(ratio: Floats, share: Floats) -> Floats:
    """Return EH from r, (A,), and q, (n, A); H where q is 0."""
    left = 1.0 + C2 * share
    return np.log(2.0) * np.sqrt((1.0 - share) / left) * np.exp(-C1 * ratio / left)

"""Rules that choose among safe arms, and learn where more of them are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from ..beliefs.safety import Safety
from ..widths.base import Width
from .candidates import Candidates
from .rules import UCB

LOOKED_AT = 64  # safe arms that are tried as expanders before the next ones are
TIE = 1e-9  # prior deviations


@dataclass(frozen=True)
class SafeOpt:
    """The widest band of the maximisers M and the expanders G (Sui et al. 2015, Berkenkamp et al. 2016).

    M = {x in S: uf(x) >= max_S lf}, bands are max(uf - lf, max_j (ug_j - lg_j)) in prior deviations. Whether
    an arm expands is only asked of those outside M that are as wide as its widest, in this order, until one
    does, as in the authors' code: no other could be played. Where arms are missing from a round, both are
    sought among those of S that are there; what they may certify, among all.
    """

    width: Width

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the widths of what may be played, minus infinity elsewhere, (B, A)."""
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

    The first stage ends after `rounds`, or when S has settled. Where nothing expands, it plays the widest
    band of the maximisers, as the authors' code. Line 12 of the paper's Algorithm 1 says "if all eps_t^i <
    eps then expand" with eps_t^i undefined; we read it the other way round, with eps = 0.

    Args:
        width: of the reward's band.
        rounds: T0, at most so many of the first stage.
    """

    width: Width
    rounds: int

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
    """What is known of the costs, or an error of a rule that cannot do without."""
    if candidates.safety is None:
        raise ValueError(
            "rule must be played with a safe set, got none; take one of the agents for safe plays"
        )
    return candidates.safety


def maximisers(candidates: Candidates, width: Width, safe: Bools) -> Bools:
    """M, the safe arms that may be the best of them, (B, A)."""
    reach = _reach(candidates, width)
    surely = np.where(safe, candidates.mean - reach, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(safe & (candidates.mean + reach >= surely))


def widest_expanders(safety: Safety, among: Bools, wide: Floats) -> Bools:
    """Of some safe arms the expanders of the widest band, (B, A); trials differ in how many are asked."""
    found = np.zeros_like(among)
    for i in np.flatnonzero(among.any(axis=1)).tolist():
        (arms,) = among[i].nonzero()
        arms = arms[np.argsort(-wide[i, arms], kind="stable")]
        best = -np.inf
        for begin in range(0, len(arms), LOOKED_AT):
            block = arms[begin : begin + LOOKED_AT]
            if wide[i, block[0]] < best - TIE:
                break
            these = block[safety.expands(i, block)]
            found[i, these] = True
            best = max(best, wide[i, these].max(initial=-np.inf))
    return found


def _reach(candidates: Candidates, width: Width) -> Floats:
    """W sd, (B, A)."""
    return (width(candidates.t, candidates.gain) + candidates.bias)[:, None] * candidates.std

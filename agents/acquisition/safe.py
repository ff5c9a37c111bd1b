"""Rules that choose among safe arms and enlarge the safe set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from ..beliefs.safety import Safety
from ..widths.base import Width
from .candidates import Candidates
from .rules import UCB

BLOCK = 64  # safe arms tested as expanders in one block
TIE = 1e-9  # in prior stds


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

    Args:
        width: of the reward's band.
        rounds: T0, the longest first stage.
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

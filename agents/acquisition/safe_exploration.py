"""The ISE rule: the safe arm that is most informative about where costs are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..beliefs.safety import Safety
from ..widths.base import Width
from .candidates import Candidates
from .rules import UCB
from .safe import safety_of

C1 = 1.0 / (np.pi * np.log(2.0))
C2 = 2.0 * C1 - 1.0
LEAST = 1e-12  # smallest variance; below it the cost at an arm is known
BLOCK = 256  # safe arms at once


@dataclass(frozen=True)
class ISE:
    r"""argmax_{x in S} max_z H(z) - EH(z | x), then argmax_S uf (Bottero et al. 2022).

    H is the entropy of the event that a cost is kept at z, and EH its expectation after a play of x:

        H = ln 2 exp(-c1 r),    r = mu(z)^2 / sd(z)^2,
        EH = ln 2 sqrt((1 - q) / (1 + c2 q)) exp(-c1 r / (1 + c2 q)),
        q = sd(x)^2 / (sd(x)^2 + lambda) corr(x, z)^2,    c1 = 1 / (pi ln 2),    c2 = 2 c1 - 1.

    The paper has one cost; with several we take the largest gain. It only explores: the later change to
    maximising rewards is ours.

    Args:
        width: of the reward's band.
        rounds: number of first rounds that explore.
    """

    width: Width
    rounds: int

    def __call__(self, candidates: Candidates) -> Floats:
        """Return gains in the first rounds, uf later, (B, A)."""
        safety = safety_of(candidates)
        scores = UCB(self.width)(candidates)
        for i in (candidates.t <= self.rounds).nonzero()[0].tolist():
            (arms,) = safety.playable[i].nonzero()
            scores[i] = -np.inf
            for begin in range(0, len(arms), BLOCK):
                block = arms[begin : begin + BLOCK]
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

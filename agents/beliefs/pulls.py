r"""The weights of observations in the posterior mean, for robust bands.

Over the u distinct points p of a trial, with n_p plays of mean y_p,

    mu(x) = m(x) + sum_p c_p(x) (y_p - m(p)),    c(x) = (K + diag(lambda / n))^-1 k(x) = n S[:, x] / lambda,

so a change dy of one value of p moves the mean by c_p(x) dy / n_p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..posteriors.sufficient_statistics import SufficientStatistics
from .base import Belief

ONLY = 0  # index of the single trial of an agent on a box


class Pulls(NamedTuple):
    """Weights of one trial's plays in the mean at A points; all plays have noise lambda."""

    plays: Floats  # (u,) n
    share: Floats  # (u, A) c
    own: Floats  # (A,) the weight of a point's own plays, 0 where it was not played


def pulls(belief: Belief, context: Ints) -> list[Pulls]:
    """Return each trial's weights at the arms of its context; O(u^2 A) a trial."""
    cells = belief.cells(context)
    everywhere = np.arange(belief.centre.gram.size)
    each = [everywhere] * len(belief.rows) if cells is None else cells
    return [_on_points(belief, i, cell) for i, cell in enumerate(each)]


def pulls_on_box(belief: Belief, x: Floats) -> list[Pulls]:
    """Return the weights of the single trial on a box, at pairs (A, D)."""
    seen, gram = belief.centre.statistics(ONLY), belief.centre.gram
    played = gram.points[seen.point]
    across = np.asarray(gram.kernel(played, x), dtype=np.float64)
    same = (played[:, None] == x).all(axis=2)
    return [_pulls(belief, ONLY, seen, across, same)]


def _on_points(belief: Belief, trial: int, cell: Ints) -> Pulls:
    seen = belief.centre.statistics(trial)
    across = belief.centre.gram.between(seen.point, cell)
    return _pulls(belief, trial, seen, across, seen.point[:, None] == cell)


def _pulls(belief: Belief, trial: int, seen: SufficientStatistics, across: Floats, same: Floats) -> Pulls:
    among = belief.centre.gram.between(seen.point, seen.point)
    among[np.diag_indices(len(among))] += belief.centre.noise[trial] / seen.plays
    share = np.asarray(np.linalg.solve(among, across) if len(among) else across, dtype=np.float64)
    return Pulls(seen.plays, share, np.where(same, share, 0.0).sum(axis=0))

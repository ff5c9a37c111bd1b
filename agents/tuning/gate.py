"""The feasibility gate: the points at which a success is likely enough."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from ..box.search import sobol
from ..box.terrain import Pool
from .feasibility import Feasibility
from .space import Space

BOLD, CAUTIOUS = 0.3, 0.9  # range of the probabilities of success that questions require
LIKELY = 0.5  # and a recommendation
GOLDEN = (
    5.0**0.5 - 1.0
) / 2.0  # the fractional parts of its multiples are spread evenly, however many there are
SPREAD, NEAR = 1024, 64  # alternatives to a closed point: anywhere, and nearby
STEPS = (0.3, 0.1, 0.03)  # distances of those nearby, in box widths


class Gate:
    """Gate that is closed where experiments probably fail, in one context; open before the first failure.

    Args:
        space: of the parameters.

    The required probability of success moves between 30 % and 90 % from question to question, and is at most
    90 % of the largest one: with one threshold for all questions the tuner would either try the same border
    again and again, or never cross a stripe of failures.
    """

    def __init__(self, space: Space):
        self.space = space
        self._belief: Feasibility | None = None
        self._context, self.bar = np.zeros(0), 0.0

    def set(self, belief: Feasibility | None, context: Floats, wanted: float) -> None:
        """Set the classifier, the context and the threshold.

        Args:
            belief: classifier of successes, None if no experiment has failed.
            context: its features, (dz,).
            wanted: required probability of success.
        """
        self._belief, self._context = belief, context
        self.bar = 0.0 if belief is None else min(wanted, CAUTIOUS * belief.highest)

    @property
    def open(self) -> bool:
        """True if all points are open."""
        return self._belief is None

    def probability(self, arms: Floats) -> Floats:
        """Return the probability of success, (n, d) -> (n,)."""
        if self._belief is None:
            return np.ones(len(arms))
        context = np.broadcast_to(self._context, (len(arms), len(self._context)))
        return self._belief.probability(np.hstack([context, arms]))

    def admits(self, arms: Floats) -> Bools:
        """Return the mask of open points, (n, d) -> (n,)."""
        return self.probability(arms) >= self.bar

    def closing(self, pool: Pool) -> Pool:
        """Return the candidates, with scores of minus infinity where closed."""
        return pool if self.open else pool._replace(scores=self.closed(pool.arms, pool.scores))

    def closed(self, arms: Floats, scores: Floats) -> Floats:
        """Return scores of points, (n, d) and (n,), with minus infinity where closed."""
        return np.where(self.admits(arms), scores, -np.inf)

    def settled(self, pool: Pool) -> Pool:
        """Return candidates of a finished search; if all are closed, scored by probability of success."""
        if self.open or not np.isneginf(pool.scores).all():
            return pool
        return pool._replace(scores=self.probability(pool.arms))

    def nearest(self, arm: Floats, among: Floats | None = None) -> int | Floats:
        """Return the alternative to a closed point, (d,).

        Args:
            arm: the point.
            among: all points of a set, (n, d); None searches possible points of the box.

        Returns:
            The nearest open point, or if none is open, the likeliest to succeed: its index among the given
            points, or its features.
        """
        points = self.around(arm) if among is None else among
        probability = self.probability(points)
        distance = np.abs(points - arm).sum(axis=1)
        far = np.where(probability >= self.bar, distance, np.inf)
        best = int(far.argmin() if np.isfinite(far).any() else probability.argmax())
        return best if among is not None else points[best]

    def around(self, arm: Floats) -> Floats:
        """Return possible points, nearby and anywhere, (n, d)."""
        anywhere, near = sobol(self.space.dim, SPREAD), sobol(self.space.dim, NEAR) - 0.5
        moved = [np.clip(arm + 2.0 * step * near, 0.0, 1.0) for step in STEPS]
        return self.space.snap(np.vstack([*moved, anywhere]))


def wanted_in(question: int) -> float:
    """Return the required probability of success of a question, counted from 0."""
    return BOLD + (CAUTIOUS - BOLD) * (question * GOLDEN % 1.0)

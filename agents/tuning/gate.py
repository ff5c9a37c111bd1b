"""Which points may be asked for: those where an experiment is likely enough to succeed."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from ..box.search import sobol
from ..box.terrain import Pool
from .feasibility import Feasibility
from .space import Space

BOLD, CAUTIOUS = 0.3, 0.9  # probabilities of success that questions ask for
LIKELY = 0.5  # and a recommendation
GOLDEN = (
    5.0**0.5 - 1.0
) / 2.0  # its multiples, without their integers, are spread evenly however many there are
SPREAD, NEAR = 1024, 64  # points that are looked at in the place of one that is closed: anywhere, and nearby
STEPS = (0.3, 0.1, 0.03)  # of those nearby, in box widths


class Gate:
    """Closed where experiments are believed to fail, in one context; open everywhere while none has failed.

    Args:
        space: of the parameters.

    How likely a success has to be moves between 30 % and 90 % from question to question, and is never more
    than 90 % of what is possible: with one bar for all of them the tuner would either try the same border
    again and again, or never find what lies beyond a stripe that fails.
    """

    def __init__(self, space: Space):
        self.space = space
        self._belief: Feasibility | None = None
        self._context, self.bar = np.zeros(0), 0.0

    def set(self, belief: Feasibility | None, context: Floats, wanted: float) -> None:
        """Judge by a belief from now on.

        Args:
            belief: of where experiments succeed, None if none has failed.
            context: its features, (dz,).
            wanted: probability of success.
        """
        self._belief, self._context = belief, context
        self.bar = 0.0 if belief is None else min(wanted, CAUTIOUS * belief.highest)

    @property
    def open(self) -> bool:
        """Whether every point may be asked for."""
        return self._belief is None

    def probability(self, arms: Floats) -> Floats:
        """Of a success, (n, d) -> (n,)."""
        if self._belief is None:
            return np.ones(len(arms))
        context = np.broadcast_to(self._context, (len(arms), len(self._context)))
        return self._belief.probability(np.hstack([context, arms]))

    def admits(self, arms: Floats) -> Bools:
        """Which points are likely enough to succeed, (n, d) -> (n,)."""
        return self.probability(arms) >= self.bar

    def closing(self, pool: Pool) -> Pool:
        """The same candidates, minus infinity where closed."""
        return pool if self.open else pool._replace(scores=self.closed(pool.arms, pool.scores))

    def closed(self, arms: Floats, scores: Floats) -> Floats:
        """Scores of points, (n, d) and (n,), minus infinity where closed."""
        return np.where(self.admits(arms), scores, -np.inf)

    def settled(self, pool: Pool) -> Pool:
        """Candidates of a search that is over: where all are closed, the likeliest to succeed are best."""
        if self.open or not np.isneginf(pool.scores).all():
            return pool
        return pool._replace(scores=self.probability(pool.arms))

    def nearest(self, arm: Floats, among: Floats | None = None) -> int | Floats:
        """What is asked for in the place of a point that is closed, (d,).

        Args:
            arm: the point.
            among: all points there are, (n, d); None looks on the box, at possible ones.

        Returns:
            The nearest one that is open, or where none is, the likeliest to succeed: its place among the
            given points, or its features.
        """
        points = self.around(arm) if among is None else among
        probability = self.probability(points)
        distance = np.abs(points - arm).sum(axis=1)
        far = np.where(probability >= self.bar, distance, np.inf)
        best = int(far.argmin() if np.isfinite(far).any() else probability.argmax())
        return best if among is not None else points[best]

    def around(self, arm: Floats) -> Floats:
        """Possible points, nearby and anywhere, (n, d)."""
        anywhere, near = sobol(self.space.dim, SPREAD), sobol(self.space.dim, NEAR) - 0.5
        moved = [np.clip(arm + 2.0 * step * near, 0.0, 1.0) for step in STEPS]
        return self.space.snap(np.vstack([*moved, anywhere]))


def wanted_in(question: int) -> float:
    """How likely a success has to be in a question, counted from 0."""
    return BOLD + (CAUTIOUS - BOLD) * (question * GOLDEN % 1.0)

"""Which arms are surely safe: by confidence bounds, or by how steep costs can be."""

from __future__ import annotations

import abc

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.safety import Safety
from ..model.rounds import Delivery

BLOCK = 64  # safe arms whose effect on all others is computed together


class SafeMask(abc.ABC):
    """Arms that a rule may choose from: a safe seed S0, (B, Z, A), and what delivered feedback certifies."""

    def __init__(self, seed: Bools):
        self.seed = seed
        self._rows = np.arange(len(seed))

    def safe(self, safety: Safety) -> Bools:
        """Return S, (B, A), which always contains S0."""
        return self.seed[self._rows, safety.context] | self.certified(safety)

    @abc.abstractmethod
    def certified(self, safety: Safety) -> Bools:
        """Return the mask of arms that are certified to keep all costs, (B, A)."""

    @abc.abstractmethod
    def expands(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        """Return where safe arms may certify an arm outside S, (n,)."""

    def played(self, safety: Safety) -> None:  # noqa: B027 (usually a no-op)
        """Record that the round was played under this belief about costs."""

    def receive(self, delivery: Delivery) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered costs, (n,) and (n, C), in prior stds."""

    def forget(self, trial: Ints) -> None:  # noqa: B027 (usually a no-op)
        """Reset S to S0 in some trials, (n,)."""


class ByBands(SafeMask):
    """S = S0 and all x with ug_j(x) <= 0 for every cost, by this round's bands (Berkenkamp et al. 2016).

    x in S is an expander if the optimistic datum (x, lg_j(x)) would bring ug_j(x') <= 0, for every j, to some
    x' outside S. With the band's posterior covariance s and c = s(x, x') / (s(x, x) + lambda),

        mu'(x') = mu(x') + c (lg(x) - mu(x)),    sd'(x')^2 = sd(x')^2 - c s(x, x').
    """

    def certified(self, safety: Safety) -> Bools:
        return np.asarray((safety.upper <= 0.0).all(axis=0))

    def expands(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        """Return where the optimistic datum certifies an arm, (n,), in blocks that bound the memory."""
        blocks = [arms[i : i + BLOCK] for i in range(0, len(arms), BLOCK)]
        return np.concatenate([self._block(safety, trial, each) for each in blocks])

    def _block(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        reached = np.tile(~safety.safe[trial], (len(arms), 1))
        for j, belief in enumerate(safety.costs):
            mean, std, width = safety.mean[j, trial], safety.std[j, trial], safety.width[j, trial]
            across = safety.covariance(j, trial, arms)
            gain = across / (std[arms] ** 2 + belief.std_posterior.noise[trial])[:, None]
            after = mean - gain * (width * std[arms])[:, None]
            left = np.sqrt(np.maximum(std**2 - gain * across, 0.0))
            reached &= after + width * left <= 0.0
        return np.asarray(reached.any(axis=1))


class ByLipschitz(SafeMask):
    """Safe set that extends a certified cost to nearby arms, by |g_j(x) - g_j(x')| <= L_j |x - x'|.

    x in S is an expander if lg_j(x) + L_j |x - x'| <= 0 for some x' outside S and every j that is not yet
    certified at x'. `points` are features, (N, dz + d), `slopes` L_j in prior stds per unit of these, (C,) or
    (B, C).
    """

    def __init__(self, seed: Bools, points: Floats, slopes: Floats):
        super().__init__(seed)
        self.points = points
        self.slopes = np.broadcast_to(slopes, (len(seed), np.shape(slopes)[-1]))

    @abc.abstractmethod
    def kept(self, safety: Safety) -> Bools:
        """Return the mask of costs that are certified at each point, (C, B, N)."""

    def certified(self, safety: Safety) -> Bools:
        return np.asarray(self._here(safety).all(axis=0))

    def expands(self, safety: Safety, trial: int, arms: Ints) -> Bools:
        """Return where an optimistic cost at safe arms would certify an arm, (n,)."""
        kept, lower = self._here(safety), safety.lower
        features = self.points.reshape(*self.seed.shape[1:], -1)[safety.context[trial]]
        distance = cdist(features[arms], features)
        reached = np.tile(~safety.safe[trial], (len(arms), 1))
        for j, slope in enumerate(self.slopes[trial]):
            reached &= kept[j, trial] | (lower[j, trial, arms, None] + slope * distance <= 0.0)
        return np.asarray(reached.any(axis=1))

    def from_points(self, trial: int, point: Ints, value: Floats) -> Floats:
        """Return the bounds from costs (n, C) at points (n,), min value + L_j |x - x'|, (C, N)."""
        distance = cdist(self.points[point], self.points)
        steep = self.slopes[trial][:, None, None] * distance
        return (value.T[:, :, None] + steep).min(axis=1, initial=np.inf)

    def _here(self, safety: Safety) -> Bools:
        """Return the mask of costs that are certified at the arms of each trial's context, (C, B, A)."""
        everywhere = self.kept(safety)
        table = everywhere.reshape(*everywhere.shape[:2], *self.seed.shape[1:])
        return table[:, self._rows, safety.context]


class ByNeighbours(ByLipschitz):
    """Safe set that the bands of S's arms certify around them (Sui et al. 2015, 2018).

    S_t = S0 and all x' such that for every j some x in S_{t-1} has ug_j(x) + L_j |x - x'| <= 0.
    Bands are those of this round, where the theory intersects all past ones. O(|S| N) a round.
    """

    def __init__(self, seed: Bools, points: Floats, slopes: Floats):
        super().__init__(seed, points, slopes)
        self._members = seed.reshape(len(seed), -1).copy()

    def kept(self, safety: Safety) -> Bools:
        upper = safety.upper_everywhere()
        kept = np.zeros(upper.shape, dtype=bool)
        for i, members in enumerate(self._members):
            (point,) = members.nonzero()
            kept[:, i] = self.from_points(i, point, upper[:, i, point].T) <= 0.0
        return kept

    def played(self, safety: Safety) -> None:
        certified = self.kept(safety).all(axis=0)
        self._members = certified | self.seed.reshape(certified.shape)

    def forget(self, trial: Ints) -> None:
        self._members[trial] = self.seed.reshape(self._members.shape)[trial]


class ByPlays(ByLipschitz):
    """Safe set that delivered costs certify around their plays (LoSBO, Fiedler et al. 2024).

    S = S0 and all x such that for every j some play s has c_s + E + L_j |x - x_s| <= 0, E in prior stds, (C,)
    or (B, 1). It uses no kernel and no band: where |noise| <= E and L is right, every play is safe with
    certainty, and S only grows.
    """

    def __init__(self, seed: Bools, points: Floats, slopes: Floats, noise_bound: Floats):
        super().__init__(seed, points, slopes)
        self._noise_bound = np.broadcast_to(noise_bound, self.slopes.shape)
        self._least = np.full((self.slopes.shape[1], len(seed), len(points)), np.inf)

    def kept(self, safety: Safety) -> Bools:
        return self._least <= 0.0

    def receive(self, delivery: Delivery) -> None:
        trial, point = delivery.trial, delivery.point
        most = delivery.cost + self._noise_bound[trial]
        for i, x, c in zip(trial.tolist(), point, most, strict=True):
            said = self.from_points(i, np.array([x]), c[None])
            self._least[:, i] = np.minimum(self._least[:, i], said)

    def forget(self, trial: Ints) -> None:
        self._least[:, trial] = np.inf

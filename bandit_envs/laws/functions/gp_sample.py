"""Draw functions from a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.random_features import feature_count
from bandit_envs.kernels.slopes import of_samples
from bandit_envs.laws.drawn import Continuation, Drawn, Waves
from bandit_envs.laws.functions.base import FunctionLaw


@dataclass(frozen=True)
class GPSample(FunctionLaw):
    """Draw f ~ GP(0, k) (Srinivas et al. 2010, Section 6).

    Between the points f is the posterior mean given its values there: one function on the whole box, equal to
    the finite set's at the points. A full draw differs from it by the posterior std that the points leave:
    nothing for a smooth kernel on points closer than its length-scale; for others f is a draw smoothed below
    the distance of neighbours. A kernel of `RandomFeatures` determines f everywhere.

    The method follows kernel and points (`Gram.structure`): the root of the covariance on up to 20,000
    points, and for a low-rank kernel on more while that takes seconds, O(r N); beyond, the factors of a
    product kernel on a product of sets, O(N n_i), or Fourier transforms for a stationary kernel on a
    regular grid, O(N log N). On other sets of that size only random features are drawn.
    """

    @property
    def has_box_form(self) -> bool:
        """Return True: its values at the points determine it."""
        return True

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Return z @ R with R'R = K, or a draw by the structure of kernel and points."""
        waves = Waves.drawn(gram.kernel, rng)
        if waves is not None:
            return Drawn(waves(gram.points), between=waves)
        if gram.structure is not None:
            return Drawn(gram.structure.draw(rng))
        z = gram.white(rng)
        return Drawn(z @ gram.root, between=Continuation(gram, z))

    def steepest(self, gram: Gram) -> float:
        """Return a slope that a draw exceeds with probability 0.01 at most."""
        return of_samples(gram)

    @property
    def is_gaussian(self) -> bool:
        """Return True."""
        return True

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Return Z @ R in one product, where single draws are z @ R."""
        if gram.structure is not None or feature_count(gram.kernel) is not None:
            return super().draws(gram, rng, count)
        return np.array([gram.white(rng) for _ in range(count)]) @ gram.root

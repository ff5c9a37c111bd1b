"""Functions drawn from a Gaussian process."""

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
    """f ~ GP(0, k) (Srinivas et al. 2010, Section 6).

    Between the points f is what its values there say of it, the posterior mean: one function on the whole
    box, that of the finite set on its points. It differs from a full draw by the deviation that the points
    leave: nothing for a smooth kernel on points closer than its length-scale, and for others a draw
    smoothed below the distance of neighbours. A kernel of `RandomFeatures` determines f everywhere.

    A draw uses what kernel and points allow (`Gram.structure`): the root of the covariance on up to 20,000
    points, and of a low-rank kernel on more while that takes seconds, O(r N); beyond, the factors of a
    product kernel on a product of sets, O(N n_i), or Fourier transforms for a stationary kernel on a
    regular grid, O(N log N). On other points that many only random features are drawn.
    """

    @property
    def has_box_form(self) -> bool:
        """Its values at the points determine it."""
        return True

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Z @ R with R'R = K, or as kernel and points allow."""
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
        """It is."""
        return True

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Z @ R in one product, where that is how one is drawn."""
        if gram.structure is not None or feature_count(gram.kernel) is not None:
            return super().draws(gram, rng, count)
        return np.array([gram.white(rng) for _ in range(count)]) @ gram.root

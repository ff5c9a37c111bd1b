"""Expected and probability of improvement."""

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import expected_improvement
from .seen import Given, Seen


def improvement(
    given: Given, seen: Seen, probability: bool, incumbent: str = "max_mean", xi: float = 0.0
) -> Floats:
    """Log E[(f - f+ - xi)^+] (Mockus 1975), or z = (mu - f+ - xi) / sigma, whose Phi Kushner maximises.

    f+ is the largest posterior mean over played points, or the best value seen; before the first, the prior
    mean. xi is in prior deviations.
    """
    f, here = given.reward, seen.here
    mean, std = f.of(seen.played[here], seen.value[here])
    options = mean[seen.played[here]] if incumbent == "max_mean" else seen.value[here]
    best = options.max() if len(options) else np.max(f.mean)
    best = best + xi * f.scale
    if probability:
        return (mean - best) / std
    with np.errstate(divide="ignore"):
        return np.log(expected_improvement(mean, std, best))

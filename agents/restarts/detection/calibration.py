"""A threshold for a stated rate of false alarms by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.arguments import (
    require_integer,
    require_not_negative,
    require_probability,
    require_seed,
)
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ...validation import PerTrial
from .detector import ChangePointDetector
from .rates import CROSS_VALIDATED

PER_DESIGN = 10  # functions on one sequence of covariates, which share its linear systems
MOST_SIMULATED = 128  # samples, in a few seconds; the cost grows with their fourth power
MOST_SIMULATED_ALONE = 64  # where each function needs its own linear systems


def calibrate(
    gram: Gram,
    noise_std: PerTrial,
    samples: int,
    rate: float,
    *,
    runs: int = 200,
    seed: int = 0,
    **options: Any,
) -> float:
    """Return the theta with which a sequence without a change raises a false alarm at a stated rate.

    Simulates sequences of f ~ GP at uniform points with Gaussian noise, and takes the 1 - rate quantile of
    the largest statistic * n^e of each. Deterministic given the seed; its error is that of `runs` draws, ten
    of which share their points. It takes a few seconds: beyond 128 samples the threshold is extrapolated as a
    power of the length, fitted to its growth from 64 to 128; the threshold itself grows more slowly. A
    cross-validated ridge is each sequence's own, as in use; then 64 samples are simulated, in ten seconds.

    Args:
        samples: length of the sequence: with forced exploration about sqrt(xi^2 T) of T rounds.
        rate: probability of at least one false alarm in a sequence.
        runs: simulated sequences.
        **options: of the detector, apart from theta.
    """
    require_not_negative("noise_std", noise_std, "it is the standard deviation of the noise")
    require_probability("rate", rate, "give the probability of a false alarm in a sequence, such as 0.1")
    require_integer("samples", samples, 2, "it is the length of a sequence")
    require_integer("runs", runs, 1, "it is the number of simulated sequences")
    require_seed("seed", seed)
    alone = options.get("ridge") == CROSS_VALIDATED
    together = 1 if alone else PER_DESIGN
    designs = np.random.default_rng(seed).spawn(-(-runs // together))
    simulated = min(samples, MOST_SIMULATED, MOST_SIMULATED_ALONE if alone else samples)
    largest = np.hstack([_largest(gram, noise_std, simulated, together, rng, options) for rng in designs])
    half, whole = np.quantile(largest[[simulated // 2 - 1, -1]], 1.0 - rate, axis=1, method="higher")
    return float(whole if samples == simulated else whole * (whole / half) ** np.log2(samples / simulated))


def _largest(
    gram: Gram,
    noise_std: PerTrial,
    samples: int,
    together: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> Floats:
    """Return the largest statistic * n^e so far of q stationary sequences at the same points, (m, q)."""
    point = rng.integers(gram.size, size=samples)
    value = _functions(gram, point, together, rng) + noise_std * rng.standard_normal((samples, together))
    detector = ChangePointDetector.on_points(gram, num_responses=together, **options)
    return largest_statistics(detector, point, value)


def _functions(gram: Gram, point: Ints, count: int, rng: np.random.Generator) -> Floats:
    """Draw functions at some points, (m,) -> (m, q); on a large set only there."""
    if gram.has_quick_root:
        drawn = np.array([gram.white(rng) for _ in range(count)]) @ gram.root
        return drawn[:, point].T
    own, place = np.unique(point, return_inverse=True)
    few = Gram(gram.kernel, gram.points[own])
    return (np.array([few.white(rng) for _ in range(count)]) @ few.root)[:, place].T


def largest_statistics(detector: ChangePointDetector, x: Any, y: Floats) -> Floats:
    """Return the smallest theta without an alarm so far, the largest statistic * n^e, (m, q)."""
    detector.reset()
    largest = np.zeros((len(x), detector.num_responses))
    for i, (where, what) in enumerate(zip(x, y, strict=True)):
        detector.append(where, what)
        statistics = detector.latest
        scale = np.arange(1, len(statistics) + 1) ** detector.rates.exponent
        largest[i] = (statistics * scale[:, None]).max(axis=0, initial=0.0)
    return np.maximum.accumulate(largest)

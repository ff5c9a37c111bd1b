"""Two agents on the same trials: by how much, how often, how surely; and the order that follows."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bandit_envs.basics.arguments import require_known
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.statistics import interval

LEVEL = 0.95  # of the order: the probability that no pair is wrongly taken for different
FLIPS = 20_000  # random flips of signs, if there are more than that many in all


def ordered(losses: Mapping[str, Floats], first: Mapping[str, Floats] | None = None) -> list[str]:
    """Return the labels by least mean loss or, given `first`, by that and then by loss.

    Agents that do not have significantly more of `first` than the one of the least mean come first, ordered
    by mean loss; the rest follow by the same rule. All pairs are tested together by `significant_signs`.
    Where trials are too few for any pair to be significant, as a single one is, the means of `first` decide.

    Args:
        losses: losses of each agent on the same trials, (B,) each; less is better.
        first: a criterion that counts before losses, such as violation, (B,) each; None for none.

    Example:
        >>> losses = {"a": np.array([3.0, 3.1]), "b": np.array([1.0, 1.1])}
        >>> ordered(losses), ordered(losses, {"a": np.zeros(2), "b": np.array([7.0, 8.0])})
        (['b', 'a'], ['a', 'b'])
    """
    left = sorted(losses, key=lambda label: losses[label].mean())
    if first is None:
        return left
    pairs = list(combinations(left, 2))
    smallest = max(0.5 ** (len(first[left[0]]) - 1), 1 / (1 + FLIPS))  # p-value
    if len(pairs) * smallest > 1 - LEVEL:
        signs = [np.sign(first[a].mean() - first[b].mean()) for a, b in pairs]
    else:
        signs = significant_signs([(first[a], first[b]) for a, b in pairs])
    more = {(a, b) if sign > 0 else (b, a) for (a, b), sign in zip(pairs, signs, strict=True) if sign}
    order: list[str] = []
    while left:
        least = min(left, key=lambda label: first[label].mean())
        order += [label for label in left if (label, least) not in more]
        left = [label for label in left if (label, least) in more]
    return order


class Comparison(NamedTuple):
    """A comparison of one agent with the baseline on the same B trials; less is better."""

    difference: interval.Interval  # of means
    ratio: interval.Interval  # of means; NaN where the baseline's is not positive
    improvement: interval.Interval  # probability of less than the baseline
    p_value: float  # of no difference, uncorrected
    p_adjusted: float  # of no difference, corrected for all comparisons made together
    num_trials: int


def compare(
    finals: Mapping[str, Floats], baseline: str, level: float = 0.95, seed: int = 0
) -> dict[str, Comparison]:
    """Compare every other agent with the baseline, with p-values corrected for their number (Holm 1979).

    Args:
        finals: final value of each agent in each trial, (B,) each, on the same trials; less is better.
    """
    require_known("baseline", baseline, finals)
    others = [label for label in finals if label != baseline]
    against = np.asarray(finals[baseline], dtype=np.float64)
    p_values = [sign_flip_test(finals[label], against, seed) for label in others]
    positive = against.mean() > 0
    unknown, found = interval.Interval(*np.full(3, np.nan)), {}
    for label, p_value, adjusted in zip(others, p_values, holm(p_values), strict=True):
        own = finals[label]
        difference = paired_difference(own, against, level, seed)
        ratio = paired_ratio(own, against, level, seed) if positive else unknown
        improvement = probability_of_improvement(own, against, level)
        found[label] = Comparison(difference, ratio, improvement, p_value, adjusted, len(against))
    return found


def paired_difference(
    values: Floats, baseline: Floats, level: float = 0.95, seed: int = 0, resamples: int = interval.RESAMPLES
) -> interval.Interval:
    """Return the mean of values - baseline on the same trials and its bootstrap interval, (B,) or (B, T)."""
    return interval.bootstrap_interval(_differences(values, baseline), level, seed, resamples)


def paired_ratio(
    values: Floats, baseline: Floats, level: float = 0.95, seed: int = 0, resamples: int = interval.RESAMPLES
) -> interval.Interval:
    """Return mean of values / mean of baseline with its BCa interval over paired trials, (B,) or (B, T).

    The mean of the baseline must be positive; where resampled means are not, the ratio has no interval.
    """
    interval.check_pairs(values, baseline)
    if not (np.mean(baseline, axis=0) > 0).all():
        raise ValueError("a ratio needs a baseline with a positive mean; use paired_difference")
    return interval.interval_of(_ratio, (values, baseline), level, seed, resamples)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def probability_of_improvement(values: Floats, baseline: Floats, level: float = 0.95) -> interval.Interval:
    r"""Return the share of trials with values < baseline, ties half, with Wilson's interval, (B,) or (B, T).

    Pairs are trials, in which both agents had the same function. NaN where a value is not finite.
    """
    difference = _differences(values, baseline)
    n = len(difference)
    share = np.asarray((difference < 0).mean(axis=0) + (difference == 0).mean(axis=0) / 2)
    share = np.where(np.isnan(difference).any(axis=0), np.nan, share)
    return wilson_interval(share, n, level)


def wilson_interval(share: Floats, n: int, level: float = 0.95) -> interval.Interval:
    r"""Return a share p of n trials with Wilson's score interval.

    (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n) (Wilson 1927): unlike a bootstrap
    it has a width when all trials agree.
    """
    z = ndtri(interval.tails(level)[1])
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    low = np.where(share <= 0.0, 0.0, centre - reach)  # exactly, where rounding leaves 1e-17
    high = np.where(share >= 1.0, 1.0, centre + reach)
    return interval.Interval(share, low, high)


def sign_flip_test(values: Floats, baseline: Floats, seed: int = 0, flips: int = FLIPS) -> float:
    """Return the two-sided p-value of no difference between two agents on the same trials, (B,) each.

    It is the share of swaps of the agents within trials whose mean difference is at least the observed one
    (Fisher 1935): of all 2^B, or of `flips` random ones and the observed one. It is NaN if a value is not
    finite.
    """
    return float(_flipped(_differences(values, baseline)[:, None], seed, flips)[0])


def _flipped(differences: Floats, seed: int, flips: int) -> Floats:
    """Return the p-values of paired differences, (B, P) -> (P,)."""
    n, size = len(differences), np.abs(differences).sum(axis=0)
    observed = np.abs(differences.sum(axis=0)) - 1e-12 * size  # sums of equal terms may differ
    signs = _signs(n, seed, flips)
    blocks = np.array_split(signs, max(1, len(signs) // 1000))  # each becomes floats for a moment
    extreme = sum((np.abs(some @ differences) >= observed).sum(axis=0) for some in blocks)
    p_values = extreme / 2**n if 2**n <= flips else (1 + extreme) / (1 + flips)
    return np.where(np.isnan(size), np.nan, p_values)


def significant_signs(pairs: Sequence[tuple[Floats, Floats]], flips: int = FLIPS) -> Ints:
    """Return the signs of the mean differences of a table that are significant, else 0, (P,).

    A pair holds the values of an agent and of another on the same trials, (B,) each. Each is tested by sign
    flips, all together with Holm's correction at error probability 5 %. Pairs that repeat others are
    no further tests, nor are pairs of equal values, which no flip can reject.

    Example:
        >>> low, high = np.arange(8.0), np.arange(8.0) + 1
        >>> significant_signs([(low, high), (high, low), (low, low)])
        array([-1,  1,  0])
    """
    differences = [_differences(*pair) for pair in pairs]
    p_values = np.empty(len(pairs))
    sizes = np.array([len(d) for d in differences])
    for n in {*sizes.tolist()}:
        (alike,) = (sizes == n).nonzero()
        p_values[alike] = _flipped(np.stack([differences[i] for i in alike], axis=1), 0, flips)
    tests = [(abs(d.sum()), p_value) for d, p_value in zip(differences, p_values.tolist(), strict=True)]
    counted = dict.fromkeys(test for test, d in zip(tests, differences, strict=True) if d.any())
    adjusted = dict(zip(counted, holm([p_value for _, p_value in counted]), strict=True))
    significant = [adjusted.get(test, 1.0) <= 1 - LEVEL for test in tests]
    signs = [np.sign(d.sum()) if yes else 0 for d, yes in zip(differences, significant, strict=True)]
    return np.array(signs, dtype=np.int64)


@lru_cache(maxsize=4)
def _signs(n: int, seed: int, flips: int) -> NDArray[np.int8]:
    """Return all 2^n flips, or as many random ones, (., n), once for all tests; bytes, as they are many."""
    if 2**n <= flips:
        codes = np.arange(2**n)
        return np.stack([1 - 2 * (codes >> bit & 1).astype(np.int8) for bit in range(n)], axis=1)
    rng, signs = np.random.default_rng(seed), np.empty((flips, n), dtype=np.int8)
    for part in np.array_split(signs, max(1, flips // 1000)):
        part[:] = rng.choice((-1, 1), size=part.shape)  # of 8 bytes each until they are stored
    return signs


def _differences(values: Floats, baseline: Floats) -> Floats:
    """Return paired differences, (B,) or (B, T); NaN where either is not finite."""
    interval.check_pairs(values, baseline)
    finite = np.isfinite(values) & np.isfinite(baseline)
    return np.subtract(
        interval.checked(values), baseline, out=np.full(np.shape(values), np.nan), where=finite
    )


def holm(p_values: Sequence[float] | Floats) -> list[float]:
    """Adjust p-values so that rejecting those below alpha has family-wise error probability alpha.

    In ascending order p_(k) becomes max_{j <= k} min(1, (m - j + 1) p_(j)) (Holm 1979). NaN stays.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(np.minimum((len(p) - np.arange(len(p))) * p[order], 1.0))
    adjusted = np.empty_like(p)
    adjusted[order] = stepped
    return adjusted.tolist()

"""Elimination in batches of their own posterior: BPE, PE, REDS, MVR, BPE-Delay; and SupKernelUCB."""

import math
from collections.abc import Callable

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import half_width
from .seen import Given, Seen


def bpe_lengths(horizon: int) -> list[int]:
    """n_1 = ceil(sqrt T), n_i = ceil(sqrt(T n_{i-1})), the last cut at T (Li & Scarlett 2022)."""
    lengths = [1]
    while sum(lengths[1:]) < horizon:
        left = horizon - sum(lengths[1:])
        lengths.append(min(left, math.ceil(math.sqrt(horizon * lengths[-1]))))
    return lengths[1:]


def doubling_lengths(horizon: int, first: int) -> list[int]:
    """n_1, 2 n_1, 4 n_1, ..., the last cut at T."""
    lengths: list[int] = []
    while sum(lengths) < horizon:
        lengths.append(min(horizon - sum(lengths), first * 2 ** len(lengths)))
    return lengths


def elimination(
    given: Given,
    seen: Seen,
    lengths_of: Callable[[int], list[int]],
    uniform: bool = False,
    wait: int = 0,
    delta: float = 0.1,
    band: str = "split",
) -> Floats:
    """sigma on the active arms, or 0 there where the design is uniform; -inf elsewhere.

    A batch has a posterior of its own. At its end, A <- {x in A: mu + W >= max_A (mu - W)}, W the band
    of a design that looks at no value, at level 2 N H / delta.

    Args:
        lengths_of: batch lengths from T.
        uniform: whether the design is.
        wait: rounds at the end of a batch in which its feedback is waited for (Vakili et al. 2023).
    """
    lengths = lengths_of(given.horizon)
    f, start, level = given.reward, 0, delta / (len(given.reward.gram) * len(lengths))
    active = np.ones(len(f.gram), dtype=bool)
    for length in lengths:
        batch = np.arange(start, start + length + wait)
        if seen.t - 1 < start + length + wait:
            break
        batch = batch[seen.before(start + length + wait + 1).here[batch]]
        x, y = seen.played[batch], seen.value[batch]
        mean, _ = f.of(x, y)
        facts = {"bound": f.bound, "noise_std": f.noise_std, "level": level, "split": band == "split"}
        half = half_width(f.gram, f.noise, x, **facts)
        active &= mean + half >= (mean - half)[active].max()
        start += length + wait
    _, std = f.of(seen.played[start:], np.zeros(seen.t - 1 - start))
    return np.where(active, 0.0 if uniform else std, -np.inf)


def sup_kernel_ucb(given: Given, seen: Seen, width: float) -> Floats:
    """SupKernelUCB (Valko et al. 2013): S = ceil(log2 sqrt T) + 1 posteriors, each on its plays Psi_s.

    Stage s: (i) w sigma_s <= 1 / sqrt T on A: argmax_A mu_s + w sigma_s, in no Psi; (ii) w sigma_s > 2^-s
    somewhere on A: the widest, in Psi_s; (iii) else A <- {mu_s + w sigma_s >= max_A - 2^(1-s)}, s + 1.
    """
    f, T = given.reward, given.horizon
    stages = math.ceil(math.log2(math.sqrt(T))) + 1
    psi: list[list[int]] = [[] for _ in range(stages)]
    for t in range(seen.t):
        A = np.ones(len(f.gram), dtype=bool)
        for s in range(1, stages + 1):
            mean, std = f.of(seen.played[psi[s - 1]], seen.value[psi[s - 1]])
            upper, wide = mean + width * std, width * std / f.scale
            if (wide[A] <= 1 / math.sqrt(T)).all():
                scores, joined = upper, None
                break
            if (wide[A] > 2.0**-s).any():
                scores, joined = std, psi[s - 1]
                break
            scores, joined = upper, None  # past the last stage: as in (i)
            A &= upper >= upper[A].max() - 2.0 ** (1 - s) * f.scale if s < stages else True
        if joined is not None:
            joined.append(t)
    return np.where(A, scores, -np.inf)

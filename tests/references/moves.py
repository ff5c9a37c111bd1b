"""Batches in short or random order, bands under drift, and the index that charges moves."""

import math
from itertools import pairwise

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .elimination import bpe_lengths
from .seen import Given, Seen
from .stationary import gp_ucb


def movement_ucb(given: Given, seen: Seen, price: float) -> Floats:
    """mu + w sigma - q 1[x != x_{t-1}], w that of IGP-UCB; the first move is free."""
    scores = gp_ucb(given, seen, width="improved")
    if seen.t == 1:
        return scores
    return scores - price * (np.arange(len(scores)) != seen.played[-1])


def plan(given: Given, active: Floats, length: int, rng: np.random.Generator) -> Ints:
    """Return the plays of a batch: argmax sigma of the plays so far, equal ones drawn, (n,)."""
    f, plays = given.reward, np.empty(0, dtype=int)
    for _ in range(length):
        _, std = f.of(plays, np.zeros(len(plays)))
        std = np.where(active, std, -np.inf)
        plays = np.append(plays, rng.choice(np.flatnonzero(std >= std.max() - 1e-9 * f.scale)))
    return plays


def permuted(given: Given, seen: Seen, draws: int, rng: np.random.Generator) -> Ints:
    """Draw plays in the first batch: any of the plan, as all orders are equally likely."""
    every = np.ones(len(given.reward.gram), dtype=bool)
    length = bpe_lengths(given.horizon)[0]
    plans = [plan(given, every, length, rng) for _ in range(draws // 10)]
    return np.array([rng.permutation(each)[seen.t - 1] for each in plans])


def sorted_plan(given: Given, seen: Seen, draws: int, rng: np.random.Generator) -> Ints:
    """Draw plays in the first batch, whose plan is walked from its first arm."""
    every, x = np.ones(len(given.reward.gram), dtype=bool), given.setting.arms
    x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    length = bpe_lengths(given.horizon)[0]
    plans = [plan(given, every, length, rng) for _ in range(draws // 10)]
    return np.array([walk(each, each[0], x)[seen.t - 1] for each in plans])


def length_of(stops: list[int], x: Floats) -> float:
    """The length of a walk, to nine digits."""
    return sum(round(float(np.linalg.norm(x[a] - x[b])), 9) for a, b in pairwise(stops))


def walk(plays: Ints, start: int, x: Floats) -> list[int]:
    """Return the plays, equal ones in a row, along a short walk from an arm."""
    left, stops = list(dict.fromkeys(plays.tolist())), [start]
    while left:
        stops.append(min(left, key=lambda a: length_of([stops[-1], a], x)))
        left.remove(stops[-1])
    while True:  # 2-opt, the best reversal first
        m, before = len(stops), length_of(stops, x)
        others = [
            stops[: i + 1] + stops[i + 1 : j + 1][::-1] + stops[j + 1 :]
            for i in range(m)
            for j in range(i + 2, m)
        ]
        shortest = min(others, key=lambda each: length_of(each, x), default=stops)
        if length_of(shortest, x) >= before - 1e-9:
            return [a for a in stops[1:] for _ in range(int((plays == a).sum()))]
        stops = shortest


def drift_half_widths(
    gram: Floats,
    noise: float,
    played: Ints,
    *,
    bound: float,
    noise_std: float,
    level: float,
    variation: float,
) -> tuple[Floats, Floats]:
    """Half-widths of the average function of a batch in random order, and in any order, (N,) each.

    B sqrt(sigma^2 - lambda |a|^2) + sqrt(R^2 + V^2) |a| q, and with R in its place + V sum_j |a_j|, where q =
    sqrt(2 log(2 / level)); a = (K + lambda I)^-1 k(x), one weight a play.
    """
    a = np.linalg.solve(gram[np.ix_(played, played)] + noise * np.eye(len(played)), gram[played])
    variance = np.diag(gram) - (gram[played] * a).sum(axis=0)
    norm, q = np.linalg.norm(a, axis=0), math.sqrt(2 * math.log(2 / level))
    bias = bound * np.sqrt(np.maximum(variance - noise * norm**2, 0.0))
    random = bias + math.hypot(noise_std, variation) * norm * q
    return random, bias + noise_std * norm * q + variation * np.abs(a).sum(axis=0)

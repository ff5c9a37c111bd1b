"""Bare numpy loops: the mathematics of a round without classes, checks and feedback records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtrs

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

DELTA = 0.1  # of both widths


class Trial(NamedTuple):
    """What a bare loop plays."""

    gram: Gram
    noise: float  # lambda
    first: int  # point of the first play, which is any of those that tie
    mean_of: Floats  # (N,) of the reward at each point, less the prior's
    noise_of: Floats  # (T,) of each round
    contexts: Ints  # (T,)
    rng: np.random.Generator  # of the agent's samples, before the first


def low_rank_ucb(trial: Trial) -> Ints:
    """GP-UCB with the covariance S of r weights: c = R'S R[:, x]."""
    gram, noise, first, mean_of, noise_of, *_ = trial
    root, covariance = gram.root, np.eye(len(gram.root))
    features = np.ascontiguousarray(root.T)
    mean, variance = np.zeros(root.shape[1]), (root**2).sum(axis=0)
    played, x, union = [], first, _union(len(mean))
    for t, e in enumerate(noise_of, 1):
        if t > 1:
            x = int((mean + math.sqrt(union + 4 * math.log(t)) * np.sqrt(np.maximum(variance, 0))).argmax())
        weight = covariance @ features[x]
        scale = math.sqrt(noise + features[x] @ weight)
        weight /= scale
        covariance -= np.outer(weight, weight)
        u = weight @ root
        mean += u * ((mean_of[x] + e - mean[x]) / scale)
        variance -= u * u
        played.append(x)
    return np.array(played)


def low_rank_ucb_of_many(trials: Sequence[Trial]) -> Ints:
    """GP-UCB of B trials at once, as `low_rank_ucb`: every array has a leading axis of trials."""
    root, noise, size = trials[0].gram.root, trials[0].noise, len(trials)
    features, row = np.ascontiguousarray(root.T), np.arange(size)
    mean_of, noise_of = (
        np.array([getattr(each, name) for each in trials]) for name in ("mean_of", "noise_of")
    )
    covariance = np.tile(np.eye(len(root)), (size, 1, 1))
    mean, variance = np.zeros((size, root.shape[1])), np.tile((root**2).sum(axis=0), (size, 1))
    x, union, played = np.array([each.first for each in trials]), _union(root.shape[1]), []
    for t, e in enumerate(noise_of.T, 1):
        if t > 1:
            width = math.sqrt(union + 4 * math.log(t))
            x = (mean + width * np.sqrt(np.maximum(variance, 0))).argmax(axis=1)
        weight = np.matmul(covariance, features[x][:, :, None])[:, :, 0]
        scale = np.sqrt(noise + np.einsum("br,br->b", features[x], weight))
        weight /= scale[:, None]
        covariance -= weight[:, :, None] * weight[:, None, :]
        u = weight @ root
        mean += u * ((mean_of[row, x] + e - mean[row, x]) / scale)[:, None]
        variance -= u * u
        played.append(x)
    return np.array(played).T


def full_rank_ucb(trial: Trial) -> Ints:
    """GP-UCB with one row u a play, Sigma = K - V'V, merged now and then to one row a distinct point."""
    gram, noise, first, mean_of, noise_of, *_ = trial
    size, rounds = gram.size, len(noise_of)
    rows, k = np.empty((rounds, size)), 0
    count, total = np.zeros(size), np.zeros(size)
    mean, variance = np.zeros(size), gram.diagonal.copy()
    played, x, union, distinct = [], first, _union(size), set()
    for t, e in enumerate(noise_of, 1):
        if t > 1:
            x = int((mean + math.sqrt(union + 4 * math.log(t)) * np.sqrt(np.maximum(variance, 0))).argmax())
        y = mean_of[x] + e
        if k > 1.65 * len(distinct) + 16:
            p = count.nonzero()[0]
            columns, k = gram.columns(p), len(p)
            triangle = np.linalg.cholesky(columns[:, p] + np.diag(noise / count[p]))
            rows[:k] = solve_triangular(triangle, columns, lower=True)
        u = gram.column(x) - rows[:k, x] @ rows[:k]
        scale = math.sqrt(noise + u[x])
        u /= scale
        rows[k] = u
        k += 1
        mean += u * ((y - mean[x]) / scale)
        variance -= u * u
        count[x] += 1
        total[x] += y
        distinct.add(x)
        played.append(x)
    return np.array(played)


def full_rank_ucb_of_many(trials: Sequence[Trial]) -> Ints:
    """GP-UCB of B trials at once, as `full_rank_ucb`; rows are kept and merged trial by trial."""
    gram, noise, size = trials[0].gram, trials[0].noise, len(trials)
    mean_of, noise_of = (
        np.array([getattr(each, name) for each in trials]) for name in ("mean_of", "noise_of")
    )
    points, row = gram.size, np.arange(size)
    rows, k = np.empty((size, len(noise_of.T), points)), np.zeros(size, dtype=int)
    count, u, distinct = np.zeros((size, points)), np.empty((size, points)), [set() for _ in trials]
    mean, variance = np.zeros((size, points)), np.tile(gram.diagonal, (size, 1))
    x, union, played = np.array([each.first for each in trials]), _union(points), []
    for t, e in enumerate(noise_of.T, 1):
        if t > 1:
            width = math.sqrt(union + 4 * math.log(t))
            x = (mean + width * np.sqrt(np.maximum(variance, 0))).argmax(axis=1)
        for i, point in enumerate(x.tolist()):
            if k[i] > 1.65 * len(distinct[i]) + 16:
                p = count[i].nonzero()[0]
                columns, k[i] = gram.columns(p), len(p)
                triangle = np.linalg.cholesky(columns[:, p] + np.diag(noise / count[i, p]))
                rows[i, : k[i]] = solve_triangular(triangle, columns, lower=True)
            u[i] = gram.column(point) - rows[i, : k[i], point] @ rows[i, : k[i]]
            distinct[i].add(point)
        scale = np.sqrt(noise + u[row, x])
        u /= scale[:, None]
        rows[row, k] = u
        k += 1
        mean += u * ((mean_of[row, x] + e - mean[row, x]) / scale)[:, None]
        variance -= u * u
        count[row, x] += 1
        played.append(x)
    return np.array(played).T


def low_rank_thompson(trial: Trial, matheron: bool = False) -> Ints:
    """Thompson sampling with mean m and covariance S of r weights: argmax (m + v S^1/2 z)'R.

    With `matheron` it is argmax (m + v S (z - R sqrt(n / lambda) e))'R, with one e a played point.
    """
    gram, noise, first, mean_of, noise_of, _, own = trial
    root, rank, rng = gram.root, len(gram.root), deepcopy(own) if matheron else np.random.default_rng(0)
    covariance, features, count = np.eye(rank), np.ascontiguousarray(root.T), np.zeros(gram.size)
    mean, played, gain, x, drawn = np.zeros(rank), [], 0.0, first, np.zeros(rank)
    for t, e in enumerate(noise_of, 1):
        if matheron:
            white, points = gram.quick_white(rng), count.nonzero()[0]
            pull = rng.standard_normal(len(points)) * np.sqrt(count[points] / noise)
            drawn = covariance @ (white - pull @ features[points])
        elif t > 1:
            drawn = np.linalg.cholesky(covariance) @ rng.standard_normal(rank)
        if t > 1:
            x = int(((mean + _spread(gain, noise) * drawn) @ root).argmax())
        weight = covariance @ features[x]
        scale = math.sqrt(noise + features[x] @ weight)
        weight /= scale
        covariance -= np.outer(weight, weight)
        mean += weight * ((mean_of[x] + e - features[x] @ mean) / scale)
        gain += math.log(scale * scale / noise) / 2
        if matheron:
            count[x] += 1
        played.append(x)
    return np.array(played)


def low_rank_thompson_of_many(trials: Sequence[Trial], matheron: bool = False) -> Ints:
    """Thompson sampling of B trials at once, as `low_rank_thompson`, each with a generator of its own."""
    gram, noise, size = trials[0].gram, trials[0].noise, len(trials)
    root, features, row, rank = gram.root, np.ascontiguousarray(gram.root.T), np.arange(size), len(gram.root)
    mean_of, noise_of = (
        np.array([getattr(each, name) for each in trials]) for name in ("mean_of", "noise_of")
    )
    rngs = [deepcopy(each.rng) if matheron else np.random.default_rng(i) for i, each in enumerate(trials)]
    covariance, mean, gain = np.tile(np.eye(rank), (size, 1, 1)), np.zeros((size, rank)), np.zeros(size)
    x, played, drawn = np.array([each.first for each in trials]), [], np.zeros((size, rank))
    count, pull = np.zeros((2, size, gram.size))
    for t, e in enumerate(noise_of.T, 1):
        if matheron:
            white, seen = np.array([gram.quick_white(rng) for rng in rngs]), count.nonzero()
            each = zip(rngs, np.bincount(seen[0], minlength=size).tolist(), strict=True)
            noises = np.concatenate([rng.standard_normal(n) for rng, n in each])
            pull[seen] = noises * np.sqrt(count[seen] / noise)
            drawn = np.matmul(covariance, (white - pull @ features)[:, :, None])[:, :, 0]
        elif t > 1:
            white = np.array([rng.standard_normal(rank) for rng in rngs])
            drawn = np.matmul(np.linalg.cholesky(covariance), white[:, :, None])[:, :, 0]
        if t > 1:
            x = ((mean + _spread_of_many(gain, noise)[:, None] * drawn) @ root).argmax(axis=1)
        weight = np.matmul(covariance, features[x][:, :, None])[:, :, 0]
        scale = np.sqrt(noise + np.einsum("br,br->b", features[x], weight))
        weight /= scale[:, None]
        covariance -= weight[:, :, None] * weight[:, None, :]
        y = mean_of[row, x] + e
        mean += weight * ((y - np.einsum("br,br->b", features[x], mean)) / scale)[:, None]
        gain += np.log(scale * scale / noise) / 2
        if matheron:
            count[row, x] += 1
        played.append(x)
    return np.array(played).T


# By Matheron's rule the loops draw the agent's own samples.
matheron_thompson = partial(low_rank_thompson, matheron=True)
matheron_thompson_of_many = partial(low_rank_thompson_of_many, matheron=True)


def full_rank_thompson(trial: Trial) -> Ints:
    """Thompson sampling by Matheron's rule: a prior draw g, corrected by L of one row a distinct point.

    The draws of the prior are made before the first round by one product, (T, N) = Z R.
    """
    gram, noise, first, mean_of, noise_of, *_ = trial
    prior, size, rounds, rng = gram.dense, gram.size, len(noise_of), np.random.default_rng(0)
    draws = rng.standard_normal((rounds, len(gram.root))) @ gram.root
    rows, k, triangle = np.empty((rounds, size)), 0, np.zeros((rounds, rounds))
    count, points, distinct = np.zeros(size), np.empty(rounds, dtype=int), set()
    mean, played, gain, x = np.zeros(size), [], 0.0, first
    for t, e in enumerate(noise_of, 1):
        if t > 1:
            seen = draws[t - 1] + rng.standard_normal(size) * np.sqrt(noise / np.maximum(count, 1))
            solved = dtrtrs(triangle[:k].T, seen[points[:k]], lower=0, trans=1)[0]
            x = int((mean + _spread(gain, noise) * (draws[t - 1] - solved @ rows[:k])).argmax())
        if k > 1.65 * len(distinct) + 16:
            points[: len(distinct)] = p = count.nonzero()[0]
            k = len(p)
            triangle[:k, :k] = np.linalg.cholesky(prior[np.ix_(p, p)] + np.diag(noise / count[p]))
            rows[:k] = solve_triangular(triangle[:k, :k], prior[p], lower=True)
        shared = rows[:k, x].copy()
        u = prior[x] - shared @ rows[:k]
        scale = math.sqrt(noise + u[x])
        u /= scale
        rows[k], triangle[k, :k], triangle[k, k], points[k] = u, shared, scale, x
        k += 1
        mean += u * ((mean_of[x] + e - mean[x]) / scale)
        gain += math.log(scale * scale / noise) / 2
        count[x] += 1
        distinct.add(x)
        played.append(x)
    return np.array(played)


def factored_ucb(trial: Trial) -> Ints:
    """GP-UCB on contexts and arms whose kernel is a product: `low_rank_ucb` with R = R_1 (x) R_2."""
    gram, noise, first, mean_of, noise_of, contexts, _ = trial
    of_contexts, of_arms = gram.kronecker.roots
    shape, size = (len(of_contexts), len(of_arms)), gram.size
    covariance, played, union = np.eye(shape[0] * shape[1]), [], _union(size)
    variance = gram.diagonal.reshape(of_contexts.shape[1], -1).copy()
    mean, arm = np.zeros_like(variance), first % variance.shape[1]
    for t, (z, e) in enumerate(zip(contexts.tolist(), noise_of, strict=True), 1):
        if t > 1:
            scores = mean[z] + math.sqrt(union + 4 * math.log(t)) * np.sqrt(np.maximum(variance[z], 0))
            arm = int(scores.argmax())
        feature = np.outer(of_contexts[:, z], of_arms[:, arm]).ravel()
        weight = covariance @ feature
        scale = math.sqrt(noise + feature @ weight)
        weight /= scale
        covariance -= np.outer(weight, weight)
        u = (of_contexts.T @ weight.reshape(shape)) @ of_arms
        y = mean_of[z * variance.shape[1] + arm] + e
        mean += u * ((y - mean[z, arm]) / scale)
        variance -= u * u
        played.append(arm)
    return np.array(played)


def contextual_ucb(trial: Trial) -> Ints:
    """GP-UCB with rows V = L^-1 k(X, x) over the arms of each context, which catch up when it comes back.

    Points are merged as above: then the rows of all contexts are computed anew.
    """
    gram, noise, first, mean_of, noise_of, contexts, _ = trial
    size, rounds = gram.size, len(noise_of)
    arms = np.arange(size // (contexts.max() + 1))
    triangle, points = np.zeros((rounds, rounds)), np.empty(rounds, dtype=int)
    count, total = np.zeros(size), np.zeros(size)
    innovation, k, seen, played, union, distinct = np.empty(rounds), 0, {}, [], _union(size), set()
    for t, (z, e) in enumerate(zip(contexts.tolist(), noise_of, strict=True), 1):
        cells = z * len(arms) + arms
        old, rows, variance = seen.pop(z, (0, np.empty((rounds, len(arms))), gram.diagonal[cells]))
        if old < k:
            new = gram.between(points[old:k], cells) - triangle[old:k, :old] @ rows[:old]
            rows[old:k] = solve_triangular(triangle[old:k, old:k], new, lower=True)
            variance -= (rows[old:k] ** 2).sum(axis=0)
        seen[z] = k, rows, variance
        mean = innovation[:k] @ rows[:k]
        scores = mean + math.sqrt(union + 4 * math.log(t)) * np.sqrt(np.maximum(variance, 0))
        arm = int(scores.argmax()) if t > 1 else int(first - cells[0])
        x, shared = int(cells[arm]), rows[:k, arm]
        count[x] += 1
        total[x] += mean_of[x] + e
        distinct.add(x)
        played.append(arm)
        if k + 1 > 1.65 * len(distinct) + 16:
            p = count.nonzero()[0]
            k, seen = len(p), {}
            points[:k] = p
            triangle[:k, :k] = np.linalg.cholesky(gram.between(p, p) + np.diag(noise / count[p]))
            innovation[:k] = solve_triangular(triangle[:k, :k], total[p] / count[p], lower=True)
            continue
        scale = math.sqrt(noise + gram.diagonal[x] - shared @ shared)
        triangle[k, :k], triangle[k, k], points[k] = shared, scale, x
        innovation[k] = (mean_of[x] + e - shared @ innovation[:k]) / scale
        k += 1
    return np.array(played)


def _union(size: int) -> float:
    return 2 * math.log(size * math.pi**2 / (6 * DELTA))


def _spread(gain: float, noise: float) -> float:
    return 1.0 + math.sqrt(noise) * math.sqrt(2 * (gain + 1 + math.log(2 / DELTA)))


def _spread_of_many(gain: Floats, noise: float) -> Floats:
    return 1.0 + math.sqrt(noise) * np.sqrt(2 * (gain + 1 + math.log(2 / DELTA)))

r"""A Gaussian process as the model of the reward, for doubly robust estimates.

The reward of context x and action a is m + f(x, a) + noise, f with the kernel s^2 k(|x - x'| / l) k(|a -
a'| / h), k the Matern kernel of smoothness 5/2; the features are in stds, and actions without features all
have one distance. Rows of the same x and a enter as their mean, with the variance noise^2 / count. The
hyperparameters maximise the marginal likelihood times a wide prior, in units of the rewards' std. The
product of two kernels makes the mean at all actions of many contexts a product of matrices.

Each row is predicted by a model that did not see its fold, so that an error of the model does not depend on
the row's own reward; the estimate is then unbiased whatever the model (cross-fitting, Chernozhukov et al.
2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from bandit_envs.basics.types import Bools, Floats, Ints
from gpbandits.logs.log import PlayLog

MOST = 300  # pairs of context and action on which a model is conditioned, drawn at random from more
FOLDS = 5
CHUNK = 1000  # rows that are predicted together: more would leave the cache of the processor
START = np.log([1.0, 1.0, 1.0, 1.0])  # s, l, h and the noise std
PRIOR_STD = np.array([1.0, 1.0, 1.0, 1.5])  # of their logarithms
JITTER = 1e-8


class Support(NamedTuple):
    """Hold the pairs that a model is conditioned on."""

    context: Floats  # (S, dz) in stds
    arm: Floats  # (S, da) in stds
    mean: Floats  # (S,) of the rewards of each pair, in stds from their mean
    rows: Floats  # (S,) number of rows of each pair
    within: float  # sum of squares of the rewards around the means of their pairs, in squared stds

    @property
    def distances(self) -> tuple[Floats, Floats]:
        """Return the distances of contexts and of arms, (S, S) each."""
        return _distance(self.context, self.context), _distance(self.arm, self.arm)


def cross_fitted(log: PlayLog, probabilities: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Predict each row by a model of the other folds, probabilities (n, A).

    Return the value of the policy, sum_a pi(a | x) q(x, a), and the reward of the row's action, (n,) each.
    """
    fold = rng.permutation(len(log)) % min(FOLDS, len(log))
    contexts, row = log.contexts
    features = _in_stds(contexts, np.bincount(row, minlength=len(contexts)))
    value, reward = np.empty(len(log)), np.empty(len(log))
    for k in range(int(fold.max()) + 1):
        model = reward_model(log, features, row, (fold != k) & log.is_delivered, rng)
        (own,) = np.nonzero(fold == k)
        for part in np.split(own, range(CHUNK, len(own), CHUNK)):
            seen, place = np.unique(row[part], return_inverse=True)
            table = model(features[seen])[place]
            value[part] = np.einsum("na,na->n", probabilities[part], table)
            reward[part] = table[np.arange(len(part)), log.action[part]]
    return value, reward


def reward_model(
    log: PlayLog, features: Floats, row: Ints, used: Bools, rng: np.random.Generator
) -> Callable[[Floats], Floats]:
    """Return the mean reward of each action in contexts, (m, dz) in stds -> (m, A), from some rows of a log.

    Args:
        features, row: the different contexts, (Z, dz) in stds, and the index of each row's, (n,).
        used: the rows to learn from, (n,).
        rng: draws the pairs, if there are more than `MOST`.
    """
    arms = np.eye(log.num_actions) if log.arms is None else log.arms
    arms, reward = _in_stds(arms, np.ones(len(arms))), log.reward[used]
    mean, std = (float(reward.mean()), float(reward.std())) if len(reward) else (0.0, 0.0)
    if std <= 1e-12 * abs(mean):  # rounding is no signal
        return lambda contexts: np.full((len(contexts), len(arms)), mean)
    support = _support(features, arms, row[used], log.action[used], (reward - mean) / std, rng)
    theta = fitted(support)
    solution = cho_solve(_factor(theta, support, support.distances), support.mean)
    size, of_context, of_arm, _ = np.exp(theta)
    weights = matern(_distance(arms, support.arm) / of_arm) * solution

    def predicted(contexts: Floats) -> Floats:
        near = matern(_distance(contexts, support.context) / of_context)
        return mean + std * size**2 * (near @ weights.T)

    return predicted


def fitted(support: Support) -> Floats:
    """Return the logarithms of s, l, h and the noise std of largest posterior density."""
    bounds = [(start - 5.0, start + 5.0) for start in START]
    return minimize(_loss, START, (support, support.distances), method="L-BFGS-B", bounds=bounds).x


def _loss(theta: Floats, support: Support, distances: tuple[Floats, Floats]) -> float:
    """Minus the log marginal likelihood of all rows of the pairs and the log prior, up to a constant."""
    factor, lower = _factor(theta, support, distances)
    fit = float(support.mean @ cho_solve((factor, lower), support.mean))
    repeats = float(support.rows.sum()) - len(support.rows)
    of_repeats = repeats * 2.0 * theta[3] + support.within / np.exp(2.0 * theta[3])
    prior = float(np.square((theta - START) / PRIOR_STD).sum())
    return 0.5 * (fit + 2.0 * float(np.log(np.diag(factor)).sum()) + of_repeats + prior)


def _factor(theta: Floats, support: Support, distances: tuple[Floats, Floats]) -> tuple[Floats, bool]:
    """Factorise the covariance of the means of the pairs."""
    size, of_context, of_arm, _ = np.exp(theta)
    covariance = size**2 * matern(distances[0] / of_context) * matern(distances[1] / of_arm)
    noise = np.exp(2.0 * theta[3]) / support.rows + JITTER * np.exp(2.0 * theta[0])
    return cho_factor(covariance + np.diag(noise), lower=True)


def matern(distance: Floats) -> Floats:
    """Return the Matern kernel of smoothness 5/2 and length-scale 1."""
    scaled = np.sqrt(5.0) * distance
    values = np.exp(-scaled)
    values *= 1.0 + scaled * (1.0 + scaled / 3.0)
    return values


def _distance(x: Floats, y: Floats) -> Floats:
    """Distances, (n, d) and (m, d) -> (n, m)."""
    square = (-2.0 * x) @ y.T
    square += (x**2).sum(axis=1)[:, None]
    square += (y**2).sum(axis=1)
    return np.sqrt(np.maximum(square, 0.0, out=square), out=square)


def _in_stds(features: Floats, count: Floats | Ints) -> Floats:
    """Return features of mean 0 and std 1 over rows of these counts, divided by the root of their number."""
    mean = np.average(features, axis=0, weights=count)
    std = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=count))
    return (features - mean) / np.where(std > 0.0, std, 1.0) / np.sqrt(max(features.shape[1], 1))


def _support(
    features: Floats, arms: Floats, row: Ints, action: Ints, values: Floats, rng: np.random.Generator
) -> Support:
    pair, place = np.unique(row * len(arms) + action, return_inverse=True)
    if len(pair) > MOST:
        kept = np.sort(rng.choice(len(pair), MOST, replace=False))
        new = np.full(len(pair), -1)
        new[kept] = np.arange(MOST)
        chosen = new[place] >= 0
        pair, place, values = pair[kept], new[place[chosen]], values[chosen]
    count = np.bincount(place).astype(np.float64)
    mean = np.bincount(place, values) / count
    within = float(np.square(values - mean[place]).sum())
    return Support(features[pair // len(arms)], arms[pair % len(arms)], mean, count, within)

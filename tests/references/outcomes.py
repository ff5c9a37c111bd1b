"""Laplace's approximation for clicks and counts in the form of functions (Rasmussen & Williams 2006, 3.4)."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .randomised import Rng, sampled
from .seen import Given, Seen

NODES, SHARES = np.polynomial.hermite_e.hermegauss(24)
SHARES = SHARES / SHARES.sum()


class Mode(NamedTuple):
    """Hold k on all points and the plays X: n and b of each, f, a with f = k(., X) a, and W."""

    gram: Floats  # (N, N)
    x: Ints  # (u,)
    n: Floats
    b: Floats
    f: Floats
    a: Floats
    W: Floats

    @property
    def mean(self) -> Floats:
        """f_map on all points."""
        return self.gram[:, self.x] @ self.a

    def covariance(self, W: Floats) -> Floats:
        """(K^-1 + diag(W))^-1 on all points, W at the plays."""
        cross, root = self.gram[:, self.x], np.sqrt(W)
        return self.gram - cross @ (root[:, None] * np.linalg.solve(self.B(W), root[:, None] * cross.T))

    def B(self, W: Floats) -> Floats:
        """I + W^(1/2) K W^(1/2)."""
        root = np.sqrt(W)
        return np.eye(len(self.x)) + root[:, None] * self.gram[np.ix_(self.x, self.x)] * root


def mode(given: Given, seen: Seen, start: Floats | None = None) -> Mode:
    """Newton's method: f <- K (K + W^-1)^-1 (f + W^-1 (b - n m)), with steps of at most 1 in logits."""
    law, here = given.setting.outcome, seen.here
    gram = given.setting.latent_kernel(given.setting.arms)
    x, place = np.unique(seen.played[here], return_inverse=True)
    n = np.bincount(place, minlength=len(x)).astype(np.float64)
    b = np.bincount(place, seen.value[here], len(x)).astype(np.float64)
    f, k = np.zeros(len(x)) if start is None else start, gram[np.ix_(x, x)]
    for _ in range(100 if start is None else 2):
        W = n * law.variance(law.mean(f))
        step = np.linalg.solve(np.eye(len(x)) + k * W, k @ (b - n * law.mean(f)) - f)
        f = f + step / max(1.0, np.abs(step).max(initial=0.0))
    return Mode(gram, x, n, b, f, b - n * law.mean(f), n * law.variance(law.mean(f)))


def aged_mode(given: Given, seen: Seen, G: Callable[[Floats], Floats]) -> Mode:
    """EM: a play of age a without a click is one of value p (1 - G(a)) / (1 - p G(a)); W by its age."""
    law, x = given.setting.outcome, seen.played
    g, value = G(seen.t - 1 - np.arange(1, seen.t)), seen.value.copy()
    found = mode(given, seen._replace(value=np.zeros(len(x))))
    for _ in range(300):
        p = law.mean(found.mean)[x]
        value = np.where(seen.here, 1.0, p * (1 - g) / (1 - p * g))
        before, found = found, mode(given, seen._replace(value=value), found.f)
        if np.abs(found.f - before.f).max(initial=0.0) < 1e-11:
            break
    p = law.mean(found.mean)[x]
    each = g * p * (1 - p) ** 2 / (1 - p * g)
    return found._replace(W=np.bincount(x, each, len(found.gram))[found.x])


def laplace_ucb(
    given: Given, seen: Seen, width: float | str = 1.0, delta: float = 0.1, G: Any = None
) -> Floats:
    """f_map + w sd, or f_map + h, h half the mixture band; G(a) is the share of clicks seen by age a."""
    found = mode(given, seen) if G is None else aged_mode(given, seen, G)
    if width == "mixture":
        return found.mean + band(given, found, delta)
    return found.mean + float(width) * np.sqrt(np.diag(found.covariance(found.W)))


def band(given: Given, found: Mode, delta: float) -> Floats:
    """sqrt(2 beta phi' H~^-1 phi): of the covariance under curvatures W rho(D), D >= |f - f_map|."""
    law, bound = given.setting.outcome, given.setting.latent_bound
    gram, x, n, b, f, a, W = found
    exposure = getattr(law, "exposure", None)
    partition = (lambda z: np.logaddexp(0.0, z)) if exposure is None else np.exp
    plays, z = n * (exposure or 1.0), law.base + f
    std = np.sqrt(np.diag(found.covariance(W))[x])
    expected = partition(z[:, None] + std[:, None] * NODES) @ SHARES
    B = found.B(W)
    divergence = (np.trace(np.linalg.inv(B)) - len(x) + a @ f + np.linalg.slogdet(B)[1]) / 2
    E = b @ z - plays @ expected - divergence
    J = plays @ partition(z) - b @ z + a @ f / 2
    beta = math.log(1 / delta) - E + bound**2 / 2 - J
    D, half = bound * np.sqrt(np.diag(gram)[x]) + np.abs(f), np.empty(0)
    for _ in range(4):
        rho = 2 * (np.exp(-D) - 1 + D) / D**2
        half = np.sqrt(2 * beta * np.maximum(np.diag(found.covariance(W * rho)), 0.0))
        D = np.minimum(D, half[x])
    return half


def laplace_ts(given: Given, seen: Seen, count: int, rng: Rng) -> Ints:
    """Argmax of a sample of N(f_map, (K^-1 + diag(W))^-1)."""
    found = mode(given, seen)
    return sampled(found.mean, found.covariance(found.W), count, rng).argmax(axis=1)

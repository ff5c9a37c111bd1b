"""Safety in every round: safe-UCB, SafeOpt, StageOpt, LoSBO and ISE."""

import math

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from .formulas import finite_set_width, posterior
from .seen import Given, Seen


class Bands:
    """u and l of the reward (w = 2) and of each cost, (C, N), and the safe arms S = S_0 u {all ug_j <= 0}.

    The width of the costs is a number, or that of Srinivas' Theorem 1 at delta / (1 + C) each.
    """

    def __init__(self, given: Given, seen: Seen, cost_width: float | None = None, delta: float = 0.1):
        mean, self.std = given.reward.of(seen.played, seen.value)
        self.upper, self.lower = mean + 2 * self.std, mean - 2 * self.std
        self.costs, self.seen, size = given.costs, seen, len(mean)
        share = delta / (1 + len(given.costs))
        self.width = finite_set_width(size, seen.t, share) if cost_width is None else cost_width
        each = [p.of(seen.played, c) for p, c in zip(given.costs, seen.cost.T, strict=True)]
        self.cost_mean, self.cost_std = np.array(each).transpose(1, 0, 2)
        self.cost_lower = self.cost_mean - self.width * self.cost_std
        self.safe = (self.cost_mean + self.width * self.cost_std <= 0).all(axis=0)
        self.safe[given.setting.safe_seed] = True

    @property
    def maximisers(self) -> Bools:
        """M = {x in S: uf(x) >= max_S lf}."""
        return self.safe & (self.upper >= self.lower[self.safe].max())

    @property
    def expanders(self) -> Bools:
        """G = {x in S: the data (x, lg_j(x)) would bring all ug_j <= 0 to one x' outside S}."""
        found = np.zeros(len(self.safe), dtype=bool)
        for x in self.safe.nonzero()[0]:
            reached, played = ~self.safe, np.append(self.seen.played, x)
            for p, c, lower in zip(self.costs, self.seen.cost.T, self.cost_lower, strict=True):
                mean, std = p.of(played, np.append(c, lower[x]))
                reached = reached & (mean + self.width * std <= 0)
            found[x] = reached.any()
        return found


def safe_ucb(given: Given, seen: Seen, **options: float) -> Floats:
    """uf on S."""
    bands = Bands(given, seen, **options)
    return np.where(bands.safe, bands.upper, -np.inf)


def widest(given: Given, bands: Bands, among: Bools) -> Floats:
    """The widest band of the reward and all costs, in prior deviations (Sui et al. 2015; Berkenkamp 2016)."""
    costs = [bands.width * std / p.scale for p, std in zip(given.costs, bands.cost_std, strict=True)]
    return np.where(among, np.max([2 * bands.std / given.reward.scale, *costs], axis=0), -np.inf)


def safeopt(given: Given, seen: Seen, **options: float) -> Floats:
    """The widest of M u G."""
    bands = Bands(given, seen, **options)
    return widest(given, bands, bands.maximisers | bands.expanders)


def stageopt(given: Given, seen: Seen, until: int, patience: int = 10, **options: float) -> Floats:
    """The expander of widest cost band, to round T_0 or until S has not grown for 10 rounds; then uf on S.

    S_t is looked at before round t is. Where there is no expander, the widest of M (Sui et al. 2018).
    """
    bands, grown, settled = Bands(given, seen, **options), 1, False
    ever = np.zeros_like(bands.safe)
    for t in range(1, seen.t + 1):
        now = Bands(given, seen.before(t), **options).safe
        grown = t if (now & ~ever).any() else grown
        ever, settled = ever | now, settled or t - grown >= patience
    if seen.t > until or settled:
        return np.where(bands.safe, bands.upper, -np.inf)
    expanders = bands.expanders
    if not expanders.any():
        return widest(given, bands, bands.maximisers)
    wide = [bands.width * std / p.scale for p, std in zip(given.costs, bands.cost_std, strict=True)]
    return np.where(expanders, np.max(wide, axis=0), -np.inf)


def losbo(given: Given, seen: Seen, noise_bound: float, **options: float) -> Floats:
    """The widest of M u G, S = S_0 u {x: for all j a play s has c_s + E + L_j |x - x_s| <= 0} (Fiedler 2024).

    G = {x in S: lg_j(x) + L_j |x - x'| <= 0 for an x' outside S and all j that no play certifies}.
    """
    bands, arms, L = Bands(given, seen, **options), given.setting.arms, given.setting.lipschitz
    distance = np.linalg.norm(arms[:, None] - arms, axis=2)
    kept, reach = np.zeros((2, len(L), len(arms), len(arms)), dtype=bool)
    for j, c in enumerate(seen.cost.T):
        kept[j] = (c + noise_bound + L[j] * distance[:, seen.played] <= 0).any(axis=1)
        reach[j] = bands.cost_lower[j][:, None] + L[j] * distance <= 0
    bands.safe = kept[:, 0].all(axis=0)
    bands.safe[given.setting.safe_seed] = True
    expanders = bands.safe & ((kept | reach).all(axis=0) & ~bands.safe).any(axis=1)
    return widest(given, bands, bands.maximisers | expanders)


def ise(given: Given, seen: Seen, until: int, **options: float) -> Floats:
    """max_z H(z) - E H(z | x) on S (Bottero et al. 2022), then safe-UCB.

    H = ln 2 exp(-c_1 r), E H = ln 2 sqrt((1 - q) / (1 + c_2 q)) exp(-c_1 r / (1 + c_2 q)),
    r = mu_z^2 / sd_z^2, q = sd_x^2 / (sd_x^2 + lambda) corr(x, z)^2, c_1 = 1 / (pi ln 2), c_2 = 2 c_1 - 1.
    """

    if seen.t > until:
        return safe_ucb(given, seen, **options)
    bands, c1 = Bands(given, seen, **options), 1 / (math.pi * math.log(2))
    c2, best = 2 * c1 - 1, np.full(len(bands.safe), -np.inf)
    for p, c in zip(given.costs, seen.cost.T, strict=True):
        mean, S = posterior(p.gram, p.noise, seen.played, c - p.at(seen.played))
        variance = np.diag(S)
        r = (p.mean + mean) ** 2 / variance
        q = S**2 / ((variance + p.noise)[:, None] * variance)
        after = np.sqrt((1 - q) / (1 + c2 * q)) * np.exp(-c1 * r / (1 + c2 * q))
        best = np.maximum(best, math.log(2) * (np.exp(-c1 * r) - after).max(axis=1))
    return np.where(bands.safe, best, -np.inf)

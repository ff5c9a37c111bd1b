"""Agents that model nothing: uniform play, and bandit online convex optimisation (after Cao & Liu 2018).

The latter is the standard saddle-point scheme with gradients estimated from one or two plays, for long-term
constraints; its guarantees ask for convex costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from bandit_envs.basics.options import SQUARED_SCALE, not_negative, positive
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..agent.assembly import TrialList, each_trial
from ..agent.single_trial import ChoosingAgent
from ..model.choice import Recommendation, offered_in, require_offered
from ..model.units import PriorUnits, known_per_cost, mean_and_std, sizes_of
from ..options import one_seed, require_reset, require_trials, seeds_of
from ..protocol import BaseAgent, handles, states_propensities

DEVIATION, MEAN = 1.88, -3.01  # of the prior of the two discs, in whose units the constants below were found
HALF_WIDTH = 3.0  # of [0, 6]^d, the box in whose units steps and radii are given
FIRST = 5  # values from which a std is estimated
TUNED = {1: (0.03, 0.2, 0.1), 2: (0.3, 0.4, 1.0)}  # points -> eta, zeta, delta_reg: best on the two discs


class Probe(NamedTuple):
    """The plays y + zeta u, and with two points then y - zeta u, that estimate the gradients at one y."""

    direction: Floats  # (d,) u
    radius: float  # zeta
    values: Floats  # (points, 1 + C) h_0 = -f and h_j = g_j as observed in each play, NaN before

    def offset(self, k: int) -> Floats:
        """Return zeta u for the first play, - zeta u for the second, (d,)."""
        return (-1.0) ** k * self.radius * self.direction

    @property
    def gradients(self) -> Floats:
        """(d / zeta) h u of one point, (d / (2 zeta)) (h+ - h-) u of two, (1 + C, d).

        On linear functions both are unbiased; the variance of one point grows with h^2 / zeta^2.
        """
        sign = (-1.0) ** np.arange(len(self.values))
        slope = len(self.direction) / self.radius * (sign @ self.values) / len(self.values)
        return np.multiply.outer(slope, self.direction)


def _of_discs(prior: PriorUnits) -> PriorUnits:
    return PriorUnits(prior.std / DEVIATION, prior.mean, prior.costs / DEVIATION)


class BanditOCO(BaseAgent):
    """Projected descent on y in (-1, 1)^d and regularised ascent on the multipliers, one trial.

    y <- clip(y - eta_y (grad_0 + sum_j lam_j grad_j), -(1 - zeta), 1 - zeta) and lam_j <- [lam_j + eta (g_j -
    delta_reg eta lam_j)]^+, both with the old lam, when all plays of a probe have delivered. y starts
    uniformly. On a finite set the nearest arm is played; contexts are ignored. Rewards and costs are in units
    in which published prior mean and stds are those of the two discs: there h_0 = -f and h_j = g_j are
    the values as observed, as in the paper. The mean matters, because one point's gradient grows with h.
    Where no kernel is published, mean and std are those of the first five values; y waits for them. `step`,
    eta_y, and `radius`, zeta, are those of the rescaled box, `dual_step` is eta and `decay` delta_reg.
    """

    def __init__(
        self, setting: Setting, points: int, step: float, radius: float, dual_step: float, decay: float
    ):
        self.setting, self.points = setting, points
        self.step, self.radius, self.dual_step, self.decay = step, radius, dual_step, decay
        self._published = None if setting.kernel is None else _of_discs(PriorUnits.published(setting))
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(np.random.SeedSequence(one_seed(seed)))
        reach = 1.0 - self.radius
        self.y = self._rng.uniform(-reach, reach, self.setting.dim)  # (d,)
        self.multiplier = np.zeros(self.setting.num_constraints)  # (C,) lam
        self._probes: dict[int, Probe] = {}  # pending, by their first round // points
        self._prior = self._published
        self._delivered: list[tuple[int, float, Floats]] = []  # rounds, rewards and costs that no probe has
        self.round = 0

    def act(self, observation: Floats) -> Any:
        """Play y + zeta u, and with two points y - zeta u in the next round."""
        require_reset(self.round >= 0)
        number, k = divmod(self.round, self.points)
        if k == 0:
            self._centre = self.y  # that of the pair: late feedback may move y between its plays
            direction = self._rng.standard_normal(self.setting.dim)
            direction /= np.linalg.norm(direction)
            unseen = np.full((self.points, 1 + self.setting.num_constraints), np.nan)
            self._probes[number] = Probe(direction, self.radius, unseen)
        return self._action(self._centre + self._probes[number].offset(k))

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        _, rounds, value, cost = Feedback.arrived(info)
        for i in rounds.argsort():
            t, known = int(rounds[i]), {t for t, *_ in self._delivered}
            if t // self.points not in self._probes or t in known:
                raise ValueError(f"feedback must come once and for a round played, got round {t}")
            self._delivered.append((t, float(value[i]), cost[i]))
        self._prior = self._found() if self._prior is None else self._prior
        if self._prior is not None:
            self._learn(self._prior)
        self.round += 1

    def _found(self) -> PriorUnits | None:
        """The units that the first values tell, if enough have come and differ."""
        values = np.array([reward for _, reward, _ in self._delivered])[:, None]
        mean, deviation = (float(each[0]) for each in mean_and_std(values, FIRST))
        if deviation == 0.0:
            return None
        known = known_per_cost("constraint_prior_std", self.setting, None)
        sizes = sizes_of([cost for *_, cost in self._delivered]) if known is None else known
        return _of_discs(PriorUnits(deviation, mean, sizes))

    def _learn(self, prior: PriorUnits) -> None:
        for t, value, cost in self._delivered:
            number, k = divmod(t, self.points)
            (fall,) = prior.of(prior.mean - value)
            self._probes[number].values[k] = np.append(fall - MEAN, prior.of_costs(cost))
            if not np.isnan(self._probes[number].values).any():
                self.descend(self._probes.pop(number))
        self._delivered = []
        oldest = (self.round - 1 - self.setting.max_delay) // self.points  # probe that may yet be complete
        for number in [number for number in self._probes if number < oldest]:
            del self._probes[number]

    def descend(self, probe: Probe) -> None:
        """One step of y and of the multipliers."""
        lam, reach, mean = self.multiplier, 1.0 - self.radius, probe.values.mean(axis=0)
        descent = np.concatenate([[1.0], lam]) @ probe.gradients
        self.y = np.clip(self.y - self.step * descent, -reach, reach)
        rise = mean[1:] - self.decay * self.dual_step * lam
        self.multiplier = np.maximum(lam + self.dual_step * rise, 0.0)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """The current y, or the nearest of the given actions; mean and std are None: no model."""
        action = self._action(self.y)
        if among is not None:
            gap = self.setting.to_point(np.asarray(among)) - self.setting.to_point(action)
            action = among[int((gap**2).sum(axis=1).argmin())]
        return Recommendation(action, self.setting.to_point(action), None, None)

    def _action(self, y: Floats) -> Any:
        if self.setting.continuous:
            return y.astype(np.float32)
        low, high = np.asarray(self.setting.low), np.asarray(self.setting.high)
        return int(self.setting.to_action(low + (high - low) * (y + 1.0) / 2.0))


@handles("delay", "constraint", "box", "on_policy")
def bandit_oco(
    setting: Setting,
    *,
    points: int = 1,
    eta: Annotated[float, not_negative("it is the size of a step")] | None = None,
    zeta: Annotated[float, positive("it is the distance from their centre"), SQUARED_SCALE] | None = None,
    delta_reg: Annotated[float, not_negative("it makes the multipliers decay")] | None = None,
    num_trials: int | None = None,
) -> BanditOCO | TrialList:
    """Bandit OCO: saddle-point descent on estimated gradients (after Cao & Liu 2018).

    Gradients are estimated by plays around y; where arms there may be missing, none can take their place. A
    constraint given twice has two multipliers, which changes plays; one that is never active changes none.
    Lengths are in units of a box [0, 6]^d, whatever the box: in (-1, 1)^d the radius is zeta / 3 and the step
    of y is eta / 9; the multipliers step by eta.

    Args:
        points: plays of a gradient estimate, 1 or 2; two points charge both plays.
        eta: step; default 0.03 for one point and 0.3 for two, tuned on the two discs as the others.
        zeta: distance of the plays from y, below 3; default 0.2 and 0.4.
        delta_reg: decay of the multipliers; default 0.1 and 1.
    """
    if points not in TUNED:
        raise ValueError(f"points must be 1 or 2, got {points!r}")
    given = (eta, zeta, delta_reg)
    eta, zeta, delta_reg = (
        tuned if value is None else value for value, tuned in zip(given, TUNED[points], strict=True)
    )
    if zeta >= HALF_WIDTH:
        raise ValueError(f"zeta must be below {HALF_WIDTH:g}, half the width of [0, 6]; got {zeta}")
    step, radius = eta / HALF_WIDTH**2, zeta / HALF_WIDTH
    return each_trial(lambda _: BanditOCO(setting, points, step, radius, eta, delta_reg), num_trials)


class RandomAgent(ChoosingAgent):
    """Agent that plays uniformly on arms, on pairs of them or on a box, in a single trial or a batch of B."""

    def __init__(self, setting: Setting, num_trials: int | None = None):
        require_trials(num_trials)
        self.setting, self.num_trials = setting, num_trials
        self._rngs: list[np.random.Generator] = []  # before the first reset
        self.round = -1  # before the first reset

    def reset(self, seed: int | Sequence[int]) -> None:
        self._rngs = [np.random.default_rng(word) for word in seeds_of(seed, self.num_trials)]
        self.offered, self.round = None, 0

    def act(self, observation: Floats) -> Any:
        require_reset(self.round >= 0)
        require_offered(self.offered, self.setting)
        rows = [None] * len(self._rngs) if self.offered is None else list(self.offered)
        actions = [self._draw(rng, row) for rng, row in zip(self._rngs, rows, strict=True)]
        return np.array(actions) if self.num_trials else actions[0]

    def propensity(self, observation: Floats, action: Any) -> Any:
        """Return one over the number of available arms, a number or (B,); None on a box and of duels."""
        if self.setting.continuous or self.setting.duel:
            return None
        size = len(self._rngs)
        count = np.full(size, len(self.setting.arms)) if self.offered is None else self.offered.sum(axis=1)  # type: ignore[arg-type]
        chance = 1.0 / np.broadcast_to(count, size)
        return chance if self.num_trials else float(chance[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        self.offered = offered_in(info, self.setting, self.num_trials)
        self.round += 1

    def _draw(self, rng: np.random.Generator, offered: Bools | None) -> Any:
        if offered is not None:
            return int(rng.choice(offered.nonzero()[0]))
        if self.setting.duel:
            return rng.integers(len(self.setting.decisions.arms), size=2)
        if self.setting.arms is not None:
            return int(rng.integers(len(self.setting.arms)))
        return rng.uniform(-1.0, 1.0, self.setting.dim).astype(np.float32)


@states_propensities
@handles("delay", "context", "constraint", "change", "box", "availability", "aggregated", "duel", "outcome")
def random(setting: Setting, *, num_trials: int | None = None) -> RandomAgent:
    """Random: uniform plays, the baseline of all comparisons."""
    return RandomAgent(setting, num_trials)

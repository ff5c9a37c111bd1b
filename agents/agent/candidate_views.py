"""What an agent's belief says of arms, for rules, and of further plays, for stopping rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import Candidates, column
from ..acquisition.improvement import change_of
from ..beliefs.base import Belief, Ridge
from ..beliefs.play_costs import CostBelief
from ..beliefs.points import Arms, Pairs
from ..beliefs.ridges import ObservationWeights
from ..beliefs.safety import Safety
from ..beliefs.surface import ONLY, Surface, keeping_plays
from ..box.search import around, sobol
from ..model.choice import only_offered
from ..model.rounds import PENDING, in_time
from ..stopping.by_name import PATIENCE
from ..stopping.stopping_candidates import CandidateCosts, StoppingCandidates
from ..validation import PerTrial

Playing = Any  # a `GPAgent`, whose module imports this one
CLOUD = 512  # quasi-random points of a box
CENTRES, EACH, WIDTHS = 5, 16, (0.1, 0.02)  # best plays, points around each, and their stds in box widths
Snap = Callable[[Floats], Floats]


class ArmsView(Candidates):
    """Gives rules the posterior at the arms of each trial's context, computed on access.

    Args:
        agent: has the incumbent, the objective, the generators and the memory of its rule.
        belief: the agent's own, or another.
        context: of each trial, (B,).
        offered: mask of arms that may be played in this round, (B, A); None: all.
        safety: safe set and cost bounds, where costs must be kept in every round.
    """

    def __init__(
        self,
        agent: Playing,
        belief: Belief,
        context: Ints,
        offered: Bools | None = None,
        safety: Safety | None = None,
    ):
        self._agent, self._belief, self._context, self._offered = agent, belief, context, offered
        self.t, self.safety, self.memory = agent.t[:, None], safety, agent.memory
        self._samplers = agent.samplers
        self._rngs: Sequence[np.random.Generator] | None = None

    @property
    def points(self) -> Arms:
        """All arms in the context of each trial."""
        return self._agent.arms(self._context)

    @property
    def mean(self) -> Floats:
        return self._belief.mean(self._context)

    @property
    def std(self) -> Floats:
        return self._belief.std(self._context)

    @property
    def gain(self) -> Floats:
        return self._belief.gain[:, None]

    @property
    def bias(self) -> Floats:
        return column(self._belief.bias)

    @property
    def weight_norm(self) -> Floats:
        return self._belief.weight_norm(self._context)

    @property
    def observation_weights(self) -> list[ObservationWeights]:
        return self.points.observation_weights(self._belief)

    @property
    def ridges(self) -> list[Ridge]:
        return self._belief.ridges(self._context)

    @property
    def active(self) -> Bools:
        return self._belief.active(self._context)

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        if self._rngs is None:
            self._rngs = list(self._agent.streams.of_round("rule", self._agent.round))
        return self._rngs

    @property
    def incumbent(self) -> Floats:
        values, incumbent = self.mean, self._agent.incumbent
        if incumbent.of_worth:
            values = self._agent.objective.worth(values, self.points, self.t[:, 0])
        return incumbent(self._belief, self.points, only_offered(values, self._offered))[:, None]

    @property
    def change(self) -> Floats:
        played = self._belief.played_at(self._belief.cells(self._context))
        means = np.where(played, only_offered(self.mean, self._offered), -np.inf)
        return change_of(self._belief, self._context, means)

    @property
    def price(self) -> Floats:
        return self._agent.objective.prices(self.points)

    def half_width(self, bound: PerTrial, delta: PerTrial) -> Floats:
        return self._belief.half_width(self._context, bound, delta)

    def centred_sample(self) -> Floats:
        return self._belief.centred_sample(self._context, self._samplers)

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        return self._belief.sample(self._context, self._samplers, factor)

    def sampled_maximum(self) -> Floats:
        return only_offered(self.sample(), self._offered).max(axis=1, keepdims=True)

    def drawing(self, trials: Bools) -> ArmsView:
        """Return a copy in which only these trials, (B,), draw samples; other generators do not advance."""
        spare, view = np.random.default_rng(0), copy(self)  # draws of `spare` are discarded
        view._samplers = [rng if draws else spare for rng, draws in zip(self._samplers, trials, strict=True)]
        return view


def candidates_on_set(agent: Playing) -> list[StoppingCandidates]:
    """Return the candidates of each trial on a finite set in one context, which are all arms."""
    belief, context = agent.belief, np.zeros(agent._size, dtype=np.int64)
    centre = belief.mean_posterior
    mean = belief.known_mean(context)
    std = np.sqrt(np.maximum(centre.variance_at(None), 0.0))
    points = agent.arms(context)
    known = agent.objective.beliefs(mean, std, points)
    require_reward_model(known)
    mean, std = known[0]
    price, unit = costs_of(agent).at(points).expected, unit_of_values(agent)
    noise, played = noise_of(agent) * unit[:, None] ** 2, centre.count_at(None) > 0
    return [
        StoppingCandidates(
            point=np.arange(mean.shape[1]),
            arms=agent.setting.decisions.points,
            mean=mean[i].copy(),  # rules remember it, and a posterior may write to it
            std=std[i],
            played=played[i],
            noise=noise[i],
            cost=price[i],
            covariance=partial(_scaled, centre, i, unit[i] ** 2),
            costs=tuple(_cost_on_set(i, *each) for each in agent.objective.cost_beliefs()),
            **_facts(agent, i),
        )
        for i in range(agent._size)
    ]


def _cost_on_set(i: int, belief: Belief, zero: Floats, unit: Floats) -> CandidateCosts:
    mean = belief.known_mean(np.zeros(len(unit), dtype=np.int64))[i]
    std = np.sqrt(np.maximum(belief.mean_posterior.variance_at(None)[i], 0.0))
    scaled = partial(_scaled, belief.mean_posterior, i, unit[i] ** 2)
    return CandidateCosts(zero[i] + unit[i] * mean, unit[i] * std, scaled)


def _scaled(centre: Any, trial: int, scale: float, point: Ints, other: Ints) -> Floats:
    return scale * centre.covariance(trial, point, other)


def candidates_on_box(agent: Playing, snap: Snap | None = None, look: int = 0) -> StoppingCandidates:
    """Return the candidates on a box: the plays, quasi-random points, and points near the best plays.

    `snap` moves points, (n, d), to those that may be played; another `look` gives other points.
    """
    surface = _delivered(agent.belief)
    plays = agent.belief.mean_posterior.played(ONLY)
    cloud = _cloud(agent, surface.mean_factor, look)
    arms = np.vstack([agent._visited.features[plays], cloud if snap is None else snap(cloud)])
    points = Pairs(np.empty(0), arms)
    known = agent.objective.beliefs(*(each[None] for each in surface.predict(arms)), points)
    require_reward_model(known)
    unit = float(unit_of_values(agent)[ONLY])
    number = np.concatenate([plays, np.full(len(arms) - len(plays), -1)])
    mean, std = (each[0] for each in known[0])
    return StoppingCandidates(
        point=number,
        arms=arms,
        mean=mean,
        std=std,
        played=number >= 0,
        noise=np.full(len(arms), unit**2 * float(agent.belief.mean_posterior.noise[ONLY])),
        cost=costs_of(agent).at(points).expected[0],
        covariance=_covariance(surface, arms, unit),
        costs=tuple(_cost_on_box(arms, *each) for each in agent.objective.cost_beliefs()),
        **_facts(agent, ONLY),
    )


def _cost_on_box(arms: Floats, belief: Belief, zero: Floats, unit: Floats) -> CandidateCosts:
    surface, scale = _delivered(belief), float(unit[ONLY])
    mean, std = surface.predict(arms)
    return CandidateCosts(zero[ONLY] + scale * mean, scale * std, _covariance(surface, arms, scale))


def _delivered(belief: Belief) -> Surface:
    """Return the surface of the plays with delivered values."""
    centre, mean = keeping_plays(belief.mean_posterior), float(np.ravel(belief.given_mean)[0])
    factor = centre.factor(ONLY)
    return Surface(centre.gram.kernel, factor, factor, mean)


def _covariance(surface: Surface, arms: Floats, unit: float) -> Callable[[Ints, Ints], Floats]:
    """Return the posterior covariance of arms by their indices, in this unit of the values."""

    def covariance(point: Ints, other: Ints) -> Floats:
        prior = surface.kernel(arms[point], arms[other])
        return unit**2 * (prior - surface.explain(arms[point]).T @ surface.explain(arms[other]))

    return covariance


def _cloud(agent: Playing, factor: Any, look: int) -> Floats:
    """Return points of the box: Sobol's, shifted by another step in each round, and some around the best."""
    setting, (rng,) = agent.setting, agent.streams.of_round("stopping", agent.round * PATIENCE + look)
    unit = (sobol(setting.dim, CLOUD) + rng.random(setting.dim)) % 1.0
    low, span = setting.low, setting.high - setting.low
    best = factor.features[np.argsort(-factor.smoothed, kind="stable")[:CENTRES]]
    centres = np.repeat((best - low) / span, EACH, axis=0)
    near = [around(centres, width, rng) for width in WIDTHS]
    return low + np.vstack([unit, *near]) * span


def require_reward_model(known: Any) -> None:
    """Raise where an agent models something else than the reward, such as the reward less a penalty."""
    remedy = 'take an agent that models reward and costs apart, such as "constrained-ei"'
    if known is None:
        without = "must be left out where the reward has no model of its own"
        raise ArgumentError("stopping", f"{without}; {remedy}")


def unit_of_values(agent: Playing) -> Floats:
    """Return by how much a value's unit exceeds the reward's, (B,)."""
    zero, one = np.zeros(agent._size), np.ones(agent._size)
    return agent.objective.in_reward_units(zero, one)[1]


def noise_of(agent: Playing) -> Floats:
    """Return the variance of one play's noise at all points in the values' unit, (B, N)."""
    noise, points = agent.belief.mean_posterior.noise[:, None], np.arange(agent.setting.decisions.num_arms)
    weights = agent.belief.weights(points) if agent.belief.weighs else None
    return np.broadcast_to(noise, (len(noise), len(points))) if weights is None else noise / weights


def costs_of(agent: Playing) -> CostBelief:
    """Return the belief about what plays cost; raise where plays cost and the agent has none."""
    own = getattr(agent.objective, "costs", None)
    if isinstance(own, CostBelief):
        return own
    free = CostBelief(agent.model, agent._size)
    if not free.free and free.known is None:
        words = "must know what plays cost, which this agent does not learn"
        raise ArgumentError("stopping", f'{words}; take an agent that learns them, such as "ei-per-cost"')
    return free


def _facts(agent: Playing, trial: int) -> dict[str, Any]:
    values, kept, latest, assumed = np.empty(0), np.empty(0, dtype=bool), None, 0
    if agent.book.keeps:
        rows = agent.book.rows(np.array([trial]))
        here: Bools = rows.arrived > PENDING
        values, kept = rows.reward[here], (rows.cost[here] <= 0.0).all(axis=1)
        if agent.belief.fills_in:
            used = here & in_time(agent.clock.delay(rows.round, rows.arrived), agent.belief.window)
            assumed = int(np.count_nonzero(~used))
        if len(here) and here[-1]:
            latest = int(rows.point[-1]), float(rows.reward[-1])
    rng = agent.streams.of_round("stopping", agent.round * PATIENCE)[trial]
    return {
        "plays": agent.round,
        "pending": int(agent.book.num_pending[trial]) if agent.setting.max_delay else 0,
        "assumed": assumed,
        "gain": float(agent.belief.mean_posterior.gain[trial]),
        "values": values,
        "kept": kept,
        "settled": bool(np.broadcast_to(agent.objective.settled(agent.round), agent._size)[trial]),
        "latest": latest,
        "rng": rng,
    }

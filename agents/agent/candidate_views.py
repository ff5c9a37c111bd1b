"""What an agent's belief says of arms, for rules, and of further plays, for stopping rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import ZERO, Candidates
from ..acquisition.improvement import change_of
from ..beliefs.base import NO_BIAS, Belief
from ..beliefs.points import Arms, Joint, Pairs, Points
from ..beliefs.safety import CostBelief, Safety
from ..beliefs.surface import ONLY, keeping_plays
from ..box.search import around, sobol
from ..model.choice import only_offered
from ..model.rounds import PENDING, in_time
from ..options import PerTrial
from ..stopping.by_name import PATIENCE
from ..stopping.stopping_candidates import CandidateCosts, StoppingCandidates

Playing = Any  # a `GPAgent`, whose module imports this one
CLOUD = 512  # quasi-random points of a box
CENTRES, EACH, WIDTHS = 5, 16, (0.1, 0.02)  # best plays, points around each, and their stds in box widths
Snap = Callable[[Floats], Floats]


class ArmsView(Candidates):
    """Gives rules the posterior at the arms of each trial's context, (B,), computed on access.

    `belief` is the agent's own, or another; of the arms `offered`, (B, A), may be played, None for all, and
    `safety` is there where costs must be kept in every round.
    """

    def __init__(
        self,
        agent: Playing,
        belief: Belief,
        context: Ints,
        offered: Bools | None = None,
        safety: Safety | None = None,
    ):
        self._agent, self.belief, self._context, self._offered = agent, belief, context, offered
        self.t, self.safety, self.memory = agent.t[:, None], safety, agent.memory
        self.objective, self._samplers = agent.objective, agent.samplers

    def draw(self) -> Sequence[np.random.Generator]:
        """Return the generators of the round, (B,)."""
        return list(self._agent.streams.of_round("rule", self._agent.round))

    @property
    def points(self) -> Arms:  # type: ignore[override] (an attribute on boxes)
        """All arms in the context of each trial."""
        return self._agent.arms(self._context)

    @property
    def mean(self) -> Floats:  # type: ignore[override] (an attribute on boxes)
        """Posterior mean, (B, A)."""
        return self.belief.mean(self._context)

    @property
    def std(self) -> Floats:  # type: ignore[override] (an attribute on boxes)
        """Posterior standard deviation, (B, A)."""
        return self.belief.std(self._context)

    @property
    def gain(self) -> Floats:  # type: ignore[override] (an attribute on boxes)
        """Realised information gain, (B, 1)."""
        return self.belief.gain[:, None]

    @property
    def bias(self) -> Floats:  # type: ignore[override] (an attribute on boxes)
        """What pending feedback adds to the width, (B, 1)."""
        bias = self.belief.bias
        return ZERO if bias is NO_BIAS else np.reshape(bias, (-1, 1))

    @property
    def weight_norm(self) -> Floats:
        return self.belief.weight_norm(self._context)

    @property
    def active(self) -> Bools:
        return self.belief.active(self._context)

    @property
    def incumbent(self) -> Floats:  # type: ignore[override] (an attribute on boxes)
        """Value that improvement is measured from, (B, 1)."""
        values, incumbent = self.mean, self._agent.incumbent
        if incumbent.of_worth:
            values = self.objective.worth(values, self.points, self.t[:, 0])
        return incumbent(self.belief, self.points, only_offered(values, self._offered))[:, None]

    @property
    def change(self) -> Floats:
        played = self.belief.played_at(self.belief.cells(self._context))
        means = np.where(played, only_offered(self.mean, self._offered), -np.inf)
        return change_of(self.belief, self._context, means)

    def half_width(self, bound: PerTrial, delta: float) -> Floats:
        return self.belief.half_width(self._context, bound, delta)

    def centred_sample(self) -> Floats:
        return self.belief.centred_sample(self._context, self._samplers)

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        return self.belief.sample(self._context, self._samplers, factor)

    def sampled_maximum(self) -> Floats:
        return only_offered(self.sample(), self._offered).max(axis=1, keepdims=True)

    def drawn_by(self, rngs: Sequence[np.random.Generator]) -> ArmsView:
        """Return a copy whose samples, and the rule's own draws, are of these generators, (B,)."""
        view = copy(self)
        view._samplers, view._rngs = rngs, rngs
        return view

    def drawing(self, trials: Bools) -> ArmsView:
        """Return a copy in which only these trials, (B,), draw samples; other generators do not advance."""
        spare, view = np.random.default_rng(0), copy(self)  # draws of `spare` are discarded
        view._samplers = [rng if draws else spare for rng, draws in zip(self._samplers, trials, strict=True)]
        return view


def candidates_on_arms(agent: Playing) -> list[StoppingCandidates]:
    """Return the candidates of each trial on a finite set in one context, which are all arms."""
    points = agent.arms(np.zeros(agent._size, dtype=np.int64))
    played = agent.belief.mean_posterior.count_at(None) > 0
    arms = agent.setting.decisions.points
    return _stopping_candidates(agent, points, np.arange(len(arms)), arms, played, noise_of(agent))


def candidates_of_plays(agent: Playing, snap: Snap | None = None, look: int = 0) -> StoppingCandidates:
    """Return the candidates on a box: the plays, quasi-random points, and points near the best plays.

    `snap` moves points, (n, d), to those that may be played; another `look` gives other points.
    """
    centre = keeping_plays(agent.belief.mean_posterior)
    plays, cloud = centre.played(ONLY), _cloud(agent, centre.factor(ONLY), look)
    arms = np.vstack([agent.features[plays], cloud if snap is None else snap(cloud)])
    number = np.concatenate([plays, np.full(len(arms) - len(plays), -1)])
    noise = np.full((1, len(arms)), float(centre.noise[ONLY]))
    return _stopping_candidates(agent, Pairs(np.empty(0), arms), number, arms, number[None] >= 0, noise)[ONLY]


def _stopping_candidates(
    agent: Playing, points: Points, number: Ints, arms: Floats, played: Bools, noise: Floats
) -> list[StoppingCandidates]:
    """Return each trial's candidates, points with these numbers, (n,), and noise variances, (B, n)."""
    joint = points.joint(agent.belief)
    known = agent.objective.beliefs(joint.mean, joint.std, points)
    if known is None:  # it models something else than the reward, such as the reward less a penalty
        without = "must be left out where the reward has no model of its own"
        remedy = 'take an agent that models reward and costs apart, such as "constrained-ei"'
        raise ArgumentError("stopping", f"{without}; {remedy}")
    mean, std = known[0]
    price = costs_of(agent).at(points).expected
    # By how much a value's unit exceeds the reward's, (B,).
    unit = agent.objective.in_reward_units(np.zeros(agent._size), np.ones(agent._size))[1]
    noise = noise * unit[:, None] ** 2
    return [
        StoppingCandidates(
            point=number,
            arms=arms,
            mean=mean[i].copy(),  # rules remember it, and a posterior may write to it
            std=std[i],
            played=played[i],
            noise=noise[i],
            cost=price[i],
            covariance=partial(_scaled_covariance, joint, i, unit[i] ** 2),
            costs=tuple(_cost(points, i, *each) for each in agent.objective.cost_beliefs()),
            **_facts(agent, i),
        )
        for i in range(agent._size)
    ]


def _cost(points: Points, i: int, belief: Belief, zero: Floats, unit: Floats) -> CandidateCosts:
    joint = points.joint(belief)
    covariance = partial(_scaled_covariance, joint, i, unit[i] ** 2)
    return CandidateCosts(zero[i] + unit[i] * joint.mean[i], unit[i] * joint.std[i], covariance)


def _scaled_covariance(joint: Joint, trial: int, scale: float, point: Ints, other: Ints) -> Floats:
    return scale * joint.covariance(trial, point, other)


def _cloud(agent: Playing, factor: Any, look: int) -> Floats:
    """Return points of the box: Sobol's, shifted by another step in each round, and some around the best."""
    setting, (rng,) = agent.setting, agent.streams.of_round("stopping", agent.round * PATIENCE + look)
    unit = (sobol(setting.dim, CLOUD) + rng.random(setting.dim)) % 1.0
    low, span = setting.low, setting.high - setting.low
    best = factor.features[np.argsort(-factor.smoothed, kind="stable")[:CENTRES]]
    centres = np.repeat((best - low) / span, EACH, axis=0)
    near = [around(centres, width, rng) for width in WIDTHS]
    return low + np.vstack([unit, *near]) * span


def noise_of(agent: Playing) -> Floats:
    """Return the variance of one play's noise at all points in the belief's unit, (B, N)."""
    noise, points = agent.belief.mean_posterior.noise[:, None], np.arange(agent.setting.decisions.num_arms)
    weights = agent.belief.weights(points) if agent.belief.weighs else None
    return np.broadcast_to(noise, (len(noise), len(points))) if weights is None else noise / weights


def costs_of(agent: Playing) -> CostBelief:
    """Return the belief about what plays cost; raise where plays cost and the agent has none."""
    own = agent.objective.play_costs()
    if own is not None:
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
    return {
        "plays": agent.round,
        "pending": int(agent.book.num_pending[trial]) if agent.setting.max_delay else 0,
        "assumed": assumed,
        "gain": float(agent.belief.mean_posterior.gain[trial]),
        "values": values,
        "kept": kept,
        "settled": bool(np.broadcast_to(agent.objective.settled(agent.round), agent._size)[trial]),
        "latest": latest,
        "rng": agent.streams.of_round("stopping", agent.round * PATIENCE)[trial],
    }

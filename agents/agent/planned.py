"""An agent that chooses all plays of a batch when it begins, and their order: at random, or a short tour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.movement import Movement, Travel

from ..beliefs.base import make_posterior, observe
from ..model.choice import argmax_with_ties
from .gp_agent import GPAgent

# From a trial's plan (n,), its generator and the arm that it played last, None before the first, to (n,).
Order = Callable[[GPAgent, Ints, np.random.Generator, "int | None"], Ints]
DIGITS = 9  # of distances: other units of the features change their last bits
LEAST_GAIN = 10.0**-DIGITS  # of a 2-opt move, so that rounding cannot make it go on


class PlannedAgent(GPAgent):
    """Agent that plans the arms of largest variance for a whole batch, and plays them in another order.

    The plan holds the plays of `bpe` with the same seed and lengths: they use no value of their batch, and
    the posterior of a batch does not depend on its order.

    Args:
        lengths: rounds of each batch; further rounds are batches of the last length.
        order: of the plays of a batch.
    """

    def __init__(self, *parts: Any, lengths: Sequence[int], order: Order, **named: Any):
        super().__init__(*parts, **named)
        self._ends, self._last_length, self._order = np.cumsum(lengths), lengths[-1], order

    def reset(self, seed: int | Sequence[int]) -> None:
        super().reset(seed)
        self._begun = 0
        self._plan: Ints | None = None  # arms of the batch, (B, n), while it lasts
        self._last: list[int | None] = [None] * self._size  # arms of the last round
        self._orderers = self.streams.of("order")

    def act(self, observation: Floats) -> Any:
        """Return the next arm of the plan, which is made anew when a batch begins."""
        self._contexts(observation)
        if self._plan is None:
            self._plan, self._begun = self._new_plan(), self.round
        arm = self._plan[:, self.round - self._begun]
        return arm.astype(np.int64) if self.num_trials else int(arm[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; note the arms played, where tours start, and drop a plan at its end."""
        super().update(observation, action, reward, info)
        self._last[:] = np.atleast_1d(action).tolist()
        if self._plan is not None and self.round >= self._begun + self._plan.shape[1]:
            self._plan = None

    def _new_plan(self) -> Ints:
        """Return the arms of the rest of this batch in the order of play, a byte or two each."""
        after = self._ends[self._ends > self.round]
        left = int(after[0]) - self.round if len(after) else self._last_length
        plans, rows = self._planned(left), range(self._size)
        plan = np.stack([self._order(self, plans[i], self._orderers[i], self._last[i]) for i in rows])
        return plan.astype(np.min_scalar_type(self._num_arms))

    def _planned(self, length: int) -> Ints:
        """Return the arms of largest variance among active ones, one after another, (B, n)."""
        posterior, belief = make_posterior(self.model, self._size), self.belief
        active = belief.active(self._only_context)
        for i in belief.rows.tolist():  # plays of this batch that were not planned here
            posterior.condition_on(i, belief.spread.statistics(i))
        plan, nothing = np.empty((self._size, length), dtype=np.int64), np.zeros(self._size)
        for k in range(length):
            std = np.sqrt(np.maximum(posterior.variance_at(None), 0.0))
            uniform = self.tie_breaker()  # as many in all as one in every round
            plan[:, k] = argmax_with_ties(np.where(active, std, -np.inf), self._tie, uniform)
            observe(posterior, belief.rows, plan[:, k], nothing, belief.weights(plan[:, k]))
        return plan


def sorted_by_tour(agent: GPAgent, plan: Ints, rng: np.random.Generator, last: int | None) -> Ints:
    """Order a plan by a short tour from the last arm, in what the setting says that moves cost."""
    return in_short_order(plan, last, agent.setting.decisions.unit_arms, agent.setting.movement)


def permuted(agent: GPAgent, plan: Ints, rng: np.random.Generator, last: int | None) -> Ints:
    """Order a plan at random, every order being equally likely."""
    return rng.permutation(plan)


def in_short_order(plays: Ints, last: int | None, places: Floats, law: Movement | None) -> Ints:
    """Return the plays of a batch, (n,), in the order of a short tour from the present arm.

    A tour of distinct arms starts at `last`, or at the first of the plays where there is none, and need not
    return. Prices do not matter to it. Where moves are free it goes by travel.

    Args:
        places: of the arms in the unit box, (A, d).
    """
    arms, first, times = np.unique(plays, return_index=True, return_counts=True)
    rank = first.argsort()  # distinct arms in the order of their first plays, so that ties follow the plan
    arms, times = arms[rank], times[rank]
    start = plays[0] if last is None else last
    stops = places[np.concatenate([[start], arms])]
    apart = (law or Travel()).distance(stops[:, None], stops[None]).round(DIGITS)
    order = shortened(nearest_first(apart), apart)[1:] - 1
    return np.repeat(arms[order], times[order])


def nearest_first(apart: Floats) -> Ints:
    """Return a path from stop 0 that goes to the nearest new stop each time, (m, m) -> (m,)."""
    path, left = [0], np.ones(len(apart), dtype=bool)
    left[0] = False
    while left.any():
        path.append(int(np.where(left, apart[path[-1]], np.inf).argmin()))
        left[path[-1]] = False
    return np.array(path)


def shortened(path: Ints, apart: Floats) -> Ints:
    """Return the path after 2-opt: the reversal that shortens it most, its start fixed, until none does."""
    while True:
        gains = _gains(path, apart)
        i, j = divmod(int(gains.argmax()), gains.shape[1])
        if gains[i, j] <= LEAST_GAIN:
            return path
        path = np.concatenate([path[: i + 1], path[i + 1 : j + 1][::-1], path[j + 1 :]])


def _gains(path: Ints, apart: Floats) -> Floats:
    """Return by how much a path is shorter with its stops i + 1..j reversed, (m, m); its end is free."""
    m = len(path)
    along = apart[np.ix_(path, path)]
    after = np.minimum(np.arange(m) + 1, m - 1)  # of the last stop, itself: no edge
    edges = along[np.arange(m), after]
    gains = edges[:, None] + edges[None] - along - along[np.ix_(after, after)]
    gains[:, -1] = edges - along[:, -1]
    return np.where(np.arange(m)[:, None] + 1 < np.arange(m)[None], gains, 0.0)

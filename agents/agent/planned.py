"""An agent that chooses all plays of a batch when it begins, and an order in which they are played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..beliefs.base import make_posterior, observe
from ..model.choice import argmax_with_ties
from .gp_agent import GPAgent
from .tours import in_short_order

# From a trial's plan (n,), its generator and the arm that it played last, None before the first, to (n,).
Order = Callable[[GPAgent, Ints, np.random.Generator, "int | None"], Ints]


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
        """Forget everything; the seed is one integer, or B of them for B trials."""
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

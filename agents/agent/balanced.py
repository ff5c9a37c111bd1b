"""Rules by which several agents share plays: balanced regret bounds (LB-GP-UCB), optimism (PE-GP-UCB)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.by_name import WithWidth
from ..model.choice import argmax_with_ties
from ..validation import PerTrial
from .gp_agent import TIE, GPAgent
from .several import Several

TIED = 1e-9  # of the largest regret bound


class Balanced(Several):
    r"""Balance regret bounds over kernels (Ziomek, Adachi & Osborne 2024, LB-GP-UCB, in our reading).

    S_k are the plays that candidate k chose, n = |S_k|, B_k and g_k its norm and its realised gain. The
    candidate with the smallest

        sqrt(n + 1) (B_k sqrt(g_k) + g_k)

    plays next. Once all open candidates have delivered values, k is eliminated if

        ybar_k + sqrt(xi_t / n_k) + (2 / n_k) sum over S_k of w sigma
            < max over j of ybar_j - sqrt(xi_t / n_j),

    xi_t = 2 R^2 log(K pi^2 t^2 / (6 delta / 2)), n_k and ybar_k of the delivered values. The printed
    algorithm has minus before its first xi and no factor 2, with which the proof does not work.

    The regret bound needs one right candidate k, the one whose own bound is least. Its band fails with
    probability delta / 2; while it holds, f* is at most the mean of f over S_k plus (2 / n_k) sum w sigma.
    Then k is never eliminated if the mean noise over S_k is above -sqrt(xi / n_k) and that over each other
    S_j below sqrt(xi / n_j): one side each of K candidates and, as xi grows, of every n_j, hence delta / 2 by
    a union bound. Bands of wrong candidates fail whatever their delta.

    Args:
        agents, rule_of: see `Several`; the bands are those of delta / 2.
        is_open: maps t = 1, 2, ... to the candidates in use by then, (K,).
        delta: probability that the right candidate of the bound is eliminated or its band fails.
    """

    def __init__(
        self,
        agents: Sequence[GPAgent],
        rule_of: WithWidth,
        *,
        is_open: Callable[[int], Bools],
        delta: PerTrial,
    ):
        super().__init__(agents, rule_of)
        self._is_open, self._delta = is_open, delta
        self._bound = np.stack(
            [np.broadcast_to(each.model.rkhs_bound, self._size) for each in agents], axis=1
        )

    @property
    def open(self) -> Bools:
        """Return which candidates may choose next, (B, K)."""
        return self.alive & self._is_open(self.round + 1)

    @property
    def assumes_bound(self) -> bool:
        """Return True if a norm B_k was neither given nor published: balancing uses every B_k."""
        return not all(agent.model.bound_is_known for agent in self.agents)

    def _turn(self, observation: Floats, uniform: Floats) -> tuple[Any, Ints]:
        gain = np.stack([agent.belief.gain for agent in self.agents], axis=1)
        loss = np.sqrt(self._turns.chosen + 1.0) * (self._bound * np.sqrt(gain) + gain)  # regret bounds
        score = np.where(self.open, -loss, -np.inf)
        who = argmax_with_ties(score, TIED * loss.max(axis=1), uniform)
        turns = np.arange(len(self.agents)) == who[:, None]
        return self._of(who, self._asked(turns, observation)), who

    def _struck(self) -> Bools:
        turns, competing = self._turns, self.open
        count = np.maximum(turns.arrived, 1.0)
        mean, slack = turns.value / count, np.sqrt(self._xi(self._delta)[:, None] / count)
        upper = mean + slack + 2.0 * turns.promised / count
        lower = np.where(competing, mean - slack, -np.inf).max(axis=1, keepdims=True)
        used = (turns.arrived > 0.0) | ~competing
        return used.all(axis=1, keepdims=True) & competing & (upper < lower)


class Optimistic(Several):
    r"""Maximise the upper bound over several priors and eliminate those whose residuals are too large.

    A play is the argmax over points x and priors p of mu_p(x) + w_p sigma_p(x). With S_p the plays of p whose
    values were delivered, p is eliminated if

        |sum over S_p of y - mu_p(x)| > sum over S_p of w_p sigma_p(x)
                                        + sqrt(2 R^2 |S_p| log(K pi^2 t^2 / (3 delta / 2))).

    For a right prior both terms bound the sum: with probability 1 - delta it is not eliminated, and the
    largest bound is at least the optimum. If all are contradicted, those of the last round stay in use, and
    `refuted` is true. The structure is that of PE-GP-UCB as far as we remember it (Ziomek et al. 2025); the
    test is ours.

    Args:
        agents, rule_of: see `Several`; the bands are those of delta / 2.
        delta: probability that a right prior is eliminated, or its band fails.
    """

    def __init__(self, agents: Sequence[GPAgent], rule_of: WithWidth, *, delta: PerTrial):
        super().__init__(agents, rule_of)
        self._delta = delta

    def reset(self, seed: int | Sequence[int]) -> None:
        super().reset(seed)
        self.refuted = np.zeros(self._size, dtype=bool)  # true where every prior is contradicted, (B,)

    def _turn(self, observation: Floats, uniform: Floats) -> tuple[Any, Ints]:
        actions = self._asked(self.alive, observation)
        score = np.full(self.alive.shape, -np.inf)
        for k, action in enumerate(actions):
            if action is not None:
                mean, band = self._band(k, observation, action)
                score[:, k] = np.where(self.alive[:, k], mean + band, -np.inf)
        who = argmax_with_ties(score, TIE * self.model.deviation, uniform)
        return self._of(who, actions), who

    def _struck(self) -> Bools:
        turns = self._turns
        slack = np.sqrt(self._xi(np.divide(self._delta, 2.0))[:, None] * turns.arrived)
        surprised = np.abs(turns.surprise) > turns.promised + slack
        nobody = np.logical_not((self.alive & ~surprised).any(axis=1))
        self.refuted |= nobody
        return np.where(nobody[:, None], False, surprised)

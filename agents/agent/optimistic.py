"""Optimism over several priors, which are eliminated when feedback contradicts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.of_model import WithWidth
from ..model.tie_breaking import argmax_with_ties
from ..validation import PerTrial
from .gp_agent import TIE, GPAgent
from .several import Several


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
        """Forget everything; takes one integer, or B of them."""
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
        surprised = np.abs(turns.surprise) > turns.promised + self._slack()
        nobody = np.logical_not((self.alive & ~surprised).any(axis=1))
        self.refuted |= nobody
        return np.where(nobody[:, None], False, surprised)

    def _slack(self) -> Floats:
        """Return the bound on the sums of the noise, (B, K)."""
        noise = np.broadcast_to(self.model.noise_std, self._size)
        failures = len(self.agents) * (np.pi * self.round) ** 2 / (1.5 * np.asarray(self._delta))
        nats = noise**2 * np.log(np.maximum(failures, 1.0))
        return np.sqrt(2.0 * nats[:, None] * self._turns.arrived)

"""Questions to a Gaussian-process agent: posterior, beliefs, recommendation; no answer changes the agent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import Rule
from ..beliefs.base import Belief
from ..beliefs.points import Arms, Points
from ..model.choice import Recommendation
from ..model.defaults import rests_on_default
from ..objectives.base import Objective
from ..options import require_context, require_reset
from ..restarts.base import Restart
from ..stopping.by_name import Stops
from .assumptions import Given
from .domain import Domain
from .single_trial import ChoosingAgent

NEVER = -1
REWARD = 0  # index of the reward among the quantities of `beliefs`


class Answers(ChoosingAgent):
    """Queries about points; a subclass builds the parts at reset and updates them."""

    _size: int  # B, 1 of one environment
    domain: Domain
    _only_context: Ints  # (B,) zeros
    rule: Rule
    belief: Belief
    objective: Objective
    restart: Restart
    assumptions: Given
    _lost: Bools | None  # (B,) where the last choice had no feasible action; None before a test
    _lost_since: Ints  # (B,) the first such round, -1 where there is none
    t: Ints  # (B,) rounds started since the trial last began

    @property
    def alarms(self) -> list[list[int]] | list[int] | None:
        """Return the rounds after which each trial detected a change; None without a detector."""
        require_reset(self.round >= 0)
        each = self.restart.alarms
        return each if each is None or self.num_trials else each[0]

    @property
    def failed_fits(self) -> int:
        """Count the hyperparameter fits that failed; 0 where none are learnt."""
        return self.assumptions.failed_fits

    @property
    def assumes_bound(self) -> bool:
        """Return True if the agent relies on a default bound, neither given nor published."""
        require_reset(self.round >= 0)
        return rests_on_default(self.rule) or self.belief.assumes_bound or self.objective.assumes_bound

    @property
    def refuted(self) -> Bools | bool | None:
        """Return True where feedback contradicts B, R or the kernel, (B,) or one; None without a test."""
        require_reset(self.round >= 0)
        each = self.rule.refuted(self.belief)
        return each if each is None or self.num_trials else bool(each[0])

    @property
    def infeasible(self) -> Bools | bool | None:
        """Return True where no action of the last choice was feasible, (B,) or one; None without a test."""
        require_reset(self.round >= 0)
        each = self._lost
        return each if each is None else each.copy() if self.num_trials else bool(each[0])

    @property
    def infeasible_since(self) -> Ints | int | None:
        """Return the first round (0-based) with `infeasible` true, (B,) or one; -1 where there is none."""
        require_reset(self.round >= 0)
        if self._lost is None:
            return None
        return self._lost_since.copy() if self.num_trials else int(self._lost_since[0])

    @property
    def stops(self) -> Stops | None:
        """Return when each rule of the option `stopping` first said stop; None without the option."""
        require_reset(self.round >= 0)
        return None if self.stopping is None else self.stopping.stops(self.num_trials is None)

    @property
    def certified(self) -> Bools | None:
        """Return which arms are certified to keep all costs, (B, A) or (A,); None without a safe set.

        The answer is None too on boxes and with several contexts, on which it would depend.
        """
        require_reset(self.round >= 0)
        decisions = self.setting.decisions
        if decisions.continuous or decisions.num_contexts > 1:
            return None
        safety = self.objective.safety(np.zeros(len(self.t), dtype=np.int64), self.t)
        return None if safety is None else safety.safe.copy() if self.num_trials else safety.safe[0].copy()

    @property
    def feedback_window(self) -> float | None:
        """Return the largest delay that is still learnt, in rounds or units of time; None if unlimited."""
        require_reset(self.round >= 0)
        window = self.belief.window
        return window if math.isfinite(window) else None

    @property
    def weighs(self) -> bool:
        """Return True if each play is weighted by its own noise; otherwise all have the noisiest's weight."""
        return self.belief.weighs and self.objective.of_reward

    @property
    def features(self) -> Floats:
        """Return the features of all points, (N, dz + d); on a box of those played so far."""
        return self.domain.features

    def _note_infeasible(self, lost: Bools) -> None:
        self._lost = lost.copy()
        self._lost_since[lost & (self._lost_since == NEVER)] = self.round

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of the arms' mean rewards in a context, (A,) or (B, A) each; copies.

        They are in the reward's unit and follow from the delivered feedback alone: no value is made up for a
        pending play, and none lowers a std before its value is there. An agent whose only model is of another
        quantity raises a ValueError, see `beliefs`.
        """
        return self._of_reward(self.beliefs(observation))

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]] | None:
        """Return mean and std of reward and costs at the arms, in their units, as `posterior` does; copies.

        The answer is None where the agent models something else, such as the reward less a penalty.
        """
        each = self.beliefs_at(self.arms(self._contexts(observation)))
        if each is None:
            return None
        which = slice(None) if self.num_trials else 0
        return [(mean[which].copy(), std[which].copy()) for mean, std in each]

    def beliefs_at(self, points: Points) -> list[tuple[Floats, Floats]] | None:
        """Return `beliefs` of reward and costs at points, (B, n) each."""
        return self.objective.beliefs(*points.known(self.belief), points)

    def believed(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return mean and std of the mean reward of one action per trial, (B,) each; see `posterior`."""
        points, place = self.domain.asked(self, observation, action)
        mean, std = self._of_reward(self.beliefs_at(points))
        return mean[self.belief.rows, place], std[self.belief.rows, place]

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm of the largest posterior mean in the observed context.

        Under constraints the mean is that of the penalised objective. Mean and std of the reward are those of
        `posterior`; they are None where it has no model of its own.

        Args:
            observation: the context, as `act` sees it; may be left out where there is only one.
            among: the actions to choose from, such as those played so far, (n,) or on a box (n, d), the same
                in all trials; default all.
        """
        require_reset(self.round >= 0)
        require_context(observation, self.domain.many_contexts)
        points, among, actions, arms = self.domain.proposed(self, observation, among)
        mean, std = points.known(self.belief)
        best = among[self.domain.worth(self, mean, std, points)[:, among].argmax(axis=1)]
        each, rows = self.objective.beliefs(mean, std, points), self.belief.rows
        known = (None, None) if each is None else (part[rows, best] for part in each[REWARD])
        found = Recommendation(actions[best], arms[best], *known)
        return found if self.num_trials else found.single

    def arms(self, context: Ints) -> Arms:
        """Return all arms in the context of each trial, (B,), as points."""
        return Arms(context, self.setting.decisions)

    def _of_reward(self, each: list[tuple[Floats, Floats]] | None) -> tuple[Floats, Floats]:
        if each is None:
            remedy = 'take one that models reward and costs apart, such as "constrained-ei"'
            raise ValueError(f"this agent has no model of the reward itself; {remedy}, or ask `recommend`")
        return each[REWARD]

    def _contexts(self, observation: Floats) -> Ints:
        if self.round < 0:
            require_reset(False)
        if self.setting.contexts is None:
            return self._only_context
        return self.setting.context_index(observation if self.num_trials else np.asarray(observation)[None])

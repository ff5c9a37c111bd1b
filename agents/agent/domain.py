"""Domains of a Gaussian-process agent: what differs between a finite set of arms and a box."""

from __future__ import annotations

import abc
from collections.abc import Callable
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.points import Arms, Points
from ..model.choice import argmax_with_ties, arms_among, arms_of, only_offered, require_offered
from ..model.model import Model
from ..options import require_reset
from ..stopping.stopping_candidates import StoppingCandidates
from .candidate_views import ArmsView, candidates_on_arms
from .repeating import repeats

# In prior stds, where scores have a unit. Without it the last bit of a batched product would decide.
TIE = 1e-9
Playing = Any  # a `GPAgent`, whose module imports this one


class Proposed(NamedTuple):
    """Points of which some may be recommended."""

    points: Points  # n of them
    among: Ints  # which may be, (m,)
    actions: Any  # of all points, (n,) or (n, d)
    arms: Floats  # their features, (n, d)


class Domain(abc.ABC):
    """Points among which an agent chooses, and how it finds the best of them.

    Questions are asked with the agent, whose rule, belief, incumbent and objective score the points.
    """

    patience = 1  # looks in a row at which a stopping rule has to say stop
    rereads = False  # True where choices change nothing but generators, since they read all plays again
    single: Callable[[Any], Any]  # (B,) or (1, d) -> the action of the only trial, without its axis
    many_contexts: bool  # True where a recommendation depends on the context
    centre: Ints | None = None  # arms that were chosen, (B,), where others near them are played
    one_context = False  # True where the only context is that of all rounds, and needs no observation

    def __init__(self, model: Model):
        self.setting = model.setting

    def prepared(self, model: Model) -> Model:
        """Return the model of a new run."""
        return model

    def begin(self, agent: Playing) -> None:  # noqa: B027 (a no-op where nothing is drawn)
        """Take the generators of the agent, which has been reset."""

    @property
    @abc.abstractmethod
    def features(self) -> Floats:
        """Features of all points that have a number, (N, dz + d)."""

    @abc.abstractmethod
    def context(self, agent: Playing, observation: Floats) -> Any:
        """Return the context of each trial: indices, (B,), or on a box features, (dz,)."""

    @abc.abstractmethod
    def choose(self, agent: Playing, context: Any, uniform: Floats, free: Bools | None = None) -> Any:
        """Return the actions of the largest scores, (B,) or (1, d).

        Only free trials, (B,), draw samples, if given.
        """

    @abc.abstractmethod
    def begin_repeats(
        self, agent: Playing, context: Any, uniform: Floats, free: Bools
    ) -> tuple[Ints, Any, Ints]:
        """Return the trials that are free, (n,) of (B,), their actions, and how often to play each."""

    @abc.abstractmethod
    def numbers(self, agent: Playing, observation: Floats, action: Any) -> Ints:
        """Return the numbers of the points of actions in their contexts, (B,)."""

    @abc.abstractmethod
    def asked(self, agent: Playing, observation: Floats, action: Any) -> tuple[Points, Ints]:
        """Return points, and the place of each trial's action among them, (B,)."""

    @abc.abstractmethod
    def in_play(self, agent: Playing, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return mean and std at one action per trial as rules see them, (B,) each, in the belief's unit."""

    @abc.abstractmethod
    def proposed(self, agent: Playing, observation: Floats | None, among: Any) -> Proposed:
        """Return the points of a recommendation: some given actions, or those that the domain proposes."""

    def worth(self, agent: Playing, mean: Floats, std: Floats, points: Points) -> Floats:
        """Return the worth of points for a recommendation, (B, n)."""
        return agent.objective.worth(agent.objective.expected(mean, std), points, agent.t)

    @abc.abstractmethod
    def stopping_candidates(self, agent: Playing, snap: Any, look: int) -> list[StoppingCandidates]:
        """Return what the belief says of further plays in each trial, B of them."""


class FiniteSet(Domain):
    """All arms of a finite set; every arm is scored."""

    single = methodcaller("item")

    def __init__(self, model: Model):
        super().__init__(model)
        self.num_arms = model.setting.decisions.num_arms
        self.one_context = model.setting.contexts is None
        self.many_contexts = model.setting.decisions.num_contexts > 1

    @property
    def features(self) -> Floats:
        return self.setting.decisions.points

    def context(self, agent: Playing, observation: Floats) -> Ints:
        return agent._contexts(observation)

    def choose(self, agent: Playing, context: Ints, uniform: Floats, free: Bools | None = None) -> Ints:
        if self.setting.volatile:
            require_offered(agent.offered, self.setting)
        safety = agent.objective.safety(context, agent.t, agent.offered) if agent._certifies else None
        offered = agent.offered if safety is None else safety.playable
        view = ArmsView(agent, agent.belief, context, offered, safety)
        view = view if free is None else view.drawing(free)
        if agent._may_search and offered is None and (arm := _searched(agent, view, uniform)) is not None:
            return arm
        scores = agent.rule(view)
        if np.shape(scores) != (shape := (len(context), self.num_arms)):
            words = "numbers of a trial are (B, 1), those of its arms (B, A)"
            raise ValueError(f"rule must return scores of shape {shape}, got {np.shape(scores)}; {words}")
        agent.objective.infeasible = None  # until the objective scores arms
        if agent._penalises or offered is not None:
            scores = self.scored(agent, scores, context, offered)
        if agent.objective.infeasible is not None:
            agent._note_infeasible(agent.objective.infeasible)
        if (exploring := agent.restart.exploring) is not None:
            scores[exploring] = 0.0  # the same for all arms: ties are broken at random
        agent.scores = scores
        return argmax_with_ties(scores, agent._tie, uniform, offered)

    def scored(self, agent: Playing, scores: Floats, context: Ints, offered: Bools | None) -> Floats:
        """Return what the objective makes of the scores of the arms that may be played, (B, A)."""
        there = scores if offered is None else only_offered(scores, offered)
        return agent.objective.penalised(there, agent.arms(context), agent.t) if agent._penalises else there

    def begin_repeats(
        self, agent: Playing, context: Ints, uniform: Floats, free: Bools
    ) -> tuple[Ints, Any, Ints]:
        (trial,) = free.nonzero()
        arm = self.choose(agent, context, uniform, free)[trial]
        point = self.setting.decisions.point_index(context[trial], arm)
        return trial, arm, repeats(agent, trial, agent.belief.std_posterior.variance_of(trial, point))

    def numbers(self, agent: Playing, observation: Floats, action: Any) -> Ints:
        if agent.round < 0:
            require_reset(False)
        arm = arms_of(action, agent._size, self.num_arms)
        if self.one_context:
            return arm
        return self.setting.decisions.point_index(agent._contexts(observation), arm)

    def asked(self, agent: Playing, observation: Floats, action: Any) -> tuple[Arms, Ints]:
        arm = arms_of(action, agent._size, self.num_arms)
        return agent.arms(agent._contexts(observation)), arm

    def in_play(self, agent: Playing, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        trial, belief = agent.belief.rows, agent.belief
        point = self.numbers(agent, observation, action)
        mean = belief.mean_posterior.mean_of(trial, point) + belief.prior_mean[trial, point]
        return mean, np.sqrt(np.maximum(belief.std_posterior.variance_of(trial, point), 0.0))

    def proposed(self, agent: Playing, observation: Floats | None, among: Any) -> Proposed:
        shape = (agent._size, self.setting.scaled_contexts.shape[1])
        context = agent._contexts(np.zeros(shape) if observation is None else observation)
        allowed = arms_among(among, self.num_arms)
        return Proposed(agent.arms(context), allowed, np.arange(self.num_arms), self.setting.decisions.arms)

    def stopping_candidates(self, agent: Playing, snap: Any, look: int) -> list[StoppingCandidates]:
        return candidates_on_arms(agent)


def _searched(agent: Playing, view: ArmsView, uniform: Floats) -> Ints | None:
    """Return the arm of the only trial, (1,), found without scoring all; None where all are scored."""
    factor = agent.rule.factor(view)
    tied = None if factor is None else agent.belief.argmax_ucb(float(factor), agent._tie)
    if tied is None:
        return None
    agent.scores = None
    return tied[argmax_with_ties(np.zeros((1, len(tied))), 0.0, uniform)]


REDRAWN = 1000  # further draws of a choice


def chances(agent: Playing, context: Ints, arm: Ints) -> Floats:
    """Return the share of so many further draws of the round that choose the arms, (B,) each.

    The draws are of generators of their own, so that later choices are the same. The choice itself counts as
    one of them, so that no share is 0.
    """
    rngs, count = agent.streams.of_round("propensities", agent.round), np.ones(len(arm))
    for _ in range(REDRAWN):
        scores = agent.rule(ArmsView(agent, agent.belief, context, agent.offered).drawn_by(rngs))
        if (exploring := agent.restart.exploring) is not None:
            scores[exploring] = 0.0
        uniform = np.array([rng.random() for rng in rngs])
        count += argmax_with_ties(scores, agent._tie, uniform, agent.offered) == arm
    return count / (1.0 + REDRAWN)

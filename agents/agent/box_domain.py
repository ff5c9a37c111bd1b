"""The box as a domain of a Gaussian-process agent: any point may be played, and a search proposes points."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import unit_of
from ..acquisition.candidates import Candidates, Rule, Slopes, column
from ..acquisition.improvement import Incumbent, NoIncumbent
from ..acquisition.rules import AnyArm, PosteriorSample
from ..beliefs.points import Pairs, PlayedPairs, with_context
from ..beliefs.surface import ONLY, Surface
from ..box.acquisition_surface import AcquisitionSurface, BoxView
from ..box.search import UnitSurface, make_search
from ..kernels.visited import Visited
from ..model.choice import argmax_with_ties
from ..model.model import Model
from ..objectives.base import Objective, terms_of
from ..options import require_reset
from ..posteriors.play_factor import PlayFactor
from ..stopping.by_name import PATIENCE
from ..stopping.stopping_candidates import StoppingCandidates
from .candidate_views import candidates_of_plays
from .domain import TIE, Domain, Playing, Proposed
from .repeating import repeats

COMPARED = 256  # plays with the best values, whose means are compared in a context
FORM = "pairs"  # a posterior of the plays alone: the points of a box cannot be listed
HERE = np.zeros(1, dtype=np.int64)  # the place of the only trial's only point


class BoxDomain(Domain):
    """All points of a box, for one trial; rule, belief, incumbent and objective are those of a finite set.

    Points are numbered as they are played, so that code indexed by points works unchanged. A rule scores any
    set of candidates; `model.search` proposes them and refines the best by local search.
    """

    patience = PATIENCE
    rereads = True
    single = itemgetter(ONLY)

    def __init__(self, model: Model):
        super().__init__(model)
        self.search, self.many_contexts = make_search(model.search), model.setting.has_contexts
        self._no_incumbent = NoIncumbent(1, model.setting.decisions)  # of rules that improve on nothing

    def prepared(self, model: Model) -> Model:
        self.visited = Visited(self.setting.pairs_width)
        return replace(model, form=FORM, covariances=self.visited.gram)

    def begin(self, agent: Playing) -> None:
        (self._rng,) = agent.streams.of("search")

    @property
    def features(self) -> Floats:
        return self.visited.features

    def context(self, agent: Playing, observation: Floats) -> Floats:
        require_reset(agent.round >= 0)
        return self.setting.context_features(np.asarray(observation)[None])[0]

    def choose(self, agent: Playing, context: Floats, uniform: Floats, free: Bools | None = None) -> Floats:
        return self.setting.to_action(self._chosen(agent, context, uniform))[None]

    def begin_repeats(
        self, agent: Playing, context: Floats, uniform: Floats, free: Bools
    ) -> tuple[Ints, Floats, Ints]:
        arm = self._chosen(agent, context, uniform)
        _, std = Surface.of(agent.belief).predict(with_context(context, arm[None]))
        trial = agent.belief.rows
        return trial, self.setting.to_action(arm)[None], repeats(agent, trial, std**2)

    def numbers(self, agent: Playing, observation: Floats, action: Any) -> Ints:
        points, _ = self.asked(agent, observation, action)
        return np.array([self.visited.index(points.features[ONLY])])

    def at(self, agent: Playing, observation: Floats, arms: Floats) -> Pairs:
        """Return points of the box, (n, d), in the observed context."""
        return Pairs(self.context(agent, observation), arms)

    def asked(self, agent: Playing, observation: Floats, action: Any) -> tuple[Pairs, Ints]:
        return self.at(agent, observation, arms_of(self.setting, np.asarray(action)[None], "action")), HERE

    def in_play(self, agent: Playing, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        points, _ = self.asked(agent, observation, action)
        mean, std = points.band(agent.belief)
        return mean[ONLY], std[ONLY]

    def proposed(self, agent: Playing, observation: Floats | None, among: Any) -> Proposed:
        context = self.context(agent, np.zeros(1) if observation is None else observation)
        if among is None:  # the search draws from a copy of the generator, for a question changes no play
            worth, none, rng = ExpectedWorth(agent.objective), self._no_incumbent, deepcopy(self._rng)
            arms = self._best(agent, worth, none, context, 0.0, np.zeros(1), rng, worth=True)[None]
            among = self.setting.to_action(arms)
        else:
            arms = arms_of(self.setting, among, "among")
        return Proposed(Pairs(context, arms), np.arange(len(arms)), np.asarray(among), arms)

    def stopping_candidates(self, agent: Playing, snap: Any, look: int) -> list[StoppingCandidates]:
        return [candidates_of_plays(agent, snap, look)]

    def _chosen(self, agent: Playing, context: Floats, uniform: Floats) -> Floats:
        rule, incumbent, exploring = agent.rule, agent.incumbent, agent.restart.exploring
        if exploring is not None and exploring[ONLY]:
            rule, incumbent = AnyArm(), self._no_incumbent
        arm = self._best(agent, rule, incumbent, context, TIE, uniform, self._rng)
        if agent.objective.infeasible is not None:
            agent._note_infeasible(agent.objective.infeasible)
        return arm

    def _best(
        self,
        agent: Playing,
        rule: Rule,
        incumbent: Incumbent,
        context: Floats,
        tie: float,
        uniform: Floats,
        rng: np.random.Generator,
        worth: bool = False,
    ) -> Floats:
        """Return the arm of the largest score, or worth, (d,); within `tie` units of the maximum arms tie."""
        belief, objective, sampler = agent.belief, agent.objective, agent.samplers[ONLY]
        surface = Surface.of(belief, known=worth)
        plays, values = best_plays(agent, surface, context)
        worlds = incumbent.worlds(surface, plays, incumbent(belief, plays, values[None]), rng)
        objective.infeasible = None

        def sampled_maximum() -> Floats:
            """Return the largest value of one joint sample that the search finds, (1, 1)."""
            drawn = AcquisitionSurface(
                PosteriorSample(), surface, context, facts, sampler, unit=agent.model.prior_std
            )
            pool = self.search(UnitSurface.of(drawn, self.setting, plays.arms), rng)
            return pool.scores.max(keepdims=True)[None]

        facts = BoxView(
            belief,
            objective,
            agent.t[:, None],
            belief.gain[:, None],
            column(belief.bias),
            worlds.best[:, None],
            draw=partial(agent.streams.of_round, "rule", agent.round),
            maximise=cache(sampled_maximum),
            memory=agent.memory,
        )
        unit, terms = unit_of(rule, agent.model), terms_of(objective, worth)
        acquisition = AcquisitionSurface(rule, worlds.surface, context, facts, sampler, terms, unit)
        pool = self.search(UnitSurface.of(acquisition, self.setting, plays.arms), rng)
        return pool.arms[argmax_with_ties(pool.scores[None], tie * unit, uniform)[0]]


def best_plays(agent: Playing, surface: Surface, context: Floats) -> tuple[PlayedPairs, Floats]:
    """Return the arms played so far in a context, best first, with their means or worth, (n,).

    Pending plays with fantasised values are among them, as on a finite set.
    """
    plays, of_worth = surface.observed, agent.incumbent.of_worth
    values = plays.smoothed
    rows = np.argsort(-values, kind="stable")[: None if of_worth else COMPARED]
    arms = plays.features[rows, len(context) :]
    if surface.mean_factor is not plays:
        arms = np.vstack([arms, surface.mean_factor.features[len(values) :, len(context) :]])
    points = PlayedPairs(context, arms)
    alone = not len(context) and surface.mean_factor is plays and isinstance(plays, PlayFactor)
    means = surface.prior_mean + values[rows] if alone else surface.mean(points.features)
    if of_worth:
        means = agent.objective.worth(means[None], points, agent.t)[0]
    order = np.argsort(-means, kind="stable")
    return PlayedPairs(context, arms[order]), means[order]


@dataclass(frozen=True)
class ExpectedWorth(Rule):
    """What the objective expects of a candidate, by which points are recommended: usually its mean."""

    objective: Objective

    def __call__(self, candidates: Candidates) -> Floats:
        return self.objective.expected(candidates.mean, candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        std = np.broadcast_to(candidates.std, candidates.mean.shape)
        return Slopes(*self.objective.expected_slopes(candidates.mean, std))


def arms_of(setting: Setting, actions: Any, name: str) -> Floats:
    """Return the features of actions on a box, (n, d) in [-1, 1] up to rounding, else raise a ValueError."""
    return setting.to_point(in_box(setting, actions, name))


def in_box(setting: Setting, actions: Any, name: str) -> Floats:
    """Return actions on a box, (n, d) in [-1, 1], which they are up to rounding; else raise a ValueError."""
    given = np.asarray(actions)
    if given.shape[1:] != (setting.dim,) or len(given) == 0 or given.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be {setting.dim} numbers in [-1, 1], got {actions!r}")
    if not (np.abs(given) <= 1.0 + 1e-6).all():  # false for NaN
        raise ValueError(f"{name} must be finite and in [-1, 1], got {actions!r}; see setting.to_action")
    return np.clip(given.astype(np.float64), -1.0, 1.0)

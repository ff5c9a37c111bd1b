"""The Gaussian-process agent on a box, where any point may be played."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import unit_of
from ..acquisition.candidates import Candidates, Rule, Slopes, column
from ..acquisition.incumbents import Incumbent, NoIncumbent
from ..acquisition.rules import AnyArm, PosteriorSample
from ..beliefs.base import Belief
from ..beliefs.points import Pairs, PlayedPairs, with_context
from ..beliefs.surface import ONLY, Surface
from ..box.acquisition_surface import AcquisitionSurface, BoxView
from ..box.search import UnitSurface, make_search
from ..kernels.visited import Visited
from ..model.choice import Recommendation, argmax_with_ties
from ..model.model import Model
from ..objectives.base import Objective, terms_of
from ..posteriors.play_factor import PlayFactor
from ..stopping.stopping_candidates import StoppingCandidates
from ..validation import require_context, require_reset
from .candidate_views import candidates_of_plays
from .gp_agent import TIE, GPAgent
from .queries import REWARD
from .repeating import repeats

COMPARED = 256  # plays with the best values, whose means are compared in a context
FORM = "pairs"  # a posterior of the plays alone: the points of a box cannot be listed


class BoxAgent(GPAgent):
    """Plays one trial on a box, by the same rule, belief, incumbent and objective as on a finite set.

    Points are numbered as they are played, so that code indexed by points works unchanged. A rule scores any
    set of candidates; `model.search` proposes them and refines the best by local search.
    """

    def __init__(self, model: Model, rule_of: Callable[[Model], Rule], **parts: Any):
        self.search = make_search(model.search)
        self._no_incumbent = NoIncumbent(1, model.setting.decisions)  # of rules that improve on nothing
        width = model.setting.pairs_width
        super().__init__(replace(model, form=FORM, visited=Visited(width)), rule_of, **parts)

    def reset(self, seed: Any) -> None:
        self._given = replace(self._given, visited=Visited(self.setting.pairs_width))
        super().reset(seed)
        *_, of_search = np.random.SeedSequence(int(seed)).spawn(4)  # the first three have other roles
        self._rng = np.random.default_rng(of_search)

    @property
    def leaves_traces(self) -> bool:
        """False: `act` changes nothing but generators, since it rereads the plays."""
        return False

    @property
    def generators(self) -> dict[str, list[np.random.Generator]]:
        return {**super().generators, "candidates": [self._rng]}

    @property
    def features(self) -> Floats:
        """Return the features of the points played so far, (u, dz + d)."""
        return self._visited.features

    def act(self, observation: Floats) -> Floats:
        """Choose an action in [-1, 1]^d for the observed context, (dz,) -> (d,)."""
        context = self._context(observation)
        uniform = self.tie_breaker()
        if self.repeated_arms is None:
            return self.setting.to_action(self._choose(context, uniform))
        return self.repeated_arms.action_in(self.round, partial(self._begin_repeats, context, uniform))[ONLY]

    def _begin_repeats(self, context: Floats, uniform: Floats, free: Bools) -> tuple[Ints, Floats, Ints]:
        arm = self._choose(context, uniform)
        _, std = Surface.of(self.belief).predict(with_context(context, arm[None]))
        trial = self.belief.rows
        return trial, self.setting.to_action(arm)[None], repeats(self, trial, std**2)

    def _choose(self, context: Floats, uniform: Floats, free: Bools | None = None) -> Floats:
        """Return the arm of the largest score, (d,)."""
        rule, incumbent, exploring = self.rule, self.incumbent, self.restart.exploring
        if exploring is not None and exploring[ONLY]:
            rule, incumbent = AnyArm(), self._no_incumbent
        arm = self._best(rule, incumbent, self.belief, context, TIE, uniform)
        if self.objective.infeasible is not None:
            self._note_infeasible(self.objective.infeasible)
        return arm

    def stopping_candidates(self, snap: Any = None, look: int = 0) -> list[StoppingCandidates]:
        return [candidates_of_plays(self, snap, look)]

    def points(self, observation: Floats, action: Any) -> Ints:
        """Return the number of the point of an action and a context, a new one if needed, (1,)."""
        arms = arms_of(self.setting, np.asarray(action)[None], "action")
        pair = with_context(self._context(observation), arms)[0]
        return np.array([self._visited.index(pair)])

    def believed(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        arms = arms_of(self.setting, np.asarray(action)[None], "action")
        return self._of_reward(self.beliefs_at(observation, arms))

    def in_play(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        return self.in_play_at(observation, arms_of(self.setting, np.asarray(action)[None], "action"))

    def in_play_at(self, observation: Floats, arms: Floats) -> tuple[Floats, Floats]:
        """Return `in_play` at points of the box, (n, d) -> (n,) each."""
        return Surface.of(self.belief).predict(with_context(self._context(observation), arms))

    def beliefs_at(self, observation: Floats, arms: Floats) -> list[tuple[Floats, Floats]] | None:
        """Return `beliefs` of reward and costs at points of the box, (n, d) -> (n,) each."""
        points = Pairs(self._context(observation), arms)
        each = self.objective.beliefs(*points.known(self.belief), points)
        return each if each is None else [(mean[0], std[0]) for mean, std in each]

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        require_reset(self.round >= 0)
        require_context(observation, self.setting.has_contexts)
        context = self._context(np.zeros(1) if observation is None else observation)
        if among is None:
            arms = self._most_worth(context)[None]
            among = self.setting.to_action(arms)
        else:
            arms = arms_of(self.setting, among, "among")
        points = Pairs(context, arms)
        mean, std = points.known(self.belief)
        best = int(self.objective.worth(self.objective.expected(mean, std), points, self.t).argmax())
        each = self.objective.beliefs(mean, std, points)
        known = (None, None) if each is None else (float(part[0, best]) for part in each[REWARD])
        return Recommendation(among[best], arms[best], *known)

    def _most_worth(self, context: Floats) -> Floats:
        """Return the arm to recommend, (d,); the search draws from a copy, for a question changes no play."""
        kept, self._rng = self._rng, deepcopy(self._rng)
        try:
            rule, none = ExpectedWorth(self.objective), self._no_incumbent
            return self._best(rule, none, self.belief, context, 0.0, np.zeros(1), worth=True)
        finally:
            self._rng = kept

    @property
    def _visited(self) -> Visited:
        assert self.model.visited is not None
        return self.model.visited

    def _context(self, observation: Floats) -> Floats:
        require_reset(self.round >= 0)
        return self.setting.context_features(np.asarray(observation)[None])[0]

    def _best(
        self,
        rule: Rule,
        incumbent: Incumbent,
        belief: Belief,
        context: Floats,
        tie: float,
        uniform: Floats,
        worth: bool = False,
    ) -> Floats:
        """Return the arm of the largest score, or worth, (d,); within `tie` units of the maximum arms tie."""
        surface = Surface.of(belief, known=worth)
        plays, values = self._played(surface, context)
        worlds = incumbent.worlds(surface, plays, incumbent(belief, plays, values[None]), self._rng)
        self.objective.infeasible = None
        facts = BoxView(
            belief,
            self.objective,
            self.t[:, None],
            belief.gain[:, None],
            column(belief.bias),
            worlds.best[:, None],
            draw=partial(self.streams.of_round, "rule", self.round),
            maximise=cache(lambda: self._sampled_maximum(surface, plays, facts)),
            memory=self.memory,
        )
        unit, terms = unit_of(rule, self.model), terms_of(self.objective, worth)
        acquisition = AcquisitionSurface(
            rule, worlds.surface, context, facts, self.samplers[ONLY], terms, unit
        )
        pool = self.search(UnitSurface.of(acquisition, self.setting, plays.arms), self._rng)
        return pool.arms[argmax_with_ties(pool.scores[None], tie * unit, uniform)[0]]

    def _sampled_maximum(self, surface: Surface, plays: PlayedPairs, facts: BoxView) -> Floats:
        """Return the largest value of one joint sample that the search finds, (1, 1)."""
        sampler, unit = self.samplers[ONLY], self.model.prior_std
        acquisition = AcquisitionSurface(PosteriorSample(), surface, plays.context, facts, sampler, unit=unit)
        pool = self.search(UnitSurface.of(acquisition, self.setting, plays.arms), self._rng)
        return pool.scores.max(keepdims=True)[None]

    def _played(self, surface: Surface, context: Floats) -> tuple[PlayedPairs, Floats]:
        """Return the arms played so far in a context, best first, with their means or worth, (n,).

        Pending plays with fantasised values are among them, as on a finite set.
        """
        plays = surface.observed
        values = plays.smoothed
        rows = np.argsort(-values, kind="stable")[: None if self.incumbent.of_worth else COMPARED]
        arms = plays.features[rows, len(context) :]
        if surface.mean_factor is not plays:
            arms = np.vstack([arms, surface.mean_factor.features[len(values) :, len(context) :]])
        points = PlayedPairs(context, arms)
        alone = not len(context) and surface.mean_factor is plays and isinstance(plays, PlayFactor)
        means = surface.prior_mean + values[rows] if alone else surface.mean(points.features)
        if self.incumbent.of_worth:
            means = self.objective.worth(means[None], points, self.t)[0]
        order = np.argsort(-means, kind="stable")
        return PlayedPairs(context, arms[order]), means[order]


@dataclass(frozen=True)
class ExpectedWorth(Rule):
    """What the objective expects of a candidate, by which points are recommended: usually its mean."""

    objective: Objective

    def __call__(self, candidates: Candidates) -> Floats:
        return self.objective.expected(candidates.mean, candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        """Return the derivatives in mean and std."""
        std = np.broadcast_to(candidates.std, candidates.mean.shape)
        return Slopes(*self.objective.expected_slopes(candidates.mean, std))


def arms_of(setting: Setting, actions: Any, name: str) -> Floats:
    """Return the features of actions on a box, (n, d) in [-1, 1] up to rounding, else raise a ValueError."""
    given = np.asarray(actions)
    if given.shape[1:] != (setting.dim,) or len(given) == 0 or given.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be {setting.dim} numbers in [-1, 1], got {actions!r}")
    if not (np.abs(given) <= 1.0 + 1e-6).all():  # false for NaN
        raise ValueError(f"{name} must be finite and in [-1, 1], got {actions!r}; see setting.to_action")
    return setting.to_point(np.clip(given, -1.0, 1.0))

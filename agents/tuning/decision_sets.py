"""The decision set of a tuner's agent: parameters as arms or a box, contexts as observations."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..box.search import Pool, QuasiRandom, Search, UnitSurface, joined, make_search
from ..registry import AgentFactory
from .availability import completed
from .feasibility import FeasibilityFilter
from .plan import TunerPlan
from .scale import Scale
from .space import Space, Values

SPARSE = 64  # times `num_arms`: points among which so many possible ones are looked for


@dataclass(frozen=True, eq=False)
class RoundedSearch:
    """Search that scores snapped points and searches locally along continuous coordinates.

    The acquisition is thereby constant on all points that are rounded to one, and the kernel uses the values
    that will be run (Garrido-Merchan & Hernandez-Lobato 2020). In addition to the proposals of `search`, the
    best plays are tried with one parameter changed, since no small step leads from one category to another.
    """

    space: Space  # whose features are the box
    search: Search = field(default_factory=QuasiRandom)  # proposes points
    changed: int = 8  # number of changes of one parameter that are tried for each of the best plays
    feasibility: FeasibilityFilter | None = None  # excludes points by scores of minus infinity; None: none

    def __call__(self, unit_surface: UnitSurface, rng: np.random.Generator) -> Pool:
        """Search; while all open scores are equal, no play is better than others to look beside."""
        snapped: Any = RoundedSurface(in_ranges(unit_surface, self.space), self.space, self.feasibility)
        pool = self.search(snapped, rng)
        if snapped.level:
            return snapped.feasibility.settled(snapped.first)
        if len(snapped.anchors):
            points = np.repeat(snapped.anchors, self.changed, axis=0)  # each with one parameter redrawn
            one = rng.integers(len(self.space.kinds), size=len(points))
            fresh = rng.random(points.shape)
            changed = np.where(self.space.parameter_of_feature == one[:, None], fresh, points)
            pool = joined(snapped.survey(changed), pool)
        return snapped.feasibility.settled(pool)


class RoundedSurface:
    """Acquisition surface on [0, 1]^d whose points are snapped before they are scored, closed ones not.

    While all open scores are equal (`level`) there are no anchors: points near them would repeat coordinates.
    """

    def __init__(self, unit_surface: UnitSurface, space: Space, feasibility: FeasibilityFilter | None = None):
        self.unit_surface, self.space = unit_surface, space
        self.feasibility = feasibility or FeasibilityFilter(space)
        self.acquisition, self.low, self.span = unit_surface.acquisition, unit_surface.low, unit_surface.span
        self.first: Pool | None = None  # what was scored first
        self.level = False

    @property
    def anchors(self) -> Floats:
        """The best plays, (m, d); none while all open scores are equal."""
        return self.unit_surface.anchors[:0] if self.level else self.unit_surface.anchors

    def survey(self, unit: Floats) -> Pool:
        """Return the nearest possible points with their scores, (n, d); the first ones of each entry too."""
        arms = self.feasibility.placed(self.space.snap(unit))
        if self.first is None:
            arms = np.vstack([arms, self.feasibility.listed(arms)])
        pool = self.unit_surface.survey(arms)
        if not self.feasibility.open:
            pool = pool._replace(scores=self.feasibility.closed(pool.arms, pool.scores))
        found = pool.scores[pool.scores > -np.inf]
        equal = len(found) > 0 and found.min() == found.max()
        self.level = equal and (self.first is None or self.level)
        self.first = pool if self.first is None else self.first
        return pool

    def climb(self, unit: Floats) -> tuple[Floats, Floats] | None:
        """Return scores and slopes, 0 along discrete coordinates, which a local search then keeps."""
        unit = self.feasibility.placed(unit)
        found = self.unit_surface.climb(unit)
        if found is None:
            return None
        # Where points tried alone are closed, what the search ends at is judged by `survey`.
        judged = not self.feasibility.open_but_tried
        scores = self.feasibility.closed(self.space.snap(unit), found[0]) if judged else found[0]
        return scores, found[1] * self.feasibility.free(unit)


def in_ranges(unit_surface: UnitSurface, space: Space) -> UnitSurface:
    """Return the surface on [0, 1]^d, with the nearest possible points to plays outside as anchors."""
    if not unit_surface.low.any() and (unit_surface.span == 1.0).all():  # no play is outside
        return unit_surface
    anchors = space.snap(unit_surface.low + unit_surface.span * unit_surface.anchors)
    return unit_surface._replace(low=np.zeros(space.dim), span=np.ones(space.dim), anchors=anchors)


class DistinctPoints:
    """Different points of a space, in the order of their first appearance."""

    def __init__(self, space: Space, given: list[Values]):
        self.space = space
        points: dict[bytes, Values] = {}
        for values in given:
            points.setdefault(self._key(values), values)
        self.values, self._index = list(points.values()), {key: i for i, key in enumerate(points)}

    def __contains__(self, values: Values) -> bool:
        return self._key(values) in self._index

    def index(self, values: Values) -> int:
        """Return the index of a point."""
        return self._index[self._key(values)]

    @property
    def features(self) -> Floats:
        """Features of all points, (n, d)."""
        return np.array([self.space.features(values) for values in self.values])

    def _key(self, values: Values) -> bytes:
        return (self.space.features(values) + 0.0).tobytes()  # + 0.0: no negative zeros


class FiniteDecisionSet:
    """Finite setting of points that cover the space, all points ever played, and the contexts so far.

    A decision set is the setting of an agent, with the conversions of its actions and observations.
    """

    def __init__(
        self,
        plan: TunerPlan,
        scale: Scale,
        played: list[Values],
        contexts: list[Values],
        only: Sequence[Values] = (),
    ):
        self.plan = plan
        points = [*covering(plan), *plan.safe, *played, *self._added(only)]
        self.arms = DistinctPoints(plan.parameters, points)
        self.contexts = DistinctPoints(plan.contexts, contexts)
        self.features = self.arms.features  # (A, d)
        self.setting = Setting(
            arms=self.features,
            low=self.features.min(axis=0, initial=0.0),
            high=self.features.max(axis=0, initial=1.0),
            contexts=self.contexts.features if plan.contexts.kinds else None,
            safe_seed=np.array([self.arms.index(each) for each in plan.safe]) if plan.safe else None,
            **plan.published(scale),
        )

    def has(self, played: list[Values], contexts: list[Values], only: Sequence[Values] = ()) -> bool:
        """Return True if the setting contains some points, contexts, and points of what is available."""
        points = [*played, *self._added(only)]
        return all(each in self.arms for each in points) and all(each in self.contexts for each in contexts)

    def observation(self, context: Values) -> Floats:
        """Return the agent's observation of a context."""
        return self.setting.scaled_contexts[self.contexts.index(context)]

    def action(self, parameters: Values) -> Any:
        """Return the agent's action for a point."""
        return self.arms.index(parameters)

    def parameters(self, action: Any) -> Values:
        """Return the point of an action."""
        return dict(self.arms.values[int(action)])

    def opened(self, action: Any, feasibility: FeasibilityFilter) -> Any:
        """Return the action, or an alternative where it is excluded."""
        arm = self.features[int(action)]
        return action if feasibility.admits(arm[None])[0] else feasibility.nearest(arm, self.features)

    def narrow(self, agent: Any, feasibility: FeasibilityFilter, tried: Sequence[Values] = ()) -> bool:
        """Restrict the next action to open points not yet tried; False if the agent may choose others."""
        known = [self.arms.index(each) for each in tried if each in self.arms]
        return agent.offer(feasibility.opened(self.features, known)) is not False

    def make_agent(self, factory: AgentFactory, feasibility: FeasibilityFilter) -> Any:
        """Return the agent of this setting."""
        return factory(self.setting)

    def _added(self, only: Sequence[Values]) -> list[Values]:
        """Return points of what is available that a set which covers the space may lack."""
        every = self.plan.parameters.size <= self.plan.num_arms
        return [] if every or not only else completed(self.plan.parameters, only, self.plan.num_arms)


def covering(plan: TunerPlan) -> list[Values]:
    """Return possible points that cover the space, `num_arms` where so many are found, at least one."""
    rule, number = plan.rule, plan.num_arms
    points = plan.parameters.spread(number)
    if rule is None:
        return points
    found = [each for each in points if rule(each)]
    while len(found) < plan.num_arms and number < min(plan.parameters.size, SPARSE * plan.num_arms):
        number *= 2
        found = [each for each in plan.parameters.spread(number) if rule(each)]
    name = "never" if plan.possible is None else "possible"
    words = f"a rule that leaves some parameters; none of {number} points that cover is left"
    require(len(found) > 0, name, words, getattr(plan, name))
    return found[: plan.num_arms]


class BoxDecisionSet:
    """Setting of the box of all features, whose search visits possible points only; see `FiniteDecisionSet`.

    Points outside the ranges that were played widen the box, but not the search.
    """

    features = None  # of all points: there is no end of them

    def __init__(self, plan: TunerPlan, scale: Scale, played: Sequence[Values] = ()):
        self.plan = plan
        contexts = plan.contexts.dim
        bounds = {"context_low": np.zeros(contexts), "context_high": np.ones(contexts)} if contexts else {}
        low, high = np.zeros(plan.parameters.dim), np.ones(plan.parameters.dim)
        for features in map(plan.parameters.features, played):
            low, high = np.minimum(low, features), np.maximum(high, features)
        self.setting = Setting(low=low, high=high, **bounds, **plan.published(scale))

    def has(self, played: list[Values], contexts: list[Values], only: Sequence[Values] = ()) -> bool:
        """Return True if the box contains some points."""
        low, high = self.setting.decisions.box
        features = map(self.plan.parameters.features, played)
        return all(bool(((low <= each) & (each <= high)).all()) for each in features)

    def observation(self, context: Values) -> Floats:
        """Return the agent's observation of a context."""
        return self.plan.contexts.features(context) if self.plan.contexts.kinds else np.zeros(1)

    def action(self, parameters: Values) -> Any:
        """Return the agent's action for a point."""
        return self.setting.to_action(self.plan.parameters.features(parameters))

    def parameters(self, action: Any) -> Values:
        """Return the point of an action."""
        return self.plan.parameters.values(self.setting.to_point(action))

    def opened(self, action: Any, feasibility: FeasibilityFilter) -> Any:
        """Return the action, or an alternative where it is excluded."""
        point = self.plan.parameters.snap(self.setting.to_point(action)[None])
        open_ = feasibility.admits(point)[0]
        return action if open_ else self.setting.to_action(feasibility.nearest(point[0]))

    def narrow(self, agent: Any, feasibility: FeasibilityFilter, tried: Sequence[Values] = ()) -> bool:
        """Return False: the search reads the filter itself."""
        return False

    def make_agent(self, factory: AgentFactory, feasibility: FeasibilityFilter) -> Any:
        """Return the agent of this setting, whose search visits possible points."""
        if not takes_search(factory):
            return factory(self.setting)
        search = RoundedSearch(
            self.plan.parameters, make_search(factory.options.get("search")), feasibility=feasibility
        )
        return AgentFactory(factory.make, {**factory.options, "search": search})(self.setting)


def make_decision_set(
    plan: TunerPlan,
    scale: Scale,
    played: list[Values],
    contexts: list[Values],
    only: Sequence[Values] = (),
) -> FiniteDecisionSet | BoxDecisionSet:
    """Return a box where the points are too many for a set, if the agent plays boxes; else a set.

    Known safe points are arms of a set. With a clock every question has another context, for which a set
    would have to be rebuilt.
    """
    if plan.factory.features.box and not plan.safe and (plan.clocked or plan.parameters.size > plan.num_arms):
        return BoxDecisionSet(plan, scale, played)
    return FiniteDecisionSet(plan, scale, played, contexts, only)


def takes_search(factory: AgentFactory) -> bool:
    """Return True if an agent takes a search of a box: our Gaussian-process agents pass options on.

    Agents of other libraries, which declare requirements, search in their own way.
    """
    if factory.requires:
        return False
    arguments = inspect.signature(factory.make).parameters.values()
    return any(each.name == "search" or each.kind is each.VAR_KEYWORD for each in arguments)

"""Where an agent for real problems may play, its points by number: a finite set, or a box."""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints

from ..agent.box_domain import in_box
from ..box.search import around, sobol
from ..model.choice import arms_among, arms_of
from ..model.model import Model
from .earlier import EarlierTasks
from .posterior import Predicted, SurrogatePosterior
from .priors import Parameters
from .shortlist import Shortlist, spread_out
from .surrogate import Surrogate

Posteriors = Sequence[SurrogatePosterior]  # of each quantity
# Scores of points, (n,), from what is known of them, by which a large set is cut; a box needs none.
Bound = Callable[[Sequence[Predicted], Ints], Floats] | None


class Here(NamedTuple):
    """The context of a round, and what may be played in it."""

    context: int  # its index; 0 where it is any of a box
    offered: Bools | None  # arms, (A,); None on a box
    features: Floats = np.empty(0)  # of the context on a box, (dz,)


class DecisionSpace(abc.ABC):
    """The points where an agent may play, and their parameters."""

    parameters: Parameters
    num_contexts: int  # 1 where they are any of a box
    widths: Sequence[float] = ()  # sides, by which a choice looks ever closer around its best points
    spread: int | None = None  # how many first points of a choice are all over the space; None for all
    earlier: tuple[EarlierTasks, Surrogate] | None = None  # and the model that knows of them

    def __init__(self, model: Model):
        self.setting = model.setting

    @abc.abstractmethod
    def begin(self, rng: np.random.Generator, central: bool) -> None:
        """Start a trial, whose first plays are at random, or first central and then far apart."""

    def here(self, observation: Floats, offered: Bools | None = None) -> Here:
        """Return the context that is observed."""
        return Here(int(self.setting.context_index(np.asarray(observation)[None])[0]), offered)

    @abc.abstractmethod
    def prior_mean(self, points: Ints) -> Floats:
        """Return the model's mean of the reward, (n,)."""

    @abc.abstractmethod
    def prices(self, here: Here, points: Ints) -> Floats | None:
        """Return the published costs of plays, (n,); None without any."""

    @abc.abstractmethod
    def number(self, here: Here, action: Any) -> int:
        """Return the number of the point that an action played."""

    def keep(self) -> None:  # noqa: B027 (a set has all numbers)
        """Let the latest `number` be of that point from now on."""

    @abc.abstractmethod
    def action(self, point: int) -> Any:
        """Return the action that plays a point."""

    @abc.abstractmethod
    def first(self, here: Here, played: Collection[int], likely: Floats | None) -> Any:
        """Return the action of a first play, that was not played yet, the nearest to a likely one, (D,)."""

    @abc.abstractmethod
    def surveyed(self, here: Here, posteriors: Posteriors, bound: Bound, rng: np.random.Generator) -> Ints:
        """Return points to choose from, (n,)."""

    def around(self, here: Here, points: Ints, width: float, rng: np.random.Generator) -> Ints:
        """Return new points around some, (n,): none of a set, which has no `widths`."""
        return points[:0]

    @abc.abstractmethod
    def asked(self, here: Here, actions: Any, name: str = "among") -> Ints:
        """Return the points of some actions, (n,), None being all arms, on a box those that were played.

        Errors have the name.
        """


class ArmSpace(DecisionSpace):
    """All (context, arm) pairs of a finite set, numbered as the setting does."""

    def __init__(self, model: Model, by_column: bool):
        super().__init__(model)
        decisions = self.setting.decisions
        self.parameters = Parameters.of(self.setting, by_column)
        self.num_contexts, self._num_arms = decisions.num_contexts, decisions.num_arms
        self._mean = np.array(np.broadcast_to(model.prior_mean, len(decisions.points)), dtype=np.float64)
        known, size = self.setting.known_costs, len(decisions.points)
        self._prices = None if known is None else np.array(np.broadcast_to(known, size), dtype=np.float64)

    def begin(self, rng: np.random.Generator, central: bool) -> None:
        self._rng, self._shortlist = rng, Shortlist(self._num_arms)
        arms = self.parameters.columns[: self._num_arms]
        numeric = ~self.parameters.of_choices
        self._order = spread_out(arms, numeric, rng) if central else rng.permutation(self._num_arms)
        self._by_mean = not central

    def prior_mean(self, points: Ints) -> Floats:
        return self._mean[points]

    def prices(self, here: Here, points: Ints) -> Floats | None:
        return None if self._prices is None else self._prices[points]

    def number(self, here: Here, action: Any) -> int:
        return here.context * self._num_arms + int(arms_of(action, 1, self._num_arms)[0])

    def action(self, point: int) -> int:
        return point % self._num_arms

    def first(self, here: Here, played: Collection[int], likely: Floats | None) -> int:
        order, mean = self._order, self._mean[self.asked(here, None)]
        if self._by_mean and np.ptp(mean) > 0.0:  # of a published mean that differs, the best
            order = np.argsort(-mean, kind="stable")
        if likely is not None:
            order = np.argsort(np.square(self.parameters.columns - likely).sum(axis=1), kind="stable")
        assert here.offered is not None
        tried = {self.action(point) for point in played}
        fresh = (arm for arm in order.tolist() if here.offered[arm] and arm not in tried)
        arm = next(fresh, None)
        return int(self._rng.choice(here.offered.nonzero()[0])) if arm is None else arm

    def surveyed(self, here: Here, posteriors: Posteriors, bound: Bound, rng: np.random.Generator) -> Ints:
        assert bound is not None
        assert here.offered is not None
        return self.asked(here, self._shortlist.among(here.context, here.offered, posteriors, bound))

    def asked(self, here: Here, actions: Any, name: str = "among") -> Ints:
        return here.context * self._num_arms + arms_among(actions, self._num_arms, name)


FIRST = 1024  # points of Sobol's sequence from which first plays are taken
SURVEYED, FULL = 256, 256  # a choice; fewer where more points were played, as each then takes longer
PLAYED = 256  # of these the best, in any context
BEST, EACH = 4, 12  # points around which a choice looks closer, and new ones around each
ROOM = 2048  # points that have room at first


class BoxSpace(DecisionSpace):
    """Points of a box, numbered as they are played; those of a choice have numbers until the next one."""

    widths = (0.1, 0.03, 0.01, 0.003)

    def __init__(self, model: Model, by_column: bool):
        super().__init__(model)
        setting, corners = self.setting, Parameters.of(self.setting, by_column)
        low, high = setting.decisions.box
        self._dim, self._wide, self._mean = setting.dim, high > low, float(model.prior_mean)
        self._shown, self._labels = corners.columns[::2, : -self._dim], corners.data_set[::2]
        self._of_any = setting.context_low is not None
        self.num_contexts = 1 if self._of_any else setting.decisions.num_contexts
        columns, labels = corners.columns[:1].repeat(ROOM, axis=0), corners.data_set[:1].repeat(ROOM)
        self.parameters = replace(corners, columns=columns, data_set=labels)

    def begin(self, rng: np.random.Generator, central: bool) -> None:
        self._numbers: dict[bytes, int] = {}
        points = (sobol(self._dim, FIRST) + rng.random(self._dim)) % 1.0
        numeric = np.ones(self._dim, dtype=bool)
        self._order = points[spread_out(points, numeric, rng) if central else rng.permutation(FIRST)]

    def here(self, observation: Floats, offered: Bools | None = None) -> Here:
        context = 0 if self._of_any else super().here(observation).context
        return Here(context, None, self.setting.context_features(np.asarray(observation)[None])[0])

    def prior_mean(self, points: Ints) -> Floats:
        return np.full(len(points), self._mean)

    def prices(self, here: Here, points: Ints) -> Floats | None:
        if self.setting.known_costs is None:
            return None
        arms = self.setting.to_point(self._actions(points))
        pairs = np.hstack([np.tile(here.features, (len(arms), 1)), arms])
        found = np.asarray(self.setting.known_costs(pairs), dtype=np.float64)
        usable = found.shape == points.shape and np.isfinite(found).all() and (found > 0.0).all()
        require(usable, "known_costs", "a function (n, dz + d) -> (n,) of positive numbers", found)
        return found

    def number(self, here: Here, action: Any) -> int:
        rows = self._rows(here, self._unit(np.asarray(action)[None], "action"))
        self._latest = rows.tobytes() + self._labels[here.context].tobytes()
        found = self._numbers.get(self._latest, len(self._numbers))
        self._write(here, slice(found, found + 1), rows)
        return found

    def keep(self) -> None:
        self._numbers.setdefault(self._latest, len(self._numbers))

    def action(self, point: int) -> Floats:
        return self._actions(np.array([point]))[0]

    def _actions(self, points: Ints) -> Floats:
        return 2.0 * self.parameters.columns[points, -self._dim :] - 1.0

    def _unit(self, actions: Any, name: str) -> Floats:
        return (in_box(self.setting, actions, name) + 1.0) / 2.0

    def _rows(self, here: Here, unit: Floats) -> Floats:
        """Return the columns of points of the box in a context, (n, d) -> (n, D)."""
        shown = self._shown[here.context]
        if self._of_any:
            low, high = self.setting.context_low, self.setting.context_high
            assert low is not None
            assert high is not None
            shown = (here.features - low) / np.where(high > low, high - low, 1.0)
        return np.hstack([np.broadcast_to(shown, (len(unit), len(shown))), unit * self._wide])

    def _write(self, here: Here, numbers: slice, rows: Floats) -> None:
        own = self.parameters
        while numbers.stop > len(own.columns):
            own.columns, own.data_set = np.tile(own.columns, (2, 1)), np.tile(own.data_set, 2)
        own.columns[numbers], own.data_set[numbers] = rows, self._labels[here.context]
        if self.earlier is not None:
            tasks, model = self.earlier
            assert model.earlier is not None
            means = np.resize(model.earlier, (len(own.columns), tasks.number))  # a copy
            means[numbers] = tasks.means(rows)
            model.earlier = means

    def _new(self, here: Here, unit: Floats) -> Ints:
        """Return numbers for points of a choice, (n, d) -> (n,)."""
        numbers = slice(self._next, self._next + len(unit))
        self._write(here, numbers, self._rows(here, unit))
        self._next = numbers.stop
        return np.arange(numbers.start, numbers.stop)

    def first(self, here: Here, played: Collection[int], likely: Floats | None) -> Floats:
        unit = self._order[len(played) % FIRST] if likely is None else np.clip(likely, 0.0, 1.0)
        return 2.0 * unit - 1.0

    def surveyed(self, here: Here, posteriors: Posteriors, bound: Bound, rng: np.random.Generator) -> Ints:
        self._next = len(self._numbers)
        seen = posteriors[0].seen
        self.spread = count = SURVEYED * FULL // max(FULL, len(seen.point))
        everywhere = self._new(here, (sobol(self._dim, SURVEYED)[:count] + rng.random(self._dim)) % 1.0)
        best = seen.point[np.argsort(-seen.mean, kind="stable")[:PLAYED]]
        if self.setting.has_contexts:
            best = self._new(here, self.parameters.columns[best, -self._dim :])
        return np.append(everywhere, best)

    def around(self, here: Here, points: Ints, width: float, rng: np.random.Generator) -> Ints:
        centre = np.repeat(self.parameters.columns[points[:BEST], -self._dim :], EACH, axis=0)
        return self._new(here, around(centre, width, rng))

    def asked(self, here: Here, actions: Any, name: str = "among") -> Ints:
        self._next = count = len(self._numbers)
        if actions is not None:
            return self._new(here, self._unit(actions, name))
        if not self.setting.has_contexts:
            return np.arange(count)
        return self._new(here, self.parameters.columns[:count, -self._dim :])


def space_of(model: Model, by_column: bool) -> DecisionSpace:
    """Return the points of a model's setting; each column is a parameter, if asked for."""
    return (BoxSpace if model.setting.continuous else ArmSpace)(model, by_column)

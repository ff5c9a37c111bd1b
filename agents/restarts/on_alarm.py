"""Restarts by detectors of changes: that test what uniform plays earned, or observe all plays in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from bandit_envs.basics.arguments import is_number
from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.defaults import NOISE_FLOOR
from ..model.model import Model
from ..model.rounds import ByRound, Delivery
from ..model.units import PriorUnits, known_per_cost, profile_weights
from .base import Restart
from .detector import Places
from .evidence import Archive, Seen
from .outcomes import ValueModel

PAPER_XI_SQUARED = 3


class ForcedExploration:
    """Schedule in which a round is uniform iff |uniform|^2 <= xi^2 |history| (Avanesov 2020, Algorithm 2).

    The history is all plays since the last restart. xi^2 is the parameter, as sqrt(3)**2 is not 3 and ties
    are uniform: with 3 rounds begin U U U U G G U G G U, and about sqrt(xi^2 T) of T are uniform; with 0 only
    the first is.
    """

    def __init__(self, num_trials: int, xi_squared: float = PAPER_XI_SQUARED):
        if not is_number(xi_squared) or xi_squared < 0:
            raise ValueError(f"xi_squared must be a number >= 0, got {xi_squared!r}; the paper uses 3")
        self.xi_squared = xi_squared
        self.explored = np.zeros(num_trials, dtype=np.int64)  # number of uniform plays
        self.played = np.zeros(num_trials, dtype=np.int64)  # number of plays

    @property
    def due(self) -> Bools:
        """True where the next round is uniform, (B,)."""
        return self.explored**2 <= self.xi_squared * self.played

    def advance(self) -> Bools:
        """Count the round that is being played; return where it is uniform, (B,)."""
        due = self.due
        self.explored += due
        self.played += 1
        return due

    def restart(self, trial: Ints) -> None:
        """Reset the counts of some trials, (n,)."""
        self.explored[trial] = self.played[trial] = 0


def uniform_rounds(rounds: int, xi_squared: float = PAPER_XI_SQUARED) -> int:
    """Return how many of the first T rounds are uniform."""
    schedule = ForcedExploration(1, xi_squared)
    for _ in range(rounds):
        schedule.advance()
    return int(schedule.explored[0])


class OnAlarm(Restart):
    """Restart by the change-point detector, when the reward or a cost has changed.

    `observed` is the model of the reward, for agents whose own is of an objective derived from it, and `each`
    the options of each trial's detector; "theta" determines the rate of false alarms.
    """

    def __init__(self, model: Model, *, observed: Model, each: Sequence[Mapping[str, Any]]):
        self.places = Places(model, observed)
        costs = model.setting.num_constraints  # of unknown prior mean
        options = {"num_responses": 1 + costs, "centred": [not observed.mean_is_known] + [True] * costs}
        self.detectors = [self.places.detector(**options, **own) for own in each]
        self.alarms = self._alarms = [list[int]() for _ in each]
        self._alarmed = np.zeros(len(each), dtype=bool)

    def receive(self, delivery: Delivery) -> None:
        trial, rounds = delivery.trial.tolist(), delivery.round.tolist()
        response, where = self.places.values(delivery), self.places.covariates(delivery.point)
        for i, x, t, y in zip(trial, where, rounds, response, strict=True):
            self._alarmed[i] |= self.detectors[i].insert(t, x, y)

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        alarmed = self._alarmed.nonzero()[0]
        for i in alarmed.tolist():
            self._alarms[i].append(rounds - 1)
        return alarmed

    def forget(self, trial: Ints) -> None:
        self._alarmed[trial] = False
        for i in trial.tolist():
            self.detectors[i].reset()


class Exploring(Restart):
    """Restart that plays some rounds uniformly, and passes these alone to another restart, `watch`."""

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        watch: Callable[[Model, int], Restart],
        xi_squared: float = PAPER_XI_SQUARED,
    ):
        self.watch = watch(model, num_trials)
        self.privileged, self.alarms = self.watch.privileged, self.watch.alarms
        self._schedule = ForcedExploration(num_trials, xi_squared)
        self._was_exploring = ByRound(num_trials, np.bool_)

    @property
    def exploring(self) -> Bools:  # type: ignore[override] (an attribute of other restarts)
        """Mask of trials that play any arm in this round, (B,)."""
        return self._schedule.due

    def play(self, point: Ints) -> None:
        self._was_exploring.append(self._schedule.advance())
        self.watch.play(point)

    def receive(self, delivery: Delivery) -> None:
        uniform = self._was_exploring.rows[delivery.round, delivery.trial]
        if uniform.any():
            self.watch.receive(delivery.where(uniform))

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        return self.watch.end_round(rounds, info)

    def forget(self, trial: Ints) -> None:
        self._schedule.restart(trial)
        self.watch.forget(trial)


class Watch(Protocol):
    """Detector of changes that observes the values of one trial."""

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe the value of a play, (1 + C,), of the reward less its prior mean and of the costs.

        `age` are the rounds from the beginning to the play, which ascend, and `share` the ratio of its noise
        variance to the published one. Return after a change the first age whose plays are of the present
        functions; else None.
        """
        ...


class InOrder(Restart):
    """Restart that passes each trial's values to a detector in order, and keeps the plays after a change.

    A value delivered before those of earlier plays waits for them; one that is not delivered after
    `max_delay` rounds is skipped. (If delays depend on values, no bound on false alarms holds.)

    Args:
        observed: the model of the reward, for agents whose own model is of an objective derived from it.
        archive: builds the archive of ended segments, which then builds the detectors; default none. Plays of
            a segment that returns are used again.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        watch: Callable[[ValueModel], Watch],
        observed: Model,
        archive: Callable[[ValueModel], Archive] | None = None,
    ):
        self.places, self._late = Places(model, observed), model.setting.max_delay
        self._weights = profile_weights(model.setting)
        noise = np.broadcast_to(observed.noise_std, num_trials)
        value_models = [_value_model(model, observed, self.places.prior, float(each)) for each in noise]
        self.archives = None if archive is None else [archive(each) for each in value_models]
        self._make: list[Callable[[], Watch]] = [partial(watch, each) for each in value_models]
        if self.archives is not None:
            self._make = [each.watch for each in self.archives]
        self.watches = [make() for make in self._make]
        self._waiting: list[dict[int, tuple[int, Floats]]] = [{} for _ in range(num_trials)]
        self.alarms = self._alarms = [list[int]() for _ in range(num_trials)]
        self._first = np.zeros(num_trials, dtype=np.int64)  # round from which ages are counted
        self._next = np.zeros(num_trials, dtype=np.int64)  # round of the next value
        self.kept_from = self._kept = np.zeros(num_trials, dtype=np.int64)
        self._alarmed = np.zeros(num_trials, dtype=bool)
        self._now = 0

    @property
    def recalled(self) -> list[Ints] | None:
        return None if self.archives is None else [each.rounds for each in self.archives]

    def keep_nothing(self) -> None:
        self.archives = None

    def play(self, point: Ints) -> None:
        self._now += 1

    def receive(self, delivery: Delivery) -> None:
        plays = delivery.trial.tolist(), delivery.point.tolist(), delivery.round.tolist()
        for i, x, t, y in zip(*plays, self.places.values(delivery), strict=True):
            self._waiting[i][t] = x, y

    def end_round(self, rounds: int, info: dict[str, Any]) -> Ints:
        for i in range(len(self.watches)):
            first = self._look(i, rounds)
            if first is not None:
                self._kept[i], self._alarmed[i] = first, True
        return self._alarmed.nonzero()[0]

    def forget(self, trial: Ints) -> None:
        for i in trial.tolist():
            if not self._alarmed[i]:
                self._kept[i] = self._now
                if self.archives is not None:
                    self.archives[i].clear()
            self._first[i] = self._next[i] = self._kept[i]
            self.watches[i], self._waiting[i] = self._make[i](), {}
        self._alarmed[trial] = False

    def _look(self, trial: int, rounds: int) -> int | None:
        """Pass a trial's next values on; return the first round to keep, if there is a change."""
        waiting, now = self._waiting[trial], int(self._next[trial])
        kept = None
        while kept is None and (now in waiting or now + self._late < rounds):
            if now in waiting:
                point, value = waiting.pop(now)
                share = 1.0 if self._weights is None else 1.0 / self._weights.item(point)
                kept = self._shown(trial, Seen(now, point, value, share), rounds)
            now += 1
        self._next[trial] = now
        return kept

    def _shown(self, trial: int, play: Seen, rounds: int) -> int | None:
        """Pass one value on; return the first round to keep, after a change or if a segment returns."""
        first, archive = int(self._first[trial]), self.archives[trial] if self.archives else None
        age = self.watches[trial].observe(play.round - first, play.point, play.value, play.share)
        if age is not None:
            self._alarms[trial].append(rounds - 1)
            if archive is not None:
                archive.end(first + age)
            return first + age
        back = archive is not None and archive.observe(play)
        return first if back else None


def _value_model(model: Model, observed: Model, prior: PriorUnits, noise_std: float) -> ValueModel:
    """Return the model of one trial's values; costs have the reward's kernel and unknown levels."""
    setting, variance = model.setting, observed.prior_std**2
    gram = model.gram_of(observed.kernel) if setting.continuous else observed.gram
    given = known_per_cost("constraint_noise_std", setting, None)
    cost_noise = np.full(len(prior.costs), noise_std) if given is None else given * prior.beside_reward
    return ValueModel(
        gram.between,
        max(noise_std**2, NOISE_FLOOR * variance),
        np.maximum(cost_noise**2, NOISE_FLOOR * variance),
        (0.0 if observed.mean_is_known else variance, variance),
        setting.num_constraints,
    )

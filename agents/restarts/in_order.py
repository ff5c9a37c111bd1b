"""Restarts by detectors of changes that observe the values of all plays in the order of play."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.defaults import NOISE_FLOOR
from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import PriorUnits, known_per_cost, profile_weights
from .base import Restart
from .detection.detector import Places
from .evidence import Archive, Seen
from .outcomes import ValueModel


class Watch(Protocol):
    """Detector of changes that observes the values of one trial."""

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe the value of a play, (1 + C,), minus the prior mean of the reward.

        Args:
            age: rounds from the beginning to the play; it ascends.
            value: of the reward and the costs.
            share: ratio of its noise variance to the published one.

        Returns:
            After a change the first age whose plays are of the present functions; else None.
        """
        ...


class InOrder(Restart):
    """Restart that passes each trial's values to a detector in order, and keeps the plays after a change.

    A value delivered before those of earlier plays waits for them; one that is not delivered after
    `max_delay` rounds is skipped. (If delays depend on values, such losses are informative, and no bound on
    false alarms holds.) It plays no arm at random.

    Args:
        observed: the model of the reward, for agents whose own model is of an objective derived from it.
        archive: builds the archive of ended segments from the model of the values; default none. Plays of a
            segment that returns are used again. The archive then builds the detectors.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        watch: Callable[[ValueModel], Watch],
        observed: Model | None = None,
        archive: Callable[[ValueModel], Archive] | None = None,
    ):
        observed = observed or model
        self.places, self._late = Places(model, observed), model.setting.max_delay
        self._weights = profile_weights(model.setting)
        noise = np.broadcast_to(observed.noise_std, num_trials)
        value_models = [_value_model(model, observed, self.places.prior, float(each)) for each in noise]
        self.archives = None if archive is None else [archive(each) for each in value_models]
        self._make = [lambda each=each: watch(each) for each in value_models]
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

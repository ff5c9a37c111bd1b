"""When each stopping rule of an agent first said stop, while the agent plays on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Ints

from .by_name import Rules
from .outlook import Outlook, StopVerdict

NEVER = -1
PATIENCE = 3  # rounds in a row on a box, where the best candidate is searched for and may be missed


class Stops(NamedTuple):
    """The first stop of every rule in B trials, without that axis in one trial.

    `prices` and `promises` are the p and the eps of each rule, None of those without.
    """

    after: dict[str, Ints]  # (B,) number of rounds before the stop; -1 where the rule did not stop
    play: dict[str, Ints]  # (B,) round, counted from 0, whose action is recommended then; -1 where none is
    best: Ints  # (T, B) that of the largest mean after each round; -1 where none has a value
    prices: dict[str, float | None]
    promises: dict[str, float | None]


class Stopping:
    """Asks the rules of B trials after every round until they say stop, and keeps when that was.

    The agent plays on: several rules are compared on the same plays. A stop counts at the first of `patience`
    consecutive rounds in which the rule says so.

    Args:
        rules: makes the rules of a trial, by label.
        patience: 1 on a finite set, whose maximum is exact, and more on a box, where it is searched for.
    """

    def __init__(self, rules: Rules, num_trials: int, patience: int):
        self._rules = [rules() for _ in range(num_trials)]
        self._patience = patience
        self._first: list[dict[int, int]] = [{} for _ in range(num_trials)]  # point -> its first round
        labels = list(self._rules[0])
        self._passed = {label: np.zeros(num_trials, dtype=np.int64) for label in labels}
        self._after = {label: np.full(num_trials, NEVER) for label in labels}
        self._play = {label: np.full(num_trials, NEVER) for label in labels}
        self._best: list[Ints] = []
        # Of the last round, or of the stop.
        self.verdicts: list[dict[str, StopVerdict]] = [{} for _ in range(num_trials)]

    def look(self, point: Ints, outlooks: list[Outlook]) -> None:
        """Ask all rules after a round in which trials played some points, (B,)."""
        best = np.full(len(point), NEVER)
        for i, (x, outlook) in enumerate(zip(point.tolist(), outlooks, strict=True)):
            self._first[i].setdefault(x, outlook.plays - 1)
            best[i] = self._round(i, outlook, outlook.best)
            for label, rule in self._rules[i].items():
                if self._after[label][i] == NEVER:
                    self.verdicts[i][label] = verdict = rule(outlook)
                    self._note(label, i, outlook, verdict)
        self._best.append(best)

    def stops(self, alone: bool) -> Stops:
        """Return the first stops; without an axis of trials if `alone`."""
        at = 0 if alone else slice(None)
        best = np.array(self._best, dtype=np.int64).reshape(-1, len(self._rules))
        after, play = (
            {label: each[at].copy() for label, each in of.items()} for of in (self._after, self._play)
        )
        prices, promises = (
            {label: getattr(rule, name, None) for label, rule in self._rules[0].items()}
            for name in ("price", "eps")
        )
        return Stops(after, play, best[:, at], prices, promises)

    def _note(self, label: str, i: int, outlook: Outlook, verdict: StopVerdict) -> None:
        passed = self._passed[label]
        passed[i] = passed[i] + 1 if verdict.stop else 0
        if passed[i] == self._patience:
            self._after[label][i] = outlook.plays
            self._play[label][i] = self._round(i, outlook, verdict.best)

    def _round(self, i: int, outlook: Outlook, candidate: int | None) -> int:
        return NEVER if candidate is None else self._first[i][int(outlook.point[candidate])]


def joined_stops(each: list[Stops]) -> Stops:
    """Return the stops of a batch from those of its trials."""
    first, labels = each[0], list(each[0].after)
    after = {label: np.array([stops.after[label] for stops in each]) for label in labels}
    play = {label: np.array([stops.play[label] for stops in each]) for label in labels}
    return Stops(after, play, np.stack([stops.best for stops in each], axis=1), first.prices, first.promises)

"""Stopping rules by name, and when each of an agent's first said stop, while the agent plays on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import isclass
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_text, require
from bandit_envs.basics.types import Ints

from ..model.model import Model
from ..named import made, name_of, require_called_with
from ..widths.by_name import make_width
from . import by_price, rules
from .stopping_candidates import StoppingCandidates, StoppingRule, StopVerdict

ARGUMENT = "stopping"
Rules = Callable[[], dict[str, StoppingRule]]  # makes the rules of one trial, by label
NEVER = -1
PATIENCE = 3  # rounds in a row on a box, where the best candidate is searched for and may be missed


def make_rules(stopping: Any, model: Model) -> Rules:
    """Return what makes the stopping rules of a trial.

    Args:
        stopping: a name in `RULES`, a pair of a name and its options, such as ("knowledge-gradient",
            {"price": 0.01}), a `StoppingRule` of one's own, or several: label -> any of these.

    Raises:
        ValueError: no rule has that name or takes that option, or none makes sense in this setting.
    """
    require_lasting(model)
    if isinstance(stopping, Mapping):
        makers = {label: _parsed(spec)[1] for label, spec in stopping.items()}
    else:
        makers = dict([_parsed(stopping)])
    require(len(makers) > 0, ARGUMENT, "at least one rule", stopping)
    for label in makers:
        require(is_text(label), f"label of {ARGUMENT}", "text in one line", label)

    def fresh() -> dict[str, StoppingRule]:
        return {label: make(model) for label, make in makers.items()}

    fresh()  # raises now rather than at the reset
    return fresh


def require_lasting(model: Model) -> None:
    """Raise where one recommendation at the end has no meaning."""
    setting = model.setting
    each = "with contexts, each of which has a best arm of its own; recommend for one context instead"
    reasons = {
        each: setting.has_contexts,
        "where functions change: what is best now may not stay so": setting.may_change,
        "where feedback is a sum over unknown rounds": setting.aggregated,
    }
    for reason, applies in reasons.items():
        if applies:
            raise ArgumentError(ARGUMENT, f"must be left out {reason}")


def _parsed(spec: Any) -> tuple[str, Callable[[Model], Any]]:
    """Return the name of a rule, and what makes it from the model: by name, name and options, or as given."""
    pair = isinstance(spec, list | tuple) and len(spec) == 2 and isinstance(spec[1], Mapping)
    given, options = spec if pair else (spec, None)
    if (name := name_of(given)) is not None:
        return name, partial(_named, name, options)
    require(not pair, ARGUMENT, f"a pair of a name ({', '.join(RULES)}) and its options", spec)
    require(not isclass(spec), ARGUMENT, f"one of {', '.join(RULES)}, or a rule, an object", spec)
    require_called_with(ARGUMENT, spec, 1, f"one of {', '.join(RULES)}, or a rule of StoppingCandidates")
    return getattr(spec, "__name__", type(spec).__name__), lambda model: spec


def _named(name: str, options: Any, model: Model) -> StoppingRule:
    """Return a rule by its name, or raise where it would recommend what breaks costs, or its own promise."""
    setting = model.setting
    if name in BY_BANDS and setting.num_constraints:
        words = f'must not be "{name}" under constraints, as its bands are of the reward alone'
        raise ArgumentError(ARGUMENT, f'{words}; take "regret-bound" or "knowledge-gradient"')
    for what, size in (("misspecification", setting.misspecification), ("corruption", setting.corruption)):
        if name in PROMISES and size:
            words = f'must not be "{name}" where the setting publishes {what} ({size:g})'
            raise ArgumentError(ARGUMENT, f'{words}, as its promise would be broken; take "plateau"')
    return made(ARGUMENT, name, RULES, options, model)


def _gap(
    model: Model, eps: float, width: Any = None, delta: float = 0.1, beta_scale: float | None = None
) -> StoppingRule:
    return rules.Gap(make_width(width, model, delta, beta_scale), eps)


def _best_arm(
    model: Model,
    eps: float,
    width: Any = "amm",
    delta: float = 0.1,
    beta_scale: float | None = None,
    bands: str = "single",
) -> StoppingRule:
    if model.setting.continuous:
        raise ArgumentError(ARGUMENT, 'must not be "best-arm" on a box; take "gap" or "knowledge-gradient"')
    words = f'one of {", ".join(ELLIPSOIDS)} with bands="difference", which needs an ellipsoid'
    require(bands != "difference" or width in ELLIPSOIDS, "width", words, width)
    return rules.BestArm(make_width(width, model, delta, beta_scale), eps, bands)


def _regret_bound(
    model: Model, eps: float, delta: float = 0.05, error: float = 0.01, most: int = 4096
) -> StoppingRule:
    return rules.RegretBound(eps, delta, error, most)


def _minima_gap(
    model: Model,
    threshold: float | None = None,
    share: float = 0.01,
    width: Any = None,
    delta: float = 0.1,
    beta_scale: float | None = None,
) -> StoppingRule:
    refused = "on a box" if model.setting.continuous else "with delays" if model.setting.max_delay else ""
    if refused:
        words = f'must not be "minima-gap" {refused}, which compares two rounds'
        raise ArgumentError(ARGUMENT, f'{words}; take "gap" or "knowledge-gradient"')
    return rules.MinimaGap(make_width(width, model, delta, beta_scale), threshold, share)


ELLIPSOIDS = ("amm", "self-normalised")
BY_BANDS = ("gap", "best-arm", "minima-gap")
PROMISES = ("gap", "best-arm", "regret-bound")  # which count no difference of rewards from the model's
# Builders from the model, with the rule's options.
RULES: dict[str, Callable[..., StoppingRule]] = {
    "knowledge-gradient": lambda model, price: by_price.GradientWorthPrice(price),
    "expected-improvement": lambda model, price: by_price.ImprovementWorthPrice(price),
    "gittins": lambda model, price: by_price.IndexAboveMean(price),
    "gap": _gap,
    "best-arm": _best_arm,
    "regret-bound": _regret_bound,
    "minima-gap": _minima_gap,
    "plateau": lambda model, rounds=5, share=0.01: rules.Plateau(rounds, share),
}


class Stops(NamedTuple):
    """The first stop of every rule in B trials, without that axis in one trial.

    `prices` and `promises` are the p and the eps of each rule, None of those without.
    """

    after: dict[str, Ints]  # (B,) number of rounds before the stop; -1 where the rule did not stop
    play: dict[str, Ints]  # (B,) round, counted from 0, whose action is recommended then; -1 where none is
    best: Ints  # (T, B) that of the largest mean after each round; -1 where none is known
    prices: dict[str, float | None]
    promises: dict[str, float | None]


class Stopping:
    """Asks the rules of B trials after every round until they say stop, and keeps when that was.

    The agent plays on: several rules are compared on the same plays. A stop counts at the last of `patience`
    consecutive rounds in which the rule says so. No rule is asked before the scales of reward and costs are
    known, and none again about earlier rounds.

    Args:
        fresh: makes the rules of a trial, by label.
        patience: 1 on a finite set, whose maximum is exact, and more on a box, where it is searched for.
    """

    waits = False  # True while the agent's scales are unknown; nothing is recommended then

    def __init__(self, fresh: Rules, num_trials: int, patience: int):
        self._rules = [fresh() for _ in range(num_trials)]
        self._patience = patience
        self._first: list[dict[int, int]] = [{} for _ in range(num_trials)]  # point -> its first round
        labels = list(self._rules[0])
        self._passed = {label: np.zeros(num_trials, dtype=np.int64) for label in labels}
        self._after = {label: np.full(num_trials, NEVER) for label in labels}
        self._play = {label: np.full(num_trials, NEVER) for label in labels}
        self._best: list[Ints] = []
        # Of the last round, or of the stop.
        self.verdicts: list[dict[str, StopVerdict]] = [{} for _ in range(num_trials)]

    def look(self, point: Ints, stopping_candidates: Callable[[], list[StoppingCandidates]]) -> None:
        """Ask all rules after a round in which trials played some points, (B,)."""
        best = np.full(len(point), NEVER)
        for i, x in enumerate(point.tolist()):
            self._first[i].setdefault(x, len(self._best))
        for i, candidates in enumerate([] if self.waits else stopping_candidates()):
            best[i] = self._round(i, candidates, candidates.best)
            if candidates.settled:
                self._ask(i, candidates)
        self._best.append(best)

    def _ask(self, i: int, candidates: StoppingCandidates) -> None:
        for label, rule in self._rules[i].items():
            if self._after[label][i] == NEVER:
                self.verdicts[i][label] = verdict = rule(candidates)
                passed = self._passed[label]
                passed[i] = passed[i] + 1 if verdict.stop else 0
                if passed[i] == self._patience:
                    self._after[label][i] = candidates.plays
                    self._play[label][i] = self._round(i, candidates, verdict.best)

    def stops(self, single: bool) -> Stops:
        """Return the first stops; without an axis of trials if `alone`."""
        at = 0 if single else slice(None)
        best = np.array(self._best, dtype=np.int64).reshape(-1, len(self._rules))
        after, play = (
            {label: each[at].copy() for label, each in of.items()} for of in (self._after, self._play)
        )
        prices, promises = (
            {label: getattr(rule, name, None) for label, rule in self._rules[0].items()}
            for name in ("price", "eps")
        )
        return Stops(after, play, best[:, at], prices, promises)

    def _round(self, i: int, candidates: StoppingCandidates, candidate: int | None) -> int:
        return NEVER if candidate is None else self._first[i][int(candidates.point[candidate])]


def joined_stops(each: list[Stops]) -> Stops:
    """Return the stops of a batch from those of its trials."""
    first, labels = each[0], list(each[0].after)
    after = {label: np.array([stops.after[label] for stops in each]) for label in labels}
    play = {label: np.array([stops.play[label] for stops in each]) for label in labels}
    return Stops(after, play, np.stack([stops.best for stops in each], axis=1), first.prices, first.promises)

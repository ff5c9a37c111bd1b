"""Named algorithms of duels: one belief about utilities, and a rule that chooses the pair.

No regret bound is claimed: the theorems of the papers are for other widths and estimates than ours.
Readable forms: tests/references/duels.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_not_negative, require_probability
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kernels import LengthScale
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..acquisition import duels
from ..acquisition.duels import Contest, DuelRule
from ..agent.assembly import TrialList, each_model
from ..agent.single_trial import ArmAgent
from ..beliefs.preferences import LikelihoodSet, Preferences
from ..model.defaults import DefaultBound
from ..model.model import Model
from ..named import name_or_other
from ..options import PerTrial, require_reset, typed
from ..protocol import handles

MIXTURE = "mixture"
SHOWN = 2.0  # stds of the band of an agent whose rule does not use it


class DuelAgent(ArmAgent):
    """A belief about utilities, and a rule that chooses the two arms of each duel from it.

    Half-widths are `width` stds of differences, or where it is None those of the mixture band of `delta`.
    `optimist` is a belief in a set of functions with the model's bound, of which the rule takes the largest.
    """

    def __init__(
        self,
        model: Model,
        rule: DuelRule,
        width: float | None,
        delta: float,
        optimist: Callable[[Model], LikelihoodSet] | None = None,
    ):
        super().__init__(model)
        self.unit_is_known = True  # log odds have a unit of their own, so no first plays estimate it
        self.rule, self.width, self.delta, self.optimist = rule, width, delta, optimist
        self._num_arms, self._size = model.setting.decisions.num_arms, len(model.setting.decisions.points)

    @property
    def assumes_bound(self) -> bool:
        """True where the band or the set uses a default for B."""
        uses_bound = self.width is None or self.optimist is not None
        return uses_bound and isinstance(self.model.rkhs_bound, DefaultBound)

    def begin(self) -> None:
        self.belief = (self.optimist or Preferences)(self.model)
        self.last: tuple[int, int] | None = None

    def act(self, observation: Floats) -> Ints:
        contest = self.contest(observation)
        return np.array(self.rule(contest), dtype=np.int64)

    def contest(self, observation: Floats) -> Contest:
        """Return the belief about all pairs in the observed context, as the rule sees it in this round."""
        context = self.context(observation)
        (rng,) = self.streams.of_round("rule", self.round)
        pairs = self.belief.at(context)
        half = self.belief.band(context, self.delta) if self.width is None else self.width * pairs.std
        lower, upper = pairs.difference - half, pairs.difference + half
        draw, largest = partial(self.belief.sample, context, rng), self.belief.leads(context)
        return Contest(pairs.mean, lower, upper, rng, draw, self.last, largest)

    def best(self, context: Ints, mean: Floats, arms: Ints) -> int:
        return int(arms[self.belief.worth(context)[arms].argmax()])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self.round >= 0)
        pair, count = np.asarray(action), self._num_arms
        whole = pair.shape == (2,) and pair.dtype.kind in "iu" and pair.min() >= 0 and pair.max() < count
        require(whole, "action", f"a pair of arms in 0..{count - 1}", action)
        first, second = self.setting.decisions.point_index(self.context(observation), pair)
        trial, rounds, won, _ = Feedback.arrived(info)
        require(bool(((won >= 0) & (won <= 1)).all()), "feedback_reward", "1 for the first arm, else 0", won)
        duel = np.array([first * self._size + second])  # the book keeps one number a play
        for index, outcome in zip(self.book.record_round(duel, trial, rounds), won, strict=True):
            self.learn(*divmod(int(index), self._size), float(outcome))
        self.last = int(pair[0]), int(pair[1])
        self.round += 1

    def learn(self, first: int, second: int, won: float) -> None:
        """Learn the outcome of a duel of two points."""
        self.belief.add(first, second, won)


Duelling = DuelAgent | TrialList


class DuelOptions(TypedDict, total=False):
    """Options of the model of the utilities, in log odds."""

    kernel: Any
    """Prior covariance of the utilities: a scikit-learn kernel over (context, arm) features, or a name.

    Default None: the setting's, else an SE kernel of amplitude 1.
    """
    length_scale: LengthScale | None
    """Length-scale of the kernel, in units of the features; default None: the kernel's own."""
    rkhs_bound: PerTrial | None
    """B, the bound on the norm of the utilities that the mixture band uses; default None: the setting's."""
    prior_mean: Floats | float | None
    """Prior mean of the utilities, a number or (N,); default None: the setting's."""


class BandOptions(DuelOptions, total=False):
    """Options of agents that compare the ends of bands, and of the model of the utilities."""

    width: float | str
    """w of bands w std of differences, or "mixture" for the anytime band of `delta`; default 2.0."""
    delta: float
    """Failure probability of the anytime band; default 0.1."""


@typed
def duellist(
    make: Callable[..., DuelAgent],
    setting: Setting,
    num_trials: int | None,
    *,
    width: float | str = 2.0,
    delta: float = 0.1,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """Return the agents of duels that `make` builds of a trial's model, width (None: the band) and delta."""
    words = 'of duels, whose actions are pairs; take "gp-ucb", or duel=True'
    require(setting.duel, "setting", words, "single arms")
    name, half = name_or_other("width", width, (MIXTURE,), f'a number or "{MIXTURE}"')
    if name is None:
        half = float(half)
        require_not_negative("width", half, "it multiplies a standard deviation")
    require_probability("delta", delta)
    model = Model.of(setting, **options)
    return each_model(model, partial(make, width=half, delta=delta), num_trials)


@handles("delay", "context", "duel")
def maxminlcb(setting: Setting, *, num_trials: int | None = None, **options: Unpack[BandOptions]) -> Duelling:
    """MaxMinLCB: argmax over contenders of the least lower bound, and its minimiser (Pasztor et al. 2024).

    Below a `width` of 2 it gets stuck: one wrong contender is left, which then plays against itself.
    """
    return duellist(partial(DuelAgent, rule=duels.max_min_lcb), setting, num_trials, **options)


@handles("delay", "context", "duel")
def rucb(setting: Setting, *, num_trials: int | None = None, **options: Unpack[BandOptions]) -> Duelling:
    """RUCB-like: a contender at random against its strongest challenger (after Zoghi et al. 2014).

    With a `width` of 1 some trials get stuck.
    """
    return duellist(partial(DuelAgent, rule=duels.relative_ucb), setting, num_trials, **options)


@handles("delay", "context", "duel")
def double_ts(setting: Setting, *, num_trials: int | None = None, **options: Unpack[DuelOptions]) -> Duelling:
    """Double Thompson sampling: the best arms of two posterior samples (after Wu & Liu 2016)."""
    return duellist(partial(DuelAgent, rule=duels.double_thompson), setting, num_trials, width=0.0, **options)


@handles("delay", "context", "duel")
def max_info_duel(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[BandOptions]
) -> Duelling:
    """MaxInfoGain: the pair of contenders whose difference is least known (in Pasztor et al. 2024)."""
    return duellist(partial(DuelAgent, rule=duels.max_info), setting, num_trials, **options)


@handles("delay", "context", "duel")
def map_challenger(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[BandOptions]
) -> Duelling:
    """MAP versus challenger: the most likely best arm against the one that may beat it by most.

    With a `width` of 1 many trials get stuck.
    """
    return duellist(partial(DuelAgent, rule=duels.mode_and_challenger), setting, num_trials, **options)


@handles("delay", "context", "duel")
def multisbm(setting: Setting, *, num_trials: int | None = None, **options: Unpack[BandOptions]) -> Duelling:
    """MultiSBM: the last challenger against the arm that may beat it by most (after Ailon et al. 2014)."""
    return duellist(partial(DuelAgent, rule=duels.multi_sbm), setting, num_trials, **options)


@handles("delay", "context", "duel")
def pop_bo(
    setting: Setting,
    *,
    width: float | str = 0.1,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[DuelOptions],
) -> Duelling:
    """POP-BO: the last first arm against the arm that may be ahead of it by most (Xu et al. 2024).

    "May" means within all f, |f| <= B, of a log-likelihood at least the largest less beta_t. What is
    recommended is the arm of the largest utility under the most likely f, among those that met another.

    Args:
        width: beta_t = width sqrt(t + 1) after t duels, or "mixture": beta_t = ln(1 / delta) + the largest
            log-likelihood - a bound on the log evidence, with which the set holds f in all rounds.
        delta: failure probability of that set.
    """
    expected = f'a positive number or "{MIXTURE}"'
    name, scale = name_or_other("width", width, (MIXTURE,), expected)
    require(name is not None or (is_number(scale) and scale > 0), "width", expected, width)
    return duellist(_optimist, setting, num_trials, width=width, delta=delta, **options)


def _optimist(model: Model, width: float | None, delta: float) -> DuelAgent:
    believed = partial(LikelihoodSet, scale=width, delta=delta)
    return DuelAgent(model, partial(duels.multi_sbm, place=0), SHOWN, delta, believed)

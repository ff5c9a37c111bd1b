"""The algorithm for feedback of which only sums are told: GP-UCB on linear functionals."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_number, require, shown
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.delays import ByArm
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..agent.batching import SideBySide
from ..agent.lone_agent import LoneAgent
from ..agent.surrogate_agent import each_trial
from ..beliefs.functionals import Functionals
from ..capabilities import handles
from ..model.model import Model
from ..model.offered import offered_in
from ..model.options import ModelOptions
from ..model.tie_breaking import argmax_with_ties
from ..options import require_absent
from ..validation import PerTrial, arms_of
from ..widths.base import Width
from ..widths.by_name import make_width

DRAWS = 100_000  # waits of the published law, from which chances are counted
TIE = 1e-9  # in prior deviations
ONE = np.ones(1)


class AggregatedUCB(LoneAgent):
    r"""argmax mu + w sigma, where a round tells s_t = sum_k p_k f(x_{t-k}) + e_t in the mean.

    p_k is the chance that feedback takes k rounds. Given f the variance of s_t is that of the noise,
    R^2 sum_k p_k, and of what comes, sum_k p_k (1 - p_k) f(x_{t-k})^2, for which the posterior's E f^2 is
    taken. That a play which has come comes no more is not used: ours, heuristic, without a bound. The zero of
    the reward matters, as it does to a sum of unknown length. Where a round tells whose values come, each is
    learnt as its own, and this is GP-UCB on what is delivered.

    Args:
        model: of a finite set, one trial's.
        chances: p_k, (K,).
        width: w.
    """

    def __init__(self, model: Model, chances: Floats, width: Width):
        super().__init__(model)
        self.chances, self.width = chances, width

    def begin(self) -> None:
        """Start a trial."""
        self.belief = Functionals(self.model)
        self.recent: deque[int] = deque(maxlen=len(self.chances))  # points, the latest first

    def act(self, observation: Floats) -> int:
        """Choose an arm for the observed context."""
        mean, std = self.believed(self.context(observation))
        uniform = self.tie_breaker()
        width = self.width(np.array([self.round + 1]), np.array([self.belief.gain]))
        scores = (mean + width * std)[None]
        return int(argmax_with_ties(scores, TIE * self.model.deviation, uniform, self.there())[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round: what was seen before it, what was played, and the `info` that came back."""
        arm = arms_of(action, 1, self.setting.decisions.num_arms)
        point, summed = self._points(self.context(observation))[arm], self.setting.aggregated
        trial, rounds, value, _ = Feedback.arrived(info)
        offered = offered_in(info, self.setting, None)
        whose = slice(0, 0) if summed else slice(None)
        played = self.book.record_round(point, trial[whose], rounds[whose])  # the last check
        self.offered = offered
        self.recent.appendleft(int(point.item()))
        if summed:
            self._learn_sum(float(value.sum()))
        for x, y in zip(played[:, None], value.tolist(), strict=False):  # none of a sum
            self.belief.observe(x, ONE, y, float(self.model.noise_variance))
        self.round += 1

    def dropped(self, rounds: Ints, point: Ints) -> None:
        """Nothing was known of them."""

    def believed(self, context: Ints) -> tuple[Floats, Floats]:
        """Of what came."""
        point = self._points(context)
        return self.belief.mean[point], self.belief.std[point]

    def _learn_sum(self, total: float) -> None:
        """Learn the sum of what came in this round."""
        point = np.array(self.recent)
        chance = self.chances[: len(point)]
        uncertain = (chance * (1.0 - chance)) @ self.belief.square[point]
        noise = float(self.model.noise_variance) * chance.sum()
        if chance.any():
            self.belief.observe(point, chance, total, noise + uncertain)

    def _points(self, context: Ints) -> Ints:
        """Points of the arms in a context, (A,)."""
        return self.setting.decisions.point_index(context, np.arange(self.setting.decisions.num_arms))


@handles("delay", "context", "availability", "aggregated")
def gp_ucb_aggregated(
    setting: Setting,
    *,
    width: str | float | Width = 2.0,
    chances: Any = None,
    delta: PerTrial = 0.1,
    gamma: Any = None,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> AggregatedUCB | SideBySide:
    """GP-UCB on sums of anonymous delayed rewards, by linear functionals: ours, heuristic.

    Args:
        setting: what is published of the problem, on a finite set.
        width: w: a number, or a name of `make_width`.
        chances: p_k that feedback takes k = 0, 1, ... rounds, at most 1 in all; default those of the
            published law, by 100,000 draws. Laws that look at arms or rewards have none.
        delta, gamma: of the width; the realised gain is that of the sums.
        num_trials: None, or B.
        **options: of the model, see `ModelOptions`, but for `form`, `initial`, `refit_every` and `repeat`.
    """
    if setting.continuous:
        raise ArgumentError("setting", f"must have arms for linear functionals, got {shown(setting)}")
    require_absent(options, ("form", "initial", "refit_every"), "this agent has none")
    if (repeat := options.get("repeat", 1.0)) != 1.0:
        raise ArgumentError("repeat", f"must be 1, got {shown(repeat)}: sums tell of no arm")
    model = Model.of(setting, **options)
    make = partial(_of_trial, model, chances_of(setting, chances), width, delta, gamma)
    return each_trial(make, num_trials)


def _of_trial(
    model: Model, chances: Floats, width: Any, delta: PerTrial, gamma: Any, trial: int
) -> AggregatedUCB:
    own = model.of_trial(trial)
    return AggregatedUCB(own, chances, make_width(width, own, delta, gamma=gamma))


def chances_of(setting: Setting, given: Any = None) -> Floats:
    """The chances that feedback takes k = 0..K - 1 rounds, (K,), given or of the published law."""
    if given is not None:
        words = "a list of numbers >= 0 with a sum in (0, 1]"
        listed = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)
        require(listed and all(is_number(each) and each >= 0.0 for each in given), "chances", words, given)
        chances = np.array(given, dtype=np.float64)
        require(0.0 < chances.sum() <= 1.0 + 1e-9, "chances", words, given)
        return chances
    law = setting.delay
    if not setting.max_delay:
        return np.ones(1)
    known = law is not None and not law.depends_on_rewards and not isinstance(law, ByArm)
    remedy = "given where no law is published, or one that looks at what is played"
    require(known, "chances", remedy, given)
    assert law is not None
    rounds = law.in_rounds(law.draw(DRAWS, np.random.default_rng(0)))
    came = rounds[rounds <= setting.max_delay].astype(np.int64)
    return np.bincount(came) / DRAWS

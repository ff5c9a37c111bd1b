"""An agent of one trial that plays pairs of arms and learns from who won."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.feedback import Feedback

from ..acquisition.duels import Contest, DuelRule
from ..beliefs.preferences import Preferences
from ..model.defaults import DefaultBound
from ..model.model import Model
from ..validation import one_seed, require_reset
from .generators import Streams
from .single_trial import LoneAgent


class DuelAgent(LoneAgent):
    """A belief about utilities, and a rule that chooses the two arms of each duel from it.

    Args:
        model: of the utilities, on a finite set and a single trial.
        rule: chooses the pair.
        width: w of half-widths w std of differences; None for the mixture band of `delta`.
        delta: failure probability of that band over all rounds.
    """

    scales_itself = True  # log odds have a unit of their own, so no first plays estimate it

    def __init__(self, model: Model, rule: DuelRule, width: float | None, delta: float):
        super().__init__(model)
        self.rule, self.width, self.delta = rule, width, delta
        self._num_arms, self._size = model.setting.decisions.num_arms, len(model.setting.decisions.points)

    @property
    def assumes_bound(self) -> bool:
        """True where the band uses a default for B."""
        return self.width is None and isinstance(self.model.rkhs_bound, DefaultBound)

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self.streams = Streams([one_seed(seed)])
        super().reset(seed)

    def begin(self) -> None:
        self.belief = Preferences(self.model)
        self.last: tuple[int, int] | None = None

    def act(self, observation: Floats) -> Ints:
        """Choose the pair of arms for the observed context, (2,)."""
        contest = self.contest(observation)
        return np.array(self.rule(contest), dtype=np.int64)

    def contest(self, observation: Floats) -> Contest:
        """Return the belief about all pairs in the observed context, as the rule sees it in this round."""
        context = self.context(observation)
        (rng,) = self.streams.of_round("rule", self.round)
        pairs = self.belief.at(context)
        half = self.belief.band(context, self.delta) if self.width is None else self.width * pairs.std
        lower, upper = pairs.difference - half, pairs.difference + half
        return Contest(pairs.mean, lower, upper, rng, lambda: self.belief.sample(context, rng), self.last)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round: its observation, the pair played, and the `info` returned."""
        require_reset(self.round >= 0)
        pair = _checked(action, self._num_arms)
        first, second = self.setting.decisions.point_index(self.context(observation), pair)
        trial, rounds, won, _ = Feedback.arrived(info)
        require(bool(((won >= 0) & (won <= 1)).all()), "feedback_reward", "1 for the first arm, else 0", won)
        duel = np.array([first * self._size + second])  # the book keeps one number a play
        for index, outcome in zip(self.book.record_round(duel, trial, rounds), won, strict=True):
            self.belief.receive(*divmod(int(index), self._size), float(outcome))
        self.last = int(pair[0]), int(pair[1])
        self.round += 1


def _checked(action: Any, num_arms: int) -> Ints:
    pair = np.asarray(action)
    whole = pair.shape == (2,) and pair.dtype.kind in "iu" and pair.min() >= 0 and pair.max() < num_arms
    require(whole, "action", f"a pair of arms in 0..{num_arms - 1}", action)
    return pair.astype(np.int64)

"""Base class of agents of one trial on a finite set with a belief of their own kind."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.model import Model
from ..model.offered import offered_in, require_offered
from ..model.recommendation import Recommendation
from ..model.tie_breaking import TieBreaker, arms_among
from ..showing import Shown
from ..validation import one_seed, require_context, require_reset
from .book import Book
from .streams import Streams


class LoneAgent(Shown, abc.ABC):
    """Keep the book and the queries; a subclass acts, learns and supplies mean and std.

    Args:
        model: one trial's, on a finite set.
    """

    num_trials = None

    def __init__(self, model: Model):
        self.model, self.setting = model, model.setting
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self.tie_breaker = TieBreaker(Streams([one_seed(seed)]).of("ties"))
        self.book = Book(1, self.setting.horizon)
        self.offered: Bools | None = None  # arms that may be played next, (1, A); None: all
        self.begin()
        self.round = 0

    def start(self, info: dict[str, Any]) -> None:
        """Read from the `info` of the environment's reset which arms the first round has; see `Agent`."""
        require_reset(self.round >= 0)
        self.offered = offered_in(info, self.setting, None)

    def drop(self, rounds: Ints) -> None:
        """Forget pending plays that will never be delivered, (n,)."""
        rounds = np.atleast_1d(np.asarray(rounds, dtype=np.int64))
        self.dropped(rounds, self.book.drop(np.zeros_like(rounds), rounds))

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm of the largest posterior mean.

        Args:
            observation: the context, as `act` sees it; may be left out where there is only one.
            among: the arms to choose from, (n,); default all.
        """
        require_reset(self.round >= 0)
        require_context(observation, self.setting.has_contexts)
        mean, std = self.believed(self.context(np.zeros(1) if observation is None else observation))
        arms = arms_among(among, len(mean))
        arm = int(arms[mean[arms].argmax()])
        return Recommendation(arm, self.setting.to_point(arm), float(mean[arm]), float(std[arm]))

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of each arm's mean reward in a context, (A,) each; copies."""
        mean, std = self.believed(self.context(observation))
        return mean.copy(), std.copy()

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return `posterior` as the only quantity; see `GPAgent.beliefs`."""
        return [self.posterior(observation)]

    def context(self, observation: Floats) -> Ints:
        """Return the index of the observed context, (1,)."""
        require_reset(self.round >= 0)
        return self.setting.context_index(np.asarray(observation)[None])

    def there(self) -> Bools:
        """Return which arms may be played in this round, (1, A)."""
        require_offered(self.offered, self.setting)
        everything = np.ones((1, self.setting.decisions.num_arms), dtype=bool)
        return everything if self.offered is None else self.offered

    @abc.abstractmethod
    def begin(self) -> None:
        """Start a trial."""

    @abc.abstractmethod
    def dropped(self, rounds: Ints, point: Ints) -> None:
        """Forget plays of some rounds that will never be delivered, (n,) each."""

    @abc.abstractmethod
    def believed(self, context: Ints) -> tuple[Floats, Floats]:
        """Return mean and std of each arm in a context, (1,) -> (A,) each."""

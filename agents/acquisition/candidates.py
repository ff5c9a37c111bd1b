"""What a rule sees, and what a rule is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.fits import Ridge
from ..beliefs.pulls import Pulls
from ..beliefs.safety import Safety


class Candidates(Protocol):
    """What an agent believes about the A points it may play in this round; computed when it is asked for."""

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, A)."""
        ...

    @property
    def std(self) -> Floats:
        """Posterior standard deviation, (B, A)."""
        ...

    @property
    def t(self) -> Ints:
        """1, 2, ..., the rounds started since the last restart, (B,)."""
        ...

    @property
    def gain(self) -> Floats:
        """Realised information gain of the rounds before, (B,)."""
        ...

    @property
    def bias(self) -> Floats | float:
        """What pending feedback adds to the width, (B,)."""
        ...

    @property
    def weight_norm(self) -> Floats:
        """|a_x|, (B, A), the norm of the weights in the mean of the observations y: mu(x) - m(x) = a_x'y."""
        ...

    @property
    def pulls(self) -> list[Pulls]:
        """How much each value pulls on the mean, (B,)."""
        ...

    @property
    def ridges(self) -> Sequence[Ridge]:
        """What the plays say under each regularisation of the belief; as a rule the model's lambda alone."""
        ...

    @property
    def price(self) -> Floats:
        """What an improvement is to be worth, in the units of the mean, (B, A) or (B, 1); 0 without costs."""
        ...

    @property
    def active(self) -> Bools:
        """Whether they may still be the best, (B, A); all may, but in beliefs that strike off arms."""
        ...

    @property
    def safety(self) -> Safety | None:
        """What is known of costs that must be kept in every round; None where none must."""
        ...

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        """Generators for what the rule draws itself, one a trial, new ones in every round.

        On a box a rule scores several sets of candidates in a round, and draws the same in each: a coin that
        is tossed before anything of the candidates' number is one coin a round.
        """
        ...

    @property
    def incumbent(self) -> Floats:
        """The value to improve on, in the agent's meaning, (B,)."""
        ...

    def deviation(self) -> Floats:
        """Draw one joint posterior sample of f - mean, (B, A)."""
        ...

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        """Draw mean + w (f - mean) of one joint posterior sample of f, w a number or (B, 1); (B, A)."""
        ...

    def sampled_maximum(self) -> Floats:
        """Draw one joint posterior sample of f and return the largest value that may be played, (B,).

        On a box it is the largest that the search finds, the same for all candidates of a round.
        """
        ...

    def drawing(self, trials: Bools) -> Candidates:
        """The same, but only these trials, (B,), draw samples; what the others would draw means nothing."""
        ...


class Slopes(NamedTuple):
    """How a score changes with the belief at its candidate, (B, A) each."""

    mean: Floats
    std: Floats


class Rule(Protocol):
    """Turns what is believed into scores; the candidate of the largest score is played.

    Scores are in the units of the reward, or the rule has a class attribute `unitless = True`. Where a score
    depends on the mean and the deviation at its candidate alone, a method `slopes(candidates)` that returns
    its `Slopes`, or None, lets agents on boxes climb. One whose score is random has `draws = True`. A method
    `refuted(belief)` may tell where feedback contradicts what the rule assumes.
    """

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores, (B, A), as a new array."""
        ...

"""The interfaces of acquisition rules and of the candidates that they score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import NO_BIAS, Ridge
from ..beliefs.ridges import ObservationWeights
from ..beliefs.safety import Safety
from ..model.rounds import Delivery
from ..validation import PerTrial

ZERO = np.zeros((1, 1))  # no bias


class Candidates(Protocol):
    """The belief at the A points that an agent may play in this round; properties are computed on access.

    Numbers of a trial are columns, (B, 1), so that they combine with those of its points, (B, A), whatever B
    and A: numpy takes (B,) for a number of each point where B = A.
    """

    t: Ints  # (B, 1) number of the round since the last restart, 1, 2, ...
    safety: Safety | None  # the belief about costs that must be kept in every round, if there are any
    memory: Any  # of the rule, see `RuleMemory`; None without one

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, A)."""
        ...

    @property
    def std(self) -> Floats:
        """Posterior standard deviation, (B, A)."""
        ...

    @property
    def gain(self) -> Floats:
        """Realised information gain before this round, (B, 1)."""
        ...

    @property
    def bias(self) -> Floats:
        """Term that pending feedback adds to the width, (B, 1)."""
        ...

    @property
    def weight_norm(self) -> Floats:
        """|a_x|, (B, A), the norm of the observations' weights in the mean: mu(x) - m(x) = a_x'y."""
        ...

    @property
    def observation_weights(self) -> list[ObservationWeights]:
        """Weights of the observations in the mean, one record per trial, (B,)."""
        ...

    @property
    def ridges(self) -> Sequence[Ridge]:
        """The posterior under each regularisation of the belief; usually the model's lambda alone."""
        ...

    @property
    def price(self) -> Floats:
        """Least worthwhile expected improvement, in the mean's units, (B, A) or (B, 1); 0 without costs."""
        ...

    @property
    def active(self) -> Bools:
        """Mask of candidates that may still be the best, (B, A); all, unless the belief eliminates arms."""
        ...

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        """Generators of the rule's own draws, one per trial, newly created in every round.

        On a box a rule scores several sets of candidates in a round, with the same draws for each: a variate
        drawn before any that depends on the number of candidates is the same for all sets of a round.
        """
        ...

    @property
    def incumbent(self) -> Floats:
        """Value that improvement is measured from, as the agent defines it, (B, 1)."""
        ...

    @property
    def change(self) -> Floats:
        """Std by which a play of x would change mu(x) - mu(j), j the best play so far, (B, A); sets only."""
        ...

    def half_width(self, bound: PerTrial, delta: PerTrial) -> Floats:
        """Return half the width of the belief's own band for functions of norm B, (B, A), if it has one."""
        ...

    def centred_sample(self) -> Floats:
        """Draw one joint posterior sample of f - mean, (B, A)."""
        ...

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        """Draw mean + w (f - mean) of one joint posterior sample of f, w a number or (B, 1); (B, A)."""
        ...

    def sampled_maximum(self) -> Floats:
        """Draw one joint posterior sample of f and return the largest value that may be played, (B, 1).

        On a box it is the largest value that the search finds, the same for all candidates of a round.
        """
        ...

    def drawing(self, trials: Bools) -> Candidates:
        """Return candidates that sample for `trials`, (B,), only; samples of the others are undefined."""
        ...


def column(bias: Floats | float) -> Floats:
    """Return a number of each trial, (B,) or one for all, as a column, (B, 1)."""
    return ZERO if bias is NO_BIAS else np.reshape(bias, (-1, 1))


class Slopes(NamedTuple):
    """Derivatives of a score with respect to the belief at its candidate, (B, A) each."""

    mean: Floats
    std: Floats
    scores: Floats | None = None  # the scores themselves, where they are found on the way


class RuleMemory(Protocol):
    """State of a rule that feedback changes, of B trials; it starts anew at every reset and restart."""

    def receive(self, delivery: Delivery, mean: Floats, std: Floats) -> None:
        """Learn from delivered values before the belief does.

        Mean and std, (n,), are the posterior's before the round, noise included.
        """
        ...

    def forget(self, trial: Ints) -> None:
        """Return trials that start over, (n,), to the first state; kept plays are not received again."""
        ...


class Rule(Protocol):
    """Function from the belief at candidates to scores; the candidate of the largest score is played.

    Scores are in the units of the reward, or the rule has a class attribute `unitless = True`. Where a score
    depends on the mean and std at its candidate alone, a method `slopes(candidates)` that returns its
    `Slopes`, or None, lets agents on boxes follow gradients. A rule with random scores has `draws = True`. A
    method `refuted(belief)` may mark trials whose feedback contradicts the rule's assumptions. A rule that
    learns from feedback has a method `memory(num_trials)` that makes a `RuleMemory`, and reads
    `candidates.memory`; the rule itself does not change.
    """

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores, (B, A), as a new array."""
        ...

"""The interfaces of acquisition rules and of the candidates that they score."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import NO_BIAS, Belief, Ridge
from ..beliefs.points import Points
from ..beliefs.ridges import ObservationWeights
from ..beliefs.safety import Safety, log_feasibility
from ..model.rounds import Delivery
from ..options import PerTrial
from ..widths.base import Width

ZERO = np.zeros((1, 1))  # no bias


class CostBands(NamedTuple):
    """The belief about each cost at candidates, in its own unit; a cost is kept where it is at most 0."""

    mean: Floats  # (B, A, C) posterior mean
    std: Floats  # (B, A, C) posterior standard deviation

    @property
    def log_feasibility(self) -> Floats:
        """sum_j log Phi(-mean_j / std_j), (B, A): log probability that all are kept, if independent."""
        return log_feasibility(self.mean, self.std).sum(axis=-1)

    @property
    def feasibility(self) -> Floats:
        """Probability that all costs are kept, (B, A), if they are independent."""
        return np.exp(self.log_feasibility)


class Candidates(abc.ABC):
    """The belief at the A points that an agent may play in this round; properties are computed on access.

    Numbers of a trial are columns, (B, 1), so that they combine with those of its points, (B, A), whatever B
    and A: numpy takes (B,) for a number of each point where B = A.
    """

    t: Ints  # (B, 1) number of the round since the last restart, 1, 2, ...
    points: Points  # where they are
    mean: Floats  # (B, A) posterior mean
    std: Floats  # (B, A) posterior standard deviation
    gain: Floats  # (B, 1) realised information gain before this round
    bias: Floats  # (B, 1) term that pending feedback adds to the width
    incumbent: Floats  # (B, 1) value that improvement is measured from, as the agent defines it
    safety: Safety | None = None  # the belief about costs that must be kept in every round, if there are any
    memory: RuleMemory | None = None  # of the rule; None without one
    belief: Belief
    objective: Any  # an `Objective`
    draw: Callable[[], Sequence[np.random.Generator]]  # makes the generators of the round
    _rngs: Sequence[np.random.Generator] | None = None

    @property
    @abc.abstractmethod
    def weight_norm(self) -> Floats:
        """|a_x|, (B, A), the norm of the observations' weights in the mean: mu(x) - m(x) = a_x'y."""

    @abc.abstractmethod
    def centred_sample(self) -> Floats:
        """Draw one joint posterior sample of f - mean, (B, A)."""

    @abc.abstractmethod
    def sampled_maximum(self) -> Floats:
        """Draw one joint posterior sample of f and return the largest value that may be played, (B, 1).

        On a box it is the largest value that the search finds, the same for all candidates of a round.
        """

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        """Draw mean + w (f - mean) of one joint posterior sample of f, w a number or (B, 1); (B, A)."""
        return self.mean + factor * self.centred_sample()

    @property
    def observation_weights(self) -> list[ObservationWeights]:
        """Weights of the observations in the mean, one record per trial, (B,)."""
        return self.points.observation_weights(self.belief)

    @property
    def ridges(self) -> Sequence[Ridge]:
        """The posterior under each regularisation of the belief; usually the model's lambda alone."""
        return self.points.ridges(self.belief)

    @property
    def price(self) -> Floats:
        """Least worthwhile expected improvement, in the mean's units, (B, A) or (B, 1); 0 without costs."""
        return self.objective.prices(self.points)

    @property
    def costs(self) -> CostBands:
        """The belief about each cost, (B, A, C), where reward and costs are modelled apart.

        They are under constraint="rule", which leaves scores as they are, and under "config", "rpol", "epbo",
        "pdcbo" and "ckb", which change them afterwards.
        """
        each = self.objective.cost_beliefs()
        if not each:
            remedy = 'take constraint="rule" in a setting with constraints'
            raise ValueError(f"rule must not read `costs` where no cost has a model of its own; {remedy}")
        means, stds = [], []
        for belief, zero, unit in each:
            mean, std = self.points.band(belief)
            means.append(zero[:, None] + unit[:, None] * mean)
            stds.append(unit[:, None] * std)
        return CostBands(np.stack(means, axis=-1), np.stack(stds, axis=-1))

    @property
    def active(self) -> Bools:
        """Mask of candidates that may still be the best, (B, A); all, unless the belief eliminates arms."""
        return np.ones(self.mean.shape, dtype=bool)

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        """Generators of the rule's own draws, one per trial, newly created in every round.

        On a box a rule scores several sets of candidates in a round, with the same draws for each: a variate
        drawn before any that depends on the number of candidates is the same for all sets of a round.
        """
        if self._rngs is None:
            self._rngs = self.draw()
        return self._rngs

    @property
    def change(self) -> Floats:
        """Std by which a play of x would change mu(x) - mu(j), j the best play so far, (B, A); sets only."""
        raise ValueError("rule must not read `change` on a box; take one that does not")

    def half_width(self, bound: PerTrial, delta: float) -> Floats:
        """Return half the width of the belief's own band for functions of norm B, (B, A), if it has one."""
        raise NotImplementedError("a belief on a box has no band of its own; take a width")

    def drawing(self, trials: Bools) -> Candidates:
        """Return candidates that sample for `trials`, (B,), only; samples of the others are undefined."""
        return self


def column(bias: Floats | float) -> Floats:
    """Return a number of each trial, (B,) or one for all, as a column, (B, 1)."""
    return ZERO if bias is NO_BIAS else np.reshape(bias, (-1, 1))


class Slopes(NamedTuple):
    """Derivatives of a score with respect to the belief at its candidate, (B, A) each."""

    mean: Floats
    std: Floats
    scores: Floats | None = None  # the scores themselves, where they are found on the way


class ConfidenceBand(NamedTuple):
    """A band is |mu - f| <= W at n points of each trial, in the units of the belief's values."""

    mean: Floats  # (B, n)
    half: Floats  # (B, n) W
    width: Floats  # (B,) w, or NaN

    @classmethod
    def of_width(cls, width: Width, belief: Belief, points: Points, t: Ints) -> ConfidenceBand:
        """Return the band mu +- w sigma, w the width in round t, (B,), plus the bias."""
        (mean, std), factor = points.band(belief), width(t, belief.gain) + belief.bias
        return cls(mean, factor[:, None] * std, factor)


class RuleMemory(Protocol):
    """State of a rule that feedback changes, of B trials; it starts anew at every reset and restart."""

    def receive(self, delivery: Delivery, mean: Floats, std: Floats) -> None:
        """Learn from delivered values before the belief, which had this mean and std, (n,), with noise."""
        ...

    def forget(self, trial: Ints) -> None:
        """Return trials that start over, (n,), to the first state; kept plays are not received again."""
        ...


class Rule(abc.ABC):
    """Function from the belief at candidates to scores; the candidate of the largest score is played.

    A rule is called, and may have the other abilities. It does not change: one that learns from feedback
    makes a memory, and reads `candidates.memory`.
    """

    unitless: bool = False  # True where scores have no unit; else they are in the units of the reward
    draws: bool = False  # True where scores are random

    @abc.abstractmethod
    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores, (B, A), as a new array."""

    def slopes(self, candidates: Candidates) -> Slopes | None:
        """Return slopes of scores that depend on mean and std at a candidate alone, for boxes; or None."""
        return None

    def factor(self, candidates: Candidates) -> Floats | float | None:
        """Return w, (B, 1) or one number, where the scores are mu + w sigma; else None."""
        return None

    def bands(self, belief: Belief, points: Points, t: Ints) -> list[ConfidenceBand]:
        """Return the bands at points on which the scores of round t, (B,), rest; empty without one."""
        return []

    def memory(self, num_trials: int) -> RuleMemory | None:
        """Return a new memory of B trials; None for a rule that learns nothing from feedback."""
        return None

    def refuted(self, belief: Belief) -> Bools | None:
        """Return where a belief contradicts the rule's assumptions, (B,); None without a test."""
        return None


@dataclass(frozen=True)
class OwnRule(Rule):
    """Rule of the user's own: any callable, with those of a rule's abilities that it has."""

    given: Callable[[Candidates], Floats]

    def __post_init__(self) -> None:
        for name in ("unitless", "draws", "slopes", "bands", "memory", "refuted"):
            object.__setattr__(self, name, getattr(self.given, name, getattr(self, name)))

    def __call__(self, candidates: Candidates) -> Floats:
        return self.given(candidates)

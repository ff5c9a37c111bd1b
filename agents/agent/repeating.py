r"""Arms that are played several times before the agent chooses again: mini-GP-UCB, mini-GP-EI.

Whatever index rule has chosen x, with C2 >= 1 given, x is played

    n = max(1, floor(lambda (C2 - 1) / sigma^2(x)))

times, at most to the horizon, and learnt from at the next choice. The rule is that of Calandriello et al.
(2022) from memory; what is said of it below is proved below, but for the bound on regret.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import Rule
from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered
from ..beliefs.gathered import Gathered
from ..model.model import Model
from ..objectives.reward import Reward
from ..restarts.base import Never

ROUNDING = 1e-9  # of a number of plays: 3 - 1e-15 is 3


class Holds:
    r"""Which arm each of B trials holds, and until when.

    While x is played n >= 2 times, a posterior variance shrinks by a factor of at most
    1 + n sigma^2(x) / lambda <= C2: the band of the choice stays valid, and is at most C times too wide. With
    g_T the realised gain, the choices of a trial are at most

        1 + 2 g_T / log((C2 + 1) / 2),

    since the n plays of each, but of one that the horizon cuts, have n sigma^2 / lambda >= (C2 - 1) / 2 and
    gain 1/2 log(1 + n sigma^2 / lambda). Holds for every kernel and every rule without first plays at random
    and without delays. From memory, and not proved here: the authors bound the regret of UCB and EI by C
    times the plain rule's bound.

    Args:
        num_trials: B.
    """

    def __init__(self, num_trials: int):
        self.action: Any = None  # (B,) arms or (B, d) actions on a box, of the last choices
        self._until = np.zeros(num_trials, dtype=np.int64)  # the round in which a trial chooses again
        self.next_choice = 0  # the round in which some trial does

    def action_in(self, now: int, choose: Callable[[Bools], tuple[Ints, Any, Ints]]) -> Any:
        """What trials hold in a round, or choose and hold from now on, (B,) arms or (B, d) actions.

        Args:
            now: the round.
            choose: from which trials are free, (B,), these trials, (n,), what they choose and how often they
                play it.
        """
        if self.next_choice <= now:
            self.begin(now, *choose(self.free(now)))
        return self.action.copy()

    def free(self, now: int) -> Bools:
        """Which trials choose in a round, (B,); none before `next_choice`."""
        return np.asarray(self._until <= now)

    def begin(self, now: int, trial: Ints, action: Any, plays: Ints) -> None:
        """Some trials have chosen, (n,), arms (n,) or actions (n, d), and how often they play them, (n,)."""
        if self.action is None:
            self.action = np.zeros((len(self._until), *action.shape[1:]), dtype=action.dtype)
        self.action[trial] = action
        self._choose_again(trial, np.where(plays > 1, now + plays, now))

    def played(self, action: Any) -> None:
        """Every trial has played; one that was made to play another arm is free to choose."""
        if self.action is None:
            return
        other = np.asarray(self.action != action)  # (B,), or (B, d) on a box
        if other.any():
            self._choose_again(np.flatnonzero(other.reshape(len(other), -1).any(axis=1)), 0)

    def end(self, trial: Ints | slice = slice(None)) -> None:
        """Trials believe something else than they did, (n,), and choose again."""
        self._choose_again(trial, 0)

    def _choose_again(self, trial: Ints | slice, round_: int | Ints) -> None:
        self._until[trial] = round_
        self.next_choice = int(self._until.min())


def plays_of(factor: float, noise: Floats, variance: Floats, left: int) -> Ints:
    """How often arms are played, (n,): n of the posterior variances of f there and lambda, (n,) each.

    Args:
        factor: C2.
        noise: lambda.
        variance: sigma^2(x).
        left: rounds to the horizon.
    """
    gained = noise * (factor - 1.0) * (1.0 + ROUNDING)
    most = max(left, 1)
    enough = gained >= most * variance  # also where the variance is 0
    plays = np.where(enough, most, gained / np.where(enough, 1.0, variance))
    return np.maximum(plays.astype(np.int64), 1)


class Holding(Protocol):
    """An agent that may play an arm several times, as far as that depends on it."""

    model: Model
    belief: Belief
    round: int
    t: Ints


def times(agent: Holding, trial: Ints, variance: Floats) -> Ints:
    """Return how often an agent plays the arms it has chosen, (n,); those of the first rounds once.

    Args:
        agent: its model says C2, and how many first rounds are played at random.
        trial: which trials have chosen, (n,).
        variance: posterior variances of f at the arms, (n,).
    """
    left, t = agent.model.setting.horizon - agent.round, agent.t[trial]
    plays = plays_of(agent.model.repeat, agent.belief.spread.noise[trial], variance, left)
    return np.where(t > agent.model.initial, plays, 1)


def require_repeatable(model: Model, rule: Rule, parts: dict[str, Any]) -> None:
    """Raise where the theorem says nothing about playing an arm again, and it would be wrong to."""
    reasons = {
        "a context may ask for another arm in the next round": model.setting.has_contexts,
        "an arm that comes and goes may be missing in the next round": model.setting.volatile,
        "a rule that draws samples wants a new one a round": getattr(rule, "draws", False),
        "constraints change what an arm is worth": parts.get("objective", Reward) is not Reward,
        "an agent that starts over is no longer sure of what it was": parts.get("restart", Never)
        is not Never,
        "noise that differs from arm to arm wants other numbers of plays": model.setting.noise_profile
        is not None,
        "a belief that may forget makes deviations grow": not _steady(parts.get("belief", Delivered)),
    }
    for reason, applies in reasons.items():
        if model.repeat > 1.0 and applies:
            raise ArgumentError("repeat", f"must be 1, got {model.repeat:g}: {reason}")


def repeating(model: Model, parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of an agent that holds arms: what comes of an arm is learnt in one step."""
    gathers = model.repeat > 1.0 and parts.get("belief", Delivered) is Delivered
    return {**parts, "belief": Gathered} if gathers else parts


def _steady(belief: Any) -> bool:
    """Whether it is a class of beliefs, which count every play alike; functions make those that forget."""
    made = belief.func if isinstance(belief, partial) else belief
    return isinstance(made, type) and issubclass(made, Belief)

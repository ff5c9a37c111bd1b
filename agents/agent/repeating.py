r"""Repeat each chosen arm several times before the next choice (mini-GP-UCB, mini-GP-EI).

For any index rule that chose x, and given C2 >= 1, x is played

    n = max(1, floor(lambda (C2 - 1) / sigma^2(x)))

times, at most to the horizon; its feedback is learnt at the next choice. The rule is that of Calandriello
et al. (2022) from memory; the statements below are proved below, except the bound on regret.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import Rule
from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered, Gathered
from ..model.model import Model
from ..objectives.base import Reward
from ..restarts.base import Never

ROUNDING = 1e-9  # of a number of plays: 3 - 1e-15 is 3


class RepeatedArms:
    r"""Record the arm that each of B trials repeats, and until which round.

    While x is played n >= 2 times, a posterior variance shrinks by a factor of at most
    1 + n sigma^2(x) / lambda <= C2: the band of the choice stays valid, and is at most C times too wide. With
    g_T the realised gain, the choices of a trial are at most

        1 + 2 g_T / log((C2 + 1) / 2),

    since the n plays of each choice, unless the horizon cuts them, have n sigma^2 / lambda >= (C2 - 1) / 2
    and gain 1/2 log(1 + n sigma^2 / lambda). This holds for every kernel and every rule without random first
    plays and without delays. From memory, not proved here: the authors bound the regret of UCB and EI by C
    times the plain rule's bound.
    """

    def __init__(self, num_trials: int):
        self.action: Any = None  # last choices: (B,) arms or (B, d) actions on a box
        self._until = np.zeros(num_trials, dtype=np.int64)  # round in which a trial chooses again
        self.next_choice = 0  # earliest of these rounds

    def action_in(self, now: int, choose: Callable[[Bools], tuple[Ints, Any, Ints]]) -> Any:
        """Return the actions of a round, (B,) or (B, d); `choose` maps free trials, (B,), to new choices.

        It returns their indices, (n,), arms (n,) or actions (n, d), and numbers of plays, (n,).
        """
        if self.next_choice <= now:
            trial, action, plays = choose(self.free(now))
            if self.action is None:
                self.action = np.zeros((len(self._until), *action.shape[1:]), dtype=action.dtype)
            self.action[trial] = action
            self.end(trial, np.where(plays > 1, now + plays, now))
        return self.action.copy()

    def free(self, now: int) -> Bools:
        """Return which trials choose in a round, (B,); none before `next_choice`."""
        return np.asarray(self._until <= now)

    def played(self, action: Any) -> None:
        """Record the actions played; a trial that played another arm than its own chooses next."""
        if self.action is None:
            return
        other = np.asarray(self.action != action)  # (B,), or (B, d) on a box
        if other.any():
            self.end(np.flatnonzero(other.reshape(len(other), -1).any(axis=1)))

    def end(self, trial: Ints | slice = slice(None), round_: int | Ints = 0) -> None:
        """Let trials choose again, (n,), in some round, by default in the next."""
        self._until[trial] = round_
        self.next_choice = int(self._until.min())


def repeats(agent: Any, trial: Ints, variance: Floats) -> Ints:
    """Return how often trials of a `GPAgent` play their choices, (n,) each; in random first rounds once."""
    left, noise = agent.setting.horizon - agent.round, agent.belief.std_posterior.noise[trial]
    plays = plays_of(agent.model.repeat, noise, variance, left)
    return np.where(agent.t[trial] > agent.model.initial, plays, 1)


def plays_of(factor: float, noise: Floats, variance: Floats, left: int) -> Ints:
    """Return n from C2, lambda, sigma^2(x) of the choices, (n,), and the rounds to the horizon."""
    gained = noise * (factor - 1.0) * (1.0 + ROUNDING)
    most = max(left, 1)
    enough = gained >= most * variance  # also where the variance is 0
    plays = np.where(enough, most, gained / np.where(enough, 1.0, variance))
    return np.maximum(plays.astype(np.int64), 1)


def repeating(model: Model, rule: Rule, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of an agent that repeats arms: the belief learns an arm's feedback in one step.

    Raise an error where the theorem does not cover the repetition.
    """
    if model.repeat <= 1.0:
        return parts
    belief, profile = parts.get("belief", Delivered), model.setting.noise_profile
    restart, objective = parts.get("restart", Never), parts.get("objective", Reward)
    made = belief.func if isinstance(belief, partial) else belief
    steady = isinstance(made, type) and issubclass(made, Belief)  # beliefs that forget come from functions
    reasons = {
        "a context may ask for another arm in the next round": model.setting.has_contexts,
        "an arm that comes and goes may be missing in the next round": model.setting.volatile,
        "a rule that draws samples needs a new sample each round": rule.draws,
        "the index of an arm under constraints changes with its costs": objective is not Reward,
        "a restart invalidates the variances from which repeats are counted": restart is not Never,
        "the number of plays is derived for noise that is equal at all arms": profile is not None,
        "posterior stds grow under a belief that forgets": not steady,
    }
    for reason, applies in reasons.items():
        if applies:
            raise ArgumentError("repeat", f"must be 1, got {model.repeat:g}: {reason}")
    return {**parts, "belief": Gathered} if belief is Delivered else parts

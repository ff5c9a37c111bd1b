"""Agents without a published kernel estimate prior mean and std from uniform first plays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..kernels.amplitude import scaled_to_std
from ..model.choice import Recommendation, offered_in
from ..model.defaults import assumed_kernel, tells_mean
from ..model.units import mean_and_std, sizes_of
from ..options import one_seed, require_reset
from ..protocol import Shown, adapted
from .assembly import PER_TRIAL, TrialList
from .generators import Streams

FIRST = 5  # values from which the prior is estimated, once
FEWEST = 2  # different values for an estimate of the std
SMALLEST = 1e-140  # std whose square, and a noise variance from it, do not underflow; 1e140 is the largest
AXES = dict.fromkeys(PER_TRIAL, 1) | {"prior_mean": 2}  # dimensions of options that differ among trials


class SelfScaled(Shown):
    """Plays uniformly until five values are delivered, then as the agent whose prior has their mean and std.

    The actions then depend on no unit: with mean m and std s of these values the agent's kernel is s^2 k and
    its prior mean m, where k is its default kernel or the one named. The agent learns all plays so far as if
    it had chosen them. The prior std of a cost, where it is withheld, is the root mean square of its first
    values. Queries before that use the values so far; while these are all equal they use none, and the
    uniform plays continue. Stopping rules are asked from the round of the fifth value on, and not about
    earlier rounds.
    """

    num_trials = None
    unit_is_known = True  # it estimates it itself

    def __init__(self, make: Callable[[Setting], Any], setting: Setting):
        self._make, self.setting = make, setting
        self._agent = make(setting)
        self._calls: list[Callable[[Any], Any]] | None = []  # of an agent; None once the prior is found
        self._rng: np.random.Generator | None = None  # before the first reset

    def reset(self, seed: int) -> None:
        """Forget everything, the prior too; takes one integer."""
        self._seed = one_seed(seed)
        (self._rng,) = Streams([self._seed]).of("first plays")
        self._agent = self._begun(self.setting)
        self._calls, self._values = [], np.empty((0, 1 + self.setting.num_constraints))
        self._offered: Bools | None = None  # arms that may be played next, (A,); None: all

    def start(self, info: dict[str, Any]) -> None:
        """Read which arms the first round has; see `Agent`."""
        self._tell(methodcaller("start", info))
        self._offer(info)

    def offer(self, arms: Bools) -> bool:
        """Let the next choice alone be among some arms, (A,); see `BaseAgent.offer`."""
        if not adapted(self._agent).offer(arms):
            return False
        self._offered = np.atleast_2d(arms)[0]
        return True

    def act(self, observation: Floats) -> Any:
        """Choose an action, uniformly in first plays; see `Agent`."""
        if self._calls is None:
            return self._agent.act(observation)
        require_reset(self._rng is not None)
        assert self._rng is not None
        if self.setting.continuous:
            return self._rng.uniform(-1.0, 1.0, self.setting.dim)
        arms = np.arange(self.setting.decisions.num_arms)
        return int(self._rng.choice(arms if self._offered is None else arms[self._offered]))

    def propensity(self, observation: Floats, action: Any) -> Any:
        """Return the probability of an arm, in first plays one over the number of available arms."""
        agent = adapted(self._agent)
        if self._calls is None or self.setting.continuous:
            return agent.propensity(observation, action)
        count = self.setting.decisions.num_arms if self._offered is None else int(self._offered.sum())
        return 1.0 / count

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; see `Agent`."""
        if self._calls is None:
            self._agent.update(observation, action, reward, info)
            return
        zeros = {key: np.zeros_like(info[key]) for key in ("feedback_reward", "feedback_cost") if key in info}
        self._agent.update(observation, action, 0.0, info | zeros)  # for its checks
        delivered = Feedback.arrived(info)
        self._calls.append(methodcaller("update", observation, action, reward, info))
        self._values = np.vstack([self._values, np.column_stack([delivered.reward, delivered.cost])])
        self._offer(info)
        if len(delivered.reward):
            self._find_prior(self._calls)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend an action; see `Agent`."""
        return self._agent.recommend(observation, among)

    def drop(self, rounds: Ints) -> None:
        """Forget pending plays that will never be delivered; see `GPAgent.drop`."""
        self._tell(methodcaller("drop", rounds))

    def __getattr__(self, name: str) -> Any:
        if name == "_agent" or name.startswith("__"):  # not set yet while unpickling
            raise AttributeError(name)
        return getattr(self._agent, name)

    def __dir__(self) -> list[str]:
        """Return the names of the agent's attributes too, for completion."""
        return [*super().__dir__(), *dir(self._agent)]

    def _tell(self, call: Callable[[Any], Any]) -> None:
        call(self._agent)
        if self._calls is not None:
            self._calls.append(call)

    def _offer(self, info: dict[str, Any]) -> None:
        offered = offered_in(info, self.setting, None)
        self._offered = None if offered is None else offered[0]

    def _find_prior(self, calls: list[Callable[[Any], Any]]) -> None:
        """Rebuild the agent from the delivered values, if they differ, and replay all calls."""
        mean, std = (float(each[0]) for each in mean_and_std(self._values[:, :1], FEWEST))
        if std == 0.0:
            return
        if not SMALLEST < std < 1.0 / SMALLEST:
            words = f"must vary by more than {SMALLEST:g} and less than {1.0 / SMALLEST:g}"
            raise ArgumentError("feedback_reward", f"{words}, got {std:.3g}; write it in another unit")
        learnt = adapted(self._agent).learns
        sizes = sizes_of(self._values[:, 1:])
        self._agent = self._begun(scaled(self.setting, mean, std, sizes, learnt))
        for call in calls[:-1]:
            call(self._agent)
        if len(self._values) >= FIRST:
            self._calls = None
            self._wait(self._agent, False)  # from this round on, whose update is the last call
        calls[-1](self._agent)

    def _begun(self, setting: Setting) -> Any:
        """Return the agent of a setting after its reset, whose stopping rules are not asked."""
        agent = self._make(setting)
        agent.reset(self._seed)
        self._wait(agent, True)
        return agent

    @staticmethod
    def _wait(agent: Any, waits: bool) -> None:
        if (stopping := adapted(agent).stopping) is not None:
            stopping.waits = waits


def scaled(setting: Setting, mean: float, std: float, sizes: Floats, learnt: bool = False) -> Setting:
    """Return the setting with a kernel of this std, this mean and these cost scales where it has none."""
    found: dict[str, Any] = {"kernel": scaled_to_std(assumed_kernel(setting, None, None, learnt), std)}
    if not tells_mean(setting) and not setting.aggregated:  # the mean of aggregated rewards is another
        found["prior_mean"] = mean
    if len(sizes) and setting.constraint_prior_std is None:
        found["constraint_prior_std"] = sizes
    return replace(setting, **found)


def self_scaled(
    make: Callable[..., Any], options: dict[str, Any], setting: Setting, num_trials: int | None
) -> SelfScaled | TrialList:
    """Return the agent of a factory for one trial, or a batch of B."""
    if num_trials is None:
        return SelfScaled(partial(make, **options), setting)
    several = {name for name, value in options.items() if np.ndim(value) == AXES.get(name, math.inf)}

    def of_trial(trial: int) -> SelfScaled:
        own = {name: np.asarray(options[name])[trial].item() for name in several}
        return SelfScaled(partial(make, **{**options, **own}), setting.of_trial(trial))

    return TrialList(list(map(of_trial, range(num_trials))))

"""An agent that learns its hyperparameters while it plays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback

from ..acquisition.rules import Rule
from ..beliefs.base import Belief
from ..model.clock import in_time
from ..model.hyperparameters import Fitter, Learning
from ..model.model import Model
from ..model.recommendation import Recommendation
from .gp_agent import GPAgent
from .training_data import TrainingData

FORM = "pairs"  # what is cheapest to build again: it keeps nothing that needs the whole prior covariance
FEWEST_VALUES = 2  # one says nothing about a length-scale


class LearningAgent:
    """Plays one trial as `GPAgent` does, and every n rounds goes over to the most likely kernel and noise.

    Where what is maximised changes once an epoch, it fits at the ends of epochs, to the values that all plays
    so far have under the new multipliers: the kernels k_l of Shi & Eryilmaz (2022), also where each epoch
    begins with a fresh posterior.

    The posterior is rebuilt from the counts and sums under the new kernel; rule and width are made again
    from the new model, whose noise deviation R and lambda are the learnt ones. A bound on the norm stays
    what it was. A fit that fails keeps the old values and counts in `failed_fits`.

    Args:
        model: what is assumed at first.
        rule_of, **parts: see `GPAgent`.
        learning: when and from what.
        make: the agent that plays, `GPAgent` or the one for boxes.
    """

    num_trials = None

    def __init__(
        self,
        model: Model,
        rule_of: Callable[[Model], Rule],
        learning: Learning,
        make: Callable[..., GPAgent] = GPAgent,
        **parts: Any,
    ):
        first = replace(model, form=model.form or FORM)
        self._make = partial(make, first, rule_of, **parts)
        self.learning, self.setting = learning, model.setting
        self.agent, self.failed_fits = self._make(), 0

    @property
    def model(self) -> Model:
        """What is assumed now."""
        return self.agent.model

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self.agent.belief

    @property
    def privileged(self) -> bool:
        """Whether it is meant to see the truth in `info`."""
        return self.agent.privileged

    @property
    def alarms(self) -> list[int] | None:
        """Rounds after which it noticed a change, None if it does not look for any."""
        return self.agent.alarms  # type: ignore[return-value] (it has one trial)

    @property
    def refuted(self) -> Bools | None:
        """Whether feedback contradicts what is assumed; see `GPAgent`."""
        return self.agent.refuted

    @property
    def feedback_window(self) -> float | None:
        """How long feedback may take to be learnt; see `GPAgent`."""
        return self.agent.feedback_window

    def reset(self, seed: int) -> None:
        """Forget everything, also what was learnt of the kernel."""
        self.agent, self.failed_fits = self._make(), 0
        self.agent.reset(seed)
        model = self.model
        noise = float(model.noise_variance)
        learning = self.learning
        self._fitter = Fitter(model.kernel, noise, model.deviation**2, learning.mean, learning.spread)
        *_, of_restarts = np.random.SeedSequence(int(seed)).spawn(3)  # the agent draws from the first two
        self._rng = np.random.default_rng(of_restarts)
        self._training_data = TrainingData(self.agent.objective.values)

    def act(self, observation: Floats) -> Any:
        """Choose an action for the observed context, (dz,)."""
        return self.agent.act(observation)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round, and fit when it is time."""
        now = self.agent.round
        self.agent.update(observation, action, reward, info)
        self._training_data.play(int(self.agent.points(observation, action)[0]))
        _, rounds, reward, cost = Feedback.arrived(info)
        kept = in_time(self.agent.clock.delay(rounds, now), self.belief.window)
        self._training_data.receive(rounds[kept], reward[kept], cost[kept])
        since = self.agent.since
        if since is not None and since[0] == self.agent.round:
            self._training_data.forget()  # it has started over; what was learnt of the kernel stays
        if self._due(self.agent.round):
            self._fit()

    def drop(self, rounds: Ints) -> None:
        """Forget pending plays whose values will never come; see `GPAgent.drop`."""
        self.agent.drop(rounds)
        self._training_data.drop(np.atleast_1d(rounds))

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """See `GPAgent`."""
        return self.agent.posterior(observation)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """The arm of the largest posterior mean; see `GPAgent.recommend`."""
        return self.agent.recommend(observation, among)

    def _due(self, rounds: int) -> bool:
        """Whether so many rounds end an epoch in which a fit was due; without constraints each is one."""
        epoch, every = self.agent.objective.epoch, self.learning.every
        return rounds % epoch == 0 and rounds // every > (rounds - epoch) // every

    def _fit(self) -> None:
        everything, most = self.learning.on == "all", self.learning.most
        point, value = self._training_data.sample(self.belief, everything, most)
        if len(value) < FEWEST_VALUES:
            return
        found = self._fitter.fit(self.agent.features, point, value, self.learning.restarts, self._rng)
        if found is None:
            self.failed_fits += 1
        else:
            self.agent.remodel(self.model.learnt(found))

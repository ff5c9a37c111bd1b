"""An agent that learns its hyperparameters while it plays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback, deviations

from ..acquisition.candidates import Rule
from ..beliefs.base import Belief
from ..model.clock import in_time
from ..model.hyperparameters import Fitter, Learning
from ..model.model import Model
from ..model.precision import told_weights
from ..model.recommendation import Recommendation
from ..showing import Shown
from .gp_agent import GPAgent
from .resuming import Resumable
from .training_data import TrainingData

FORM = "pairs"  # what is cheapest to build again: it keeps nothing that needs the whole prior covariance
FITS = "found"  # of the notes
FEWEST_VALUES = 2  # one says nothing about a length-scale
Fit = list[float] | None  # logarithms and the mean's rise; empty if it failed; None of too few values


class LearningAgent(Resumable, Shown):
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
        self._first, self._make = first, partial(make, first, rule_of, **parts)
        self.learning, self.setting = learning, model.setting
        self.agent, self.failed_fits = self._make(), 0
        self.fits: list[Fit] = []  # what each found
        self._recalled: deque[Fit] | None = None  # those to come, while it is told its history again
        self._listens = self._overdue = False

    @property
    def model(self) -> Model:
        """What is assumed now."""
        return self.agent.model

    @property
    def infeasible(self) -> Any:
        """See `GPAgent`."""
        return self.agent.infeasible

    @property
    def infeasible_since(self) -> Any:
        """See `GPAgent`."""
        return self.agent.infeasible_since

    @property
    def certified(self) -> Any:
        """See `GPAgent`."""
        return self.agent.certified

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self.agent.belief

    @property
    def weighs(self) -> bool:
        """Whether plays count for as much as is told of their noise; see `GPAgent`."""
        return self.agent.weighs

    @property
    def privileged(self) -> bool:
        """Whether it is meant to see the truth in `info`."""
        return self.agent.privileged

    @property
    def assumes_bound(self) -> bool:
        """Whether it rests on a bound that was neither given nor published."""
        return self.agent.assumes_bound

    @property
    def alarms(self) -> list[int] | None:
        """Rounds after which it noticed a change, None if it does not look for any."""
        return self.agent.alarms  # type: ignore[return-value] (it has one trial)

    @property
    def refuted(self) -> Bools | bool | None:
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
        self._fitter = Fitter(model.kernel, noise, model.deviation**2, learning.mean, learning.spreads)
        *_, of_restarts = np.random.SeedSequence(int(seed)).spawn(3)  # the agent draws from the first two
        self._rng = np.random.default_rng(of_restarts)
        self._training_data = TrainingData(self.agent.objective.values)
        self.fits = []
        self._recalled = None
        self._listens = self._overdue = False

    def start(self, info: dict[str, Any]) -> None:
        """Learn which arms the first round has; see `GPAgent`."""
        self.agent.start(info)

    def offer(self, arms: Bools) -> None:
        """Let the next question alone choose among some arms, (A,); see `GPAgent.offer`."""
        self.agent.offer(arms)

    def act(self, observation: Floats) -> Any:
        """Choose an action for the observed context, (dz,)."""
        return self.agent.act(observation)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round, and fit when it is time."""
        now, before = self.agent.round, self.agent.past.since
        self.agent.update(observation, action, reward, info)
        self._training_data.play(int(self.agent.points(observation, action)[0]))
        trial, rounds, reward, cost = Feedback.arrived(info)
        kept = in_time(self.agent.clock.delay(rounds, now), self.belief.window)
        told = deviations(info)
        weight = None if told is None or not self.weighs else told_weights(self._first, trial, told)[kept]
        self._training_data.receive(rounds[kept], reward[kept], cost[kept], weight)
        since = self.agent.past.since
        if since is not None and since is not before:
            recalled = self.agent.past.recalled[0]
            self._training_data.forget(int(since[0]), recalled)  # what was learnt of the kernel stays
        if self._due(self.agent.round):
            self._overdue = True
        if self._overdue and not self._listens:
            self._fit()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within, rounds are told one after another; it fits once, at the end, if it was time in any."""
        self._listens = True
        yield
        self._listens = False
        if self._overdue:
            self._fit()

    def drop(self, rounds: Ints) -> None:
        """Forget pending plays whose values will never come; see `GPAgent.drop`."""
        self.agent.drop(rounds)
        self._training_data.drop(np.atleast_1d(rounds))

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]] | None:
        """What is believed of the reward and of each cost; see `GPAgent.beliefs`."""
        return self.agent.beliefs(observation)

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

    @property
    def leaves_traces(self) -> bool:
        """Whether a question changes more than generators that the next fit does not make anew."""
        return self.agent.leaves_traces and not any(self._recalled or ())

    def skip(self) -> None:
        """See `Resumable`."""
        self.agent.skip()

    @property
    def generators(self) -> dict[str, list[np.random.Generator]]:
        """What questions and fits draw from, beside the ties, by role."""
        return {**self.agent.generators, "fits": [self._rng]}

    def notes(self) -> dict[str, Any] | None:
        """The draws, and what the fits found; see `Resumable`."""
        noted = super().notes()
        return None if noted is None or self.agent.notes() is None else {**noted, FITS: self.fits}

    def recall(self, notes: Mapping[str, Any]) -> None:
        """It will be told again what it was told up to these notes, and finds what it found."""
        self._recalled = deque(notes[FITS])

    def resume(self, notes: Mapping[str, Any]) -> None:
        """See `Resumable`; all fits have been made again."""
        if self._recalled:
            raise ValueError(f"the notes have {len(self._recalled)} fits more than were made")
        self._recalled = None
        super().resume(notes)

    def _fit(self) -> None:
        self._overdue = False
        fit = self._found() if self._recalled is None else self._recall_fit(self._recalled)
        self.fits.append(fit)
        if fit:
            *theta, centre = fit
            self.agent.remodel(self.model.learnt(self._fitter.take(np.array(theta), centre)))
        elif fit is not None:
            self.failed_fits += 1

    def _recall_fit(self, to_come: deque[Fit]) -> Fit:
        if not to_come:
            raise ValueError(f"the notes have {len(self.fits)} fits, fewer than were made")
        fit, size = to_come.popleft(), len(self._fitter.latest) + 1
        if fit and len(fit) != size:
            raise ValueError(f"a fit in the notes must be {size} numbers, got {len(fit)}")
        return fit

    def _found(self) -> Fit:
        everything, most = self.learning.on == "all", self.learning.most
        point, value = self._training_data.sample(self.belief, everything, most)
        if len(value) < FEWEST_VALUES:
            return None
        weight = self._training_data.weights(self.belief, everything, most) if self.belief.weighs else None
        features, restarts = self.agent.features, self.learning.restarts
        found = self._fitter.fit(features, point, value, restarts, self._rng, weight)
        return [] if found is None else [*self._fitter.latest.tolist(), found.centre]

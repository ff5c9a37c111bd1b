"""Agents of several beliefs: those over the same plays, of which one chooses, or a fresh one every epoch."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback

from ..acquisition.by_name import WithWidth
from ..acquisition.rules import PosteriorMean
from ..beliefs.base import Belief
from ..model.choice import Recommendation, TieBreaker
from ..model.model import Model
from ..model.rounds import Delivery, in_time
from ..options import require_reset, require_trials, seeds_of
from ..protocol import BaseAgent
from .assembly import TrialList, assemble, of_first
from .book import plays_of
from .generators import Streams, build
from .gp_agent import GPAgent

NOBODY = -1  # for random first plays and actions that the agent did not choose


class CandidateRecord:
    """Sum over the plays that each of K candidates chose, in B trials; others are left out."""

    def __init__(self, num_trials: int, num_candidates: int, horizon: int):
        shape = (num_trials, num_candidates)
        self.rounds = 0
        self.chosen = np.zeros(shape)  # plays, without dropped ones
        self.arrived = np.zeros(shape)  # plays that were delivered, and over these the sums of
        self.value = np.zeros(shape)  # the values,
        self.promised = np.zeros(shape)  # w sigma before each play,
        self.surprise = np.zeros(shape)  # and the value minus the mean before the play
        self._who = np.full((horizon, num_trials), NOBODY)
        self._mean, self._band = np.zeros((horizon, num_trials)), np.zeros((horizon, num_trials))

    def play(self, who: Ints, mean: Floats, band: Floats) -> None:
        """Record a round: each trial's candidate, its mean and w sigma at the action, (B,) each."""
        if self.rounds == len(self._who):
            for name in ("_who", "_mean", "_band"):
                kept = getattr(self, name)
                setattr(self, name, np.concatenate([kept, np.zeros_like(kept)]))
        t = self.rounds
        self._who[t], self._mean[t], self._band[t] = who, mean, band
        (trial,) = (who != NOBODY).nonzero()
        self.chosen[trial, who[trial]] += 1.0
        self.rounds += 1

    def add(self, trial: Ints, rounds: Ints, value: Floats) -> None:
        """Add delivered values of plays to the sums, (n,) each."""
        mine = self._who[rounds, trial] != NOBODY
        trial, rounds, value = trial[mine], rounds[mine], value[mine]
        place = trial, self._who[rounds, trial]
        np.add.at(self.arrived, place, 1.0)
        np.add.at(self.value, place, value)
        np.add.at(self.promised, place, self._band[rounds, trial])
        np.add.at(self.surprise, place, value - self._mean[rounds, trial])

    def drop(self, trial: Ints, rounds: Ints) -> None:
        """Remove plays that will never be delivered, (n,) each, from their candidates' counts."""
        who = self._who[rounds, trial]
        np.add.at(self.chosen, (trial[who != NOBODY], who[who != NOBODY]), -1.0)
        self._who[rounds, trial] = NOBODY


class ModelEnsemble(BaseAgent):
    """Runs K candidates at once: all learn from every play, and one of them chooses it in each trial.

    A subclass picks the candidate that chooses and those that are eliminated for good. Actions that the agent
    did not choose, and random first plays, are learnt but count for no candidate. A round costs K posteriors;
    `rule_of` makes the rule of the candidates' bands.
    """

    model, rule, belief, round, unit_is_known = map(
        of_first, ("model", "rule", "belief", "round", "unit_is_known")
    )

    def __init__(self, agents: Sequence[GPAgent], rule_of: WithWidth):
        first = agents[0]
        self.agents, self.setting, self.num_trials = list(agents), first.setting, first.num_trials
        self._size = first.num_trials or 1
        self.widths = [rule_of.width_of(agent.model) for agent in agents]

    @property
    def assumes_bound(self) -> bool:
        """Return True if a candidate relies on a default bound, neither given nor published."""
        return any(agent.assumes_bound for agent in self.agents)

    def reset(self, seed: int | Sequence[int]) -> None:
        for agent in self.agents:
            agent.reset(seed)
        self.record = CandidateRecord(self._size, len(self.agents), self.setting.horizon)
        self.alive = np.ones((self._size, len(self.agents)), dtype=bool)  # not eliminated, (B, K)
        self._ties = TieBreaker(Streams(seeds_of(seed, self.num_trials)).of("turns"))
        self._proposed: tuple[Any, Ints] | None = None

    def start(self, info: dict[str, Any]) -> None:
        for agent in self.agents:
            agent.start(info)

    def offer(self, arms: Any) -> bool:
        return all(agent.offer(arms) for agent in self.agents)

    def act(self, observation: Floats) -> Any:
        require_reset(self.round >= 0)
        self._proposed = action, _ = self._choose(observation, self._ties())
        return action.copy() if isinstance(action, np.ndarray) else action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        feedback, prediction = Feedback.arrived(info), self._prediction(observation, action)
        for agent in self.agents:
            agent.update(observation, action, reward, info)
        self.record.play(*prediction)
        self.record.add(feedback.trial, feedback.round, feedback.reward)
        self._proposed = None
        self.alive &= ~self._eliminated()

    def drop(self, rounds: Ints, trial: Ints | None = None) -> None:
        for agent in self.agents:
            agent.drop(rounds, trial)
        self.record.drop(*plays_of(rounds, trial))

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return the leading candidate's mean and std of each arm's mean reward; see `GPAgent`."""
        each = [agent.posterior(observation) for agent in self.agents]
        mean, std = ([known[i] for known in each] for i in range(2))
        return self._of(self.leader, mean), self._of(self.leader, std)

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return the leading candidate's beliefs at the arms; see `GPAgent.beliefs`."""
        return [self.posterior(observation)]

    def believed(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return the leading candidate's mean and std at one action per trial, (B,) each; see `GPAgent`."""
        each = zip(*(agent.believed(observation, action) for agent in self.agents), strict=True)
        mean, std = (np.array(part)[self.leader, np.arange(self._size)] for part in each)
        return mean, std

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        each = [agent.recommend(observation, among) for agent in self.agents]
        return Recommendation(*(self._of(self.leader, part) for part in zip(*each, strict=True)))

    @property
    def leader(self) -> Ints:
        """Return the candidate with the most plays among those not eliminated, (B,)."""
        require_reset(self.round >= 0)
        return np.where(self.alive, self.record.chosen, -1.0).argmax(axis=1)

    @abc.abstractmethod
    def _choose(self, observation: Floats, uniform: Floats) -> tuple[Any, Ints]:
        """Return the actions and the candidates that chose them, (B,); `uniform`, (B,), breaks ties."""

    @abc.abstractmethod
    def _eliminated(self) -> Bools:
        """Return the candidates that the feedback eliminates, (B, K); at least one must remain."""

    def _asked(self, who: Bools, observation: Floats) -> list[Any]:
        """Return the actions of candidates that some trial needs, by the mask (B, K); None for the others."""
        actions: list[Any] = []
        for agent, trials in zip(self.agents, who.T, strict=True):
            if not trials.any():
                agent.skip()
            actions.append(agent.act(observation) if trials.any() else None)
        return actions

    def _of(self, who: Ints, each: Sequence[Any]) -> Any:
        """Select each trial's entry from its chosen candidate; there is a trial axis only in a batch."""
        if self.num_trials is None:
            return each[who[0]]
        return np.array([each[k][i] for i, k in enumerate(who.tolist())])

    def _band(self, k: int, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return a candidate's mean at an action and w sigma, (B,) each."""
        agent = self.agents[k]
        mean, std = agent.domain.in_play(agent, observation, action)
        return mean, (self.widths[k](agent.t, agent.belief.gain) + agent.belief.bias) * std

    def _xi(self, delta: float) -> Floats:
        """Return xi_t = 2 R^2 log(K pi^2 t^2 / (3 delta)), (B,): n noises sum to at most sqrt(n xi_t)."""
        failures = len(self.agents) * (np.pi * self.round) ** 2 / (3.0 * delta)
        noise = np.asarray(self.model.noise_std, dtype=np.float64)
        return np.broadcast_to(2.0 * noise**2 * np.log(np.maximum(failures, 1.0)), self._size)

    def _prediction(self, observation: Floats, action: Any) -> tuple[Ints, Floats, Floats]:
        """Return the candidate that chose the action played, its mean and w sigma there, (B,) each."""
        who, mean, band = np.full(self._size, NOBODY), np.zeros(self._size), np.zeros(self._size)
        if self._proposed is not None and self.round >= self.model.initial:
            proposed, chose = self._proposed
            if np.shape(proposed) == np.shape(action):
                same = np.equal(proposed, action).reshape(self._size, -1).all(axis=1)
                who = np.where(same, chose, NOBODY)
        for k in np.unique(who[who != NOBODY]).tolist():
            mine = who == k
            known = self._band(k, observation, action)
            mean[mine], band[mine] = (each[mine] for each in known)
        return who, mean, band


def together(
    make: Callable[..., ModelEnsemble], models: Sequence[Model], rule_of: WithWidth, num_trials: int | None
) -> ModelEnsemble | TrialList:
    """Return the agent of several models: one agent of all trials on arms, one per trial on a box."""
    require_trials(num_trials)
    if num_trials is None or not models[0].setting.continuous:
        agents: Any = [assemble(model, rule_of, num_trials) for model in models]
        return make(agents, rule_of)
    each = ([assemble(model.of_trial(i), rule_of) for model in models] for i in range(num_trials))
    return TrialList([make(own, rule_of) for own in each])


class EpochAgent(GPAgent):
    """Starts all trials with a fresh belief after every epoch; only pending plays go over to it.

    With `incumbent_first` it first plays the best mean of the last epoch's belief.
    """

    def __init__(self, *given: Any, incumbent_first: bool, **parts: Any):
        self._incumbent_first = incumbent_first
        self._latest: Belief | None = None  # of the epoch before, until the first choice in this one
        super().__init__(*given, **parts)

    def reset(self, seed: Any) -> None:
        self._begun = 0  # round in which the epoch began
        self._latest = None
        super().reset(seed)

    def act(self, observation: Floats) -> Any:
        if self._latest is None:
            return super().act(observation)
        kept = self.belief, self.rule
        self.belief, self.rule, self._latest = self._latest, PosteriorMean(), None
        try:
            return super().act(observation)
        finally:
            self.belief, self.rule = kept

    def _follow(self) -> None:
        super()._follow()
        if self.round % self.objective.epoch:
            return
        # A fresh belief. The uniform first plays are over: they are made once a trial.
        self._latest = self.belief if self._incumbent_first else None
        self._assume(replace(self.model, initial=0))
        self.take(belief=build(self._parts[0], self.model, self.streams, "belief", self._size))
        self._begun, rows = self.round, self.book.pending()
        self.belief.condition(self.round, rows.where(self._awaited(rows.round)), self.clock)
        self.t[:] = 1

    def _awaited(self, rounds: Ints) -> Bools:
        """Return which earlier plays could still be delivered in time when the epoch began, (n,) each."""
        return np.asarray(in_time(self.clock.delay(rounds, self._begun), self.belief.window))

    def _learn(self, point: Ints, delivery: Delivery, values: Delivery) -> None:
        own = (values.round >= self._begun) | self._awaited(values.round)
        super()._learn(point, delivery, values.where(own))

    def forget(self, trial: Ints, kept: bool = False) -> None:
        super().forget(trial, kept)
        if self._latest is not None:
            self._latest.forget(trial)


def in_epochs(incumbent_first: bool | None) -> dict[str, Any]:
    """Return the kind of agents that begin epochs afresh; {} for None, those that do not."""
    return {} if incumbent_first is None else {"kind": partial(EpochAgent, incumbent_first=incumbent_first)}

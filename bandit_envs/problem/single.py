"""The dynamics of one trial, on numbers: `Simulator` with arrays of one entry takes three times as long."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.outcome import Outcome
from bandit_envs.problem.problem import Problem, Trial
from bandit_envs.problem.rounds import Rounds

ROW = np.zeros(1, dtype=np.int64)


class SingleSimulator(Rounds):
    """Plays one trial; its outcomes are those of `Simulator`, bit for bit, without the axis of trials."""

    def __init__(self, problem: Problem):
        super().__init__(problem, 1)

    def start(self, trial: Trial) -> Outcome:
        """Start a new trial."""
        return self.begin(ROW, [trial]).alone

    def play(self, action: Any) -> Outcome:
        """Play an arm, or an action in [-1, 1]^d."""
        t = self.round.item()
        self._check_started(t, t)
        means = self._means(self.version.item(t), self.context.item(t), action)
        delay = self._delay(self.wait.item(t), action)
        latest = t + len(self.slots)  # columns of slots K - 1..0 end before it
        self.actions[0, t] = action
        self.observed_since[0, latest - 1] = means + self.noise[0, t]
        self.due_since[0, latest - 1] = -1 if delay < 0 else t + delay
        self.round[0] = t + 1

        arrived = self.due_since[0, t:latest][::-1] == t
        values = np.where(arrived[:, None], self.observed_since[0, t:latest][::-1], 0.0)
        optimum = self.optimum.item(t)
        return Outcome(
            observation=self.views[self.context.item(t + 1)].copy(),
            reward=values[:, 0].sum().item(),
            finished=t + 1 >= self.problem.horizon,
            t=t,
            arrived=arrived,
            step=np.where(arrived, t - self.slots, -1),
            values=values,
            regret=optimum - means.item(0),
            means=means,
            optimum=optimum,
            delay=delay,
            segment=self.segment.item(t),
        )

    def _means(self, version: int, context: int, action: Any) -> Floats:
        """Noiseless reward and costs of the play, (1 + C,)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            return self._evaluate(0, version, context, action)
        if version != self.shown.item():
            self._show(0, version)
        return self.tables[0, :, context * decisions.num_arms + action].copy()

    def _delay(self, wait: float, action: Any) -> int:
        """Delay of the play in rounds, -1 where the feedback never arrives."""
        law = self.problem.delay
        slowdown = (
            law.slowdown((action[None] + 1.0) / 2.0)
            if self.problem.decisions.continuous
            else self.slowdown[action : action + 1]
        )
        rounds = law.in_rounds(wait * slowdown).item()
        return -1 if rounds > self.problem.window else int(rounds)

"""Simulate one trial on numbers: `Simulator` with arrays of one entry takes three times as long."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.outcome import Outcome
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.rounds import Rounds
from bandit_envs.problem.trial import Trial

ROW = np.zeros(1, dtype=np.int64)
NONE = np.zeros(0)


class SingleSimulator(Rounds):
    """Play one trial; outcomes equal those of `Simulator`, bit for bit, without the axis of trials."""

    def __init__(self, problem: Problem):
        super().__init__(problem, 1)

    def start(self, trial: Trial) -> Outcome:
        """Start a new trial."""
        return self.begin(ROW, [trial]).single

    def play(self, action: Any) -> Outcome:
        """Play an arm, or an action in [-1, 1]^d."""
        t = self.round.item()
        self._check_started(t, t, self.over.item())
        self.check_available(ROW, action)
        cost = 0.0
        if not self.problem.play_costs.is_free:
            cost = self._cost_of(0, self.context.item(t), action)
            if not self._fits(0, cost):
                return self._stop(ROW).single
        means = self._means(self.version.item(t), self.context.item(t), action)
        latest = t + len(self.slots)  # columns of slots K - 1..0 end before it
        self.actions[0, t], self.earned[0, t] = action, means[0]
        noise_scale = self._noise_scale(action)
        self.observed_since[0, latest - 1] = means + noise_scale * self.noise[0, t]
        optimum = self.optimum.item(t)
        regret = optimum - means.item(0)
        corruption = self._corrupt(t, latest - 1, regret)
        delay = self._delay(self._waits(0, t, self.observed_since[0, latest - 1, 0]), action)
        self.due_since[0, latest - 1] = -1 if delay < 0 else t + delay
        self.round[0] = t + 1
        self.paid[0] += cost

        arrived = self.due_since[0, t:latest][::-1] == t
        values = np.where(arrived[:, None], self.observed_since[0, t:latest][::-1], 0.0)
        outcome = Outcome(
            observation=self.views[self.context.item(t + 1)].copy(),
            reward=values[:, 0].sum().item(),
            finished=t + 1 >= self.problem.horizon,
            t=t,
            arrived=arrived,
            step=np.where(arrived, t - self.slots, -1),
            std=self._delivered_std(t, latest, arrived, noise_scale),
            values=values,
            regret=regret,
            means=means,
            optimum=optimum,
            delay=delay,
            segment=self.segment.item(t),
            corruption=corruption,
            available=self.masks(0),
            played=True,
            terminated=False,
            spent=cost,
            paid=self._seen_costs(t, latest, arrived, cost),
            rate=self.rate.item(t),
        )
        return outcome.aggregated if self.problem.aggregated else outcome

    def _means(self, version: int, context: int, action: Any) -> Floats:
        """Return noiseless reward and costs of the play, (1 + C,)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            return self._evaluate(0, version, context, action)
        if version != self.shown.item():
            self._show(0, version)
        return self.tables[0, :, context * decisions.num_arms + action].copy()

    def _delivered_std(self, t: int, latest: int, arrived: Bools, noise_scale: Floats) -> Floats:
        """Store the noise std of the play's reward, if published; return the delivered ones, (K,)."""
        if not self.std_since.size:
            return NONE
        self.std_since[0, latest - 1] = self._stated_std(0) * noise_scale.item(0)
        return np.where(arrived, self.std_since[0, t:latest][::-1], 0.0)

    def _seen_costs(self, t: int, latest: int, arrived: Bools, cost: float) -> Floats:
        """Store the observed cost of the play; return those of delivered feedback, (K,)."""
        if not self.paid_since.size:
            return NONE
        self.paid_since[0, latest - 1] = self.problem.play_costs.seen(cost, self.cost_noise.item(t))
        return np.where(arrived, self.paid_since[0, t:latest][::-1], 0.0)

    def _corrupt(self, t: int, column: int, gap: float) -> float:
        """Add to the reward the attack that the remaining budget allows; return it."""
        law = self.problem.corruption
        if not law.budget or not law.strikes(gap):
            return 0.0
        wish = self.attack.item(t)
        done = math.copysign(min(abs(wish), law.budget - self.spent.item()), wish)
        self.spent[0] += abs(done)
        self.observed_since[0, column, 0] += done
        return done

    def _delay(self, wait: float, action: Any) -> int:
        """Return the delay of the play in rounds, -1 if the feedback is never delivered."""
        law = self.problem.delay
        slowdown = (
            law.slowdown((action[None] + 1.0) / 2.0)
            if self.problem.decisions.continuous
            else self.slowdown[action : action + 1]
        )
        rounds = law.in_rounds(wait * slowdown).item()
        return -1 if rounds > self.problem.window else int(rounds)

"""The dynamics of B trials at once, shared by the single and the vector environment; knows no Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.problem import Problem, Trial


class Outcome(NamedTuple):
    """What one round of n trials yields; also what a reset yields, with neutral values."""

    observation: Floats  # (n, dz), the next context
    reward: Floats  # (n,) sum of the rewards that arrive
    finished: Bools  # (n,)
    t: Ints  # (n,) round just played, -1 at reset
    arrived: Bools  # (n, K) slot k is the round played k rounds ago
    step: Ints  # (n, K) that round, -1 where nothing arrives
    deviation: Floats  # (n, K) of the noise on the rewards that arrive, where it is told; else (n, 0)
    values: Floats  # (n, K, 1 + C) reward and costs that arrive, 0 elsewhere
    regret: Floats  # (n,)
    means: Floats  # (n, 1 + C) of the play
    optimum: Floats  # (n,)
    delay: Ints  # (n,) of the play
    segment: Ints  # (n,)
    corruption: Floats  # (n,) what was added to the reward of the play

    def each(self, change: Callable[[Any], Any]) -> Outcome:
        """Apply the same change to every array."""
        return Outcome(*[change(part) for part in self])

    @staticmethod
    def concatenate(outcomes: Sequence[Outcome]) -> Outcome:
        """Stack the trials of several outcomes."""
        parts: list[Any] = [np.concatenate(arrays) for arrays in zip(*outcomes, strict=True)]  # type: ignore[arg-type]
        return Outcome(*parts)


DRAWN = (
    "context",
    "wait",
    "segment",
    "version",
    "optimum",
    "noise",
    "attack",
)  # of a trial before it is played


class Simulator:
    """Plays B trials, each at its own round; a trial that is begun again leaves the others alone.

    Args:
        problem: what all trials are drawn from.
        num_trials: B.
    """

    def __init__(self, problem: Problem, num_trials: int):
        costs, horizon = len(problem.constraints), problem.horizon
        self.problem = problem
        self.slots = np.arange(problem.window + 1)  # (K,)
        self.round = np.full(num_trials, -1)  # before the first reset
        self.trials: list[Trial | None] = [None] * num_trials
        self.alone = num_trials == 1  # and no view of another, whose memory it would leave
        shape = (num_trials, horizon)
        self.context = np.zeros((num_trials, horizon + 1), dtype=np.int64)
        self.segment = np.zeros(shape, dtype=np.int64)
        self.version = np.zeros(shape, dtype=np.int64)
        self.wait = np.zeros(shape)
        self.due = np.zeros(shape, dtype=np.int64)  # round in which the feedback of a play arrives, -1 never
        self.optimum = np.zeros(shape)
        self.noise = np.zeros((*shape, 1 + costs))
        self.attack = np.zeros(shape)
        self.spent = np.zeros(num_trials)  # of the budget of corruption
        self.observed = np.zeros((*shape, 1 + costs))
        self.actions = np.zeros((*shape, problem.decisions.arms.shape[1])[: 2 + problem.decisions.continuous])
        self.tables = np.zeros(
            (num_trials, 1 + costs, len(problem.decisions.points))
        )  # of the current version
        self.shown = np.zeros(num_trials, dtype=np.int64)  # which version `tables` holds
        self.slowdown = problem.delay.slowdown(problem.decisions.unit_arms)  # (A,)
        self.laws = [problem.noise, *[problem.constraint_noise] * costs]
        self.loudness = np.stack([law.shape(problem.decisions.unit_arms) for law in self.laws])  # (1 + C, A)
        told = horizon if problem.noise.tells_shape and problem.publish_model else 0
        self.deviation = np.zeros((num_trials, told))  # of the noise on each round's reward
        self.views = problem.setting().scaled_contexts

    def begin(self, rows: Ints, trials: list[Trial]) -> Outcome:
        """Start new trials in the given rows, (n,)."""
        for i, trial in zip(rows, trials, strict=True):
            self.trials[i] = trial
            self.tables[i] = trial.means[0]
            for name in DRAWN:
                self._take(i, name, getattr(trial, name))
        self.round[rows] = self.shown[rows] = 0
        self.spent[rows] = 0.0
        n, slots, values = len(rows), len(self.slots), self.noise.shape[2]
        return Outcome(
            observation=self.views[self.context[rows, 0]],
            reward=np.zeros(n),
            finished=np.zeros(n, dtype=bool),
            t=np.full(n, -1),
            arrived=np.zeros((n, slots), dtype=bool),
            step=np.full((n, slots), -1),
            deviation=np.zeros((n, slots if self.deviation.size else 0)),
            values=np.zeros((n, slots, values)),
            regret=np.zeros(n),
            means=np.zeros((n, values)),
            optimum=np.zeros(n),
            delay=np.zeros(n, dtype=np.int64),
            segment=np.zeros(n, dtype=np.int64),
            corruption=np.zeros(n),
        )

    def _take(self, row: int, name: str, drawn: Any) -> None:
        """Keep what a trial has drawn of each round; that of the only trial stays where it is."""
        if self.alone:
            setattr(self, name, drawn[None])
        else:
            getattr(self, name)[row] = drawn

    def play(self, rows: Ints, actions: Any) -> Outcome:
        """Play one action in each of the given rows, (n,): arms, or actions in [-1, 1]^d."""
        t = self.round[rows]
        self._check_started(rows, t)
        segment, context = self.segment[rows, t], self.context[rows, t]
        means = self._means(rows, self.version[rows, t], context, actions)
        self.actions[rows, t] = actions
        loudness = self._loudness(actions)
        self.observed[rows, t] = means + loudness * self.noise[rows, t]
        self._note_deviation(rows, t, loudness[:, 0])
        regret = self.optimum[rows, t] - means[:, 0]
        corruption = self._corrupt(rows, t, regret)
        delay = self._delay(self.wait[rows, t], actions)
        self.due[rows, t] = np.where(delay < 0, -1, t + delay)
        self.round[rows] = t + 1

        step = t[:, None] - self.slots  # negative before the first round; the mask hides those
        column = rows[:, None]
        arrived = (step >= 0) & (self.due[column, step] == t[:, None])
        values = np.where(arrived[:, :, None], self.observed[column, step], 0.0)
        return Outcome(
            observation=self.views[self.context[rows, t + 1]],
            reward=values[:, :, 0].sum(axis=1),
            finished=t + 1 >= self.problem.horizon,
            t=t,
            arrived=arrived,
            step=np.where(arrived, step, -1),
            deviation=np.where(arrived, self.deviation[column, step], 0.0)
            if self.deviation.size
            else np.zeros((len(rows), 0)),
            values=values,
            regret=regret,
            means=means,
            optimum=self.optimum[rows, t],
            delay=delay,
            segment=segment,
            corruption=corruption,
        )

    def view(self, row: int) -> Simulator:
        """Return one trial as a simulator of its own that shares this one's memory."""
        single = object.__new__(Simulator)
        batched = {key: value[row : row + 1] for key, value in vars(self).items() if key in _BATCHED}
        single.__dict__.update(vars(self) | batched | {"alone": False})
        return single

    def _check_started(self, rows: Ints, t: Ints) -> None:
        if (t < 0).any():
            raise RuntimeError("step was called before reset; call reset first")
        if (t >= self.problem.horizon).any():
            raise RuntimeError(
                f"step was called after the last of {self.problem.horizon} rounds;"
                " call reset to start a new trial"
            )

    def _delay(self, waits: Floats, actions: Any) -> Ints:
        """Delays of the plays in rounds, -1 where the feedback never arrives, (n,)."""
        law = self.problem.delay
        slowdown = (
            law.slowdown((actions + 1.0) / 2.0)
            if self.problem.decisions.continuous
            else self.slowdown[actions]
        )
        rounds = law.in_rounds(waits * slowdown)
        return np.where(rounds > self.problem.window, -1.0, rounds).astype(np.int64)

    def _loudness(self, actions: Any) -> Floats:
        """Deviation of the noise on reward and costs of plays, in units of the stated ones, (n, 1 + C)."""
        if not self.problem.decisions.continuous:
            return self.loudness[:, actions].T
        return np.stack([law.shape((actions + 1.0) / 2.0) for law in self.laws], axis=1)

    def _note_deviation(self, rows: Ints, t: Ints, loudness: Floats) -> None:
        """Keep the deviation of the plays' rewards, where it is told."""
        if self.deviation.size:
            trials = [self.trials[i] for i in rows.tolist()]
            stated = np.array([trial.setting.noise_std for trial in trials if trial is not None])
            self.deviation[rows, t] = stated * loudness

    def _corrupt(self, rows: Ints, t: Ints, gap: Floats) -> Floats:
        """Add to the rewards what is left of the attacker's budget allows, (n,); return it."""
        law = self.problem.corruption
        wish = np.where(law.strikes(gap), self.attack[rows, t], 0.0)
        done = np.sign(wish) * np.minimum(np.abs(wish), law.budget - self.spent[rows])
        self.spent[rows] += np.abs(done)
        self.observed[rows, t, 0] += done
        return done

    def _means(self, rows: Ints, version: Ints, context: Ints, actions: Any) -> Floats:
        """Noiseless reward and costs of the plays, (n, 1 + C)."""
        if self.problem.decisions.continuous:
            plays = zip(rows, version, context, actions, strict=True)
            return np.array([self._evaluate(*play) for play in plays]).reshape(len(rows), self.noise.shape[2])
        for i in rows[version != self.shown[rows]]:
            self.shown[i] = self.version[i, self.round[i]]
            self.tables[i] = self.trials[i].means[self.shown[i]]  # type: ignore[union-attr]
        return self.tables[rows, :, self.problem.decisions.point_index(context, actions)]

    def _evaluate(self, row: int, version: int, context: int, action: Floats) -> Floats:
        trial = self.trials[row]
        assert trial is not None
        point = self.problem.decisions.with_context(context, trial.setting.to_point(action)[None])
        return np.array([function(point)[0] for function in trial.between[version]])


_BATCHED = (
    *(
        "round",
        "trials",
        "context",
        "segment",
        "version",
        "wait",
        "due",
        "optimum",
        "noise",
        "observed",
        "actions",
        "deviation",
        "attack",
        "spent",
    ),
    *("tables", "shown"),
)

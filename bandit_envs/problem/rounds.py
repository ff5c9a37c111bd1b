"""The outcome of a round, and the state of B trials while they are played: draws and results of each."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.duels import DuelLaw
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.trial import Trial, is_in, mask_of

# Fields that a trial draws before it is played, and the role without which they are zero or never read.
DRAWN = {
    "optimum": None,
    "noise": None,
    "context": "context",
    "wait": "delay",
    "worst": "delay",
    "segment": "changes",
    "version": "changes",
    "attack": "corruption",
    "bits": "availability",
    "rate": "cost_noise",
    "cost_noise": "cost_noise",
}


class RoundOutcome(NamedTuple):
    """Hold one round of n trials, neutral after a reset; of a single trial it has no axis n."""

    observation: Floats  # (n, dz), the next context
    reward: Any  # (n,) sum of the delivered rewards
    finished: Any  # (n,)
    t: Any  # (n,) round just played, -1 at reset
    arrived: Any  # (n, K) slot k is the round played k rounds ago
    step: Any  # (n, K) that round, -1 where nothing is delivered
    std: Floats  # (n, K) noise std of the delivered rewards where published; else (n, 0)
    values: Floats  # (n, K, 1 + C) delivered reward and costs, 0 elsewhere
    regret: Any  # (n,)
    means: Floats  # (n, 1 + C) of the play
    optimum: Any  # (n,)
    delay: Any  # (n,) of the play
    segment: Any  # (n,)
    corruption: Any  # (n,) amount added to the reward of the play
    available: Any  # (n, A) int8, arms that may be played next, if volatile; else (n, 0)
    played: Any  # (n,) whether a play was made
    terminated: Any  # (n,) whether none was made because its cost exceeded the budget
    spent: Any  # (n,) by the play
    paid: Floats  # (n, K) observed costs of plays with delivered feedback, with a budget; else (n, 0)
    rate: Any  # (n,) largest mean reward a unit of cost
    moved: Floats  # (n, 1) cost of the move from the last play, where moves cost; else (n, 0)
    regrets: Floats  # (n, 2) of the two arms of a duel; else (n, 0)

    def each(self, change: Callable[[Any], Any]) -> "RoundOutcome":
        """Apply one function to every array."""
        return RoundOutcome(*[change(part) for part in self])

    @property
    def aggregated(self) -> "RoundOutcome":
        """Return the outcome with one slot of step -1, the sum of the delivered, anonymous feedback.

        Costs of plays are summed too, because single ones would identify the plays.
        """
        values = self.values.sum(axis=-2, keepdims=True)
        values[..., 0, 0] = self.reward
        one = values[..., 0]
        paid = self.paid.sum(axis=-1, keepdims=True) if self.paid.shape[-1] else self.paid
        arrived, step = np.ones_like(one, bool), np.full_like(one, -1, int)
        return self._replace(arrived=arrived, step=step, values=values, paid=paid)

    @property
    def single(self) -> "RoundOutcome":
        """Return the outcome of the only trial, without its axis."""
        return self.each(lambda part: part[0] if part.ndim > 1 else part.item())

    @staticmethod
    def merged(outcomes: "Sequence[RoundOutcome]", rows: Sequence[Any]) -> "RoundOutcome":
        """Stack the trials of several outcomes, and put them in the order of their rows, (n,) each."""
        order = np.concatenate(rows).argsort()
        parts: list[Any] = [np.concatenate(arrays)[order] for arrays in zip(*outcomes, strict=True)]  # type: ignore[arg-type]
        return RoundOutcome(*parts)


class Rounds:
    """Hold B trials of a problem, each at its own round; restarting one leaves the others unchanged.

    They finish after `limit` rounds, by default the horizon.
    """

    def __init__(self, problem: Problem, num_trials: int, limit: int | None = None):
        costs, horizon = len(problem.constraints), problem.horizon
        self.problem, self.limit = problem, np.array(limit or horizon)
        self.slots = np.arange(problem.window + 1)  # (K,)
        self.numbers = np.arange(-problem.window, problem.horizon)  # of the rounds below
        self.round = np.full(num_trials, -1)  # before the first reset
        self.trials: list[Any] = [None] * num_trials  # each a Trial, after its first reset
        self.is_single = num_trials == 1  # and not a view, which must write to shared memory
        shape, lead = (num_trials, horizon), problem.window
        zeros = partial(np.zeros, order="F")  # what all trials read in a round lies together in memory
        self.context = zeros((num_trials, horizon + 1), dtype=np.int64)
        self.segment = zeros(shape, dtype=np.int64)
        self.version = zeros(shape, dtype=np.int64)
        self.wait = zeros(shape)
        self.optimum = zeros(shape)
        self.worst = zeros(shape)
        self.noise = zeros((*shape, 1 + costs))
        self.attack = zeros(shape)
        self.volatile = problem.volatile
        arms = problem.decisions.num_arms if self.volatile else 0
        self.bits = zeros((num_trials, horizon + 1, -(-arms // 8)), dtype=np.uint8)
        self.no_masks, self.no_numbers = np.zeros((num_trials, 0), np.int8), np.zeros((num_trials, 0))
        self.drawn = [name for name, role in DRAWN.items() if role in (None, *problem.random_roles)]
        self.drawn += ["version", "segment"] if problem.drifts else []  # of functions that no change draws
        self.may_wait, self.may_change = "wait" in self.drawn, "version" in self.drawn
        self.earned = zeros(shape)  # noiseless reward of each play
        self.spent = np.zeros(num_trials)  # of the budget of corruption
        self.rate, self.cost_noise = zeros(shape), zeros(shape)
        self.paid = np.zeros(num_trials)  # for plays
        self.over = np.zeros(num_trials, dtype=bool)  # a play did not fit into the budget
        self.actions = zeros((*shape, *problem.decisions.action_shape))
        # K - 1 rounds without feedback come first: the slots of round t are the columns t..t + K - 1.
        self.due_since = np.full((num_trials, lead + horizon), -1, order="F")
        self.observed_since = zeros((num_trials, lead + horizon, 1 + costs))
        published = problem.noise.publishes_shape and problem.publish_model and not problem.aggregated
        self.std_since = zeros((num_trials, (lead + horizon) * published))  # of the noise on the rewards
        priced = 0 if problem.play_costs.is_free else lead + horizon
        self.paid_since = zeros((num_trials, priced))  # observed cost of each play
        points = len(problem.decisions.points)
        self.tables = np.zeros((num_trials, 1 + costs, points))  # of the current version
        self.shown = np.zeros(num_trials, dtype=np.int64)  # version held in `tables`
        unit_arms = problem.decisions.unit_arms
        self.slowdown = problem.delay.slowdown(unit_arms)  # (A,)
        self.laws = [problem.noise, *[problem.constraint_noise] * costs]
        self.noise_scale = np.stack([law.shape(unit_arms) for law in self.laws])  # (1 + C, A)
        self.even_noise = not problem.decisions.continuous and bool((self.noise_scale == 1.0).all())
        self.views = problem.published.scaled_contexts

    @property
    def due(self) -> Ints:
        """Return the round in which the feedback of each play is delivered, -1 never, (B, T)."""
        return self.due_since[:, len(self.slots) - 1 :]

    @property
    def observed(self) -> Floats:
        """Return reward and costs of each play, with noise, (B, T, 1 + C)."""
        return self.observed_since[:, len(self.slots) - 1 :]

    def begin(self, rows: Ints, trials: list[Trial]) -> RoundOutcome:
        """Start new trials in the given rows, (n,)."""
        self._enter(rows, trials)
        return self._nothing(rows)

    def _enter(self, rows: Ints, trials: list[Trial]) -> None:
        for i, trial in zip(rows, trials, strict=True):
            self.trials[i] = trial
            self.tables[i] = trial.means[0]
        where = rows if len(rows) < len(self.round) else slice(None)  # of all rows nothing is copied
        for name in self.drawn:
            drawn = [getattr(trial, name) for trial in trials]
            if self.is_single:
                setattr(self, name, drawn[0][None])  # not copied
            else:
                getattr(self, name)[where] = drawn
        self.round[where] = self.shown[where] = 0
        self.spent[where] = self.paid[where] = 0.0
        self.over[where] = False

    def _nothing(self, rows: Ints) -> RoundOutcome:
        """Return the outcome before the first round of trials, (n,), neutral in everything."""
        n, slots, values = len(rows), self.problem.slots, self.noise.shape[2]
        numbers = ("reward", "regret", "optimum", "corruption", "spent", "rate")
        flags = ("finished", "played", "terminated")
        return RoundOutcome(
            observation=self.views[self.context[rows, self.round[rows]]],
            t=np.full(n, -1),
            arrived=np.zeros((n, slots), dtype=bool),
            step=np.full((n, slots), -1),
            std=np.zeros((n, slots if self.std_since.size else 0)),
            values=np.zeros((n, slots, values)),
            means=np.zeros((n, values)),
            delay=np.zeros(n, dtype=np.int64),
            segment=np.zeros(n, dtype=np.int64),
            available=self.masks(rows),
            paid=np.zeros((n, slots if self.paid_since.size else 0)),
            moved=np.zeros((n, 0 if self.problem.movement.is_free else 1)),
            regrets=np.zeros((n, 2 if self.problem.decisions.duel else 0)),
            **{name: np.zeros(n) for name in numbers},
            **{name: np.zeros(n, dtype=bool) for name in flags},
        )

    def masks(self, rows: Any) -> Any:
        """Return the arms that trials may play in their round, int8 (n, A); (n, 0) if not volatile."""
        if not self.volatile:
            return self.no_masks[rows] if isinstance(rows, int) else self.no_masks[: len(rows)]
        return mask_of(self.bits[rows, self.round[rows]], self.problem.decisions.num_arms)

    def _stop(self, rows: Ints) -> RoundOutcome:
        """End trials, (n,), whose next play costs more than the remaining budget."""
        self.over[rows] = True
        t = self.round[rows]
        last = t + 1 >= self.limit  # whether or not the play is made
        ended, never = np.ones(len(rows), dtype=bool), np.full(len(rows), -1)
        return self._nothing(rows)._replace(t=t, finished=last, terminated=ended, delay=never)

    def _cost_of(self, row: int, context: int, action: Any) -> float:
        trial, decisions = self.trials[row], self.problem.decisions
        if not decisions.continuous:
            return trial.play_costs.values.item(context * decisions.num_arms + action)
        point = decisions.with_context(context, trial.setting.to_point(action)[None])
        return trial.play_costs.between(point).item()

    def _moved(self, rows: Ints, t: Ints, actions: Any) -> Floats:
        """Return the costs of moves to these plays from the last ones, (n, 1); (n, 0) where they are free."""
        law = self.problem.movement
        if law.is_free:
            return self.no_numbers[: len(rows)]
        before = self._places(self.actions[rows, np.maximum(t - 1, 0)])
        return np.where(t > 0, law.cost(before, self._places(actions)), 0.0)[:, None]

    def _places(self, actions: Any) -> Floats:
        """Return the points of actions in the unit box, (n, d)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            return (actions + 1.0) / 2.0
        return decisions.unit_arms[actions.astype(np.int64)]

    def _fits(self, row: int, cost: float) -> bool:
        return self.paid.item(row) + cost <= self.problem.play_costs.budget

    def _show(self, row: int, version: int) -> None:
        self.shown[row] = version
        self.tables[row] = self.trials[row].means[version]

    def _evaluate(self, row: int, version: int, context: int, action: Floats) -> Floats:
        """Return noiseless reward and costs of a point of a box, (d,) in [-1, 1] -> (1 + C,)."""
        trial = self.trials[row]
        point = self.problem.decisions.with_context(context, trial.setting.to_point(action)[None])
        return np.array([function(point)[0] for function in trial.between[version]])

    def _noise_scale(self, actions: Any) -> Floats:
        """Return the noise stds on reward and costs of plays over the stated ones, (..., 1 + C)."""
        if not self.problem.decisions.continuous:
            # one column is a view, of many `take` is faster
            several = isinstance(actions, np.ndarray)
            return self.noise_scale.take(actions, axis=1).T if several else self.noise_scale[:, actions]
        unit = np.atleast_2d((actions + 1.0) / 2.0)
        each = np.stack([law.shape(unit) for law in self.laws], axis=1)
        return each if actions.ndim == 2 else each[0]

    def _observed(self, means: Floats, drawn: Floats, context: Any, actions: Any) -> Floats:
        """Return reward and costs of plays as observed, from the draws of their rounds, (..., 1 + C)."""
        law, noise = self.problem.noise, drawn if self.even_noise else self._noise_scale(actions) * drawn
        if law.num_points:
            point, noise = self.problem.decisions.point_index(context, actions), noise.copy()
            noise[..., 0] = law.of_runs(drawn[..., 0], point)
        observed = means + noise
        if law.draws_outcomes:
            observed[..., 0] = law.of_means(drawn[..., 0], means[..., 0])
        return observed

    def _chance(self, q: Floats, context: Any, arms: Ints) -> Floats:
        """Return the chance of the first of two arms to win, (...), given both arms' rewards, (..., 2)."""
        law = self.problem.reward
        assert isinstance(law, DuelLaw)
        return law.chance(q, context, arms)

    def _waits(self, now: Any, reward: Any) -> Any:
        """Return the waits of plays with these rewards, (n,), before the arms' slowdown."""
        law, drawn = self.problem.delay, self.wait[now]
        if not law.depends_on_rewards:
            return drawn
        best, worst = self.optimum[now], self.worst[now]
        extent = np.where(best > worst, best - worst, np.inf)  # a constant function has no shortfall
        return law.wait(drawn, np.clip((best - reward) / extent, 0.0, 1.0), reward)

    def _slowdown_of(self, actions: Any) -> Any:
        """Return the factors of the waits of plays; of a duel those of its first arm, which are 1."""
        if self.problem.decisions.continuous:
            return self.problem.delay.slowdown(np.atleast_2d((actions + 1.0) / 2.0))
        return self.slowdown[actions[..., 0] if self.problem.decisions.duel else actions]

    def _check_started(self, earliest: int, latest: int, over: bool = False) -> None:
        """Raise unless the next rounds of some trials exist: after reset, before the end."""
        if earliest < 0:
            raise RuntimeError("step was called before reset; call reset first")
        if over:
            raise RuntimeError("step was called after the budget was spent; call reset to start a new trial")
        if latest >= self.problem.horizon:
            raise RuntimeError(
                f"step was called after the last of {self.problem.horizon} rounds;"
                " call reset to start a new trial"
            )

    def check_available(self, rows: Ints, arms: Any) -> None:
        """Raise unless the arms may be played in the trials' rounds, (n,) each."""
        if not self.volatile:
            return
        missing = ~is_in(self.bits[rows, self.round[rows], arms >> 3], arms)
        if missing.any():
            i = int(missing.argmax())
            where = f"trial {rows[i]}, " if len(self.round) > 1 else ""
            raise ValueError(
                f"action must be an arm that is available, got {np.ravel(arms)[i]}, which is missing from "
                f'{where}round {self.round[rows[i]]}; choose where info["action_mask"] is 1, as '
                'env.action_space.sample(info["action_mask"]) does'
            )

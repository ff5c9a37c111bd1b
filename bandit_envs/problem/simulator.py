"""The dynamics of B trials at once, and of one trial on numbers; no Gymnasium here."""

import math
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.duels import fought
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.rounds import RoundOutcome, Rounds
from bandit_envs.problem.trial import Trial

_BATCHED = (
    *("round", "trials", "context", "segment", "version", "wait", "optimum", "worst", "noise"),
    *("actions", "earned", "attack", "bits", "spent", "std_since"),
    *("rate", "cost_noise", "paid", "over", "paid_since"),
    *("due_since", "observed_since", "tables", "shown"),
)
ROW = np.zeros(1, dtype=np.int64)
NONE = np.zeros(0)
ALL = slice(None)
ONE, NEVER = np.array(1), np.array(-1)  # arrays: numbers would be converted in every round


class Cells(NamedTuple):
    """Hold where the rounds of n trials are in arrays of all trials."""

    rows: Ints  # (n,)
    t: Ints  # (n,) next rounds
    now: Any  # index of them, (n,)
    latest: Any  # of their slots, (n,)
    slots: Any  # of all slots whose feedback may be delivered, (n, K)


class Simulator(Rounds):
    """Play B trials, each at its own round."""

    def play(self, rows: Ints, actions: Any) -> RoundOutcome:
        """Play one action in each of the given rows, (n,): arms, or actions in [-1, 1]^d."""
        cells, free = self._cells(rows), self.problem.play_costs.is_free
        self.check_available(rows, actions)
        if free:
            return self._play(cells, actions, np.zeros(len(rows)))
        chosen = zip(rows.tolist(), self.context[cells.now].tolist(), actions, strict=True)
        cost = np.array([self._cost_of(*each) for each in chosen])
        fits = np.array([self._fits(*each) for each in zip(rows.tolist(), cost.tolist(), strict=True)])
        if fits.all():
            return self._play(cells, actions, cost)
        parts = [self._play(self._cells(rows[fits]), actions[fits], cost[fits]), self._stop(rows[~fits])]
        return RoundOutcome.merged(parts, [fits.nonzero()[0], (~fits).nonzero()[0]])

    def _play(self, cells: Cells, actions: Any, cost: Floats) -> RoundOutcome:
        """Play actions that the budget covers, at these costs, (n,)."""
        rows, t, now, latest, _ = cells
        context, moved = self.context[now], self._moved(rows, t, actions)
        means = self._means(rows, now, context, actions)
        optimum, regrets = self.optimum[now].copy(), self.no_numbers[: len(rows)]
        if self.problem.decisions.duel:
            regrets = optimum[:, None] - means
            means, observed = fought(means, self._chance(means, context, actions), self.noise[now])
        else:
            observed = self._observed(means, self.noise[now], context, actions)
        self.actions[now], self.earned[now] = actions, means[:, 0]
        regret = optimum - means[:, 0]
        corruption = self._corrupt(rows, now, regret, observed)
        self.observed_since[latest] = observed
        if self.std_since.size:
            stated = np.array([self.trials[i].setting.noise_std for i in rows.tolist()])
            self.std_since[latest] = stated * self._noise_scale(actions)[:, 0]
        delay = self._delay(now, observed[:, 0], actions)
        self.due_since[latest] = np.where(delay < 0, NEVER, t + delay) if self.may_wait else t
        self.round[rows] = ended = t + ONE
        if self.paid_since.size:
            self.paid[rows] += cost
            seen = self.problem.play_costs.seen(cost, self.cost_noise[now])
            self.paid_since[latest] = seen

        arrived, step, values = self._delivered(cells, observed)
        unplayed = np.zeros(len(rows), dtype=bool)
        outcome = RoundOutcome(
            observation=self.views.take(self.context[now[0], now[1] + 1], axis=0),
            reward=values[:, 0, 0].copy() if values.shape[1] == 1 else values[:, :, 0].sum(axis=1),
            finished=ended >= self.limit,
            t=t,
            arrived=arrived,
            step=step,
            std=self._of_delivered(self.std_since, cells, arrived),
            values=values,
            regret=regret,
            means=means,
            optimum=optimum,
            delay=delay,
            segment=self.segment[now].copy(),
            corruption=corruption,
            available=self.masks(rows),
            played=~unplayed,
            terminated=unplayed,
            spent=cost,
            paid=self._of_delivered(self.paid_since, cells, arrived),
            rate=self.rate[now].copy(),
            moved=moved,
            regrets=regrets,
        )
        return outcome.aggregated if self.problem.aggregated else outcome

    def view(self, row: int) -> "SingleSimulator":
        """Return one trial as a single simulator that shares this one's memory."""
        single = object.__new__(SingleSimulator)
        batched = {key: value[row : row + 1] for key, value in vars(self).items() if key in _BATCHED}
        single.__dict__.update(vars(self) | batched | {"is_single": False, "limit": self.problem.horizon})
        return single

    def _cells(self, rows: Ints) -> Cells:
        """Return where the next rounds of trials are, slices of a common one; raise if there is none."""
        t = self.round[rows]
        # numpy finds a largest entry's place in a fifth of the time of its value
        earliest, latest = (t.item(t.argmin()), t.item(t.argmax())) if len(t) else (0, 0)
        free = self.problem.play_costs.is_free
        self._check_started(earliest, latest, not free and bool(self.over[rows].any()))
        if len(rows) < len(self.round) or earliest < latest:
            slots = t[:, None] + self.slots
            return Cells(rows, t, (rows, t), (rows, slots[:, -1]), (rows[:, None], slots))
        end = earliest + len(self.slots)
        return Cells(rows, t, (ALL, earliest), (ALL, end - 1), (ALL, slice(earliest, end)))

    def _delay(self, now: Any, reward: Floats, actions: Any) -> Ints:
        """Return the delays of the plays in rounds, -1 if the feedback is never delivered, (n,)."""
        waits = self._waits(now, reward) if self.may_wait else None
        if waits is None or not np.count_nonzero(waits):
            return np.zeros(len(reward), dtype=np.int64)
        rounds = self.problem.delay.in_rounds(waits * self._slowdown_of(actions))
        rounds[rounds > self.problem.window] = -1.0  # half the time of `np.where`
        return rounds.astype(np.int64)

    def _delivered(self, cells: Cells, observed: Floats) -> tuple[Bools, Ints, Floats]:
        """Return which slots are delivered, their rounds, (n, K) each, and their values, (n, K, 1 + C)."""
        t, due = cells.t[:, None], self.due_since[cells.slots][:, ::-1]
        arrived = due == t
        if len(self.slots) == 1 and np.count_nonzero(arrived) == len(t):  # without delays
            return arrived, t.copy(), observed[:, None]
        step = np.where(arrived, self.numbers[cells.slots[1]][..., ::-1], NEVER)
        return arrived, step, _only(arrived[:, :, None], self.observed_since[cells.slots][:, ::-1])

    def _of_delivered(self, since: Floats, cells: Cells, arrived: Bools) -> Floats:
        """Return the stored values of plays with delivered feedback, (n, K); (n, 0) if not published."""
        if not since.size:
            return self.no_numbers[: len(arrived)]
        return _only(arrived, since[cells.slots][:, ::-1])

    def _corrupt(self, rows: Ints, now: Any, gap: Floats, observed: Floats) -> Floats:
        """Add to rewards, (n, 1 + C), the attack that the remaining budget allows; return it, (n,)."""
        law = self.problem.corruption
        if not law.budget:
            return np.zeros(len(rows))
        wish = np.where(law.strikes(gap), self.attack[now], 0.0)
        done = np.sign(wish) * np.minimum(np.abs(wish), law.budget - self.spent[rows])
        self.spent[rows] += np.abs(done)
        observed[:, 0] += done
        return done

    def _means(self, rows: Ints, now: Any, context: Ints, actions: Any) -> Floats:
        """Return noiseless reward and costs of the plays, (n, 1 + C); of duels, of both arms, (n, 2)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            plays = zip(rows, self.version[now], context, actions, strict=True)
            return np.array([self._evaluate(*play) for play in plays]).reshape(len(rows), self.noise.shape[2])
        if self.may_change:
            version = self.version[now]
            for i in (version != self.shown[rows]).nonzero()[0]:
                self._show(int(rows[i]), int(version[i]))
        if decisions.duel:
            return self.tables[rows[:, None], 0, decisions.point_index(context[:, None], actions)]
        point = decisions.point_index(context, actions) if decisions.num_contexts > 1 else actions
        return self.tables[rows, :, point]


def _only(arrived: Bools, values: Floats) -> Floats:
    """Return delivered values, 0 elsewhere, in an order of memory in which sums do not depend on B."""
    kept = np.zeros(values.shape)
    np.copyto(kept, values, where=arrived)
    return kept


class SingleSimulator(Rounds):
    """Play one trial; outcomes equal those of `Simulator`, bit for bit, without the axis of trials."""

    _first: RoundOutcome | None = None  # of every reset but for observation and arms: computed once

    def __init__(self, problem: Problem):
        super().__init__(problem, 1)

    def start(self, trial: Trial) -> RoundOutcome:
        """Start a new trial."""
        self._enter(ROW, [trial])
        if self._first is None:
            self._first = self._nothing(ROW).single
        observation, fresh = self.views[self.context.item(0)].copy(), self._first
        arrived, step = fresh.arrived.copy(), fresh.step.copy()
        return fresh._replace(observation=observation, arrived=arrived, step=step, available=self.masks(0))

    def play(self, action: Any) -> RoundOutcome:
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
        moved = NONE
        if not self.problem.movement.is_free:
            moved = self._moved(ROW, np.array([t]), np.asarray(action)[None])[0]
        optimum = self.optimum.item(t)
        regrets = NONE
        if self.problem.decisions.duel:
            regrets = optimum - means
            chance = self._chance(means, self.context.item(t), action)
            means, self.observed_since[0, latest - 1] = fought(means, chance, self.noise[0, t])
        else:
            drawn, context = self.noise[0, t], self.context.item(t)
            observed = self._observed(means, drawn, context, action)
            self.observed_since[0, latest - 1] = observed
        self.actions[0, t], self.earned[0, t] = action, means[0]
        regret = optimum - means.item(0)
        corruption = self._corrupt(t, latest - 1, regret)
        delay = self._delay(self._waits((0, t), self.observed_since[0, latest - 1, 0]), action)
        self.due_since[0, latest - 1] = -1 if delay < 0 else t + delay
        self.round[0] = t + 1
        self.paid[0] += cost

        arrived, step, values = self._delivered(t, latest)
        std = paid = NONE
        if self.std_since.size:
            scale = self._noise_scale(action).item(0)
            self.std_since[0, latest - 1] = self.trials[0].setting.noise_std * scale
            std = _only(arrived, self.std_since[0, t:latest][::-1])
        if self.paid_since.size:
            self.paid_since[0, latest - 1] = self.problem.play_costs.seen(cost, self.cost_noise.item(t))
            paid = _only(arrived, self.paid_since[0, t:latest][::-1])
        outcome = RoundOutcome(
            observation=self.views[self.context.item(t + 1)].copy(),
            reward=values.item(0) if len(values) == 1 else float(np.add.reduce(values[:, 0])),
            finished=t + 1 >= self.problem.horizon,
            t=t,
            arrived=arrived,
            step=step,
            std=std,
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
            paid=paid,
            rate=self.rate.item(t),
            moved=moved,
            regrets=regrets,
        )
        return outcome.aggregated if self.problem.aggregated else outcome

    def _means(self, version: int, context: int, action: Any) -> Floats:
        """Return noiseless reward and costs of the play, (1 + C,); of a duel, of both arms, (2,)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            return self._evaluate(0, version, context, action)
        if self.may_change and version != self.shown.item():
            self._show(0, version)
        if decisions.duel:
            return self.tables[0, 0, context * decisions.num_arms + action]
        return self.tables[0, :, context * decisions.num_arms + action].copy()

    def _delivered(self, t: int, latest: int) -> tuple[Bools, Ints, Floats]:
        """Return which slots are delivered, their rounds, (K,) each, and their values, (K, 1 + C)."""
        if latest == t + 1 and self.due_since.item(0, t) == t:  # without delays: a fifth of the time
            return np.array([True]), np.array([t]), self.observed_since[0, t:latest].copy()
        arrived = self.due_since[0, t:latest][::-1] == t
        step = np.where(arrived, self.numbers[t:latest][::-1], NEVER)
        return arrived, step, _only(arrived[:, None], self.observed_since[0, t:latest][::-1])

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
        if not wait:
            return 0
        rounds = self.problem.delay.in_rounds(np.array(wait * self._slowdown_of(action), ndmin=1)).item()
        return -1 if rounds > self.problem.window else int(rounds)

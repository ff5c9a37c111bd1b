"""The dynamics of B trials at once, and of one trial on numbers; no Gymnasium here."""

import math
from typing import Any

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
NEVER = np.array(-1)  # an array: a number would be converted in every round


class Simulator(Rounds):
    """Play B trials, each at its own round."""

    def play(self, rows: Ints, actions: Any) -> RoundOutcome:
        """Play one action in each of the given rows, (n,): arms, or actions in [-1, 1]^d."""
        t, free = self.round[rows], self.problem.play_costs.is_free
        self._check_started(t.min(initial=0), t.max(initial=0), not free and bool(self.over[rows].any()))
        self.check_available(rows, actions)
        if free:
            return self._play(rows, actions, np.zeros(len(rows)))
        chosen = zip(rows.tolist(), self.context[rows, t].tolist(), actions, strict=True)
        cost = np.array([self._cost_of(*each) for each in chosen])
        fits = np.array([self._fits(*each) for each in zip(rows.tolist(), cost.tolist(), strict=True)])
        if fits.all():
            return self._play(rows, actions, cost)
        parts = [self._play(rows[fits], actions[fits], cost[fits]), self._stop(rows[~fits])]
        return RoundOutcome.merged(parts, [fits.nonzero()[0], (~fits).nonzero()[0]])

    def _play(self, rows: Ints, actions: Any, cost: Floats) -> RoundOutcome:
        """Play actions that the budget covers, at these costs, (n,)."""
        t = self.round[rows]
        now, following, window = self._cells(rows, t)
        means = self._means(rows, self.version[now], self.context[now], actions)
        moved = self._moved(rows, t, actions)
        optimum = self.optimum[now].copy()
        noise_scale = self._noise_scale(actions)
        if self.problem.decisions.duel:
            regrets = optimum[:, None] - means
            means, observed = fought(means, self.noise[now])
        else:
            regrets = np.zeros((len(rows), 0))
            observed = self._observed(means, noise_scale, self.noise[now], self.context[now], actions)
        self.actions[now], self.earned[now] = actions, means[:, 0]
        regret = optimum - means[:, 0]
        corruption = self._corrupt(rows, now, regret)
        observed[:, 0] += corruption
        self.observed[now] = observed
        if self.std_since.size:
            stated = np.array([self._stated_std(i) for i in rows.tolist()])
            self.std_since[:, self.problem.window :][now] = stated * noise_scale[:, 0]
        delay = self._delay(self._waits(now, observed[:, 0]), actions)
        due = t + delay
        due[delay < 0] = -1
        self.due[now] = due
        self.round[rows] = ended = t + 1
        if self.paid_since.size:
            self.paid[rows] += cost
            seen = self.problem.play_costs.seen(cost, self.cost_noise[now])
            self.paid_since[:, self.problem.window :][now] = seen

        arrived, step, values = self._delivered(window, t)
        unplayed = np.zeros(len(rows), dtype=bool)
        outcome = RoundOutcome(
            observation=self.views.take(self.context[following], axis=0),
            reward=values[:, :, 0].sum(axis=1),
            finished=ended >= self.problem.horizon,
            t=t,
            arrived=arrived,
            step=step,
            std=self._of_delivered(self.std_since, window, arrived),
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
            paid=self._of_delivered(self.paid_since, window, arrived),
            rate=self.rate[now].copy(),
            moved=moved,
            regrets=regrets,
        )
        return outcome.aggregated if self.problem.aggregated else outcome

    def view(self, row: int) -> "SingleSimulator":
        """Return one trial as a single simulator that shares this one's memory."""
        single = object.__new__(SingleSimulator)
        batched = {key: value[row : row + 1] for key, value in vars(self).items() if key in _BATCHED}
        single.__dict__.update(vars(self) | batched | {"is_single": False})
        return single

    def _cells(self, rows: Ints, t: Ints) -> tuple[Any, Any, Any]:
        """Return indices of rounds and the next ones, (n,), and slots, (n, K): slices of a common round."""
        if len(rows) < len(self.round) or np.count_nonzero(t != t[0]):
            return (rows, t), (rows, t + 1), (rows[:, None], t[:, None] + self.slots)
        all_trials, first = slice(None), t.item(0)
        slots = slice(first, first + len(self.slots))
        return (all_trials, first), (all_trials, first + 1), (all_trials, slots)

    def _delay(self, waits: Floats, actions: Any) -> Ints:
        """Return the delays of the plays in rounds, -1 if the feedback is never delivered, (n,)."""
        if not np.count_nonzero(waits):
            return np.zeros(len(waits), dtype=np.int64)
        rounds = self.problem.delay.in_rounds(waits * self._slowdown_of(actions))
        rounds[rounds > self.problem.window] = -1.0  # half the time of `np.where`
        return rounds.astype(np.int64)

    def _delivered(self, window: Any, t: Ints) -> tuple[Bools, Ints, Floats]:
        """Return which slots are delivered, their rounds, (n, K) each, and their values, (n, K, 1 + C)."""
        observed = self.observed_since[window][:, ::-1]
        arrived = self.due_since[window][:, ::-1] == t[:, None]
        if len(self.slots) == 1 and np.count_nonzero(arrived) == len(t):  # without delays
            return arrived, t[:, None].copy(), observed.copy()
        step = np.where(arrived, self.numbers[window[1]][..., ::-1], NEVER)
        return arrived, step, _only(arrived[:, :, None], observed)

    def _of_delivered(self, since: Floats, window: Any, arrived: Bools) -> Floats:
        """Return the stored values of plays with delivered feedback, (n, K); (n, 0) if not published."""
        if not since.size:
            return np.zeros((len(arrived), 0))
        return _only(arrived, since[window][:, ::-1])

    def _corrupt(self, rows: Ints, now: Any, gap: Floats) -> Floats:
        """Return the attack on the rewards that the remaining budget allows, (n,)."""
        law = self.problem.corruption
        if not law.budget:
            return np.zeros(len(rows))
        wish = np.where(law.strikes(gap), self.attack[now], 0.0)
        done = np.sign(wish) * np.minimum(np.abs(wish), law.budget - self.spent[rows])
        self.spent[rows] += np.abs(done)
        return done

    def _means(self, rows: Ints, version: Ints, context: Ints, actions: Any) -> Floats:
        """Return noiseless reward and costs of the plays, (n, 1 + C); of duels, of both arms, (n, 2)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            plays = zip(rows, version, context, actions, strict=True)
            return np.array([self._evaluate(*play) for play in plays]).reshape(len(rows), self.noise.shape[2])
        stale = version != self.shown[rows]
        if np.count_nonzero(stale):
            for i in rows[stale]:
                self._show(i, self.version[i, self.round[i]].item())
        if decisions.duel:
            return self.tables[rows[:, None], 0, decisions.point_index(context[:, None], actions)]
        return self.tables[rows, :, decisions.point_index(context, actions)]


def _only(arrived: Bools, values: Floats) -> Floats:
    """Return delivered values, 0 elsewhere, in an order of memory in which sums do not depend on B."""
    kept = np.zeros(values.shape)
    np.copyto(kept, values, where=arrived)
    return kept


class SingleSimulator(Rounds):
    """Play one trial; outcomes equal those of `Simulator`, bit for bit, without the axis of trials."""

    def __init__(self, problem: Problem):
        super().__init__(problem, 1)

    def start(self, trial: Trial) -> RoundOutcome:
        """Start a new trial."""
        return self.begin(ROW, [trial]).single

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
        noise_scale, regrets = self._noise_scale(action), NONE
        if self.problem.decisions.duel:
            regrets = optimum - means
            means, self.observed_since[0, latest - 1] = fought(means, self.noise[0, t])
        else:
            drawn, context = self.noise[0, t], self.context.item(t)
            observed = self._observed(means, noise_scale, drawn, context, action)
            self.observed_since[0, latest - 1] = observed
        self.actions[0, t], self.earned[0, t] = action, means[0]
        regret = optimum - means.item(0)
        corruption = self._corrupt(t, latest - 1, regret)
        delay = self._delay(self._waits((0, t), self.observed_since[0, latest - 1, 0]), action)
        self.due_since[0, latest - 1] = -1 if delay < 0 else t + delay
        self.round[0] = t + 1
        self.paid[0] += cost

        arrived, step, values = self._delivered(t, latest)
        outcome = RoundOutcome(
            observation=self.views[self.context.item(t + 1)].copy(),
            reward=values.item(0) if len(values) == 1 else float(np.add.reduce(values[:, 0])),
            finished=t + 1 >= self.problem.horizon,
            t=t,
            arrived=arrived,
            step=step,
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
            moved=moved,
            regrets=regrets,
        )
        return outcome.aggregated if self.problem.aggregated else outcome

    def _means(self, version: int, context: int, action: Any) -> Floats:
        """Return noiseless reward and costs of the play, (1 + C,); of a duel, of both arms, (2,)."""
        decisions = self.problem.decisions
        if decisions.continuous:
            return self._evaluate(0, version, context, action)
        if version != self.shown.item():
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

    def _delivered_std(self, t: int, latest: int, arrived: Bools, noise_scale: Floats) -> Floats:
        """Store the noise std of the play's reward, if published; return the delivered ones, (K,)."""
        if not self.std_since.size:
            return NONE
        self.std_since[0, latest - 1] = self._stated_std(0) * noise_scale.item(0)
        return _only(arrived, self.std_since[0, t:latest][::-1])

    def _seen_costs(self, t: int, latest: int, arrived: Bools, cost: float) -> Floats:
        """Store the observed cost of the play; return those of delivered feedback, (K,)."""
        if not self.paid_since.size:
            return NONE
        self.paid_since[0, latest - 1] = self.problem.play_costs.seen(cost, self.cost_noise.item(t))
        return _only(arrived, self.paid_since[0, t:latest][::-1])

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

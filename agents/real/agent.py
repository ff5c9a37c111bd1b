"""The agent for real problems on a finite set: learnt models, and a rule for the rounds that are left."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback, feedback_stds, spendings

from ..agent.queries import NEVER
from ..agent.single_trial import ArmAgent
from ..model.choice import argmax_with_ties, arms_of, offered_in
from ..model.model import Model
from ..options import require_costs, require_reset
from .anew import ChangeSums, surprise
from .earlier import EarlierTasks
from .horizon import LIKELY, UNLIKELY, rounds_to_use
from .quantities import PlayValues, PointRecord, QuantitySpec, RealParts
from .rules import HorizonRule, RoundFacts, spread_out
from .running import RunningTimes
from .values import require_learnable

TIE = 1e-9  # in units of the reward
HEAVIEST = 1e8  # weight of a play
ENOUGH = 3  # results after which models choose, where plays have costs or results are late
FIRST_PUBLISHED, FEWEST_FIRST, MOST_FIRST = 1, 4, 10  # first plays at random


class RealAgent(ArmAgent):
    """Plays one trial on arms.

    Args:
        published: whether kernel, mean and noise of the model are known, or defaults.
    """

    def __init__(self, model: Model, published: bool, parts: RealParts, earlier: EarlierTasks | None = None):
        super().__init__(model)
        self.unit_is_known = True  # values have a unit of their own, which the first of them tell
        self._earlier = earlier
        self.spec = QuantitySpec.of(model, published, parts, earlier)
        decisions = self.setting.decisions
        self.offset = np.array(np.broadcast_to(model.prior_mean, len(decisions.points)), dtype=np.float64)
        usual = min(MOST_FIRST, max(FEWEST_FIRST, self.spec.reward.parameters.number + 1))
        first = parts.first or (FIRST_PUBLISHED if published else usual)
        self.num_first = min(first, decisions.num_arms)

    def begin(self) -> None:
        self._rng, of_fits = (self.streams.of(role)[0] for role in ("first plays", "fits"))
        self.learners = self.spec.learners(of_fits)
        self.rule = HorizonRule(self.setting, self.learners, self.offset, self.spec.parts)
        self._infeasible: bool | None = None
        self._infeasible_since = NEVER
        self.record = PointRecord(len(self.learners))
        self._plays: list[PlayValues] = []  # of which a change makes some stale
        self._delays: list[int] = []
        timed = self.setting.max_delay > 0 and self.spec.learns_price(self.setting)
        self._times = RunningTimes(self.setting.max_delay) if timed else None
        self._tried: set[int] = set()
        self._spent = 0.0
        # Of plays of weight 1; 0 until the first that is stated where it is not known.
        self._usual_std = float(np.mean(self.model.noise_std)) if self.model.noise_is_known else 0.0
        self.changes = ChangeSums(self.spec.parts.alarm) if self.setting.may_change else None
        self._visits = np.zeros(self.setting.decisions.num_contexts, dtype=np.int64)
        self._switches, self._last = 0, -1
        arms = self.spec.reward.parameters.columns[: self.setting.decisions.num_arms]
        at_random = self.spec.costs is None
        numeric = ~self.spec.reward.parameters.of_choices
        self._first = self._rng.permutation(len(arms)) if at_random else spread_out(arms, numeric, self._rng)

    @property
    def weighs(self) -> bool:
        """Return True if plays are weighted by the noise that feedback states: where nothing has a cost."""
        return self.spec.costs is None

    @property
    def alarms(self) -> list[int] | None:
        """Return the rounds after which a change was detected; None where nothing may change."""
        require_reset(self.round >= 0)
        return None if self.changes is None else list(self.changes.alarms)

    def act(self, observation: Floats) -> int:
        z = int(self.context(observation)[0])
        uniform, offered = self.tie_breaker(), self.available()[0]
        if self._begins:
            return self._first_play(z, offered)
        self._learn(self.record.count)
        arms, scores = self.rule(self._round(z, offered))
        if self.rule.likeliest is not None:
            self._infeasible = self.rule.likeliest < UNLIKELY
            if self._infeasible and self._infeasible_since == NEVER:
                self._infeasible_since = self.round
        return int(arms[argmax_with_ties(scores[None], TIE, uniform)[0]])

    @property
    def infeasible(self) -> bool | None:
        """Return True where no arm of the last choice seemed to keep all limits; None without a model."""
        require_reset(self.round >= 0)
        return self._infeasible

    @property
    def infeasible_since(self) -> int | None:
        """Return the first round (0-based) with `infeasible` true, -1 where there is none; None likewise."""
        require_reset(self.round >= 0)
        return None if self._infeasible is None else self._infeasible_since

    @property
    def _begins(self) -> bool:
        """Return whether first plays go on."""
        restarted = self.changes is not None and bool(self.changes.alarms)
        patient = (self.spec.costs is not None or self.setting.max_delay > 0) and not restarted
        if self.record.count < (ENOUGH if patient else 1):
            return True
        return self.spec.costs is None and self.round < self.num_first

    def _first_play(self, z: int, offered: Bools) -> int:
        """Return an arm that was not played yet; of a published mean that differs, the best."""
        order, num_arms = self._first, len(offered)
        mean = self.offset[z * num_arms : (z + 1) * num_arms]
        if self.spec.costs is None and np.ptp(mean) > 0.0:
            order = np.argsort(-mean, kind="stable")
        if self._earlier is not None and self.round % 2 == 0:
            gap = self.spec.reward.parameters.columns - self._earlier.best(self.round // 2)
            order = np.argsort(np.square(gap).sum(axis=1), kind="stable")
        fresh = (arm for arm in order.tolist() if offered[arm] and arm not in self._tried)
        arm = next(fresh, None)
        return int(self._rng.choice(offered.nonzero()[0])) if arm is None else arm

    def _learn(self, count: int) -> None:
        """Take the values so far; hyperparameters are learnt where that is due after `count` of them."""
        for i, learner in enumerate(self.learners):
            learner.learn(self.record.seen(i), count)

    def _round(self, z: int, offered: Bools) -> RoundFacts:
        """Return what a rule reads of this round."""
        pending = self.book.pending()
        stale = 0 if self.changes is None else self.changes.since
        delay = float(np.median(self._delays)) if self._delays else 0.0
        left = max(self.setting.horizon - self.round - 1 - delay, 0.0)
        contexts = len(self._visits)
        switches = self._switches + (self._last not in (-1, z)) if contexts > 1 else None
        alarms = -1 if self.changes is None else len(self.changes.alarms)
        use = rounds_to_use(left, self.round, switches, int(self._visits[z]), contexts, alarms)
        budget = None if self.setting.budget is None else self.setting.budget - self._spent
        counts = pending.round >= stale
        elapsed = self.round - pending.round[counts]
        least = None if self._times is None else self._times.least_prices(elapsed)
        return RoundFacts(z, offered, pending.point[counts], left, delay, use, budget, least)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        context = self.context(observation)
        arm = arms_of(action, 1, self.setting.decisions.num_arms)
        feedback, offered = Feedback.arrived(info), offered_in(info, self.setting, None)
        spent = None if self.setting.budget is None else spendings(info)
        stds = feedback_stds(info) if self.weighs else None
        self._require_values(feedback, spent)
        point = self.setting.decisions.point_index(context, arm)
        played = self.book.record_round(point, feedback.trial, feedback.round)  # the last check
        z = int(context[0])
        self._switches += self._last not in (-1, z)
        self._visits[z] += 1
        self._last = z
        self.offered = offered
        self._tried.add(arm.item())
        columns = [feedback.reward - self.offset[played], *feedback.cost.T]
        if spent is not None:
            self._spent += float(spent.sum())
            columns.append(spent)
        rows = np.column_stack(columns)[:, : len(self.learners)].tolist()
        weights = [1.0] * len(rows) if stds is None else [*map(self._weight, stds.tolist())]
        plays = zip(played.tolist(), feedback.round.tolist(), map(tuple, rows), weights, strict=True)
        for play in itertools.starmap(PlayValues, plays):
            self._delays.append(self.round - play.round)
            if self._times is not None:
                self._times.add(play.values[-1], self._delays[-1])
            self._receive(play)
        self.round += 1

    def _require_values(self, feedback: Feedback, spent: Floats | None) -> None:
        """Raise an error that names the entry of `info` that cannot be learnt."""
        require_costs(feedback.cost, self.setting.num_constraints)
        if spent is None and self.setting.budget is not None and len(feedback.round):
            require(False, "feedback_spent", "the cost of each play, as the setting has a budget", None)
        require_learnable("feedback_reward", feedback.reward)
        require_learnable("feedback_cost", feedback.cost)
        if spent is not None:
            require_learnable("feedback_spent", spent)

    def _weight(self, std: float) -> float:
        """Return the weight of a play whose noise std is stated, NaN where it is the usual one."""
        if math.isnan(std):
            return 1.0
        self._usual_std = self._usual_std or std
        return min(max((self._usual_std / std) ** 2, 1.0 / HEAVIEST), HEAVIEST)

    def _receive(self, play: PlayValues) -> None:
        if self.changes is not None:
            if play.round < self.changes.since:
                return
            fitted = self.learners[0].fits > 0
            if fitted and self.changes.observe(self._surprise(play), play.round, self.round):
                self._restart(self.changes.since)
            self._plays.append(play)
        self.record.add(play)

    def _surprise(self, play: PlayValues) -> float:
        learner = self.learners[0]
        if self.record.count:
            learner.learn(self.record.seen(0), 0)
        posterior = learner.posteriors[0]
        found, theta = posterior.at(np.array([play.point])), posterior.theta
        surrogate, values = self.spec.reward, learner.values
        z = values.bent(values.scaled(np.array(play.values[:1])))[0].item()
        amplitude = math.exp(theta[surrogate.parameters.number])
        return surprise(
            z, found.mean.item(), found.known.item() + surrogate.noise(theta) / play.weight, amplitude
        )

    def _restart(self, since: int) -> None:
        """Forget plays of rounds before one; hyperparameters stay."""
        self._plays = [each for each in self._plays if each.round >= since]
        self.record = PointRecord(len(self.learners))
        for each in self._plays:
            self.record.add(each)
        for learner in self.learners:
            learner.restart(self.record.count)

    def best(self, context: Ints, mean: Floats, arms: Ints) -> int:
        """Return the best of some arms, (n,), that probably keep all limits; else the likeliest to do so."""
        if not self.record.count:
            return super().best(context, mean, arms)
        self._learn(0)
        costs = self.rule.costs(int(context[0]) * self.setting.decisions.num_arms + arms)
        likely = arms[costs.kept >= LIKELY]
        if not len(likely):
            return int(arms[np.lexsort((costs.excess, -costs.kept))[0]])
        return int(likely[mean[likely].argmax()])

    def known_at(self, context: Ints) -> tuple[Floats, Floats]:
        return self._moments(0, context)

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return mean and std of the reward and of each cost at the arms, (A,) each, in their units."""
        context = self.context(observation)
        return [self._moments(i, context) for i in range(1 + self.setting.num_constraints)]

    def _moments(self, quantity: int, context: Ints) -> tuple[Floats, Floats]:
        num_arms, learner = self.setting.decisions.num_arms, self.learners[quantity]
        points = int(context[0]) * num_arms + np.arange(num_arms)
        if self.record.count:
            learner.learn(self.record.seen(quantity), 0)
            mean, std = learner.moments(points)
        else:
            mean, std = np.zeros(num_arms), np.full(num_arms, learner.values.size)
        return (mean + self.offset[points] if quantity == 0 else mean), std

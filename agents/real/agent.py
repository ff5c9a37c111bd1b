"""The agent for real problems, on a finite set or a box: learnt models, and a rule for the rounds left."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.feedback import Feedback, feedback_stds, spendings

from ..agent.queries import NEVER
from ..agent.single_trial import ArmAgent
from ..model.choice import Recommendation, argmax_with_ties, offered_in
from ..model.model import Model
from ..options import require_context, require_costs, require_reset
from .anew import ChangeSums, surprise
from .earlier import EarlierTasks
from .horizon import LIKELY, UNLIKELY, rounds_to_use
from .quantities import PlayValues, PointRecord, QuantitySpec, RealParts
from .rules import HorizonRule, RoundFacts
from .running import RunningTimes
from .spaces import Here
from .values import require_learnable

TIE = 1e-9  # in units of the reward
HEAVIEST = 1e8  # weight of a play
ENOUGH = 3  # results after which models choose, where plays have costs or results are late
FIRST_PUBLISHED, FEWEST_FIRST, MOST_FIRST = 1, 4, 10  # first plays at random


class RealAgent(ArmAgent):
    """Plays one trial, on arms or on a box.

    Args:
        published: whether kernel, mean and noise of the model are known, or defaults.
    """

    def __init__(self, model: Model, published: bool, parts: RealParts, earlier: EarlierTasks | None = None):
        super().__init__(model)
        self.unit_is_known = True  # values have a unit of their own, which the first of them tell
        self._earlier = earlier
        self.spec = QuantitySpec.of(model, published, parts, earlier)
        self.space = self.spec.space
        usual = min(MOST_FIRST, max(FEWEST_FIRST, self.spec.reward.parameters.number + 1))
        first = parts.first or (FIRST_PUBLISHED if published else usual)
        self.num_first = first if self.setting.continuous else min(first, self.setting.decisions.num_arms)

    def begin(self) -> None:
        of_first, of_fits = (self.streams.of(role)[0] for role in ("first plays", "fits"))
        self.learners = self.spec.learners(of_fits)
        self.rule = HorizonRule(self.setting, self.learners, self.space, self.spec.parts)
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
        self._visits = np.zeros(self.space.num_contexts, dtype=np.int64)
        self._switches, self._last = 0, -1
        self.space.begin(of_first, central=self.spec.costs is not None)

    @property
    def weighs(self) -> bool:
        """Return True if plays are weighted by the noise that feedback states: where nothing has a cost."""
        return self.spec.costs is None

    @property
    def alarms(self) -> list[int] | None:
        """Return the rounds after which a change was detected; None where nothing may change."""
        require_reset(self.round >= 0)
        return None if self.changes is None else list(self.changes.alarms)

    def act(self, observation: Floats) -> Any:
        require_reset(self.round >= 0)
        here = self.space.here(observation, self.available()[0])
        uniform = self.tie_breaker()
        if self._begins:
            likely = None if self._earlier is None else self._earlier.called_for(self.round)
            return self.space.first(here, self._tried, likely)
        self._learn(self.record.count)
        points, scores = self.rule(self._round(here), self._search)
        if self.rule.likeliest is not None:
            self._infeasible = self.rule.likeliest < UNLIKELY
            if self._infeasible and self._infeasible_since == NEVER:
                self._infeasible_since = self.round
        return self.space.action(int(points[argmax_with_ties(scores[None], TIE, uniform)[0]]))

    @property
    def _search(self) -> np.random.Generator:
        """Return the generator of this round's points on a box."""
        return self.streams.of_round("search", self.round)[0]

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

    def _learn(self, count: int) -> None:
        """Take the values so far; hyperparameters are learnt where that is due after `count` of them."""
        for i, learner in enumerate(self.learners if self.record.count else ()):
            learner.learn(self.record.seen(i), count)

    def _round(self, here: Here) -> RoundFacts:
        """Return what a rule reads of this round."""
        pending = self.book.pending()
        stale = 0 if self.changes is None else self.changes.since
        delay = float(np.median(self._delays)) if self._delays else 0.0
        left = max(self.setting.horizon - self.round - 1 - delay, 0.0)
        contexts = len(self._visits)
        z = here.context
        switches = self._switches + (self._last not in (-1, z)) if contexts > 1 else None
        alarms = -1 if self.changes is None else len(self.changes.alarms)
        use = rounds_to_use(left, self.round, switches, int(self._visits[z]), contexts, alarms)
        budget = None if self.setting.budget is None else self.setting.budget - self._spent
        counts = pending.round >= stale
        elapsed = self.round - pending.round[counts]
        least = None if self._times is None else self._times.least_prices(elapsed)
        return RoundFacts(here, pending.point[counts], left, delay, use, budget, least)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self.round >= 0)
        here = self.space.here(observation)
        feedback, offered = Feedback.arrived(info), offered_in(info, self.setting, None)
        spent = None if self.setting.budget is None else spendings(info)
        stds = feedback_stds(info) if self.weighs else None
        self._require_values(feedback, spent)
        point, z = self.space.number(here, action), here.context
        played = self.book.record_round(np.array([point]), feedback.trial, feedback.round)  # the last check
        self.space.keep()
        self._switches += self._last not in (-1, z)
        self._visits[z] += 1
        self._last = z
        self.offered = offered
        self._tried.add(point)
        columns = [feedback.reward - self.space.prior_mean(played), *feedback.cost.T]
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

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the best point that probably keeps all limits; else the likeliest or least excess."""
        require_reset(self.round >= 0)
        require_context(observation, self.setting.has_contexts)
        self._learn(0)
        here = self.space.here(np.zeros(1) if observation is None else observation)
        points = self._proposed(here) if among is None else self.space.asked(here, among, "among")
        mean, std = self._moments(0, points)
        best = int(self._worth(here, points, mean).argmax())
        action = self.space.action(int(points[best]))
        if self.setting.continuous and among is not None:  # to the last bit
            action = np.array(among, dtype=np.float64)[best]
        return Recommendation(action, self.setting.to_point(action), float(mean[best]), float(std[best]))

    def _proposed(self, here: Here) -> Ints:
        """Return points of which one is recommended: all arms, or on a box those that a search finds."""
        if not self.setting.continuous:
            return self.space.asked(here, None)
        if not self.record.count:
            return self.space.asked(here, self.space.first(here, (), None)[None])
        rng = self._search
        points = self.space.surveyed(here, self.learners[0].posteriors[:1], None, rng)
        for width in self.space.widths:
            worth = self._worth(here, points, self._moments(0, points)[0])
            points = np.append(points, self.space.around(here, points[np.argsort(-worth)], width, rng))
        return points

    def _worth(self, here: Here, points: Ints, mean: Floats) -> Floats:
        """Return the order of points as recommendations, (n,): first those that probably keep all limits."""
        if not self.record.count:
            return mean
        costs = self.rule.costs(here, points)
        likely = costs.kept >= LIKELY
        if likely.any():
            return np.where(likely, mean, -np.inf)
        worth = np.empty(len(points))
        kept = costs.kept * (costs.kept.max() >= UNLIKELY)  # where none seems to keep them, all alike
        worth[np.lexsort((costs.excess, -kept))] = -np.arange(len(points))
        return worth

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of the reward at all arms, (A,) each, on a box at those played so far."""
        return self._moments(0, self._numbered(observation))

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return mean and std of the reward and of each cost likewise, in their units."""
        points = self._numbered(observation)
        return [self._moments(i, points) for i in range(1 + self.setting.num_constraints)]

    def believed(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return mean and std of the mean reward of an action, (1,) each."""
        require_reset(self.round >= 0)
        here = self.space.here(observation)
        return self._moments(0, self.space.asked(here, np.asarray(action)[None], "action"))

    def _numbered(self, observation: Floats) -> Ints:
        require_reset(self.round >= 0)
        return self.space.asked(self.space.here(observation), None)

    def _moments(self, quantity: int, points: Ints) -> tuple[Floats, Floats]:
        learner = self.learners[quantity]
        if self.record.count:
            learner.learn(self.record.seen(quantity), 0)  # nothing where that is known
            mean, std = learner.moments(points)
        else:
            mean, std = np.zeros(len(points)), np.full(len(points), learner.values.size)
        return (mean + self.space.prior_mean(points) if quantity == 0 else mean), std

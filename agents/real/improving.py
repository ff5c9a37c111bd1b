"""The agent whose goal is the best at the end, on a finite set or a box: expected improvement.

It plays argmax log E[(t(x) - t*)+], t the transformed value and t* the largest posterior mean of the points
seen, under two transforms in turn; where values have noise, of augmented EI. See `choice` for what was
chosen and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.feedback import Feedback, feedback_stds
from bandit_envs.problem.setting import Setting

from ..agent.assumptions import Fits
from ..agent.book import Book
from ..agent.generators import Resumable, Streams
from ..agent.single_trial import ChoosingAgent
from ..box.search import UnitSurface, make_search
from ..kernels.visited import Visited
from ..model.choice import Recommendation, argmax_with_ties, arms_among, arms_of, offered_in
from ..options import one_seed, require_reset
from .anew import Gains
from .choice import FIRST, first_of_exact
from .earlier import EarlierTasks, sides
from .learner import NotedLearner
from .posterior import (
    BoxPosterior,
    ImprovementSurface,
    LevelSurface,
    MeanSurface,
    NearSurface,
    SurrogatePosterior,
    best_mean,
    log_improvement,
    on,
    with_pending,
)
from .priors import Parameters, exact_prior, noisy_prior
from .quantities import PlayValues, PointRecord
from .shortlist import Shortlist
from .surrogate import Surrogate
from .values import Converging, HalfRank, require_learnable

TIE = 1e-9  # of log EI


class ImprovingAgent(Resumable, ChoosingAgent):
    """Plays one trial, on arms or on a box, without contexts or costs.

    Args:
        setting: of the trial; where its noise std is 0 no point is played again while another is left.
    """

    def __init__(self, setting: Setting, search: Any = None, earlier: EarlierTasks | None = None):
        self.setting, self.exact = setting, setting.noise_std == 0.0
        self._first = first_of_exact(setting.dim) if self.exact and setting.continuous else FIRST
        self._search = make_search(search) if setting.continuous else None
        self._low, self._span = sides(setting)
        self._earlier = earlier
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        self.streams = Streams([one_seed(seed)])
        self.book, self.round, self.offered = Book(1, self.setting.horizon), 0, None
        if self.setting.continuous:
            self._visited = Visited(self.setting.dim)
            known = Parameters.of_numbers(np.zeros((1, self.setting.dim)))
        else:
            known = Parameters.of(self.setting, by_column=True)
            self._shortlist = Shortlist(self.setting.decisions.num_arms)
        noise_std = None if self.setting.noise_std is None else float(np.mean(self.setting.noise_std))
        surrogate = Surrogate(known, (exact_prior if self.exact else noisy_prior)(known))
        if self._earlier is not None:
            surrogate = self._earlier.informed(surrogate, exact=self.exact)
        self.found = Fits()
        values = Converging(), HalfRank()
        self.learners = [NotedLearner(surrogate, each, self.found, noise_std) for each in values]
        self._usual_std = noise_std or 0.0
        self._tried: set[int] = set()
        self.record = self.whole = PointRecord(1)  # of this search, and of all
        self._gains = Gains(self.round)
        self._expected: dict[int, float] = {}  # log EI of this search's points by round, until they are known

    def act(self, observation: Floats) -> Any:
        require_reset(self.round >= 0)
        learner = self._learn()
        if self.setting.continuous:
            point, expected = self._searched(learner)
            self._expect(learner, lambda: expected)
            return self.setting.to_action(point)
        return self._chosen(learner, self._rng)

    @property
    def _rng(self) -> np.random.Generator:
        return self.streams.of_round("search", self.round)[0]

    def _expect(self, learner: NotedLearner | None, search: Callable[[], float]) -> None:
        """Note log EI of this round's point, as fits are noted: a replay need not search, nor differs."""
        if learner is not None and self.exact:
            (self._expected[self.round],) = self.found.numbers(lambda: [search()], 1)

    def _learn(self) -> NotedLearner | None:
        """Return the learner of this round, None while points are chosen at random."""
        if self.round - self._gains.since < self._first or not self.record.count:
            return None
        if self.exact and not self.setting.continuous and self._gains.at_random:
            return None
        learner = self.learners[self.round % 2]
        return self._informed(learner, self.record, self.record.count)

    def _informed(self, learner: NotedLearner, record: PointRecord, count: int) -> NotedLearner:
        if self.setting.continuous:
            learner.surrogate = on(learner.surrogate, self._unit(self._visited.features), self._earlier)
        learner.learn(record.seen(0), count)
        return learner

    def _noise(self, posterior: SurrogatePosterior) -> float:
        """Return the noise variance of a value, 0 where values are exact."""
        return 0.0 if self.exact else posterior.surrogate.noise(posterior.theta)

    def _chosen(self, learner: NotedLearner | None, rng: np.random.Generator) -> int:
        """Return an arm."""
        offered = np.ones(self.setting.decisions.num_arms, bool) if self.offered is None else self.offered[0]
        fresh = offered.copy()
        fresh[list(self._tried)] = False
        if fresh.any() and (self.exact or learner is None):
            offered = fresh
        if learner is None:
            arms = offered.nonzero()[0]
            if (likely := self._likely) is None:
                return int(rng.choice(arms))
            gap = self._unit(self.setting.decisions.arms[arms]) - likely
            return int(arms[np.square(gap).sum(axis=1).argmin()])
        posterior, pending = learner.posterior, self.book.pending().point
        best, noise = best_mean(posterior), self._noise(posterior)

        def score(found: Any, points: Ints) -> Floats:
            return log_improvement(found[0].mean - best, found[0].variance, noise)

        arms = self._shortlist.among(0, offered, [posterior], score)
        scores = score([posterior.at(arms, pending)], arms)
        return int(arms[argmax_with_ties(scores[None], TIE, rng.random(1))[0]])

    def _searched(self, learner: NotedLearner | None) -> tuple[Floats, float]:
        """Return a point of the box, (d,), and its score: log EI where a model chooses."""
        if learner is None and (columns := self._likely) is not None:
            likely = self._low + self._span * np.clip(columns, 0.0, 1.0)
            return self._searched_on(NearSurface(likely, self._span), likely[None])
        if learner is None:
            return self._searched_on(LevelSurface())
        posterior = learner.posterior
        on_box = BoxPosterior(with_pending(posterior, self.book.pending().point), self._earlier)
        best, noise = best_mean(posterior), self._noise(posterior)
        surface = ImprovementSurface(on_box, best, self._low, self._span, noise)
        return self._searched_on(surface, self._anchors(posterior))

    def _searched_on(self, surface: Any, anchors: Floats | None = None) -> tuple[Floats, float]:
        assert self._search is not None
        anchors = np.empty((0, self.setting.dim)) if anchors is None else anchors
        rng = self._rng
        pool = self._search(UnitSurface.of(surface, self.setting, anchors), rng)
        chosen = argmax_with_ties(pool.scores[None], TIE * surface.unit, rng.random(1))[0]
        return pool.arms[chosen], float(pool.scores[chosen])

    def _anchors(self, posterior: SurrogatePosterior) -> Floats:
        """Return the points seen, best first, (u, d)."""
        seen = posterior.seen
        return self._visited.features[seen.point[np.argsort(-seen.mean, kind="stable")]]

    @property
    def _likely(self) -> Floats | None:
        """The point that earlier tasks call for in this first round; None in every other one, (D,)."""
        if self._earlier is None or self.round >= FIRST:
            return None
        return self._earlier.called_for(self.round)

    def _unit(self, points: Floats) -> Floats:
        return (points - self._low) / self._span

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self.round >= 0)
        feedback, stds = Feedback.arrived(info), feedback_stds(info)
        require_learnable("feedback_reward", feedback.reward)
        offered = offered_in(info, self.setting, None)
        if self.setting.continuous:
            point = self._visited.index(self.setting.to_point(np.asarray(action, dtype=np.float64)))
        else:
            point = int(arms_of(action, 1, self.setting.decisions.num_arms)[0])
        played = self.book.record_round(np.array([point]), feedback.trial, feedback.round)
        self.offered = offered
        self._tried.add(point)
        weights = [1.0] * len(played) if stds is None else [self._weight(each) for each in stds.tolist()]
        self.round += 1
        for each, round_, value, weight in zip(
            played.tolist(), feedback.round.tolist(), feedback.reward.tolist(), weights, strict=True
        ):
            self._receive(PlayValues(each, round_, (value,), weight))

    def _weight(self, std: float) -> float:
        """Return the weight of a play whose noise std is stated, NaN where it is the usual one."""
        if math.isnan(std):
            return 1.0
        if not self._usual_std:
            self._usual_std = std
            for learner in self.learners:
                learner.take_stated(std)
        return min(max((self._usual_std / std) ** 2, 1e-8), 1e8)

    def _receive(self, play: PlayValues) -> None:
        """Take a value; a search of exact values on a box that is stuck begins anew, on values of its own."""
        if self.whole is not self.record:
            self.whole.add(play)
            if play.round < self._gains.since:
                return
        self.record.add(play)
        on_box = self.setting.continuous
        point = self._unit(self._visited.features[play.point]) if on_box else None
        self._gains.add(play.values[0], point, self._expected.pop(play.round, None))
        if self.exact and on_box and self._gains.stuck(self.setting.dim):
            self.whole = deepcopy(self.record) if self.whole is self.record else self.whole
            peaks = [*self._gains.peaks, self._gains.best]
            self.record, self._gains, self._expected = PointRecord(1), Gains(self.round, peaks), {}
            for learner in self.learners:
                learner.restart(0)

    def drop(self, rounds: Ints) -> None:
        rounds = np.atleast_1d(np.asarray(rounds, dtype=np.int64))
        self.book.drop(np.zeros_like(rounds), rounds)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the point of the largest posterior mean, where values are exact the best one seen."""
        require_reset(self.round >= 0)
        learner = self._informed(self.learners[0], self.whole, 0) if self.whole.count else None
        if self.setting.continuous:
            actions = self.setting.to_action(self._largest_mean(learner))[None] if among is None else among
            at = self.setting.to_point(np.asarray(actions, dtype=np.float64))
        else:
            actions = at = arms_among(among, self.setting.decisions.num_arms)
        mean, std = self._moments(learner, at)
        best = int(mean.argmax())
        action = actions[best] if self.setting.continuous else int(actions[best])
        point = at[best] if self.setting.continuous else self.setting.to_point(action)
        return Recommendation(action, point, float(mean[best]), float(std[best]))

    def _largest_mean(self, learner: NotedLearner | None) -> Floats:
        """Return the point of the box that a search for the largest posterior mean finds, (d,)."""
        if learner is None:
            return self._searched_on(LevelSurface())[0]
        on_box = BoxPosterior(learner.posterior, self._earlier)
        surface = MeanSurface(on_box, 0.0, self._low, self._span)
        return self._searched_on(surface, self._anchors(learner.posterior))[0]

    def _moments(self, learner: NotedLearner | None, points: Any) -> tuple[Floats, Floats]:
        """Return mean and std of the value at arms, (n,), or points of the box, (n, d), in its unit."""
        if learner is None:
            return np.zeros(len(points)), np.ones(len(points))
        posterior, values = learner.posterior, learner.values
        if self.setting.continuous:
            found = BoxPosterior(posterior, self._earlier).at(self._unit(points))
            mean, variance = values.moments(found.mean, found.variance)
        else:
            at = posterior.at(points)
            mean, variance = values.moments(at.mean, at.known)
        return values.zero + values.size * mean, values.size * np.sqrt(np.maximum(variance, 0.0))

    @property
    def leaves_traces(self) -> bool:
        """False: `act` changes what it learns and expects alone."""
        return False

    def skip(self) -> None:
        """Stand in for a call of `act`: learn what is due, and note what the point is expected to gain."""
        learner = self._learn()
        if self.setting.continuous:
            self._expect(learner, lambda: self._searched(learner)[1])

    def notes(self) -> dict[str, Any]:
        return {"found": self.found}

    @contextmanager
    def replaying(self, notes: Mapping[str, Any]) -> Iterator[None]:
        with self.found.replaying(notes["found"]):
            yield

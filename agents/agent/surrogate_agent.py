"""The agent of one trial that models reward and costs apart and learns a kernel and a noise of each."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, Unpack

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..beliefs.surrogates import Prediction, Surrogates
from ..model.choice import (
    Recommendation,
    TieBreaker,
    argmax_with_ties,
    arms_among,
    offered_in,
    require_offered,
)
from ..model.hyperparameters import NO_PRIOR, Fitter, Learning
from ..model.model import Model
from ..model.options import ModelOptions
from ..model.units import PerCost, PriorUnits, known_per_cost, once_model
from ..options import require_left_out
from ..protocol import Shown
from ..validation import one_seed, require_context, require_costs, require_reset, require_trials
from .assumptions import Fit, Fits
from .batching import OneTrialAgent, SideBySide
from .book import Book
from .generators import Streams
from .gp_agent import TIE

FEWEST = 2  # outcomes: a single one carries no information on a length-scale
START = 0.01  # initial noise variance, in prior variances


class SurrogateLearning:
    """Fits kernels and noise to the delivered outcomes every n rounds and sets them in the surrogates.

    Args:
        model: holds the kernel and, in `learning`, the settings of fits; None where nothing is learnt.
        quantities: 1 + C, the reward and the costs.
        rng: draws the random starts.
    """

    def __init__(self, model: Model, quantities: int, rng: np.random.Generator):
        self._learning, self.rng = model.learning, rng
        self._model, variance = model, model.deviation**2
        spreads = self._learning.spreads if self._learning else NO_PRIOR
        self._fitters = [
            Fitter(model.kernel, START * variance, variance, spreads=spreads) for _ in range(quantities)
        ]
        self.fits = Fits()  # log hyperparameters of all quantities; None of too few outcomes
        self.failed = 0
        self._overdue = False

    def after(self, rounds: int) -> None:
        """Mark a fit as due if this many rounds complete a period."""
        if self._learning is not None and rounds % self._learning.every == 0:
            self._overdue = True

    def fit_if_due(self, surrogates: Surrogates) -> bool:
        """Fit if it is due, and return True if the surrogates have new kernels."""
        if not self._overdue or self._learning is None:
            return False
        self._overdue = False
        size = sum(len(fitter.latest) for fitter in self._fitters)
        fit = self.fits.find(partial(self._found, surrogates, self._learning), size)
        if fit is None:
            return False
        parts = np.split(np.array(fit), len(self._fitters))
        each = zip(self._fitters, parts, strict=True)
        surrogates.remodel([fitter.take(theta, 0.0) for fitter, theta in each])
        return True

    def _found(self, surrogates: Surrogates, learning: Learning) -> Fit:
        most = len(surrogates.point) if learning.most is None else learning.most
        point, outcome = surrogates.point[-most:], surrogates.outcome[-most:]
        if len(point) < FEWEST:
            return None
        values = (outcome - surrogates.centre) / surrogates.scale
        asked = learning.restarts, self.rng
        for fitter, value in zip(self._fitters, values.T, strict=True):  # a failed fit keeps the last kernel
            self.failed += fitter.fit(self._coordinates, point, value, *asked) is None
        return np.concatenate([fitter.latest for fitter in self._fitters]).tolist()

    @property
    def _coordinates(self) -> Floats:
        visited: Any = self._model.visited
        return self._model.setting.decisions.points if visited is None else visited.features


A = TypeVar("A", bound=OneTrialAgent)


class SurrogateAgent(Shown, abc.ABC):
    """Learns the rewards and costs of one trial; subclasses choose actions.

    Args:
        model: kernel, points and the number of first plays; several agents may share one.
        noise_variance: lambda of reward and costs, (1 + C,).
    """

    num_trials = None

    def __init__(self, model: Model, noise_variance: Floats):
        self.model, self.setting, self.noise_variance = model, model.setting, noise_variance
        self._first = model
        self._listens = False
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self.tie_breaker = TieBreaker([np.random.default_rng(np.random.SeedSequence(one_seed(seed)))])
        self.model = self._first
        (of_fits,) = Streams([one_seed(seed)]).of("fits")
        self.learning = SurrogateLearning(self.model, len(self.noise_variance), of_fits)
        self.surrogates = Surrogates(self.model, self.noise_variance)
        self.book = Book(1, self.setting.horizon)
        self.round = 0
        self.offered: Bools | None = None  # arms that may be played next, (1, A); None: all
        self.begin()

    def start(self, info: dict[str, Any]) -> None:
        """Read from the `info` of the environment's reset which arms the first round has; see `Agent`."""
        require_reset(self.round >= 0)
        self.offered = offered_in(info, self.setting, None)

    def offer(self, arms: Bools) -> None:
        """Restrict the next choice, and no later one, to some arms of a set that is not volatile, (A,)."""
        require_reset(self.round >= 0)
        self.offered = np.atleast_2d(arms)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round: its observation, the action played, and the `info` returned."""
        point = self.points(observation, action)
        trial, rounds, reward, cost = Feedback.arrived(info)
        require_costs(cost, self.setting.num_constraints)
        offered = offered_in(info, self.setting, None)
        outcome = np.column_stack([reward, cost])
        arrived = self.book.record_round(point, trial, rounds)  # the last check
        self.offered = offered
        self.surrogates.play(point)
        self.surrogates.settle(arrived)
        self.surrogates.receive(arrived, outcome)
        self.round += 1
        self.learn(rounds, outcome)
        self.learning.after(self.round)
        if not self._listens:
            self._fit()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Postpone fits while several rounds are learnt; fit once at the end if any round made a fit due."""
        self._listens = True
        yield
        self._listens = False
        self._fit()

    @property
    def failed_fits(self) -> int:
        """Count the hyperparameter fits that failed."""
        return self.learning.failed

    def _fit(self) -> None:
        if self.learning.fit_if_due(self.surrogates):
            self.model = self.surrogates.models[0]

    def drop(self, rounds: Ints) -> None:
        """Forget pending plays that will never be delivered, (n,)."""
        rounds = np.atleast_1d(np.asarray(rounds, dtype=np.int64))
        self.surrogates.settle(self.book.drop(np.zeros_like(rounds), rounds))

    @abc.abstractmethod
    def act(self, observation: Floats) -> Any:
        """Choose an action for the observed context, (dz,)."""

    @abc.abstractmethod
    def points(self, observation: Floats, action: Any) -> Ints:
        """Return the index of an action in its context, (1,)."""

    @abc.abstractmethod
    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the action estimated to be the best feasible one in the observed context.

        Args:
            observation: the context, as `act` sees it; may be left out where there is only one.
            among: the actions to choose from, such as those played so far, (n,) arms or (n, d) on a box;
                default all.
        """

    @abc.abstractmethod
    def begin(self) -> None:
        """Start a trial."""

    @abc.abstractmethod
    def learn(self, rounds: Ints, outcome: Floats) -> None:
        """Learn, at the end of a round, the rewards and costs delivered, rounds (n,) and (n, 1 + C)."""


class ArmsSurrogateAgent(SurrogateAgent):
    """Plays the arm of the largest score."""

    def act(self, observation: Floats) -> int:
        """Choose an arm for the observed context, (dz,)."""
        require_reset(self.round >= 0)
        require_offered(self.offered, self.setting)
        scores = self.scores(self._context(observation))
        return int(argmax_with_ties(scores[None], TIE, self.tie_breaker(), self.offered)[0])

    def points(self, observation: Floats, action: Any) -> Ints:
        """Return the index of an arm in its context, (1,)."""
        return self.setting.decisions.point_index(*np.array([[self._context(observation)], [action]]))

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm estimated to be the best feasible one; see `SurrogateAgent`."""
        require_context(observation, self.setting.contexts is not None)
        context = 0 if observation is None else self._context(observation)
        believed = self.surrogates.predict(context)
        arms = arms_among(among, believed.mean.shape[1])
        arm = int(arms[self.best(believed.at(arms), arms)])
        mean, std = believed.mean[0, arm], believed.std[0, arm]
        return Recommendation(arm, self.setting.to_point(arm), float(mean), float(std))

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return mean and std of the reward and of each cost at the arms in a context, (A,) each."""
        require_reset(self.round >= 0)
        believed = self.surrogates.predict(self._context(observation))
        return list(zip(believed.mean.copy(), believed.std.copy(), strict=True))

    @property
    def there(self) -> Bools:
        """Return which arms may be played in this round, (A,)."""
        return np.ones(self.setting.decisions.num_arms, bool) if self.offered is None else self.offered[0]

    @abc.abstractmethod
    def scores(self, context: int) -> Floats:
        """Return the arms' scores, (A,); the caller masks missing arms and breaks ties at random."""

    @abc.abstractmethod
    def best(self, believed: Prediction, arms: Ints) -> int:
        """Return which of some arms to recommend, given the prediction at them."""

    def _context(self, observation: Floats) -> int:
        return int(self.setting.context_index(np.asarray(observation)[None])[0])


def surrogate_model(setting: Setting, **options: Unpack[ModelOptions]) -> Model:
    """Return the model of reward and costs; their prior means come from the agent's own plays."""
    for name, default in (("fit_on", "arrived"), ("fit_mean", False)):
        given, where = options.get(name, default), "where reward and costs have separate models"
        require_left_out(
            name, given, default, where, "their prior means are taken from the first delivered plays"
        )
    return once_model(setting, **options)


def noise_variances(model: Model, constraint_noise_std: PerCost | None, num_trials: int) -> Floats:
    """Return the noise variances of reward and costs in each trial, (B, 1 + C).

    Args:
        model: holds lambda of the reward.
        constraint_noise_std: default the published; where it is withheld, lambda of a cost is as large a
            share of its prior variance as that of the reward.
        num_trials: B.
    """
    reward = np.broadcast_to(model.noise_variance, num_trials)[:, None]
    stds = known_per_cost("constraint_noise_std", model.setting, constraint_noise_std)
    alike = PriorUnits.of_setting(model.setting, model.deviation).beside_reward
    cost = reward / alike**2 if stds is None else np.tile(stds**2, (num_trials, 1))
    return np.hstack([reward, cost])


def each_trial(make: Callable[[int], A], num_trials: int | None) -> A | SideBySide:
    """Return the agent of trial 0, or a batch of B agents."""
    require_trials(num_trials)
    if num_trials is None:
        return make(0)
    return SideBySide([make(i) for i in range(num_trials)])

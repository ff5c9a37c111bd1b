"""The assumptions of an agent, a part of it: when its models change, and to what."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.options import Checked, at_least_one, not_negative, number
from bandit_envs.basics.types import Bools, Floats, Ints

from ..kernels.amplitude import has_length_scale, inflation, shortened
from ..model.defaults import multiple
from ..model.hyperparameters import Fitter
from ..model.model import Model
from ..model.rounds import PENDING, Rows, in_time
from .generators import Streams

FORM = "pairs"  # the posterior that is cheapest to build again: it keeps no prior covariance
FITS = "found"  # of the notes
FEWEST_VALUES = 2  # one says nothing about a length-scale
START = 0.01  # initial noise variance of a fit of scaled values, in prior variances
MOST_POWER = 16.0  # T^16 is a number for every horizon that is played
MOST = number(f"at most {MOST_POWER:g}", lambda power: power <= MOST_POWER)
Power = Annotated[float, not_negative("it is a power of t"), MOST]
Start = Annotated[float, at_least_one("length-scales are divided by g(t) = max(start, t^g)")]
THE_TRIAL = np.zeros(1, dtype=np.int64)

Fit = list[Any] | None  # logarithms and the mean's rise; empty if it failed; None of too few values
Learner = Any  # a `GPAgent`, whose module imports this one


class Fits(list[Fit]):
    """Results of the fits of a trial, in order; while its history is replayed, fits return these."""

    noted: deque[Fit] | None = None  # those to come in a replay

    def find(self, search: Callable[[], Fit], *sizes: int) -> Fit:
        """Return what the next fit finds; one that was noted must have one of these sizes."""
        fit = search() if self.noted is None else self._take(self.noted, sizes)
        self.append(fit)
        return fit

    def numbers(self, search: Callable[[], list[float]], size: int) -> list[float]:
        """Return what a search finds that cannot fail: so many numbers."""
        found = self.find(search, size)
        if found is None:
            raise ValueError(f"a fit in the notes must be {size} numbers, got None")
        return found

    @contextmanager
    def replaying(self, noted: Sequence[Fit]) -> Iterator[None]:
        """Take what noted fits found within, in place of new ones."""
        self.noted = deque(noted)
        yield
        if self.noted:
            raise ValueError(f"the notes have {len(self.noted)} fits more than were made")
        self.noted = None

    def _take(self, noted: deque[Fit], sizes: tuple[int, ...]) -> Fit:
        if not noted:
            raise ValueError(f"the notes have {len(self)} fits, fewer than were made")
        fit = noted.popleft()
        if fit is not None and len(fit) not in sizes:
            raise ValueError(f"a fit in the notes must be {sizes[-1]} numbers, got {len(fit)}")
        return fit


class Given:
    """The model is given and stays; a subclass changes it between rounds. It is built at every reset."""

    may_change = False  # whether `after` is asked after every round
    reads_book = False  # whether it needs the feedback of all plays
    failed_fits = 0
    waits = False  # whether changes are left for later, while rounds are replayed one after another

    def __init__(self, model: Model, streams: Streams):
        self.first = model

    def after(self, agent: Learner) -> Model | None:
        """Return the model of the rounds to come; None leaves it. Asked at a reset and after every round."""
        return None

    def notes(self) -> dict[str, Any]:
        """Return what does not follow from the history, as data."""
        return {}

    def replaying(self, notes: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Meet the same history again within, up to these notes."""
        return nullcontext()

    @property
    def will_change(self) -> bool:
        """Return whether noted changes are still to come, so that questions before them leave no trace."""
        return False


class Learnt(Given):
    """Kernel and noise of one trial by marginal likelihood, every n rounds (see `Learning`).

    Where what is maximised changes once an epoch, it fits at the ends of epochs, to the values that all plays
    so far have under the new multipliers: the kernels k_l of Shi & Eryilmaz (2022), also where each epoch
    begins with a fresh posterior. A bound on the norm stays what it was. A fit that fails keeps the old
    values and counts in `failed_fits`.
    """

    may_change = reads_book = True

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        assert model.learning is not None
        self.learning = learning = model.learning
        noise = float(model.noise_variance)
        self._fitter = Fitter(model.kernel, noise, model.prior_std**2, learning, learning.mean)
        (self._rng,) = streams.of("fits")
        self.failed_fits, self._overdue, self._last_round = 0, False, 0
        self.fits = Fits()

    def after(self, agent: Learner) -> Model | None:
        rounds, epoch, every = agent.round, agent.objective.epoch, self.learning.every
        new = rounds > self._last_round  # and the end of an epoch, usually one round, in which a fit was due
        self._overdue |= new and rounds % epoch == 0 and rounds // every > (rounds - epoch) // every
        self._last_round = rounds
        if not self._overdue or self.waits:
            return None
        self._overdue = False
        return self.adopted(agent, self.fits.find(partial(self._found, agent), *self.fit_sizes(agent)))

    def fit_sizes(self, agent: Learner) -> tuple[int, ...]:
        """Possible lengths of a fit: 0 if it failed, else the kernel, the noise and the mean's rise."""
        return 0, len(self._fitter.latest) + 1

    def adopted(self, agent: Learner, fit: Fit) -> Model | None:
        """Return the model that a fit found; None where it found nothing."""
        if not fit:
            self.failed_fits += fit is not None
            return None
        *theta, centre = fit
        return agent.model.learnt(self._fitter.take(np.array(theta), centre))

    def sample(self, agent: Learner) -> tuple[Ints, Floats, Floats | None]:
        """Return points, values minus their prior mean, and weights of the plays for a fit, (n,) each.

        Pending plays too, if all are asked for, with the values that the belief assumes. Weights are how many
        plays of the model's noise each counts as; None where each is one.
        """
        belief, rows = agent.belief, agent.book.rows(THE_TRIAL)
        delay = agent.clock.delay(rows.round, rows.arrived)
        here = (rows.arrived > PENDING) & in_time(delay, belief.window)
        if self.learning.on != "all":
            rows, here = rows.where(here), here[here]
        rows, here = rows.where(self.learning.latest), here[self.learning.latest]
        value = np.zeros(len(here))
        trial, point, _, _, reward, cost, _ = rows.where(here)
        if len(trial):
            value[here] = belief.residual(trial, point, agent.objective.values(trial, reward, cost))
        value[~here] = belief.assumed(rows.trial[~here], rows.point[~here])
        return rows.point, value, self._weights(agent, rows, here)

    def notes(self) -> dict[str, Any]:
        return {FITS: self.fits}

    def replaying(self, notes: Mapping[str, Any]) -> AbstractContextManager[None]:
        return self.fits.replaying(notes[FITS])

    @property
    def will_change(self) -> bool:
        return any(self.fits.noted or ())

    def _found(self, agent: Learner) -> Fit:
        point, value, weight = self.sample(agent)
        if len(value) < FEWEST_VALUES:
            return None
        found = self._fitter.fit(agent.features, point, value, self.learning.restarts, self._rng, weight)
        return [] if found is None else [*self._fitter.latest.tolist(), found.centre]

    def _weights(self, agent: Learner, rows: Rows, here: Bools) -> Floats | None:
        if not agent.belief.weighs:
            return None
        known = agent.belief.weights(rows.point)
        if known is None and not agent.book.weighted:
            return None
        usual = np.ones(len(rows.point)) if known is None else known
        return np.where(here & ~np.isnan(rows.weight), rows.weight, usual)


@dataclass(frozen=True)
class LengthScaleGrowth(Checked):
    """g(t) = max(start, t^power), start >= 1: by how much length-scales have shrunk in round t = 1, 2, ..."""

    power: Power = 0.5
    start: Start = 1.0

    def __call__(self, t: int) -> float:
        return max(self.start, float(t) ** self.power)


class Shrinking(Given):
    """theta_t = theta_0 / g(t) and B_t = b(t) g(t)^(d/2) B_0 (after Berkenkamp et al. 2019)."""

    may_change = True

    def __init__(self, model: Model, streams: Streams, g: LengthScaleGrowth, b: LengthScaleGrowth):
        super().__init__(model, streams)
        self._g, self._b, self._now = g, b, (1.0, 1.0)

    def after(self, agent: Learner) -> Model | None:
        t = agent.round + 1
        before, self._now = self._now, (self._g(t), self._b(t))
        return None if self._now == before else shrunk(self.first, *self._now, agent.model)


def shrunk(first: Model, factor: float, more: float = 1.0, now: Model | None = None) -> Model:
    """Return a model with length-scales divided by c, `factor`, and a bound c^(d/2) times as large, and more.

    All else is that of the model `now`, by default of the `first`, whose theta_0 and B_0 these are.
    """
    scale = factor if has_length_scale(first.kernel) else 1.0
    bound = multiple(first.rkhs_bound, more * inflation(scale, first.setting.pairs_width))
    return replace(now or first, kernel=shortened(first.kernel, scale), rkhs_bound=bound)


class OwnNoise(Given):
    """Lambda of the reward from first plays: the model's, of a scale of 1, over the square of its scale."""

    may_change = True

    def after(self, agent: Learner) -> Model | None:
        noise, model = agent.objective.reward_noise_at(agent.objective.scale), agent.model
        return None if np.all(noise == model.noise_variance) else replace(model, noise_variance=noise)


class EachLearnt(Learnt):
    """Kernel and noise of the reward and of each cost by marginal likelihood, every n rounds.

    Priors, if asked for, are around each one's own kernel and noise at the first fit, in units of the first
    plays. A quantity whose fit fails keeps its latest kernel.
    """

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        self._fitters: list[Fitter] = []  # of the reward and of each cost, from the first fit on

    def first_models(self, agent: Learner) -> list[tuple[Model, float]]:
        """Return the models of the reward and of each cost before any fit, and where their noises begin."""
        models = [agent.model, *agent.objective.cost_models(agent.objective.scale)]
        return [(each, np.asarray(each.noise_variance).item()) for each in models]

    def adopted(self, agent: Learner, fit: Fit) -> Model | None:
        if not fit:
            return None
        parts = np.split(np.array(fit), len(self._fitters))
        reward, *costs = (fitter.take(theta, 0.0) for fitter, theta in zip(self._fitters, parts, strict=True))
        agent.objective.learn(reward, costs)
        return agent.model.learnt(reward)

    def fit_sizes(self, agent: Learner) -> tuple[int, ...]:
        if not self._fitters:
            self._fitters = [
                Fitter(model.kernel, noise, model.prior_std**2, self.learning)
                for model, noise in self.first_models(agent)
            ]
        return (sum(len(fitter.latest) for fitter in self._fitters),)

    def _found(self, agent: Learner) -> Fit:
        rows = agent.book.rows(THE_TRIAL).delivered.where(self.learning.latest)
        if len(rows.point) < FEWEST_VALUES:
            return None
        objective, restarts = agent.objective, self.learning.restarts
        reward = objective.values(rows.trial, rows.reward, rows.cost)
        costs = objective.scaled_costs(rows.trial, rows.cost)
        for fitter, value in zip(self._fitters, [reward, *costs.T], strict=True):
            self.failed_fits += fitter.fit(agent.features, rows.point, value, restarts, self._rng) is None
        return np.concatenate([fitter.latest for fitter in self._fitters]).tolist()


class EachLearntInScales(EachLearnt):
    """The same of `Feasible`: before the first fit lambda is that of `OwnNoise`, and fits begin at 0.01."""

    def __init__(self, model: Model, streams: Streams):
        super().__init__(model, streams)
        self._own_noise = OwnNoise(model, streams)

    def after(self, agent: Learner) -> Model | None:
        found = super().after(agent)
        return self._own_noise.after(agent) if found is None and not any(self.fits) else found

    def first_models(self, agent: Learner) -> list[tuple[Model, float]]:
        return [(self.first, START * self.first.prior_std**2)] * (1 + self.first.setting.num_constraints)


def in_scales_of_first_plays(model: Model) -> dict[str, Any]:
    """Return the assumptions of an agent whose reward and costs have scales and noises of their own."""
    return {"assumptions": OwnNoise if model.learning is None else EachLearntInScales}


def learnt_separately(model: Model, separate: bool) -> dict[str, Any]:
    """Return the assumptions of an agent that learns, and models reward and costs apart; else nothing."""
    return {"assumptions": EachLearnt} if separate and model.learning is not None else {}

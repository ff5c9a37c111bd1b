"""The quantities that an agent learns: the reward, each cost and the price of a play; and its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import (
    as_array,
    require,
    require_integer,
    require_not_negative,
    require_positive,
    written_as,
)
from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..named import chosen, made, name_of, require_called_with
from .anew import ALARM
from .earlier import EarlierTasks
from .horizon import SCORES, SHARE_UNDER_LIMITS
from .learner import NUM_CHAINS, REFUTED, Chains, Learner
from .priors import cost_prior, published_prior, understood, usual_prior, with_line
from .spaces import DecisionSpace, space_of
from .surrogate import WEIGHT, PointValues, Surrogate
from .values import ALPHAS, Asinh, Bent, Compressed, Logarithm, Values

Score = Callable[[Floats, Floats, Floats, Floats, float], Floats]  # as `knowledge_gradient`


@dataclass(frozen=True)
class RealParts:
    """What the agent is made of; `gp-agent` has these defaults and takes others by name, as `parts`."""

    score: Any = "knowledge-gradient"  # where nothing has a cost: one of `SCORES`, or a `Score`
    alphas: Sequence[float] = ALPHAS  # transforms of rewards that are tried; (0,) leaves them as they are
    noise_weight: float = WEIGHT  # plays that the common noise counts as; 1e6: it is that of every arm
    chains: int = NUM_CHAINS  # of hyperparameters without a published model; 0: the likeliest ones alone
    refuted: float = REFUTED  # nats; a published model is always kept with inf, and only a prior with -inf
    pending: bool = True  # whether pending plays lower the std
    limits_share: float = SHARE_UNDER_LIMITS  # how much of what is learnt is used where there are limits
    alarm: float = ALARM  # nats; no change is detected with inf
    first: int | None = None  # plays before a model chooses; None: as many as there are parameters, or 1

    def __post_init__(self) -> None:
        if name_of(self.score) is not None:
            object.__setattr__(self, "score", chosen("score", self.score, SCORES))
        require_called_with("score", self.score, 5, f"one of {', '.join(SCORES)}, or a function of its five")
        alphas = as_array(self.alphas)
        require(alphas.ndim == 1, "alphas", "a list of numbers", self.alphas)
        require_not_negative("alphas", alphas, "0 is for values as they are")
        require_positive("noise_weight", self.noise_weight, "it is a number of plays")
        require_integer("chains", self.chains, 0, "0 is for the likeliest hyperparameters")
        require_not_negative("limits_share", self.limits_share, "1 is for all that may be learnt")
        require(self.alarm > 0.0, "alarm", "positive, and inf for no alarm", self.alarm)
        if self.first is not None:
            require_integer("first", self.first, 1, "a model chooses after so many plays")

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> RealParts:
        """Return the parts of these names, and the defaults of the others."""
        with written_as({"parts_options": "parts"}):
            return made("parts", "gp-agent", {"gp-agent": cls}, given)


FIRST_POINTS = 64  # doubled whenever they are full


class PlayValues(NamedTuple):
    """A play whose feedback was delivered."""

    point: int
    round: int
    values: tuple[float, ...]  # the reward less its prior mean, the costs, the price
    weight: float = 1.0  # common noise variance over that of this play


class QuantitySpec(NamedTuple):
    """How the quantities of a setting are modelled; learners are made from it at every reset."""

    space: DecisionSpace
    reward: Surrogate
    costs: list[tuple[Surrogate, type[Values]]] | None  # of limits and price; None without either
    variance: float | None  # of a published model
    several: bool  # whether there are contexts
    chained: bool
    parts: RealParts

    @classmethod
    def of(
        cls, model: Model, published: bool, parts: RealParts, earlier: EarlierTasks | None = None
    ) -> QuantitySpec:
        """Return how the quantities of a model's setting are modelled."""
        setting = model.setting
        has_costs = setting.num_constraints > 0 or setting.budget is not None
        space = space_of(model, by_column=published or has_costs or earlier is not None)
        parameters = space.parameters
        prior = usual_prior(parameters)
        if published:
            known = understood(model.kernel, setting)
            assert known is not None
            noise = float(np.mean(model.noise_variance)) / model.prior_std**2
            prior = published_prior(*known, noise, parameters)
        limit = Surrogate(
            parameters, cost_prior(parameters, prior if published else None), parts.noise_weight
        )
        costs: list[tuple[Surrogate, type[Values]]] = [(limit, Asinh)] * setting.num_constraints
        if cls.learns_price(setting):
            costs.append((Surrogate(parameters, cost_prior(parameters), parts.noise_weight), Logarithm))
        prior = with_line(prior) if has_costs else prior
        surrogate = Surrogate(parameters, prior, parts.noise_weight)
        if earlier is not None:
            surrogate = earlier.informed(surrogate, published)
            space.earlier = earlier, surrogate
        return cls(
            space,
            surrogate,
            costs if has_costs else None,
            float(model.prior_std) ** 2 if published else None,
            setting.has_contexts,
            parts.chains > 0 and not (published or has_costs or setting.has_contexts or earlier is not None),
            parts,
        )

    @staticmethod
    def learns_price(setting: Setting) -> bool:
        """Return whether the price of a play is a quantity, the last one: where it is not published."""
        return setting.budget is not None and setting.known_costs is None

    def learners(self, rng: np.random.Generator) -> list[Learner]:
        """Return the learners of the reward, each cost and the price."""
        bent = Bent(self.several, self.variance, self.parts.alphas)
        values = bent if self.costs is None else Compressed(self.variance)
        chains = Chains(self.reward, rng, self.parts.chains) if self.chained else None
        of_reward = Learner(self.reward, values, chains, self.parts.refuted)
        return [of_reward, *(Learner(surrogate, written()) for surrogate, written in self.costs or ())]


class PointRecord:
    """Delivered values of Q quantities by point, in the order in which the points were first delivered."""

    def __init__(self, quantities: int):
        self.count = 0  # plays
        self._place: dict[int, int] = {}  # column of each point
        self._rows = np.zeros((3 + 2 * quantities, FIRST_POINTS))  # points, plays, weights, means, squares

    def add(self, play: PlayValues) -> None:
        """Add a play; means and squares are updated as Welford (1962) does."""
        place = self._place.setdefault(play.point, len(self._place))
        if place == self._rows.shape[1]:
            self._rows = np.hstack([self._rows, np.zeros_like(self._rows)])
        self.count += 1
        self._rows[0, place] = play.point
        self._rows[1:3, place] += 1.0, play.weight
        mean, squares = np.split(self._rows[3:, place], 2)  # views
        gap = np.array(play.values) - mean
        mean += gap * (play.weight / self._rows[2, place])
        squares += play.weight * gap * (np.array(play.values) - mean)

    def seen(self, quantity: int) -> PointValues:
        """Return the values of a quantity, (u,) each; copies."""
        own = 3 + quantity
        rows = [0, 1, own, own + len(self._rows) // 2 - 1, 2]
        point, *values = self._rows[rows, : len(self._place)]
        return PointValues(point.astype(np.int64), *values)

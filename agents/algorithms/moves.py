"""The named algorithms for costs of moves and for drift: batches in short or random order, and a rival index.

Agents that repeat arms, `gp-ucb` and others with `repeat=2` (mini-GP-UCB), also move seldom: with
immediate feedback a trial makes at most 2 g_T / log((C2 + 1) / 2) moves, see `agents.agent.repeating`.

Readable forms: tests/references/moves.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.options import count, not_negative
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.movement import Movement, Travel
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, Among, make_rule
from ..acquisition.rules import PosteriorVariance
from ..agent.assembly import Agent, assemble
from ..agent.gp_agent import GPAgent
from ..beliefs.base import make_posterior
from ..beliefs.eliminating import DriftingBatches, Phase
from ..beliefs.points import Points
from ..kernels.amplitude import without_contexts
from ..model.choice import argmax_with_ties
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..objectives.base import Objective, Reward
from ..options import require_arms
from ..posteriors.base import observe
from ..protocol import handles
from ..restarts.base import BatchEnds, growing_lengths
from ..widths.bounded_norm import DriftBand
from .elimination import eliminating_by, require_plan

REMEDY = 'take "gp-ucb" with repeat=2, which moves seldom'
RATE = 1e-3  # of drift where none is given and functions may change, in prior stds a round
DIGITS = 9  # of distances: other units of the features change their last bits
LEAST_GAIN = 10.0**-DIGITS  # of a 2-opt move, so that rounding cannot make it go on


@handles("delay", "noise", "horizon")
def batch_and_sort(
    setting: Setting,
    *,
    band: str | float = "split",
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Batch and sort: the plays of each batch of `bpe`, in the order of a short tour from the present arm.

    Plays of a batch use no value of it, so their order changes neither the plays of later batches nor the
    regret of a stationary function: the bound is that of `bpe`, and switches are at most sum_i min(n_i, N)
    over the batches of lengths n_i. See `in_short_order` for the tour. Ours; the Traveling Bandit (arXiv
    2410.14533, from its abstract) orders batches by shortest tours too. As a batch is planned before it,
    contexts are ignored, and settings whose arms may be missing are refused.

    Args:
        band, delta: see `bpe`.
    """
    require_plan(setting, delta, options, REMEDY)
    lengths = growing_lengths(setting.horizon)
    model = Model.of(without_contexts(setting), **options)
    return _planned(model, lengths, True, eliminating_by(band, delta, len(lengths)), num_trials)


@handles("change", "horizon")
def permuted_elimination(
    setting: Setting,
    *,
    variation: Annotated[float, not_negative("it is a change of the function a round")] | None = None,
    restart_every: Annotated[int, count("it is the number of rounds between restarts")] | None = None,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Permuted elimination: batches of largest variance in random order, and restarts, for drift.

    In each block of H_r rounds batches have the lengths of `bpe`. Bands are of a batch's average function,
    see `DriftBand`: with probability 1 - delta all hold, for functions of norm B that are fixed in advance
    and immediate feedback. An arm is eliminated if its upper bound is below the largest lower bound less 2 V.
    Ours, after R-PERP (Iwazaki & Takeno 2025), of which we have read the abstract only: its constants and
    schedule are other, and its rates are not proved here. Contexts are ignored, and settings whose arms may
    be missing are refused.

    Args:
        variation: v, the most that the function changes from one round to the next at any point, in units of
            the reward; V = v (n - 1) in a batch of n plays. Default: 0 where functions do not change, else
            1e-3 prior deviations, a guess.
        restart_every: H_r; default ceil((s / v)^(2/3)), s the prior deviation: the order, not the constant,
            that balances the regret of learning anew and of drift. The horizon where v is 0.
        delta: failure probability of all bands together.
    """
    require_plan(setting, delta, options, REMEDY)
    model = Model.of(without_contexts(setting), **options)
    rate = (RATE * model.prior_std if setting.may_change else 0.0) if variation is None else variation
    if restart_every is None and rate:
        restart_every = max(1, math.ceil((model.prior_std / rate) ** (2.0 / 3.0)))
    phases = phases_of(setting.horizon, restart_every or setting.horizon, rate)
    band_of = partial(DriftBand.of, delta=delta, values=model.gram.size * len(phases))
    belief = partial(DriftingBatches, band_of=band_of, phases=phases)
    return _planned(model, [each.plays for each in phases], False, belief, num_trials)


@handles("delay", "noise", "availability")
def movement_ucb(
    setting: Setting,
    *,
    width: Any = "improved",
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Movement-UCB: argmax mu(x) + w sigma(x) - c(x_{t-1}, x), which charges a move to the next play.

    A rival that gets stuck: once all moves cost more than w sigma it stays, as the index does not count that
    what is learnt serves all later rounds. No bound holds. Where moves are free it is `gp-ucb` of this width.

    Args:
        width: "improved" (IGP-UCB), a number or a width of `make_width`.
        delta: failure probability of the width.
    """
    require_arms(setting, REMEDY)
    rule = make_rule("ucb", width, delta)
    return assemble(Model.of(setting, **options), rule, num_trials, objective=LessMoves)


def phases_of(horizon: int, every: int, rate: float) -> list[Phase]:
    """Return the batches of all blocks of `every` rounds, the last cut at T."""
    phases: list[Phase] = []
    for start in range(0, horizon, every):
        lengths = growing_lengths(min(every, horizon - start))
        ends = [False] * (len(lengths) - 1) + [True]
        phases += [Phase(n, rate * (n - 1), end) for n, end in zip(lengths, ends, strict=True)]
    return phases


def _planned(model: Model, lengths: list[int], by_tour: bool, belief: Any, num_trials: int | None) -> Agent:
    kind: Any = partial(PlannedAgent, lengths=lengths, by_tour=by_tour)
    rule, restart = Always(Among(PosteriorVariance())), partial(BatchEnds, lengths=lengths)
    return assemble(model, rule, num_trials, kind, belief=belief, restart=restart)


class LessMoves(Reward):
    """score(x) - c(x_{t-1}, x), in units of the reward: what a move leads to is not valued."""

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, num_trials)
        self._law, self._places = model.setting.movement, model.setting.decisions.unit_arms
        self._last: Ints | None = None  # arms of the last round, (B,)
        self._initial = model.initial

    def played(self, point: Ints, t: Ints) -> None:
        self._last = point.copy()

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        """Return scores less the costs of moves, (B, A); random first plays are made whatever they cost."""
        if self._law is None or self._last is None:
            return scores
        cost = self._law.cost(self._places[self._last][:, None], self._places[None])
        return np.where(t[:, None] <= self._initial, scores, scores - cost)

    worth = Objective.unpenalised  # a recommendation moves nowhere


class PlannedAgent(GPAgent):
    """Agent that plans the arms of largest variance for a batch, and plays them by a tour or at random.

    The plan holds the plays of `bpe` with the same seed and lengths: they use no value of their batch, and
    the posterior of a batch does not depend on its order. Further rounds are batches of the last length.
    """

    def __init__(self, *parts: Any, lengths: Sequence[int], by_tour: bool, **named: Any):
        super().__init__(*parts, **named)
        self._ends, self._last_length, self._by_tour = np.cumsum(lengths), lengths[-1], by_tour

    def reset(self, seed: int | Sequence[int]) -> None:
        super().reset(seed)
        self._begun = 0
        self._plan: Ints | None = None  # arms of the batch, (B, n), while it lasts
        self._last: list[int | None] = [None] * self._size  # arms of the last round
        self._orderers = self.streams.of("order")

    def offer(self, arms: Any) -> bool:
        """Return False: what is planned is played."""
        return False

    def act(self, observation: Floats) -> Any:
        self._contexts(observation)
        if self._plan is None:
            self._plan, self._begun = self._new_plan(), self.round
        arm = self._plan[:, self.round - self._begun]
        return arm.astype(np.int64) if self.num_trials else int(arm[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        super().update(observation, action, reward, info)
        self._last[:] = np.atleast_1d(action).tolist()
        if self._plan is not None and self.round >= self._begun + self._plan.shape[1]:
            self._plan = None

    def _new_plan(self) -> Ints:
        """Return the arms of the rest of this batch in the order of play, a byte or two each."""
        after = self._ends[self._ends > self.round]
        left = int(after[0]) - self.round if len(after) else self._last_length
        plan, places, law = self._planned(left), self.setting.decisions.unit_arms, self.setting.movement
        if self._by_tour:
            each = zip(plan, self._last, strict=True)
            rows = [in_short_order(row, last, places, law) for row, last in each]
        else:
            rows = [rng.permutation(row) for row, rng in zip(plan, self._orderers, strict=True)]
        return np.stack(rows).astype(np.min_scalar_type(self._num_arms))

    def _planned(self, length: int) -> Ints:
        """Return the arms of largest variance among active ones, one after another, (B, n)."""
        posterior, belief = make_posterior(self.model, self._size), self.belief
        active = belief.active(self._only_context)
        for i in belief.rows.tolist():  # plays of this batch that were not planned here
            posterior.condition_on(i, belief.std_posterior.statistics(i))
        plan, nothing = np.empty((self._size, length), dtype=np.int64), np.zeros(self._size)
        for k in range(length):
            std = np.sqrt(np.maximum(posterior.variance_at(None), 0.0))
            uniform = self.tie_breaker()  # as many in all as one in every round
            plan[:, k] = argmax_with_ties(np.where(active, std, -np.inf), self._tie, uniform)
            observe(posterior, belief.rows, plan[:, k], nothing, belief.weights(plan[:, k]))
        return plan


def in_short_order(plays: Ints, last: int | None, places: Floats, law: Movement | None) -> Ints:
    """Return the plays of a batch, (n,), in the order of a short tour from the present arm.

    It groups equal arms, starts at `last` or at the first of the plays where there is none, goes to the
    nearest next arm and is shortened by 2-opt, in the metric of the law of moves, or by distance where moves
    are free. Prices do not matter to it. `places` are those of the arms in the unit box, (A, d).
    """
    arms, first, times = np.unique(plays, return_index=True, return_counts=True)
    rank = first.argsort()  # distinct arms in the order of their first plays, so that ties follow the plan
    arms, times = arms[rank], times[rank]
    start = plays[0] if last is None else last
    stops = places[np.concatenate([[start], arms])]
    distance = (law or Travel()).distance(stops[:, None], stops[None]).round(DIGITS)
    order = shortened(nearest_first(distance), distance)[1:] - 1
    return np.repeat(arms[order], times[order])


def nearest_first(distance: Floats) -> Ints:
    """Return a path from stop 0 that goes to the nearest new stop each time, (m, m) -> (m,)."""
    path = [0]
    while len(path) < len(distance):
        reachable = distance[path[-1]].copy()
        reachable[path] = np.inf
        path.append(int(reachable.argmin()))
    return np.array(path)


def shortened(path: Ints, distance: Floats) -> Ints:
    """Return the path after 2-opt: the reversal that shortens it most, its start fixed, until none does."""
    place = np.arange(len(path))
    after = np.minimum(place + 1, len(path) - 1)  # of the last stop, itself: no edge
    while True:
        along = distance[np.ix_(path, path)]
        edges = along[place, after]
        # By how much the path is shorter with its stops i + 1..j reversed, (m, m); its end is free.
        gains = edges[:, None] + edges[None] - along - along[np.ix_(after, after)]
        gains[:, -1] = edges - along[:, -1]
        gains[place[:, None] + 1 >= place[None]] = 0.0
        i, j = divmod(int(gains.argmax()), len(path))
        if gains[i, j] <= LEAST_GAIN:
            return path
        path = np.concatenate([path[: i + 1], path[i + 1 : j + 1][::-1], path[j + 1 :]])

"""An agent that has observed a tuner's history, and the same made again from a file."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import delivery

from ..agent.generators import Resumable
from ..model.units import sizes_of
from ..protocol import adapted
from .decision_sets import make_decision_set
from .feasibility import (
    LIKELY,
    SPREAD,
    FeasibilityFilter,
    NothingLeft,
    SuccessProbability,
    beside,
    feasibility_of,
    runs,
    wanted_in,
)
from .history import ADD, TunerRound
from .plan import TunerPlan
from .scale import Scale
from .space import Values, without_time

QUANTILE = 1.959963984540054  # of the standard normal law, at 97.5 %
ROUNDING = 1e-6  # of a coordinate of a space, that another processor may round otherwise
NOTES = dict[str, list[dict[str, Any] | list[float] | None]] | None  # type of a player's notes in a file


class Advice(NamedTuple):
    """Recommended parameters with the posterior of their value."""

    parameters: Values
    mean: float  # posterior mean of the value there
    std: float  # posterior standard deviation of the mean value

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean value, if the model is right."""
        return self.mean - QUANTILE * self.std, self.mean + QUANTILE * self.std


class TunerPlayer:
    """Agent that is given a history as a stream of rounds: plays, and feedback before the next one.

    Its agent is made at the first round or question; `number` players were before it.
    """

    def __init__(
        self,
        plan: TunerPlan,
        rounds: Sequence[TunerRound],
        context: Values,
        number: int = 0,
        only: Sequence[Values] = (),
    ):
        values = [arrival.value for each in rounds for arrival in each.arrivals]
        self.plan, self.number = plan, number
        self.num_scaled = self.arrived = len(values)  # when the scale was estimated, and in known rounds
        self.scale = Scale.of(plan.goal, values if plan.standardise else [], plan.tames)
        self.only = values[0] if values and min(values) == max(values) else None  # the value if all are equal
        costs = [arrival.costs for each in rounds for arrival in each.arrivals]
        costs_observed = np.array(costs, dtype=np.float64).reshape(len(costs), len(plan.constraints))
        self.costless = np.full(len(plan.constraints), len(costs) > 0) & ~costs_observed.any(axis=0)  # (C,)
        self.sizes = sizes_of(costs_observed if plan.standardise else costs_observed[:0])
        contexts = [*(each.context for each in rounds), context]
        played = [each.parameters for each in rounds]
        self.decision_set = make_decision_set(plan, self.scale, played, contexts, only)
        self.feasibility = FeasibilityFilter(plan.parameters, plan.rule)
        self._known_features: dict[tuple[Any, ...], Floats] = {}
        self.tried: list[Values] = []  # in earlier rounds, while the first plays are made
        self.known = len(rounds)  # rounds in the decision set's setting
        self.closed = 0  # rounds that the agent has observed
        self._rounds: Sequence[TunerRound] = ()

    @cached_property
    def agent(self) -> Any:
        """The agent."""
        agent = adapted(self.decision_set.make_agent(self.plan.factory, self.feasibility))
        seed, number = self.plan.seed, self.number  # the seed is the first player's
        agent.reset(int(np.random.SeedSequence([seed, number]).generate_state(1)[0]) if number else seed)
        return agent

    def outgrown(self, rounds: Sequence[TunerRound], context: Values, only: Sequence[Values] = ()) -> bool:
        """Return True if a new player should take over.

        That is when a round is not in the decision set, when the number of values has doubled since the
        scale was estimated, or at the first value that determines the scale: those before were equal, or
        costs 0. Because of the doubling agents observe a history about twice in total, however long it is.
        """
        fresh = rounds[self.known :]
        doubled = self.arrived + _arrivals(fresh) >= max(1, 2 * self.num_scaled)
        if self.plan.standardise and (doubled or self._unscaled_by(fresh)):
            return True
        contexts = [context, *(each.context for each in fresh)]
        return not self.decision_set.has([each.parameters for each in fresh], contexts, only)

    def _unscaled_by(self, fresh: Sequence[TunerRound]) -> bool:
        """Return True if a value differs from all earlier, equal ones, or a cost from all earlier zeros."""
        arrivals = [arrival for each in fresh for arrival in each.arrivals]
        differ = any(each.value != self.only for each in arrivals) if self.only is not None else False
        return differ or any(np.any(self.costless & (np.array(each.costs) != 0.0)) for each in arrivals)

    def mark_seen(self, rounds: Sequence[TunerRound]) -> None:
        """Note that these rounds do not outgrow the player: only later ones are looked at again."""
        self.arrived += _arrivals(rounds[self.known :])
        self.known = max(self.known, len(rounds))

    def catch_up(self, rounds: Sequence[TunerRound]) -> None:
        """Pass new rounds to the agent; one that learns its kernel does so once."""
        new = range(self.closed, len(rounds))
        with self.agent.listening() if new else nullcontext():
            for t in new:
                self._close(t, rounds[t])
        self.closed, self._rounds = len(rounds), rounds
        first = self.closed < self.plan.first_plays
        self.tried = [each.parameters for each in rounds] if first else []
        self.mark_seen(rounds)

    def ask(
        self,
        context: Values,
        believed: SuccessProbability | None = None,
        only: Sequence[Values] = (),
        again: bool = False,
    ) -> Values:
        """Return the parameters to play next, where success is likely, among what is available.

        `again` allows what was tried, as is done where exact values leave nothing else.
        """
        place, allowed, known = self.decision_set, self.feasibility, self.plan.contexts.features(context)
        over = [] if again or not self.plan.exact else self._over(context)
        allowed.set(believed, known, wanted_in(self.closed), only, over)
        try:
            narrowed = (self.restricted or self.tried) and place.narrow(self.agent, allowed, self.tried)
            action = self.agent.act(place.observation(context))
            if self.restricted and not narrowed:  # an agent that cannot be restricted is corrected
                action = place.opened(action, allowed)
            parameters = place.parameters(action)
            return allowed.exact(parameters) if self.restricted else parameters
        except NothingLeft:
            if again or not self.plan.repeats or not self.plan.exact:
                raise
            return self.ask(context, believed, only, again=True)

    def avoid_running(self, parameters: Values, running: Sequence[Values]) -> Values:
        """Return the parameters, or alternatives if they are running: a copy has little information.

        Nor are first plays made twice, while there are others.
        """
        if not self.plan.avoids_running:
            return parameters
        space, taken = self.plan.parameters, [*running, *self.tried]
        point, taken = space.features(parameters), [self._features(each) for each in taken]
        if not runs(point, taken):
            return parameters
        number = max(SPREAD, 2 << len(taken).bit_length())  # more than are taken
        among = self.decision_set.around(point, self.feasibility, number)
        found = beside(point, taken, among, self.feasibility)
        return parameters if found is None else self.feasibility.exact(space.values(found))

    def _features(self, parameters: Values) -> Floats:
        """Return features of parameters that are running, which is asked again at every question."""
        key = tuple(parameters.values())
        if key not in self._known_features:
            self._known_features[key] = self.plan.parameters.features(parameters)
        return self._known_features[key]

    def notes(self) -> dict[str, Any] | None:
        """Return the agent's state that the history does not determine; None if it must be asked again."""
        return self.agent.notes() if isinstance(self.agent, Resumable) else None

    def recommend(self, context: Values, believed: SuccessProbability | None = None) -> Advice:
        """Return the agent's recommendation in a context, among points that are likely to succeed."""
        self.feasibility.set(believed, self.plan.contexts.features(context), LIKELY)
        if self.restricted:
            self.decision_set.narrow(self.agent, self.feasibility)
        recommend, observation = self.agent.recommend, self.decision_set.observation(context)
        among = self.decision_set.among(self.feasibility) if self.restricted else None
        chooses = among is not None and _chooses(recommend)
        answer = recommend(observation, among=among) if chooses else recommend(observation)
        return self._advice(answer, self.decision_set.parameters)

    def choose(self, context: Values, among: Sequence[Values]) -> Advice:
        """Return the agent's recommendation in a context, among some points."""
        recommend = self.agent.recommend
        if not _chooses(recommend):
            raise ValueError(
                f"agent {self.plan.agent!r} does not choose among tried parameters; pass anywhere=True"
            )
        actions = np.array([self.decision_set.action(parameters) for parameters in among])

        def parameters(action: Any) -> Values:
            chosen = (actions == action).reshape(len(actions), -1).all(axis=1).argmax()
            return dict(among[int(chosen)])

        return self._advice(recommend(self.decision_set.observation(context), among=actions), parameters)

    def twin(self) -> TunerPlayer:
        """Return a copy with an independent agent."""
        twin = copy.copy(self)
        both = self.agent, self.feasibility  # the agent refers to the filter
        try:
            twin.agent, twin.feasibility = copy.deepcopy(both)
        except TypeError as error:  # one of another library may hold what has no copy
            remedy = "it recommends nothing; see the tuner's `best`"
            raise ValueError(f"agent {self.plan.agent!r} cannot be copied, so {remedy}") from error
        return twin

    def _over(self, context: Values) -> list[Floats]:
        """Return features of what was tried in a context."""
        lost = {t for each in self._rounds for t in each.dropped}
        here = without_time(context)
        rounds = [each for t, each in enumerate(self._rounds) if t not in lost]
        return [self._features(each.parameters) for each in rounds if without_time(each.context) == here]

    @property
    def restricted(self) -> bool:
        """True if the agent's setting has points that may not be asked for."""
        return not self.feasibility.open or self.decision_set.outside

    def _advice(self, answer: Any, parameters_of: Callable[[Any], Values]) -> Advice:
        if answer is None:
            raise ValueError(f"agent {self.plan.agent!r} recommends nothing; see the tuner's `best`")
        parameters = parameters_of(answer.action)
        if answer.mean is None:  # an agent without a model
            return Advice(parameters, np.nan, np.nan)
        mean, std = self.scale.value(float(answer.mean)), self.scale.std * float(answer.std)
        return Advice(parameters, mean, std)

    def _close(self, t: int, round_: TunerRound) -> None:
        rounds = np.array([arrival.round for arrival in round_.arrivals], dtype=np.int64)
        rewards = np.array([self.scale.reward(arrival.value) for arrival in round_.arrivals])
        costs = np.array([arrival.costs for arrival in round_.arrivals])
        costs = costs.reshape(len(rounds), len(self.plan.constraints)) / self.sizes
        stds = np.array([np.nan if each.std is None else each.std for each in round_.arrivals])
        stds = None if np.isnan(stds).all() else stds / self.scale.std
        paid = None if self.plan.cost_budget is None else np.array([each.spent for each in round_.arrivals])
        info = delivery(t, rounds, rewards, costs, self.decision_set.setting.max_delay, stds, paid)
        place = self.decision_set
        observation, action = place.observation(round_.context), place.action(round_.parameters)
        self.agent.update(observation, action, float(rewards.sum()), info)
        gone = [*round_.dropped, *(each.round for each in round_.failed)]
        if gone:
            self.agent.drop(np.array(gone))


def _chooses(recommend: Callable[..., Any]) -> bool:
    """Return True if an agent's `recommend` can be restricted to some actions."""
    return "among" in inspect.signature(recommend).parameters


def _arrivals(rounds: Sequence[TunerRound]) -> int:
    return sum(len(each.arrivals) for each in rounds)


def player_for(
    plan: TunerPlan,
    player: TunerPlayer | None,
    rounds: Sequence[TunerRound],
    context: Values,
    only: Sequence[Values] = (),
) -> TunerPlayer:
    """Return this player, or if it is outgrown the next one, for the round after some others."""
    if player is None or player.outgrown(rounds, context, only):
        number = begins(rounds) if player is None else player.number + 1
        return TunerPlayer(plan, rounds, context, number, only)
    return player


def begins(rounds: Sequence[TunerRound]) -> int:
    """Return the first round whose question a new agent asks, which has observed all before."""
    return max((t + 1 for t, each in enumerate(rounds) if each.anew), default=0)


def restored(
    plan: TunerPlan,
    rounds: Sequence[TunerRound],
    notes: Mapping[str, Any] | None = None,
    compared: bool = False,
) -> TunerPlayer | None:
    """Return the latest player as it was after the last question, None before the first.

    Without notes of that player all its questions are repeated, which takes as long. Where they are
    `compared`, a question that the player asks otherwise is a ValueError.
    """
    player, asked = _latest(plan, rounds)
    if player is None:
        return None
    with nullcontext() if notes is None else player.agent.replaying(notes):
        for t in asked:
            player.catch_up(rounds[:t])
            context = rounds[t].context
            if notes is not None and not player.agent.leaves_traces:
                player.agent.skip()  # it acts only if that changes its state
                continue
            asked_now = player.ask(context, feasibility_of(plan, rounds[:t]), rounds[t].only)
            if compared:
                _require_same(plan, rounds[t], player.avoid_running(asked_now, _running(rounds[:t], context)))
    return player


def _require_same(plan: TunerPlan, asked: TunerRound, now: Values) -> None:
    """Raise unless a question is the recorded one; coordinates may differ by rounding."""
    then = asked.parameters if asked.proposed is None else asked.proposed
    one, other = (plan.parameters.features(each) for each in (now, then))
    if not np.allclose(one, other, rtol=0.0, atol=ROUNDING):
        raise ValueError(f"with ticket {asked.ticket} it asks for {now} where {then} was asked for")


def _running(rounds: Sequence[TunerRound], context: Values) -> list[Values]:
    """Return the parameters of the experiments that ran after some rounds, in a context at any time."""
    over = {news.round for each in rounds for news in (*each.arrivals, *each.failed)}
    over |= {t for each in rounds for t in each.dropped}
    return [
        each.parameters
        for t, each in enumerate(rounds)
        if each.ticket is not None and t not in over and without_time(each.context) == without_time(context)
    ]


def _latest(plan: TunerPlan, rounds: Sequence[TunerRound]) -> tuple[TunerPlayer | None, list[int]]:
    """Return the last of the players, and the rounds of its questions; earlier ones have no effect."""
    player: TunerPlayer | None = None
    asked: list[int] = []
    for t in range(begins(rounds), len(rounds)):
        each = rounds[t]
        if each.ticket is not None and each.asked:
            now = player_for(plan, player, rounds[:t], each.context, each.only)
            if now is not player:
                player, asked = now, []
            asked.append(t)
            now.mark_seen(rounds[:t])
    return player, asked


def require_possible(plan: TunerPlan, round_: TunerRound) -> None:
    """Raise unless a round is possible under the plan."""
    for parameters in (round_.parameters, round_.proposed):
        if parameters is not None:
            plan.parameters.check_done(parameters)
    for i, entry in enumerate(round_.only):
        plan.parameters.check_some(f"only[{i}]", entry)
    plan.context(round_.context)
    for arrival in (*round_.arrivals, *round_.corrected):
        costs = dict(zip(plan.constraints, arrival.costs, strict=True))
        plan.arrival(arrival.value, costs, arrival.std, arrival.spent, ADD)
    for failure in round_.failed:
        if failure.spent is not None:
            plan.spent(failure.spent)

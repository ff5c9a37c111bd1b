"""An agent that observes a tuner's history in its own units, asks the next question, and recommends."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
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
from .feasibility import LIKELY, FeasibilityFilter, NothingLeft, feasibility_of, runs, wanted_in
from .history import Arrival, TunerRound, running_in
from .plan import TunerPlan
from .scale import Scale
from .space import Values, without_time

SCALED = 16  # values that tell a scale
QUANTILE = 1.959963984540054  # of the standard normal law, at 97.5 %


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
        self.plan, self.number = plan, number
        arrivals = [arrival for each in rounds for arrival in each.arrivals]
        values, costs = [arrival.value for arrival in arrivals], self._costs(arrivals)
        self.num_scaled = self.arrived = len(values)  # when the scale was estimated, and in known rounds
        self.scale = Scale.of(plan.goal, values if plan.standardise else [], plan.tames)
        self.equal = values[0] if values and min(values) == max(values) else None  # value of all, if equal
        self.costless = np.full(len(plan.constraints), len(costs) > 0) & ~costs.any(axis=0)  # (C,)
        self.sizes = sizes_of(costs if plan.standardise else costs[:0])
        contexts = [*(each.context for each in rounds), context]
        played = [each.parameters for each in rounds]
        self.decision_set = make_decision_set(plan, self.scale, played, contexts, only)
        self.feasibility = FeasibilityFilter(plan.parameters, plan.rule)
        self._known_features: dict[tuple[Any, ...], Floats] = {}
        self.known = len(rounds)  # rounds in the decision set's setting
        self.rounds: Sequence[TunerRound] = ()  # that the agent has observed

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
        An agent that begins searches anew would forget them: its scale stays once `SCALED` values tell it.
        """
        fresh = rounds[self.known :]
        arrivals = [arrival for each in fresh for arrival in each.arrivals]
        kept = self.plan.begins_anew and self.decision_set.setting.continuous and self.num_scaled >= SCALED
        doubled = not kept and self.arrived + len(arrivals) >= max(1, 2 * self.num_scaled)
        differ = self.equal is not None and any(each.value != self.equal for each in arrivals)
        costs = self._costs(arrivals)
        if self.plan.standardise and (doubled or differ or (self.costless & (costs != 0.0)).any()):
            return True
        contexts = [context, *(each.context for each in fresh)]
        return not self.decision_set.has([each.parameters for each in fresh], contexts, only)

    def mark_seen(self, rounds: Sequence[TunerRound]) -> None:
        """Note that these rounds do not outgrow the player: only later ones are looked at again."""
        self.arrived += sum(len(each.arrivals) for each in rounds[self.known :])
        self.known = max(self.known, len(rounds))

    def catch_up(self, rounds: Sequence[TunerRound]) -> TunerPlayer:
        """Pass new rounds to the agent, which learns its kernel once, if at all; return the player."""
        new = range(len(self.rounds), len(rounds))
        with self.agent.listening() if new else nullcontext():
            for t in new:
                self._close(t, rounds[t])
        self.rounds = rounds
        self.mark_seen(rounds)
        return self

    def ask(self, context: Values, only: Sequence[Values] = ()) -> Values:
        """Return the parameters to play next, where success is likely, among what is available.

        What was tried is asked for again where exact values leave nothing else.
        """
        believed, at = feasibility_of(self.plan, self.rounds), self.plan.contexts.features(context)
        given = believed, at, wanted_in(len(self.rounds)), only
        self.feasibility.set(*given, self._over(context) if self.plan.exact else [])
        try:
            chosen = self._chosen(context)
        except NothingLeft:
            if not (self.plan.exact and self.plan.repeats):
                raise
            self.feasibility.set(*given)
            chosen = self._chosen(context)
        return self._avoid_running(chosen, context) if self.plan.avoids_running else chosen

    def _chosen(self, context: Values) -> Values:
        """Return the agent's choice among open points."""
        place, allowed, tried = self.decision_set, self.feasibility, self._tried
        narrowed = (self.restricted or tried) and place.narrow(self.agent, allowed, tried)
        action = self.agent.act(place.observation(context))
        if self.restricted and not narrowed:  # an agent that cannot be restricted is corrected
            action = place.opened(action, allowed)
        parameters = place.parameters(action)
        return allowed.exact(parameters) if self.restricted else parameters

    def _avoid_running(self, parameters: Values, context: Values) -> Values:
        """Return the parameters, or alternatives if they are running: a copy has little information.

        Nor are first plays made twice, while there are others.
        """
        space, running = self.plan.parameters, running_in(self.rounds, context)
        point = space.features(parameters)
        taken = [self._features(each) for each in [*running.values(), *self._tried]]
        if not runs(point, taken):
            return parameters
        found = self.feasibility.beside(point, taken, self.decision_set.features)
        return parameters if found is None else self.feasibility.exact(space.values(found))

    @property
    def _tried(self) -> list[Values]:
        """Parameters of earlier rounds, while the first plays are made."""
        first = len(self.rounds) < self.plan.first_plays
        return [each.parameters for each in self.rounds] if first else []

    def _features(self, parameters: Values) -> Floats:
        """Return features of parameters that are running, which is asked again at every question."""
        key = tuple(parameters.values())
        if key not in self._known_features:
            self._known_features[key] = self.plan.parameters.features(parameters)
        return self._known_features[key]

    def notes(self) -> dict[str, Any] | None:
        """Return the agent's state that the history does not determine; None if it must be asked again."""
        return self.agent.notes() if isinstance(self.agent, Resumable) else None

    def recommend(self, context: Values) -> Advice:
        """Return the agent's recommendation in a context, among points that are likely to succeed."""
        believed = feasibility_of(self.plan, self.rounds)
        self.feasibility.set(believed, self.plan.contexts.features(context), LIKELY)
        if self.restricted:
            self.decision_set.narrow(self.agent, self.feasibility)
        recommend, observation = self.agent.recommend, self.decision_set.observation(context)
        features, among = self.decision_set.features, {}
        if self.restricted and features is not None and _chooses(recommend):
            among["among"] = np.flatnonzero(self.feasibility.opened(features))
        answer = recommend(observation, **among)
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
        lost = {t for each in self.rounds for t in each.dropped}
        here = without_time(context)
        rounds = [each for t, each in enumerate(self.rounds) if t not in lost]
        return [self._features(each.parameters) for each in rounds if without_time(each.context) == here]

    @property
    def restricted(self) -> bool:
        """True if the agent's setting has points that may not be asked for, such as played ones outside."""
        features = self.decision_set.features
        outside = features is not None and ((features < 0.0) | (features > 1.0)).any()
        return not self.feasibility.open or bool(outside)

    def _advice(self, answer: Any, parameters_of: Callable[[Any], Values]) -> Advice:
        if answer is None:
            raise ValueError(f"agent {self.plan.agent!r} recommends nothing; see the tuner's `best`")
        parameters = parameters_of(answer.action)
        if answer.mean is None:  # an agent without a model
            return Advice(parameters, np.nan, np.nan)
        mean, std = self.scale.value(float(answer.mean)), self.scale.std * float(answer.std)
        return Advice(parameters, mean, std)

    def _close(self, t: int, round_: TunerRound) -> None:
        arrivals = round_.arrivals
        rounds = np.array([arrival.round for arrival in arrivals], dtype=np.int64)
        rewards = np.array([self.scale.reward(arrival.value) for arrival in arrivals])
        costs = self._costs(arrivals) / self.sizes
        stds = np.array([np.nan if each.std is None else each.std for each in arrivals])
        stds = None if np.isnan(stds).all() else stds / self.scale.std
        paid = None if self.plan.cost_budget is None else np.array([each.spent for each in arrivals])
        info = delivery(t, rounds, rewards, costs, self.decision_set.setting.max_delay, stds, paid)
        place = self.decision_set
        observation, action = place.observation(round_.context), place.action(round_.parameters)
        self.agent.update(observation, action, float(rewards.sum()), info)
        gone = [*round_.dropped, *(each.round for each in round_.failed)]
        if gone:
            self.agent.drop(np.array(gone))

    def _costs(self, arrivals: Sequence[Arrival]) -> Floats:
        """Return the costs of n arrivals in their own units, (n, C)."""
        costs = np.array([each.costs for each in arrivals], dtype=np.float64)
        return costs.reshape(len(arrivals), len(self.plan.constraints))


def _chooses(recommend: Callable[..., Any]) -> bool:
    """Return True if an agent's `recommend` can be restricted to some actions."""
    return "among" in inspect.signature(recommend).parameters

"""The configuration of a tuner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Annotated, Any, get_type_hints

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from bandit_envs.basics.arguments import Option, is_count, is_integer, is_number, require, written_as
from bandit_envs.basics.options import Checked, count, not_negative, positive

from ..real.choice import BEST, FIRST, default_agent, model_of_values
from ..real.values import LARGEST
from ..registry import AgentFactory, require_registered, resolve_agent, without_options
from ..saving.data import decode, encode, require_types
from .availability import Possible, checked_entries
from .continuous import plain
from .history import Arrival, as_number
from .scale import Scale, goal_of
from .space import TIME, Results, Space, Time, Values, results_of

MOST_POINTS = 10**6  # of a set, and of experiments, which must fit into memory
LENGTH_SCALE = 0.3  # of one parameter, whose range is 1; the diagonal grows with the root of their number
LENGTH_SCALE_BOUNDS = (0.05, 5.0)  # longer ones would make features irrelevant that were not varied yet
MOST_SCALED = 1e307  # size of values that are standardised; of others it is `LARGEST`
COST = Option(f"a finite number of at most {LARGEST:g} in size", lambda x: is_number(x) and abs(x) <= LARGEST)
STDS = (1e-100, 1e100)  # their squares, and ratios of these, are finite
SEED = Option("0 or a positive integer", lambda x: is_integer(x) and x >= 0)  # of any size
SIZE = Option("a positive integer", lambda x: is_count(x) and x <= MOST_POINTS, f"at most {MOST_POINTS}")
KINDS = ("parameters", "contexts")
POSSIBLE = "possible"


@dataclass(frozen=True)
class TunerPlan(Checked):
    """Parameters, goal and agent of a tuner; the arguments of `Tuner`."""

    parameters: Space
    contexts: Space
    agent: Any = None
    goal: str = "maximise"
    constraints: tuple[str, ...] = ()
    seed: Annotated[Any, SEED] = 0
    budget: Annotated[int, SIZE] = 100
    max_pending: Annotated[int, count()] | None = None
    num_arms: Annotated[int, SIZE] = 1024
    noise_std: Annotated[float, not_negative()] | None = None
    standardise: bool = True
    cost_budget: Annotated[float, positive()] | None = None
    safe: tuple[Values, ...] = ()
    stopping: Any = None
    possible: Callable[..., Any] | None = None
    repeats: bool = True
    like: tuple[Results, ...] = ()
    never: tuple[Values, ...] = ()
    factory: AgentFactory = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require(self.parameters.kinds, "parameters", "at least one", self.parameters.kinds)
        object.__setattr__(self, "goal", goal_of(self.goal))
        named = all(isinstance(name, str) for name in self.constraints)
        distinct = named and len(set(self.constraints)) == len(self.constraints)
        require(distinct, "constraints", "different names", self.constraints)
        for name in self.constraints:
            words = "a name, whose cost is feasible at most 0; of an inequality tell the excess, 0.9 - sla"
            require(not set(name) & set("<>=\u2264\u2265"), "constraints", words, name)
        super().__post_init__()
        agent = _copied(self._default() if self.agent is None else self.agent)
        object.__setattr__(self, "agent", agent)
        object.__setattr__(self, "like", results_of(self.like, self.parameters))
        object.__setattr__(self, "factory", resolve_agent(self._informed(agent)))
        names = self.parameters.kinds
        usable = self.possible is None or (callable(self.possible) and takes(self.possible, names))
        words = f"None or a function that takes {', '.join(names)} by keyword"
        require(usable, "possible", words, self.possible)
        object.__setattr__(self, "never", checked_entries("never", self.parameters, self.never))
        object.__setattr__(self, "safe", tuple(map(self._checked_safe, range(len(self.safe)), self.safe)))
        self._check_agent()

    def _default(self) -> tuple[str, dict[str, Any]]:
        limits = bool(self.constraints), self.cost_budget is not None
        return default_agent(bool(self.contexts.kinds), *limits, self.noise_std)

    def _informed(self, agent: Any) -> Any:
        """Return the agent with what earlier tasks tell."""
        if not self.like:
            return agent
        remedy = "left out but with the default agent, without contexts, constraints and a cost_budget"
        require(agent == BEST, "like", remedy, agent)
        scaled = [(rows, values, Scale.of(self.goal, values)) for rows, values in self.like]
        results = [
            (np.array([*map(self.parameters.features, rows)]), np.array([*map(scale.reward, values)]))
            for rows, values, scale in scaled
        ]
        return agent[0], {**agent[1], "like": results}

    @property
    def exact(self) -> bool:
        """True if values have no noise, so that nothing is tried twice while anything else is left."""
        return not self.repeats or self.noise_std == 0.0

    @property
    def of_values(self) -> TunerPlan:
        """The plan with an agent whose model is of the values themselves, for stopping rules."""
        agent = model_of_values(self.agent, self.noise_std)
        return self if agent == self.agent else replace(self, agent=agent, like=())

    @property
    def tames(self) -> bool:
        """True for a default agent that takes values as they are: tails are drawn near for it."""
        return self.agent == self._default() != BEST and not self.clocked

    @property
    def begins_anew(self) -> bool:
        """True where the search of a box may begin anew, see `agents.real.choice`."""
        return self.agent == BEST and self.noise_std == 0.0

    @property
    def avoids_running(self) -> bool:
        """True for the default agent, which never asks for an experiment that is already running."""
        return self.agent == self._default()

    @property
    def first_plays(self) -> int:
        """Number of first questions that are drawn at random, before any value counts."""
        if self.agent == BEST:
            return FIRST
        count = self.factory.options.get("initial", 0)
        return count if is_integer(count) else 0

    @cached_property
    def rule(self) -> Possible | None:
        """The rule which parameters are possible and not among `never`, None if all are."""
        if self.possible is None and not self.never:
            return None
        return Possible(self.parameters, self.possible, self.never)

    def may_use(self, parameters: Values) -> bool:
        """Return True if parameters lie in today's ranges and are possible."""
        return self.parameters.allows(parameters) and (self.rule is None or self.rule(parameters))

    def published(self, scale: Scale) -> dict[str, Any]:
        """Return the setting's fields apart from its points; results may be delivered at any time."""
        return {
            "kernel": prior_kernel(self.contexts, self.parameters),
            "horizon": self.budget,
            "max_delay": self.budget - 1,
            "noise_std": None if self.noise_std is None else self.noise_std / scale.std,
            "num_constraints": len(self.constraints),
            "constraint_prior_std": 1.0 if self.constraints else None,  # as they are divided by their size
            "constraint_noise_std": None if self.constraints else 0.0,
            "budget": self.cost_budget,
        }

    def costs(self, given: Mapping[str, float] | None) -> tuple[float, ...]:
        """Return costs in the order of their names, or raise a ValueError."""
        costs = {} if given is None else given
        names = ", ".join(map(repr, self.constraints)) or "none: there are no constraints"
        matches = isinstance(costs, Mapping) and set(costs) == set(self.constraints)
        require(matches, "costs", f"a dict of exactly {names}", given)
        for name in self.constraints:
            COST.require(f"costs[{name!r}]", costs[name])
        return tuple(float(costs[name]) for name in self.constraints)

    def checked_std(self, given: Any) -> float | None:
        """Return a validated std of one value's noise; None for that of all others."""
        if given is None:
            return None
        given = plain(given)
        possible = is_number(given) and STDS[0] <= given <= STDS[1]
        require(possible, "std", "None or a positive number from {:g} to {:g}".format(*STDS), given)
        knows = not self.constraints and self.factory.features.noise
        without = "None under constraints, and with an agent that assumes equal noise"
        require(knows, "std", f'{without}; take one with the feature "noise", such as "gp-bucb"', given)
        return float(given)

    def spent(self, given: Any) -> float | None:
        """Return the validated cost of an experiment; None where there is no budget of costs."""
        if self.cost_budget is None:
            require(given is None, "spent", "None without a cost_budget of the tuner", given)
            return None
        require(is_number(given) and given > 0, "spent", "the cost of the experiment, positive", given)
        return float(given)

    def arrival(self, value: Any, costs: Any, std: Any, spent: Any, remedy: str) -> Arrival:
        """Return a validated report of an experiment, whose round is not known yet."""
        came, most = as_number(value), MOST_SCALED if self.standardise else LARGEST
        require(came is not None and isfinite(came), "value", f"a finite number; {remedy}", value)
        assert came is not None
        require(abs(came) <= most, "value", f"at most {most:g} in size; {remedy}", value)
        return Arrival(-1, came, self.costs(costs), self.checked_std(std), self.spent(spent))

    @property
    def clocked(self) -> bool:
        """True if experiments have a time."""
        return isinstance(self.contexts.kinds.get(TIME), Time)

    def context(self, given: Values | None, time: Any = None) -> Values:
        """Return a validated context, with the time where there is a clock; {} where there are none."""
        context = {} if given is None else given
        if time is not None:
            require(self.clocked, "time", "None without a `clock` of the tuner", time)
            require(isinstance(context, Mapping), "contexts", "a dict", context)
            require(TIME not in context, "contexts", f"without {TIME!r} where time is given", context)
            context = {**context, TIME: time}
        elif self.clocked and isinstance(context, Mapping) and TIME not in context:
            require(False, "time", "a number where the tuner has a clock: when the experiment begins", time)
        return self.contexts.check(context)

    def to_data(self) -> dict[str, Any]:
        """Return the arguments as JSON data."""
        if callable(self.agent):
            raise ValueError(
                f"agent must be a name or (name, options) for a tuner to be saved, got {self.agent!r}; "
                "register it, or name its class by its path 'package.module:Class'"
            )
        spaces = {kind: getattr(self, kind).to_data() for kind in KINDS}
        others = [each.name for each in fields(self) if each.init and each.name not in (*KINDS, POSSIBLE)]
        rule = {} if self.possible is None else {POSSIBLE: True}  # a function is no data
        return {**spaces, **{name: encode(getattr(self, name)) for name in others}, **rule}

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], trust: bool = False, parameters: Any = None, possible: Any = None
    ) -> TunerPlan:
        """Return the plan of `to_data`; its agent must be a registered name, or trusted.

        Other ranges replace those of the same parameters; the rule which are possible is given again.
        """
        hints = {**get_type_hints(cls), "agent": str | tuple[str, dict[str, Any]], "seed": int}
        types = {each.name: hints[each.name] for each in fields(cls) if each.init and each.name != POSSIBLE}
        given: dict[str, Any] = {kind: Space.from_data(kind, data[kind]) for kind in KINDS}
        others = {name: each for name, each in data.items() if name not in (*KINDS, POSSIBLE)}
        given |= {name: decode(each) for name, each in others.items()}
        require_types("a tuner", given, types)
        require_registered(without_options(given["agent"]), trust)
        remedy = "the function that the saved tuner had: Tuner.load(path, possible=...)"
        require(possible is not None or not data.get(POSSIBLE), POSSIBLE, remedy, possible)
        if parameters is not None:
            space, known = Space("parameters", parameters), list(given["parameters"].kinds)
            same = set(space.kinds) == set(known)
            require(same, "parameters", f"those of the file: {', '.join(known)}", parameters)
            given["parameters"] = space
        return cls(**given, possible=possible)

    def _check_agent(self) -> None:
        features = self.factory.features
        wanted = {"constraint": self.constraints, "context": self.contexts.kinds}
        for feature in self.factory.lacking(name for name, given in wanted.items() if given):
            require(False, "agent", f"one that takes a {feature} into account", self.agent)
        learns = "one that also learns from plays that it did not choose"
        require(not features.on_policy, "agent", learns, self.agent)
        starts = features.seed or self.factory.options.get("constraint") == "safe"
        remedy = 'parameters that are known to keep all costs, such as [{"x": 0.1}], for this agent'
        require(self.safe or not (starts and self.constraints), "safe", remedy, self.safe)
        remedy = 'left out with an agent that needs none and without constraints; take agent="safe-ucb"'
        require(not self.safe or (starts and self.constraints), "safe", remedy, self.safe)

    def _checked_safe(self, i: int, given: Any) -> Values:
        with written_as({"parameters": f"safe[{i}]"}):
            known = self.parameters.check(given)
        require(self.rule is None or self.rule(known), f"safe[{i}]", "possible, as `possible` says", given)
        return known


def prior_kernel(*spaces: Space) -> Matern:
    """Return Matern 5/2 with one length-scale a feature of some spaces, 0.3 times the diagonal of all."""
    dim, named = sum(each.dim for each in spaces), sum(len(each.kinds) for each in spaces)
    scale: Any = np.full(dim, LENGTH_SCALE * named**0.5)
    return Matern(scale if dim > 1 else LENGTH_SCALE, LENGTH_SCALE_BOUNDS, nu=2.5)


def takes(f: Any, names: Iterable[str]) -> bool:
    """Return True if f can be called with these keywords, or if that is unknown."""
    try:
        inspect.signature(f).bind(**dict.fromkeys(names))
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def listed(argument: str, given: Any, what: str) -> tuple[Any, ...]:
    """Return a list as a tuple, or raise; a single text is not a list of letters."""
    require(isinstance(given, Sequence) and not isinstance(given, str), argument, f"a list of {what}", given)
    return tuple(given)


def _copied(agent: Any) -> Any:
    """Return an agent with a copy of its options, in which fractions are floats, which a file can hold."""
    pair = isinstance(agent, tuple | list) and len(agent) == 2 and isinstance(agent[1], Mapping)
    if not pair:
        return agent
    known = {name: float(value) if isinstance(value, Fraction) else value for name, value in agent[1].items()}
    return agent[0], known

"""The agent's interface, the features that an agent declares, and its table in a notebook."""

from __future__ import annotations

import abc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, TypeVar

from bandit_envs.basics.arguments import require
from bandit_envs.basics.notebook import brief, html_facts

Factory = TypeVar("Factory", bound=Callable[..., Any])


class Features(NamedTuple):
    """Problem features that an agent takes into account, action sets that it plays, and its requirements.

    `noise`: plays with a published noise are weighted by it, from `Setting.noise_profile` and "feedback_std";
    other agents assume the largest std for all of them, which is valid and wasteful. `privileged` agents
    observe the truth; `on_policy` ones learn from plays of their own choice only; the posterior of
    `approximate` ones is not exact. `availability`: it plays where arms may be missing; an agent that
    declares its features without it is refused there. `aggregated` ones do not need to know which rounds
    delivered feedback is of, and are the only ones for settings that do not publish this. Those with `seed`
    need a safe seed where there are costs. Plays of those with `horizon` depend by default on the setting's
    number of rounds: their first T rounds of a longer run differ from a run of T. `duel` ones choose pairs
    of arms and learn from who won; others, which learn from numbers, are refused where actions are pairs.
    Those with `outcome` do not take clicks and counts for values with Gaussian noise.
    """

    delay: bool = False
    context: bool = False
    constraint: bool = False
    change: bool = False
    finite: bool = True
    box: bool = False
    privileged: bool = False
    on_policy: bool = False
    noise: bool = False
    approximate: bool = False
    availability: bool = False
    aggregated: bool = False
    seed: bool = False
    horizon: bool = False
    duel: bool = False
    outcome: bool = False


# Of an agent that declares none: it may take all into account that its problems ask for.
TAKEN = ("delay", "context", "constraint", "change", "noise", "availability", "duel", "outcome")
UNDECLARED = Features(**dict.fromkeys(TAKEN, True))


def demanded(setting: Any) -> set[str]:
    """Name the `Features` that an agent must have to play a setting as it is meant."""
    demands = {
        "delay": setting.max_delay > 0,
        "context": setting.has_contexts,
        "constraint": setting.num_constraints > 0,
        "change": setting.may_change,
        "duel": setting.duel,
        "outcome": setting.outcome is not None,
    }
    return {feature for feature, is_there in demands.items() if is_there}


def handles(*names: str) -> Callable[[Factory], Factory]:
    """Declare the features of a factory of agents: @handles("delay", "context")."""
    known, what = Features.__annotations__, "the features that an agent handles"
    require(set(names) <= set(known), what, f"among {', '.join(known)}", names)
    declared = Features(**dict.fromkeys(names, True))

    def declare(factory: Factory) -> Factory:
        factory.features = declared  # type: ignore[attr-defined]
        return factory

    return declare


def requires(*modules: str) -> Callable[[Factory], Factory]:
    """Declare the modules of other distributions that a factory's agents import: @requires("botorch")."""

    def declare(factory: Factory) -> Factory:
        factory.requires = modules  # type: ignore[attr-defined]
        return factory

    return declare


def states_propensities(factory: Factory) -> Factory:
    """Declare that a factory's agents choose at random and say with what probability."""
    factory.states_propensities = True  # type: ignore[attr-defined]
    return factory


class Agent(Protocol):
    """Object that acts and learns. Agents of a batch of B trials have a leading trial axis in every array.

    An agent for settings where arms may be missing reads "action_mask" in `info`, 1 for the arms available in
    the next round: in `update`, and for the first round in a method `start(info)`, which is called after
    `reset` with the info of the environment's reset, where that has a mask.

    An agent that detects changes may have an attribute `alarms`, read after the episode: the rounds, counted
    from 0, after whose update it restarted by itself; for B trials, a list of B such lists. None equals no
    attribute.

    An agent that discards feedback after a window has an attribute `feedback_window`, read after the episode:
    a number for all trials, in rounds, or in units of time where the setting publishes query times. Its
    simple regret then counts only plays with feedback delivered in the window.

    An agent that can detect that no arm keeps the constraints has `infeasible_since`, read after the episode:
    the round, counted from 0, in which it first found so, -1 if never; for B trials, B of them.

    An agent that certifies arms that keep all costs has `certified`, read after the episode: booleans, (A,),
    for B trials (B, A), on a finite set in one context; None equals no attribute.

    An agent whose confidence band uses a bound, such as that of the RKHS norm, that was neither given nor
    published has an attribute `assumes_bound = True`, read after the episode; tables mark it.
    """

    @abc.abstractmethod
    def reset(self, seed: Any) -> None:
        """Start anew; draw all randomness from this seed (B seeds for B trials)."""

    @abc.abstractmethod
    def act(self, observation: Any) -> Any:
        """Choose an action."""

    @abc.abstractmethod
    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; `observation` is the argument of `act`."""


def defines(part: Any, kind: type, name: str) -> bool:
    """Return True where a part has a method of its own in place of the neutral one of its abstract class."""
    return getattr(type(part), name) is not getattr(kind, name)


class Shown:
    """Agent that notebooks show as a small table of its setting."""

    def _repr_html_(self) -> str:
        return html_facts(type(self).__name__, facts_of(self))


class BaseAgent(Shown, Agent):
    """Agent with neutral defaults of all that an agent may have beyond its three methods; see `Agent`."""

    setting: Any = None
    num_trials: Any = None
    round: Any = None  # rounds played; negative before the first reset
    privileged: Any = False  # True if it needs the truth
    track: Any = None  # name of the learners that it is compared with; None for those that learn in the trial
    alarms: Any = None
    feedback_window: Any = None
    assumes_bound: Any = False
    infeasible_since: Any = None
    infeasible: Any = None
    certified: Any = None
    stops: Any = None
    stopping: Any = None  # the rules that say when to stop, if it has any
    refuted: Any = None
    failed_fits: Any = 0
    scores: Any = None  # of the arms in the last choice, (B, A)
    centre: Any = None  # arms that were chosen, (B,), where others near them are played
    learns: Any = False  # True if it learns hyperparameters
    holds_choice: Any = False  # True if `act` keeps its choice until a round is played, whatever it observes
    takes_stopping: Any = False  # True if stopping rules can ask it
    unit_is_known: Any = True  # False if its prior must be estimated from first values

    def start(self, info: dict[str, Any]) -> None:
        """Read from the `info` of the environment's reset which arms the first round has."""

    def drop(self, rounds: Any) -> None:
        """Forget pending plays of some rounds that will never be observed."""

    def offer(self, arms: Any) -> bool:
        """Let the next choice alone be among some arms, a mask (A,) or (B, A); return False if it cannot.

        An "action_mask" in `info` does the same for a round of volatile arms. The choice may be offered again
        before the round is played.
        """
        return False

    def recommend(self, observation: Any = None, among: Any = None) -> Any:
        """Return the best action in a context, among all or some; None if it recommends nothing."""
        return None

    def propensity(self, observation: Any, action: Any) -> Any:
        """Return the probability with which `act` chose an arm, one number or (B,), before `update`.

        None where the agent chooses with certainty, or cannot say.
        """
        return None

    def contest(self, observation: Any) -> Any:
        """Return the belief about all pairs in a context, of agents of duels; None for others."""
        return None

    def listening(self) -> AbstractContextManager[None]:
        """Replay several rounds within."""
        return nullcontext()

    def close(self) -> None:
        """Free threads, processes and files."""


class PlugIn(BaseAgent):
    """Agent of the user's own, that need not extend `BaseAgent`; what it lacks is neutral."""

    def __init__(self, agent: Any):
        self._agent = agent

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__
        if name.startswith("__"):
            return own(self, name)
        agent = own(self, "_agent")
        return getattr(agent, name) if hasattr(agent, name) else own(self, name)

    def reset(self, seed: Any) -> None: ...
    def act(self, observation: Any) -> Any: ...
    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None: ...


def adapted(agent: Any) -> BaseAgent:
    """Return an agent itself, or with a neutral default for what it lacks."""
    return agent if isinstance(agent, BaseAgent) else PlugIn(agent)


def facts_of(agent: Any) -> dict[str, str]:
    """Return the agent's setting and number of rounds, as texts."""
    agent = adapted(agent)
    setting, size, facts = agent.setting, agent.num_trials, {}
    if setting is not None:
        facts["plays"] = "a box" if setting.continuous else f"{len(setting.arms)} arms"
        facts["dimensions"] = str(setting.dim)
        finite = "of a box" if setting.contexts is None else str(len(setting.contexts))
        facts["contexts"] = finite if setting.has_contexts else "none"
        facts["constraints"] = str(setting.num_constraints)
        facts["horizon"] = f"{setting.horizon} rounds"
        facts["published kernel"] = brief(setting.kernel)
    facts["trials"] = "one" if size is None else f"batch of {size}"
    done = agent.round
    if isinstance(done, int):
        facts["rounds played"] = str(done) if done >= 0 else "none: reset it with a seed first"
    return facts

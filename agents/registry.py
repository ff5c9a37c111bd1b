"""The registry of agents by name: ours, and those of other packages by the entry-point group `GROUP`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, entry, hint, require, shown
from bandit_envs.basics.options import require_annotated
from bandit_envs.problem.setting import Setting

from .options import path_of, require_taken
from .protocol import UNDECLARED, Features, adapted

GROUP = "gpbandits.agents"
METHODS = "reset(seed), act(observation) and update(observation, action, reward, info)"
AgentSpec = str | tuple[str | Callable[..., Any], Mapping[str, Any]] | Callable[..., Any]

# Names of this package's agents, by the module that holds their factories. A factory has the name of its
# agent with underscores: "gp-ucb" is `gp_ucb`.
BUILT_IN = {
    "algorithms.classic": (
        "gp-ucb igp-ucb gp-ts gp-ei gp-pi pure-exploitation pure-exploration kernel-ucb dmm-ucb "
        "irgp-ucb pims eims"
    ),
    "algorithms.unknown_kernel": "a-gp-ucb lb-gp-ucb pe-gp-ucb",
    "algorithms.clicks": "laplace-ucb laplace-ts",
    "algorithms.sketched": "bkb bbkb",
    "algorithms.elimination": "bpe phased-elimination reds bpe-delay mvr sup-kernel-ucb",
    "algorithms.moves": "batch-and-sort permuted-elimination movement-ucb",
    "algorithms.robust": "ec-gp-ucb rgp-ucb tgp-ucb stable-opt",
    "algorithms.planning": "rgp-pe rahbo",
    "algorithms.references": "epsilon-greedy local-search lin-ucb forest-thompson forest-ei",
    "algorithms.delayed": "gp-ucb-sdf gp-ts-sdf gp-bucb gp-bts asy-ts gp-ucb-aggregated",
    "algorithms.constrained": "gp-ucb-noiseless-constraints gp-ucb-noisy-constraints constrained-ei",
    "algorithms.separate_models": "config rpol epbo pdcbo ckb",
    "algorithms.budgets": "ratio-ucb ei-per-cost kg-per-cost pbgi",
    "algorithms.safe": "safe-ucb safeopt stageopt losbo ise",
    "algorithms.admmbo": "admmbo",
    "algorithms.no_model": "random bandit-oco",
    "algorithms.duels": "maxminlcb rucb double-ts max-info-duel map-challenger multisbm pop-bo",
    "algorithms.duel_phases": "mr-lpf",
    "algorithms.composed": "gp-agent",
    "algorithms.changing": (
        "gp-ucb-cpd gp-ucb-oracle gp-ucb-no-detector sw-gp-ucb r-gp-ucb tv-gp-ucb ui-tvbo w-gp-ucb"
    ),
    "rl.learner": (
        "sb3-ppo sb3-a2c sb3-dqn sb3-sac sb3-td3 sb3-trpo sb3-qr-dqn sb3-recurrent-ppo sb3-maskable-ppo"
    ),
    "optimisers.factories": "optuna-tpe optuna-gp botorch-logei botorch-nei smac bayes-opt skopt",
}


@dataclass(frozen=True)
class AgentFactory:
    """Factory of agents from settings: a callable, its options, and the name under which it was requested."""

    make: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        if "num_trials" in self.options:
            raise ValueError("options of an agent must not hold num_trials, which its caller chooses")

    @property
    def batched(self) -> bool:
        """True if one agent can play B trials: its factory takes `num_trials`."""
        return "num_trials" in self._parameters

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        try:
            return inspect.signature(self.make).parameters
        except ValueError:
            raise ValueError(
                f"an agent is a class with the methods {METHODS}, got {self.make!r}, which has no signature"
            ) from None

    @property
    def features(self) -> Features:
        """Declared features of the agent; `UNDECLARED` if it declares none."""
        said = getattr(self.make, "features", None)
        return said if isinstance(said, Features) else UNDECLARED  # a class may have another attribute

    @property
    def declares(self) -> bool:
        """True if the factory declares features."""
        return self.features is not UNDECLARED

    def lacking(self, demanded: Iterable[str]) -> list[str]:
        """The demanded features that the agent says it lacks; none where it says nothing of itself."""
        handled = self.features._asdict()
        return sorted(feature for feature in demanded if not handled[feature])

    @property
    def requires(self) -> tuple[str, ...]:
        """Modules of other distributions that its agents import."""
        return getattr(self.make, "requires", ())

    @property
    def missing(self) -> list[str]:
        """Those of these modules that are not installed."""
        return [name for name in self.requires if find_spec(name) is None]

    @property
    def in_batches_only(self) -> bool:
        """True if its agents always have a trial axis: `num_trials` has no default of None."""
        return self.batched and self._parameters["num_trials"].default is not None

    def require_takes(self, setting: Any) -> None:
        """Raise where arms may be missing or play in pairs, and the agent declares features without it."""
        if not isinstance(setting, Setting):  # of another package's environment
            return
        missing = setting.volatile and not self.features.availability
        paired = setting.duel and not self.features.duel
        remedy = "without volatile arms for this agent; leave availability out, or take one that handles it"
        single = "of single arms for this agent, which learns from numbers, and a duel says only who won"
        with entry(self._entry):
            require(not missing, "setting", remedy, "availability")
            require(not paired, "setting", f'{single}; take an agent of duels, such as "maxminlcb"', "duels")

    def __call__(self, setting: Any, num_trials: int | None = None) -> Any:
        """Return an agent for a single trial, or for B; a ValueError for an option that it does not take."""
        if num_trials is None and self.in_batches_only:
            raise ValueError(
                f"{self._entry} must take num_trials=None, one trial without an axis of trials, to be "
                "checked or to play on an environment that is neither a registered id nor a Problem; give it "
                "that default"
            )
        size = {} if num_trials is None else {"num_trials": num_trials}
        first = next(iter(self._parameters), "")
        if not first:
            raise ValueError(f"{self._entry} must take a setting as its first argument; it takes none")
        self.require_takes(setting)
        with entry(self._entry):
            alone = "None for this agent, which plays one trial; make an agent a trial"
            require(num_trials is None or self.batched, "num_trials", alone, num_trials)
            require_taken(self.make, self.options, "the agent ", {first, "setting", "num_trials"})
            require_annotated(self.make, self.options, num_trials or 1)
            given = "a Setting; `agents.make(name, env)` takes an environment or a problem too"
            require(isinstance(setting, Setting), "setting", given, setting)
            if setting.aggregated and not self.features.aggregated:
                complaint = "must publish which rounds delivered feedback is of, got aggregated=True"
                remedy = 'take "gp-ucb-aggregated", or declare @handles("aggregated")'
                raise ArgumentError("setting", f"{complaint}; {remedy}")
            return self._scaled(self.make(setting, **size, **self.options), setting, num_trials)

    def _scaled(self, agent: Any, setting: Any, num_trials: int | None) -> Any:
        """Return the agent, which estimates its prior from first plays if the unit of values is unknown."""
        known, asked = adapted(agent), self.options.get("stopping")
        stops = asked is None or known.takes_stopping
        require(stops, "stopping", "left out with this agent, which has no single model to decide by", asked)
        if known.unit_is_known:
            return agent
        self_scaled = import_module(".agent.self_scaled", __package__).self_scaled
        return self_scaled(self.make, dict(self.options), setting, num_trials)

    @property
    def _entry(self) -> str:
        return f"agent {self.name!r}" if self.name else path_of(self.make)


def lacking_method(agent: Any) -> str:
    """Return the first method that an object lacks to be an agent; "" if it has all."""
    needed = ("reset", "act", "update")
    return next((name for name in needed if not callable(getattr(agent, name, None))), "")


def names() -> list[str]:
    """The names of agents, ours and those that installed packages register."""
    _registered.cache_clear()
    return sorted(_registered(tuple(sys.path)))


def by_attribute() -> dict[str, str]:
    """Return the registered names by their Python identifiers: gp_ucb -> "gp-ucb"."""
    written = {name.replace("-", "_"): name for name in _registered(tuple(sys.path))}
    return {attribute: name for attribute, name in written.items() if attribute.isidentifier()}


def resolve_agent(spec: AgentSpec) -> AgentFactory:
    """Return the factory of a name, a class path or a callable, alone or with options.

    Args:
        spec: "gp-ucb", "package.module:Class" or setting -> agent, or a pair of any of these and its options,
            such as ("gp-ucb", {"delta": 0.05}) or (MyAgent, {"epsilon": 0.1}).
    """
    if isinstance(spec, AgentFactory):
        return spec
    if isinstance(spec, tuple | list) and len(spec) == 2 and isinstance(spec[1], Mapping):
        require(all(isinstance(each, str) for each in spec[1]), "options", "names with values", spec[1])
        return AgentFactory(_load(spec[0]), dict(spec[1]), _name(spec[0]))
    return AgentFactory(_load(spec), name=_name(spec))


def without_options(spec: Any) -> Any:
    """Return the name, class path or callable of an agent, given alone or in a pair with its options."""
    return spec[0] if isinstance(spec, tuple | list) else spec


def require_registered(name: str, trust: bool) -> None:
    """Raise unless a name read from a file is a registered one, or its class path is trusted."""
    if trust or ":" not in name:  # names without a colon can only be registered ones
        return
    raise ValueError(
        f"the agent is {name!r}, not a registered name but a class path: loading it would import and run "
        "code there. If you know who wrote the file, pass trust=True"
    )


@cache
def factory(name: str) -> Callable[..., Any]:
    """Return what makes the agents of a registered name as `make` does, under the factory's own signature.

    The bare factory, which algorithms call, takes the prior standard deviation for 1 where none is published.
    """
    made = resolve_agent(name).make

    @wraps(made)
    def factory(setting: Any, num_trials: int | None = None, **options: Any) -> Any:
        return AgentFactory(made, options, name)(setting, num_trials)

    factory.__name__ = factory.__qualname__ = name.replace("-", "_")
    factory.__module__, factory.registered_as = __package__ or "", name  # type: ignore[attr-defined]
    return factory


def features(name: str) -> Features:
    """Return the problem features and action sets that the agent of a name handles."""
    return resolve_agent(name).features


def with_propensities() -> list[str]:
    """Return the names of agents that choose at random on arms and say with what probability.

    Logs of these support counterfactuals (`gpbandits.logs`); those of others, which choose with certainty or
    do not say, do not. `agents.pretrained` and `agents.from_sb3` make agents with propensities, too.
    """
    return [name for name in names() if getattr(resolve_agent(name).make, "states_propensities", False)]


def agent_modules(name: str) -> set[str]:
    """Return the modules of a name or a class path: the module in the path, and that of its object."""
    path = name if ":" in name else _point(name).value
    return {path.partition(":")[0], _load(name).__module__}


def _load(name: Any) -> Callable[..., Any]:
    if callable(name):
        own = _registered_as(name)
        return _point(own).load() if own else name
    if not lacking_method(name):
        kind = type(name).__name__
        raise ValueError(f"an agent is made anew for each setting: give {kind}, not an object of it")
    if hasattr(name, "policy") and hasattr(name, "predict"):
        raise ValueError(
            "a trained model of stable-baselines3 plays as agents.from_sb3(model), got the model"
        )
    if hasattr(name, "weights") and hasattr(name, "save"):
        remedy = 'policy.save(path), then ("agents.rl:pretrained", {"path": path})'
        raise ValueError(f"a trained policy plays from its file: {remedy}; got the policy")
    if not isinstance(name, str):
        raise ValueError(
            'an agent is a name such as "gp-ucb", a path "package.module:Class" or a callable setting -> '
            f"agent, such as a class with the methods {METHODS}, alone or in (agent, options), "
            f"got {shown(name)}"
        )
    if ":" not in name:
        return _point(name).load()
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"agent path {name!r} does not lead to a class: {error}") from error


def _registered_as(spec: Any) -> str:
    """Return the registered name of what `factory` returned, such as `agents.gp_ucb`, else nothing."""
    name = getattr(spec, "registered_as", "")  # `functools.wraps` copies it to functions of one's own
    return name if name and spec is factory(name) else ""


def _name(spec: Any) -> str:
    return spec if isinstance(spec, str) else _registered_as(spec)


def _point(name: str) -> EntryPoint:
    if name not in _registered(tuple(sys.path)):
        _registered.cache_clear()  # it may have been installed in the meantime
    points = _registered(tuple(sys.path))
    if name not in points:
        among = f"choose one of {', '.join(sorted(points))}, or a path 'package.module:Class'"
        raise ValueError(f"unknown agent {name!r}{hint(name, sorted(points))}; {among}")
    return points[name]


@cache
def _registered(_places: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return where names lead, ours first, cached by the folders of packages: reading these takes 10 ms."""
    points = {point.name: point for point in built_in()}
    for point in entry_points(group=GROUP):
        points.setdefault(point.name, point)
    return points


def built_in() -> list[EntryPoint]:
    """Return where the names of our own agents lead."""
    named = [(name, module) for module, written in BUILT_IN.items() for name in written.split()]
    return [EntryPoint(name, f"{__package__}.{of}:{name.replace('-', '_')}", GROUP) for name, of in named]

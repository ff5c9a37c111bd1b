"""The lab evaluates bandit agents: `from gpbandits import evaluate, check_agent, Tuner`.

Each public name is imported at its first use.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

    from agents.protocol import Agent as Agent
    from agents.tuning import Categorical as Categorical
    from agents.tuning import Integer as Integer
    from agents.tuning import Linear as Linear
    from agents.tuning import Log as Log
    from agents.tuning import PreferenceTuner as PreferenceTuner
    from agents.tuning import Tuner as Tuner
    from bandit_envs import laws as laws
    from bandit_envs.basics.threads import threads as threads
    from bandit_envs.environment import wrappers as wrappers
    from bandit_envs.problem.decisions import Decisions as Decisions
    from bandit_envs.problem.problem import Problem as Problem
    from bandit_envs.problem.setting import Setting as Setting
    from gpbandits.catalogue import list_agents as list_agents
    from gpbandits.evaluation import AgentCheckError as AgentCheckError
    from gpbandits.evaluation import Record as Record
    from gpbandits.evaluation import Result as Result
    from gpbandits.evaluation import Results as Results
    from gpbandits.evaluation import check_agent as check_agent
    from gpbandits.evaluation import evaluate as evaluate
    from gpbandits.evaluation import trial_seeds as trial_seeds
    from gpbandits.logs import read_log as read_log
    from gpbandits.logs import value_of as value_of
    from gpbandits.report.film import watch as watch

_HOMES = {
    "agents.protocol": ["Agent"],
    "agents.tuning": ["Categorical", "Integer", "Linear", "Log", "PreferenceTuner", "Tuner"],
    "bandit_envs": ["Decisions", "Problem", "Setting", "laws"],
    "bandit_envs.basics.threads": ["threads"],
    "bandit_envs.environment": ["wrappers"],
    "gpbandits.catalogue": ["list_agents"],
    "gpbandits.evaluation": [
        *("AgentCheckError", "Record", "Result", "Results", "check_agent", "evaluate", "trial_seeds"),
    ],
    "gpbandits.logs": ["read_log", "value_of"],
    "gpbandits.report.film": ["watch"],
}

_MODULES = ("laws", "wrappers")  # names that are modules


def _check_not_shadowed() -> None:
    """Raise an ImportError if `import agents` would find another package than that beside this one."""
    spec = find_spec("agents")
    if spec is None:
        raise ImportError("the package 'agents' of gpbandits is missing; install gpbandits again")
    ours = Path(__file__).parents[1] / "agents" / "__init__.py"
    # Without a file of its own (a namespace) the folder is all that is known.
    place = Path(spec.origin or Path(next(iter(spec.submodule_search_locations or ()), "?"), "__init__.py"))
    if place != ours and not (place.exists() and ours.exists() and ours.samefile(place)):
        raise ImportError(
            f"another package named 'agents', at {place}, hides that of gpbandits; rename or move it, "
            "or start Python from another folder"
        )
    if spec.origin is None or _OURS not in (cast("InspectLoader", spec.loader).get_source("agents") or ""):
        raise ImportError(
            f"{place} is not that of gpbandits: another distribution with a package 'agents', such as "
            "openai-agents, was installed into this environment or removed from it; they cannot share one, "
            "so install gpbandits into a new environment"
        )


_OURS = "Gaussian-process bandits"  # in the first line of our agents/__init__.py
_check_not_shadowed()  # the name `agents` is common


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(each for names in _HOMES.values() for each in names)
    if name == "__version__":
        from importlib.metadata import version

        return version("gpbandits")
    for module, names in _HOMES.items():
        if name in names:
            path = f"{module}.{name}"
            return import_module(path) if name in _MODULES else getattr(import_module(module), name)
    where = f"; it is a method: Tuner(parameters).{name}(f, n)" if name in ("optimise", "optimize") else ""
    raise AttributeError(f"module 'gpbandits' has no attribute {name!r}{where}")


def __dir__() -> list[str]:
    return sorted(
        [*__getattr__("__all__"), "__version__"]
    )  # also of what is not imported yet, and nothing else

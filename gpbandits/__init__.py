"""The lab evaluates bandit agents: `from gpbandits import evaluate, check_agent, Tuner`.

Each public name is imported at its first use.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.protocol import Agent
    from agents.tuning import Categorical, Integer, Linear, Log, PreferenceTuner, Tuner
    from bandit_envs.basics.threads import threads
    from gpbandits.evaluation import (
        AgentCheckError,
        Record,
        Result,
        Results,
        check_agent,
        evaluate,
        trial_seeds,
    )
    from gpbandits.logs import read_log, value_of
    from gpbandits.report.film import watch

__all__ = [
    "Agent",
    "AgentCheckError",
    "Categorical",
    "Integer",
    "Linear",
    "Log",
    "PreferenceTuner",
    "Record",
    "Result",
    "Results",
    "Tuner",
    "check_agent",
    "evaluate",
    "read_log",
    "threads",
    "trial_seeds",
    "value_of",
    "watch",
]

_HOMES = {
    "agents.protocol": ["Agent"],
    "agents.tuning": ["Categorical", "Integer", "Linear", "Log", "PreferenceTuner", "Tuner"],
    "bandit_envs.basics.threads": ["threads"],
    "gpbandits.evaluation": [
        *("AgentCheckError", "Record", "Result", "Results"),
        *("check_agent", "evaluate", "trial_seeds"),
    ],
    "gpbandits.logs": ["read_log", "value_of"],
    "gpbandits.report.film": ["watch"],
}


def _check_not_shadowed() -> None:
    """Raise an ImportError if `import agents` would find another package than that beside this one."""
    spec = find_spec("agents")
    if spec is None:
        raise ImportError("the package 'agents' of gpbandits is missing; install gpbandits again")
    place = spec.origin or next(iter(spec.submodule_search_locations or ()), "an unknown place")
    ours = Path(__file__).parents[1] / "agents" / "__init__.py"
    if Path(place) != ours and not (Path(place).exists() and ours.exists() and ours.samefile(place)):
        raise ImportError(
            f"another package named 'agents', at {place}, hides that of gpbandits; rename or move it, "
            "or start Python from another folder"
        )


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'gpbandits' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # completes names that are not imported yet


_check_not_shadowed()  # the name `agents` is common

"""The lab evaluates bandit agents: `from gpbandits import evaluate, check_agent, Tuner`.

Each public name is imported at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpbandits.shadowing import check_not_shadowed

check_not_shadowed()

if TYPE_CHECKING:
    from agents.protocol import Agent
    from agents.tuning import Categorical, Integer, Linear, Log, Tuner
    from bandit_envs.basics.threads import threads
    from gpbandits.evaluation import AgentCheckError, Record, Result, check_agent, evaluate, trial_seeds
    from gpbandits.report.film import watch

__all__ = [
    "Agent",
    "AgentCheckError",
    "Categorical",
    "Integer",
    "Linear",
    "Log",
    "Record",
    "Result",
    "Tuner",
    "check_agent",
    "evaluate",
    "threads",
    "trial_seeds",
    "watch",
]

_HOMES = {
    "agents.protocol": ["Agent"],
    "agents.tuning": ["Categorical", "Integer", "Linear", "Log", "Tuner"],
    "bandit_envs.basics.threads": ["threads"],
    "gpbandits.evaluation": [
        *("AgentCheckError", "Record", "Result"),
        *("check_agent", "evaluate", "trial_seeds"),
    ],
    "gpbandits.report.film": ["watch"],
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'gpbandits' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # completes names that are not imported yet

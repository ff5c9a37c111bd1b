"""Studies: environments x agents x trials from a TOML file, computed once and kept."""

from bandit_envs.experiments.check import check_study
from bandit_envs.experiments.runner import Outcome, compute, run
from bandit_envs.experiments.store import Store
from bandit_envs.experiments.study import AgentEntry, Cell, Checkpoints, EnvironmentEntry, Study
from bandit_envs.experiments.toml import load_study

__all__ = [
    "AgentEntry",
    "Cell",
    "Checkpoints",
    "EnvironmentEntry",
    "Outcome",
    "Store",
    "Study",
    "check_study",
    "compute",
    "load_study",
    "run",
]

"""Studies: environments x agents x trials from a TOML file, computed once and kept."""

from bandit_envs.experiments.check import check_study
from bandit_envs.experiments.folder import keep_study, open_results, write_tables
from bandit_envs.experiments.runner import run
from bandit_envs.experiments.status import count_trials, failures
from bandit_envs.experiments.store import Store
from bandit_envs.experiments.study import AgentEntry, Cell, Checkpoints, EnvironmentEntry, Study
from bandit_envs.experiments.toml import load_study
from bandit_envs.experiments.work import Outcome, compute

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
    "count_trials",
    "failures",
    "keep_study",
    "load_study",
    "open_results",
    "run",
    "write_tables",
]

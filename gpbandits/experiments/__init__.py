"""A study runs environments x agents x trials from a TOML file and stores each result once."""

from gpbandits.evaluation.record import Checkpoints
from gpbandits.experiments.backends import run
from gpbandits.experiments.store import Store, failures, keep_study, open_results, write_tables
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study
from gpbandits.experiments.toml import load_study
from gpbandits.experiments.work import Outcome, check_study, compute

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
    "failures",
    "keep_study",
    "load_study",
    "open_results",
    "run",
    "write_tables",
]

"""Evaluation runs all agents on the same trials and returns a result of their records."""

from gpbandits.evaluation.check import AgentCheckError, check_agent
from gpbandits.evaluation.environments import Results
from gpbandits.evaluation.loop import evaluate, trial_seeds
from gpbandits.evaluation.result import Record, Result
from gpbandits.evaluation.risk import Mixture, best_mixture, risk_averse_regret, robust_regret
from gpbandits.evaluation.signals import Detection, match_alarms

__all__ = [
    "AgentCheckError",
    "Detection",
    "Mixture",
    "Record",
    "Result",
    "Results",
    "best_mixture",
    "check_agent",
    "evaluate",
    "match_alarms",
    "risk_averse_regret",
    "robust_regret",
    "trial_seeds",
]

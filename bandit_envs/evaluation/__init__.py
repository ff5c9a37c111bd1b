"""Evaluation: one loop for all agents, and what comes out of it."""

from bandit_envs.evaluation.check import AgentCheckError, check_agent
from bandit_envs.evaluation.detection import Detection, match_alarms
from bandit_envs.evaluation.loop import evaluate, trial_seeds
from bandit_envs.evaluation.mixture import Mixture, best_mixture
from bandit_envs.evaluation.play import Agent
from bandit_envs.evaluation.result import Record, Result

__all__ = [
    "Agent",
    "AgentCheckError",
    "Detection",
    "Mixture",
    "Record",
    "Result",
    "best_mixture",
    "check_agent",
    "evaluate",
    "match_alarms",
    "trial_seeds",
]

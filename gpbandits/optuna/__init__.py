"""Agents propose the trials of Optuna studies: `optuna.create_study(sampler=GPBanditSampler())`."""

from bandit_envs.basics.arguments import from_extra

with from_extra("optuna", "samplers of Optuna"):
    from gpbandits.optuna.sampler import GPBanditSampler

__all__ = ["GPBanditSampler"]

"""Samplers of Gaussian-process bandits for OptunaHub, each `GPBanditSampler` with an agent of gpbandits."""

from __future__ import annotations

from typing import Any

from agents.real.choice import FIRST, LEARNING
from gpbandits.optuna import GPBanditSampler

__all__ = [
    "BudgetedSampler",
    "ConstrainedSampler",
    "DelayAwareSampler",
    "GPBanditSampler",
    "GPPISampler",
    "GPTSSampler",
    "GPUCBSampler",
]

LEARNT = {"initial": FIRST, **LEARNING}  # kernel and noise, from the trials


class GPUCBSampler(GPBanditSampler):
    """GP-UCB (Srinivas et al. 2010), with a width that is a multiple of the posterior standard deviation."""

    def __init__(self, *, width: float = 2.0, **options: Any):
        super().__init__(("gp-ucb", {"width": width, **LEARNT}), **options)


class GPTSSampler(GPBanditSampler):
    """GP-TS, Thompson sampling: a proposal is best for a posterior sample (Chowdhury & Gopalan 2017)."""

    def __init__(self, **options: Any):
        super().__init__(("gp-ts", LEARNT), **options)


class GPPISampler(GPBanditSampler):
    """GP-PI, the probability of improvement (Kushner 1964)."""

    def __init__(self, **options: Any):
        super().__init__(("gp-pi", LEARNT), **options)


class ConstrainedSampler(GPBanditSampler):
    """Constrained expected improvement, for trials that call `trial.set_constraint(name, value)`."""

    def __init__(self, **options: Any):
        super().__init__(("constrained-ei", {"hallucinate": True, **LEARNT}), **options)


class DelayAwareSampler(GPBanditSampler):
    """GP-BUCB (Desautels et al. 2014), in which running trials of all workers count as pending feedback."""

    def __init__(self, **options: Any):
        super().__init__(("gp-bucb", LEARNT), **options)


class BudgetedSampler(GPBanditSampler):
    """Expected improvement per unit of cost; trials report by `trial.set_user_attr("spent", cost)`."""

    def __init__(self, cost_budget: float, **options: Any):
        super().__init__(("ei-per-cost", LEARNT), cost_budget=cost_budget, **options)

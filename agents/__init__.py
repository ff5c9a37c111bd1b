"""Agents for Gaussian-process bandits: `make("gp-ucb", setting)`, then `reset`, `act`, `update`.

Algorithms are factories too, those of registered packages included: `agents.gp_ucb(setting, delta=0.05)`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .acquisition.candidates import Candidates
    from .acquisition.rules import ExpectedImprovement
    from .agent.gp_agent import GPAgent
    from .algorithms.admmbo import admmbo
    from .algorithms.aggregated import gp_ucb_aggregated
    from .algorithms.budgets import ei_per_cost, kg_per_cost, pbgi, ratio_ucb
    from .algorithms.changing import (
        gp_ucb_cpd,
        gp_ucb_no_detector,
        gp_ucb_oracle,
        r_gp_ucb,
        sw_gp_ucb,
        tv_gp_ucb,
        ui_tvbo,
        w_gp_ucb,
    )
    from .algorithms.classic import (
        dmm_ucb,
        eims,
        gp_ei,
        gp_pi,
        gp_ts,
        gp_ucb,
        igp_ucb,
        irgp_ucb,
        kernel_ucb,
        pims,
        pure_exploitation,
        pure_exploration,
    )
    from .algorithms.clicks import laplace_ts, laplace_ucb
    from .algorithms.composed import gp_agent
    from .algorithms.constrained import constrained_ei, gp_ucb_noiseless_constraints, gp_ucb_noisy_constraints
    from .algorithms.delayed import asy_ts, gp_bts, gp_bucb, gp_ts_sdf, gp_ucb_sdf
    from .algorithms.duel_phases import mr_lpf
    from .algorithms.duels import double_ts, map_challenger, max_info_duel, maxminlcb, multisbm, pop_bo, rucb
    from .algorithms.elimination import bpe, bpe_delay, mvr, phased_elimination, reds, sup_kernel_ucb
    from .algorithms.moves import batch_and_sort, movement_ucb, permuted_elimination
    from .algorithms.no_model import bandit_oco, random
    from .algorithms.planning import rahbo, rgp_pe
    from .algorithms.references import epsilon_greedy, forest_ei, forest_thompson, lin_ucb, local_search
    from .algorithms.robust import ec_gp_ucb, rgp_ucb, stable_opt, tgp_ucb
    from .algorithms.safe import ise, losbo, safe_ucb, safeopt, stageopt
    from .algorithms.separate_models import ckb, config, epbo, pdcbo, rpol
    from .algorithms.sketched import bbkb, bkb
    from .algorithms.unknown_kernel import a_gp_ucb, lb_gp_ucb, pe_gp_ucb
    from .beliefs.delivered import Delivered
    from .making import compose, make
    from .model.defaults import ModelOptions
    from .objectives.base import Objective
    from .optimisers.factories import (
        bayes_opt,
        botorch_logei,
        botorch_nei,
        optuna_gp,
        optuna_tpe,
        skopt,
        smac,
    )
    from .options import PerTrial
    from .protocol import Features, handles
    from .registry import features, names, with_propensities
    from .restarts.base import Restart
    from .rl import Policy, from_sb3, pretrained, sb3, train_policy
    from .rl.learner import (
        sb3_a2c,
        sb3_dqn,
        sb3_maskable_ppo,
        sb3_ppo,
        sb3_qr_dqn,
        sb3_recurrent_ppo,
        sb3_sac,
        sb3_td3,
        sb3_trpo,
    )
    from .saving import load
    from .tuning import Categorical, Integer, Linear, Log, PreferenceTuner, Tuner

_HOMES = {
    "acquisition.candidates": ["Candidates"],
    "acquisition.rules": ["ExpectedImprovement"],
    "registry": ["features", "names", "with_propensities"],
    "making": ["compose", "make"],
    "rl": ["Policy", "from_sb3", "pretrained", "sb3", "train_policy"],
    "agent.gp_agent": ["GPAgent"],
    "beliefs.delivered": ["Delivered"],
    "objectives.base": ["Objective"],
    "restarts.base": ["Restart"],
    "protocol": ["Features", "handles"],
    "saving": ["load"],
    "tuning": ["Categorical", "Integer", "Linear", "Log", "PreferenceTuner", "Tuner"],
    "model.defaults": ["ModelOptions"],
    "options": ["PerTrial"],
}

_BY_HAND = [
    *("compose", "features", "from_sb3", "load", "make", "names", "pretrained", "sb3", "with_propensities"),
    *("Tuner", "PreferenceTuner", "Categorical", "Integer", "Linear", "Log"),
]

__all__ = [
    "Candidates",
    "Categorical",
    "Delivered",
    "ExpectedImprovement",
    "Features",
    "GPAgent",
    "Integer",
    "Linear",
    "Log",
    "ModelOptions",
    "Objective",
    "PerTrial",
    "Policy",
    "PreferenceTuner",
    "Restart",
    "Tuner",
    "a_gp_ucb",
    "admmbo",
    "asy_ts",
    "bandit_oco",
    "batch_and_sort",
    "bayes_opt",
    "bbkb",
    "bkb",
    "botorch_logei",
    "botorch_nei",
    "bpe",
    "bpe_delay",
    "ckb",
    "compose",
    "config",
    "constrained_ei",
    "dmm_ucb",
    "double_ts",
    "ec_gp_ucb",
    "ei_per_cost",
    "eims",
    "epbo",
    "epsilon_greedy",
    "features",
    "forest_ei",
    "forest_thompson",
    "from_sb3",
    "gp_agent",
    "gp_bts",
    "gp_bucb",
    "gp_ei",
    "gp_pi",
    "gp_ts",
    "gp_ts_sdf",
    "gp_ucb",
    "gp_ucb_aggregated",
    "gp_ucb_cpd",
    "gp_ucb_no_detector",
    "gp_ucb_noiseless_constraints",
    "gp_ucb_noisy_constraints",
    "gp_ucb_oracle",
    "gp_ucb_sdf",
    "handles",
    "igp_ucb",
    "irgp_ucb",
    "ise",
    "kernel_ucb",
    "kg_per_cost",
    "laplace_ts",
    "laplace_ucb",
    "lb_gp_ucb",
    "lin_ucb",
    "load",
    "local_search",
    "losbo",
    "make",
    "map_challenger",
    "max_info_duel",
    "maxminlcb",
    "movement_ucb",
    "mr_lpf",
    "multisbm",
    "mvr",
    "names",
    "optuna_gp",
    "optuna_tpe",
    "pbgi",
    "pdcbo",
    "pe_gp_ucb",
    "permuted_elimination",
    "phased_elimination",
    "pims",
    "pop_bo",
    "pretrained",
    "pure_exploitation",
    "pure_exploration",
    "r_gp_ucb",
    "rahbo",
    "random",
    "ratio_ucb",
    "reds",
    "rgp_pe",
    "rgp_ucb",
    "rpol",
    "rucb",
    "safe_ucb",
    "safeopt",
    "sb3",
    "sb3_a2c",
    "sb3_dqn",
    "sb3_maskable_ppo",
    "sb3_ppo",
    "sb3_qr_dqn",
    "sb3_recurrent_ppo",
    "sb3_sac",
    "sb3_td3",
    "sb3_trpo",
    "skopt",
    "smac",
    "stable_opt",
    "stageopt",
    "sup_kernel_ucb",
    "sw_gp_ucb",
    "tgp_ucb",
    "train_policy",
    "tv_gp_ucb",
    "ui_tvbo",
    "w_gp_ucb",
    "with_propensities",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    if not name.startswith("_"):
        registry = import_module(".registry", __name__)
        if registered := registry.by_attribute().get(name):
            return registry.factory(registered)
    raise AttributeError(f"module 'agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return names for completion: the factories of all agents, and functions for interactive use."""
    return sorted({*import_module(".registry", __name__).by_attribute(), *_BY_HAND})

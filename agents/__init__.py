"""Agents for Gaussian-process bandits: `make("gp-ucb", setting)`, then `reset`, `act`, `update`.

Algorithms are factories too, those of registered packages included: `agents.gp_ucb(setting, delta=0.05)`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .acquisition.candidates import Candidates
    from .agent.gp_agent import GPAgent
    from .algorithms.admmbo import admmbo
    from .algorithms.aggregated import gp_ucb_aggregated
    from .algorithms.bandit_oco import bandit_oco
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
    from .algorithms.constrained import constrained_ei, gp_ucb_noiseless_constraints, gp_ucb_noisy_constraints
    from .algorithms.delayed import asy_ts, gp_bts, gp_bucb, gp_ts_sdf, gp_ucb_sdf
    from .algorithms.duel_phases import mr_lpf
    from .algorithms.duels import double_ts, map_challenger, max_info_duel, maxminlcb, multisbm, pop_bo, rucb
    from .algorithms.elimination import bpe, bpe_delay, mvr, phased_elimination, reds
    from .algorithms.forests import forest_ei, forest_thompson
    from .algorithms.lin_ucb import lin_ucb
    from .algorithms.means import epsilon_greedy, local_search
    from .algorithms.random import random
    from .algorithms.rgp_pe import rgp_pe
    from .algorithms.risk_averse import rahbo
    from .algorithms.robust import ec_gp_ucb, rgp_ucb, stable_opt, tgp_ucb
    from .algorithms.sketched import bbkb, bkb
    from .algorithms.sup_kernel_ucb import sup_kernel_ucb
    from .algorithms.unknown_kernel import a_gp_ucb, lb_gp_ucb, pe_gp_ucb
    from .beliefs.delivered import Delivered
    from .making import compose, make
    from .model.defaults import ModelOptions
    from .objectives.base import Objective
    from .protocol import Features, handles
    from .registry import features, names, with_propensities
    from .restarts.base import Restart
    from .rl import Policy, from_sb3, pretrained, sb3, train_policy
    from .saving import load
    from .tuning import Categorical, Integer, Linear, Log, PreferenceTuner, Tuner
    from .validation import PerTrial

_HOMES = {
    "acquisition.candidates": ["Candidates"],
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
    "validation": ["PerTrial"],
}

_BY_HAND = [
    *("compose", "features", "from_sb3", "load", "make", "names", "pretrained", "sb3", "with_propensities"),
    *("Tuner", "PreferenceTuner", "Categorical", "Integer", "Linear", "Log"),
]

__all__ = [
    "Candidates",
    "Categorical",
    "Delivered",
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
    "bbkb",
    "bkb",
    "bpe",
    "bpe_delay",
    "compose",
    "constrained_ei",
    "dmm_ucb",
    "double_ts",
    "ec_gp_ucb",
    "eims",
    "epsilon_greedy",
    "features",
    "forest_ei",
    "forest_thompson",
    "from_sb3",
    "gp_bts",
    "gp_bucb",
    "gp_ei",
    "gp_pi",
    "gp_ts",
    "gp_ts_sdf",
    "gp_ucb",
    "gp_ucb_aggregated",
    "gp_ucb_noiseless_constraints",
    "gp_ucb_noisy_constraints",
    "gp_ucb_sdf",
    "handles",
    "igp_ucb",
    "irgp_ucb",
    "kernel_ucb",
    "lb_gp_ucb",
    "lin_ucb",
    "load",
    "local_search",
    "make",
    "map_challenger",
    "max_info_duel",
    "maxminlcb",
    "mr_lpf",
    "multisbm",
    "mvr",
    "names",
    "pe_gp_ucb",
    "phased_elimination",
    "pims",
    "pop_bo",
    "pretrained",
    "pure_exploitation",
    "pure_exploration",
    "rahbo",
    "random",
    "reds",
    "rgp_pe",
    "rgp_ucb",
    "rucb",
    "sb3",
    "stable_opt",
    "sup_kernel_ucb",
    "tgp_ucb",
    "train_policy",
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

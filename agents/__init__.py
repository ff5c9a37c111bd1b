"""Agents for Gaussian-process bandits: `make("gp-ucb", setting)`, then `reset`, `act`, `update`.

Algorithms are factories too, those of registered packages included: `agents.gp_ucb(setting, delta=0.05)`.
"""

from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .acquisition.candidates import Candidates as Candidates
    from .acquisition.rules import ExpectedImprovement as ExpectedImprovement
    from .agent.gp_agent import GPAgent as GPAgent
    from .algorithms.admmbo import admmbo as admmbo
    from .algorithms.budgets import ei_per_cost as ei_per_cost
    from .algorithms.budgets import kg_per_cost as kg_per_cost
    from .algorithms.budgets import pbgi as pbgi
    from .algorithms.budgets import ratio_ucb as ratio_ucb
    from .algorithms.changing import gp_ucb_cpd as gp_ucb_cpd
    from .algorithms.changing import gp_ucb_no_detector as gp_ucb_no_detector
    from .algorithms.changing import gp_ucb_oracle as gp_ucb_oracle
    from .algorithms.changing import r_gp_ucb as r_gp_ucb
    from .algorithms.changing import sw_gp_ucb as sw_gp_ucb
    from .algorithms.changing import tv_gp_ucb as tv_gp_ucb
    from .algorithms.changing import ui_tvbo as ui_tvbo
    from .algorithms.changing import w_gp_ucb as w_gp_ucb
    from .algorithms.classic import dmm_ucb as dmm_ucb
    from .algorithms.classic import eims as eims
    from .algorithms.classic import gp_ei as gp_ei
    from .algorithms.classic import gp_pi as gp_pi
    from .algorithms.classic import gp_ts as gp_ts
    from .algorithms.classic import gp_ucb as gp_ucb
    from .algorithms.classic import igp_ucb as igp_ucb
    from .algorithms.classic import irgp_ucb as irgp_ucb
    from .algorithms.classic import kernel_ucb as kernel_ucb
    from .algorithms.classic import pims as pims
    from .algorithms.classic import pure_exploitation as pure_exploitation
    from .algorithms.classic import pure_exploration as pure_exploration
    from .algorithms.clicks import laplace_ts as laplace_ts
    from .algorithms.clicks import laplace_ucb as laplace_ucb
    from .algorithms.composed import gp_agent as gp_agent
    from .algorithms.constrained import constrained_ei as constrained_ei
    from .algorithms.constrained import gp_ucb_noiseless_constraints as gp_ucb_noiseless_constraints
    from .algorithms.constrained import gp_ucb_noisy_constraints as gp_ucb_noisy_constraints
    from .algorithms.delayed import asy_ts as asy_ts
    from .algorithms.delayed import gp_bts as gp_bts
    from .algorithms.delayed import gp_bucb as gp_bucb
    from .algorithms.delayed import gp_ts_sdf as gp_ts_sdf
    from .algorithms.delayed import gp_ucb_aggregated as gp_ucb_aggregated
    from .algorithms.delayed import gp_ucb_sdf as gp_ucb_sdf
    from .algorithms.duel_phases import mr_lpf as mr_lpf
    from .algorithms.duels import double_ts as double_ts
    from .algorithms.duels import map_challenger as map_challenger
    from .algorithms.duels import max_info_duel as max_info_duel
    from .algorithms.duels import maxminlcb as maxminlcb
    from .algorithms.duels import multisbm as multisbm
    from .algorithms.duels import pop_bo as pop_bo
    from .algorithms.duels import rucb as rucb
    from .algorithms.elimination import bpe as bpe
    from .algorithms.elimination import bpe_delay as bpe_delay
    from .algorithms.elimination import mvr as mvr
    from .algorithms.elimination import phased_elimination as phased_elimination
    from .algorithms.elimination import reds as reds
    from .algorithms.elimination import sup_kernel_ucb as sup_kernel_ucb
    from .algorithms.moves import batch_and_sort as batch_and_sort
    from .algorithms.moves import movement_ucb as movement_ucb
    from .algorithms.moves import permuted_elimination as permuted_elimination
    from .algorithms.no_model import bandit_oco as bandit_oco
    from .algorithms.no_model import random as random
    from .algorithms.planning import rahbo as rahbo
    from .algorithms.planning import rgp_pe as rgp_pe
    from .algorithms.references import epsilon_greedy as epsilon_greedy
    from .algorithms.references import forest_ei as forest_ei
    from .algorithms.references import forest_thompson as forest_thompson
    from .algorithms.references import lin_ucb as lin_ucb
    from .algorithms.references import local_search as local_search
    from .algorithms.robust import ec_gp_ucb as ec_gp_ucb
    from .algorithms.robust import rgp_ucb as rgp_ucb
    from .algorithms.robust import stable_opt as stable_opt
    from .algorithms.robust import tgp_ucb as tgp_ucb
    from .algorithms.safe import ise as ise
    from .algorithms.safe import losbo as losbo
    from .algorithms.safe import safe_ucb as safe_ucb
    from .algorithms.safe import safeopt as safeopt
    from .algorithms.safe import stageopt as stageopt
    from .algorithms.separate_models import ckb as ckb
    from .algorithms.separate_models import config as config
    from .algorithms.separate_models import epbo as epbo
    from .algorithms.separate_models import pdcbo as pdcbo
    from .algorithms.separate_models import rpol as rpol
    from .algorithms.sketched import bbkb as bbkb
    from .algorithms.sketched import bkb as bkb
    from .algorithms.unknown_kernel import a_gp_ucb as a_gp_ucb
    from .algorithms.unknown_kernel import lb_gp_ucb as lb_gp_ucb
    from .algorithms.unknown_kernel import pe_gp_ucb as pe_gp_ucb
    from .beliefs.delivered import Delivered as Delivered
    from .making import compose as compose
    from .making import make as make
    from .model.defaults import ModelOptions as ModelOptions
    from .objectives.base import Objective as Objective
    from .optimisers.factories import bayes_opt as bayes_opt
    from .optimisers.factories import botorch_logei as botorch_logei
    from .optimisers.factories import botorch_nei as botorch_nei
    from .optimisers.factories import optuna_gp as optuna_gp
    from .optimisers.factories import optuna_tpe as optuna_tpe
    from .optimisers.factories import skopt as skopt
    from .optimisers.factories import smac as smac
    from .options import PerTrial as PerTrial
    from .protocol import Features as Features
    from .protocol import handles as handles
    from .registry import features as features
    from .registry import names as names
    from .registry import with_propensities as with_propensities
    from .restarts.base import Restart as Restart
    from .rl import Policy as Policy
    from .rl import from_sb3 as from_sb3
    from .rl import pretrained as pretrained
    from .rl import sb3 as sb3
    from .rl import train_policy as train_policy
    from .rl.learner import sb3_a2c as sb3_a2c
    from .rl.learner import sb3_dqn as sb3_dqn
    from .rl.learner import sb3_maskable_ppo as sb3_maskable_ppo
    from .rl.learner import sb3_ppo as sb3_ppo
    from .rl.learner import sb3_qr_dqn as sb3_qr_dqn
    from .rl.learner import sb3_recurrent_ppo as sb3_recurrent_ppo
    from .rl.learner import sb3_sac as sb3_sac
    from .rl.learner import sb3_td3 as sb3_td3
    from .rl.learner import sb3_trpo as sb3_trpo
    from .saving import load as load
    from .tuning import Categorical as Categorical
    from .tuning import Integer as Integer
    from .tuning import Linear as Linear
    from .tuning import Log as Log
    from .tuning import PreferenceTuner as PreferenceTuner
    from .tuning import Tuner as Tuner

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


def __getattr__(name: str) -> Any:
    if name == "__all__":
        ours = import_module(".registry", __name__).built_in()
        return sorted({*chain(*_HOMES.values()), *(point.attr for point in ours)})
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

"""Options that factories hand on: one TypedDict says which there are, and an unknown one is found by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar, get_type_hints

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import DUELLING, SETTING, WITH_ALL, of_each_shape
from typing_extensions import TypeAliasType

import agents
from agents import ModelOptions
from agents.algorithms import changing, classic, delayed, duels, elimination, safe, separate_models
from agents.algorithms.duels import BandOptions, DuelOptions
from agents.algorithms.separate_models import SeparateModelsAgentOptions
from agents.model.model import Model
from agents.objectives.parts import CostModelOptions, PenalisedOptions, ReadingOptions, model_and_costs
from agents.objectives.penalised import parts_of, penalised_parts
from agents.options import keywords_of, typed_dict_of
from agents.registry import resolve_agent
from agents.saving.data import require_types
from bandit_envs import Setting
from bandit_envs.basics.options import Checked, one_of, positive, probability
from gpbandits.catalogue import documented_keys

HANDING_ON = [name for name in agents.names() if typed_dict_of(resolve_agent(name).make)]
SETS = sorted(
    {typed_dict_of(resolve_agent(name).make) for name in HANDING_ON}, key=lambda each: each.__name__
)
TAKING = {
    ModelOptions: Model.of,
    DuelOptions: Model.of,
    BandOptions: duels.duellist,
    CostModelOptions: model_and_costs,
    PenalisedOptions: parts_of,
    ReadingOptions: penalised_parts,
    SeparateModelsAgentOptions: separate_models.with_separate_models,
    safe.SetsOptions: safe.safely,
    classic.WidthOptions: classic.upper_bound,
    elimination.EliminationOptions: elimination._eliminating,
    changing.ChangePointOptions: changing._watching,
    delayed.CensoredOptions: delayed._censoring,
}


def test_nearly_every_agent_with_a_model_says_what_it_hands_on():
    vague = {
        name
        for name in agents.names()
        if keywords_of(resolve_agent(name).make) is None and not name.startswith(("sb3", "optuna", "botorch"))
    }
    assert len(HANDING_ON) > 40
    assert all(resolve_agent(name).make.__module__.startswith("agents.optimisers") for name in vague)


@pytest.mark.parametrize("name", of_each_shape(HANDING_ON))
def test_an_option_that_is_misspelt_is_found_before_the_call(name):
    assert len(set(known := keywords_of(resolve_agent(name).make))) == len(known)
    path = re.escape(f"of the agent {resolve_agent(name).make.__module__}.")
    with pytest.raises(
        ValueError, match=rf"unknown option 'lenght_scale' {path}.*did you mean 'length_scale'"
    ):
        resolve_agent((name, {"lenght_scale": 0.2}))(object())  # though no agent could be made of it


def test_a_factory_of_a_user_that_hands_options_on_to_ours_names_the_unknown_one():
    def mine(setting, **options):
        return agents.gp_ucb(setting, **options)

    with pytest.raises(ValueError, match=r"unknown option 'refit_evry'.*did you mean 'refit_every'"):
        resolve_agent((mine, {"refit_evry": 5}))(SETTING)


@pytest.mark.parametrize(("options", "takes"), TAKING.items(), ids=lambda each: each.__name__)
def test_a_set_of_options_is_what_its_function_takes(options, takes):
    parameters = signature(takes).parameters
    own = {name for name, each in parameters.items() if each.kind is Parameter.KEYWORD_ONLY}
    keys, taken = (get_type_hints(each, include_extras=True) for each in (options, takes))
    assert keys.keys() <= set(keywords_of(takes))
    written = {name: taken[name] for name in own & keys.keys()}
    assert written == {name: keys[name] for name in written}


@pytest.mark.parametrize("options", SETS, ids=lambda each: each.__name__)
def test_every_option_has_its_default_and_effect(options):
    said = documented_keys(options)
    assert said.keys() == options.__annotations__.keys()
    assert [key for key, text in said.items() if "default" not in text.lower()] == []
    for key, each in signature(Model.of).parameters.items():
        if key in ModelOptions.__annotations__ and options is ModelOptions:
            assert f"default {each.default}".lower() in said[key].lower().replace('"', "")


@pytest.mark.parametrize("given", ["GPBandit-GP-v0", None, 3, gym.make("GPBandit-GP-v0", num_arms=5)])
def test_a_factory_of_what_is_no_setting_names_what_takes_an_environment(given):
    with pytest.raises(
        ValueError, match=r"agent 'gp-ucb': setting must be a Setting; `agents.make\(name, env\)`"
    ):
        agents.gp_ucb(given)


def test_a_trained_model_is_entered_by_the_function_that_the_message_names():
    model = SimpleNamespace(policy=None, predict=None)
    for given in (model, (model, {})):
        with pytest.raises(ValueError, match=r"plays as agents.from_sb3\(model\), got the model"):
            resolve_agent(given)


@pytest.mark.parametrize("name", [each for each in agents.names() if not resolve_agent(each).batched])
def test_an_agent_of_one_trial_says_that_it_plays_no_batch(name):
    with pytest.raises(ValueError, match="num_trials must be None for this agent, which plays one trial"):
        resolve_agent(name)(SETTING, 3)


# The last option of each is refused by its name, in a setting with all that some agents ask for.
IMPOSSIBLE = {
    "a-gp-ucb": [{"g": -1.0}, {"b": -1.0}, {"start": 0.5}],
    "admmbo": [
        {"fit_mean": True},
        {"rho": 0.0},
        {"initial": 0},
        {"reward_steps": (5,)},
        {"cost_steps": (5, 0)},
    ],
    "bandit-oco": [{"points": 3}, {"eta": -0.1}, {"zeta": 0.0}, {"zeta": 3.0}, {"delta_reg": -1.0}],
    **{
        name: [{"size": 0.0}, {"form": "dense"}, own, {"repeat": 2.0}, {"refit_every": 5}]
        for name, own in (("bkb", {"reading": "book"}), ("bbkb", {"growth": 0.5}))
    },
    "bpe": [{"first": 0}],
    "bpe-delay": [{"wait": -1}, {"wait": "long"}, {"wait": 1.5}],
    "ckb": [{"clip": -1.0}],
    "config": [
        *({"refit_every": 5, **each} for each in ({"fit_mean": True}, {"fit_on": "all"})),
        *({"cost_width": "wide"}, {"cost_belief": "shifted"}, {"cost_belief": "censored"}),
    ],
    "constrained-ei": [{"initial": -1}, {"prior_mean": 1.0}, {"constraint_noise_std": -1.0}],
    "dmm-ucb": [{"ratios": ratios} for ratios in ([0.0], [-1.0, 1.0], "all", 3.0, [[1.0]], [10**400])],
    "ec-gp-ucb": [{"eps": -0.1}, {"extra": "dull"}],
    "ei-per-cost": [{"cooling": "slow"}],
    "epsilon-greedy": [{"epsilon": 1.5}],
    "forest-ei": [{"trees": 1}],
    "forest-thompson": [{"initial": 0}],
    "gp-agent": [
        *({"rule": "best"}, {"rule": "ucb", "belief": "true"}, {"rule": "ucb", "restart": "often"}),
        *({"rule": "ucb", "constraint": "soft"}, {"like": "text"}, {"goal": "worst"}),
        *({"parts": given} for given in (3, {"alphas": [[1.0], [2.0, 3.0]]})),
        *(
            {"rule": "ucb", "restart": "evidence", "restart_options": {"noise_scales": scales}}
            for scales in ((), (0.0,), "wide", (1.0, np.nan), 2.0)
        ),
        {"rule": "ucb", "restart": "cpd", "restart_options": {"false_alarm_rate": 2.0}},
    ],
    "gp-ei": [{"initial": 0.5}, {"incumbent": "best"}],
    "gp-ucb": [
        *({"width": width} for width in ("wide", [1], True)),
        *({"delta": delta} for delta in (1.0, "0.1")),
        *({"noise_std": noise} for noise in (-1.0, "a")),
        *({"beta_scale": 0.0}, {"noise_variance": 0.0}, {"kernel": "rbff"}, {"noise_variance": "large"}),
        *({"prior_mean": mean} for mean in (np.nan, [1.0, 2.0])),
        *({"repeat": repeat} for repeat in (0.5, np.inf)),
        *({"refit_every": every} for every in (-1, 2.5)),
        *({"refit_every": 3, **each} for each in ({"fit_on": "some"}, {"fit_restarts": -1}, {"fit_most": 1})),
        *({"refit_every": 3, each: -1.0} for each in ("fit_spread", "fit_noise_spread")),
        {"refit_every": 3, "noise_variance": "smoothness"},  # as it is tied to nothing that is learnt
    ],
    "gp-ucb-cpd": [
        {"reading": "mine"},
        {"xi_squared": -1},
        {"ridge": 0.0},
        {"false_alarm_rate": 0.1, "theta": 1.0},
    ],
    "gp-ucb-noiseless-constraints": [{"psi": "log"}, {"prior_mean": 1.0}, {"centre": np.nan}, {"scale": 0.0}],
    "gp-ucb-noisy-constraints": [
        {"step": -1.0},
        {"epoch": 0},
        {"epoch": 2.5},
        {"inner": "ei"},
        {"initial": 30},
    ],
    "gp-ucb-sdf": [{"fill_in": "one"}, {"window": -1}, {"refit_every": 5, "fit_mean": True}],
    "igp-ucb": [{"gamma": "big"}, {"gamma": [1]}],
    "irgp-ucb": [{"size": size} for size in (0, -3, 2.5, "large", True, "compact")],  # that is of boxes
    "lb-gp-ucb": [{"scales": [1.0, -2.0]}, {"scales": []}, {"g": -0.5}, {"refit_every": 5}],
    "lin-ucb": [{"alpha": -1.0}, {"ridge": 0.0}],
    "local-search": [{"nearest": 0}, {"explore": -0.1}],
    "losbo": [{"cost_noise_bound": -1.0}],
    "maxminlcb": [{"width": "wide"}, {"width": -1.0}, {"delta": 2.0}],
    "mr-lpf": [{"penalty": 0.0}, {"band": -1.0}],
    "pbgi": [{"lam": 0.0}, {"halving": 3}],
    "pe-gp-ucb": [{"priors": [1.0]}, {"priors": []}, {"repeat": 2.0}],
    "permuted-elimination": [{"restart_every": 0}, {"variation": -1.0}],
    "phased-elimination": [{"first": 0}, {"band": "wide"}, {"band": -1.0}, {"initial": 3}, {"delta": 1.0}],
    "r-gp-ucb": [{"every": 0}],
    "rahbo": [{"alpha": -1.0}, {"repeats": 1}, {"explore": -1}, {"reading": "book"}, {"refit_every": 5}],
    "ratio-ucb": [{"delta": 2.0}],
    "rgp-pe": [{"eta": 1.0}, {"budget": -1.0}, {"extra": "none"}, {"delta": 0.0}, {"repeat": 2.0}],
    "rgp-ucb": [{"budget": -1.0}, {"width": "wide"}],
    "safe-ucb": [{"standardize": True}, {"initial": 3}, {"centre": np.ones(2)}],  # uniform plays are unsafe
    "safeopt": [
        {"sets": "no"},
        {"lipschitz": [1.0]},
        {"sets": "neighbours", "lipschitz": [1.0, 2.0]},
        {"patience": 0},
        {"sets": "neighbours", "cost_noise_bound": 1.0},
    ],
    "stable-opt": [{"eps": -0.1}, {"refit_every": 5}, {"repeat": 2.0}],
    "sup-kernel-ucb": [{"band": -1.0}, {"delta": 1.0}, {"initial": 3}, {"refit_every": 3}],
    "sw-gp-ucb": [{"window": 0}, {"window": 2.5}, {"variation": 0.0}],
    "tgp-ucb": [{"alpha": 0.0}, {"alpha": 1.5}, {"moment": -1.0}],
    "tv-gp-ucb": [{"eps": 1.5}, {"width": "practice"}],
    "w-gp-ucb": [{"discount": 0.0}, {"discount": 1.1}, {"discount": "much"}],
}


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name, each in IMPOSSIBLE.items() for options in each], ids=str
)
def test_an_impossible_option_is_named(name, options):
    setting = Setting(arms=SETTING.arms, horizon=10, duel=True) if name in DUELLING else WITH_ALL
    with pytest.raises(ValueError, match=rf"\b{[*options][-1]}\b"):
        agents.make(name, setting, **options).reset(0)


@dataclass(frozen=True)
class Declared(Checked):
    eps: Annotated[float, positive("it is a regret")]
    limit: Annotated[float, probability("it is a share of runs")] | None = None
    bands: Annotated[str, one_of("single", "difference")] = "single"


def declared(setting: Any, *, delta: Annotated[float, probability("give 0.1")] = 0.1) -> Any:
    return agents.gp_ucb(setting, delta=delta)


def test_a_range_and_a_remedy_are_declared_once_in_the_annotation_of_a_part_or_an_option():
    assert Declared(0.5, None).limit is None
    refused: list[tuple[dict[str, Any], str]] = [
        ({"eps": 0.0}, "eps must be positive, got 0.0; it is a regret"),
        ({"eps": "a"}, "eps must be positive, got 'a'"),
        ({"eps": 1.0, "limit": 1.0}, r"limit must be in \(0, 1\) or None, got 1.0; it is a share of runs"),
        ({"eps": 1.0, "bands": "all"}, 'bands must be "single" or "difference", got'),
    ]
    for given, says in refused:
        with pytest.raises(ValueError, match=says):
            Declared(**given)
    with pytest.raises(ValueError, match=r"declared: delta must be in \(0, 1\), got 2.0; give 0.1"):
        resolve_agent((declared, {"delta": 2.0}))(SETTING)


def test_an_alias_is_checked_as_what_it_stands_for():
    """As numpy's NDArray is one in new versions, from Python 3.12 on."""
    size = TypeVar("size")
    listed = TypeAliasType("listed", list[float], type_params=(size,))
    for hinted in (listed, listed[int], listed | None):
        require_types("it", {"x": [1.0, 2.0]}, {"x": hinted})
        with pytest.raises(ValueError, match=r"x of it in the file must be .*list.*, got \['a'\]"):
            require_types("it", {"x": ["a"]}, {"x": hinted})


def test_a_builtin_is_no_agent():
    with pytest.raises(
        ValueError, match=r"a class with the methods reset.*, got <class 'dict'>, which has no"
    ):
        resolve_agent(dict)(SETTING)


def test_an_agent_whose_constructor_has_no_annotations_takes_its_options():
    class Reader:
        def __new__(cls, setting, eps=0.1):  # and the __init__ of object, which is a builtin
            reader: Any = super().__new__(cls)
            reader.eps = eps
            return reader

    assert resolve_agent((Reader, {"eps": 0.2}))(SETTING).eps == 0.2

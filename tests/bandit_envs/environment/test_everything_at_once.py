"""Environments with every feature on keep what all environments keep, as do the agents that handle them."""

from functools import cache
from typing import Any

import gymnasium as gym
import pytest
from cases import Case
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_checker import check_env as check_env_sb3
from vector_pairs import pair, play_both, same

import agents
from agents.objectives.by_name import CONSTRAINTS
from bandit_envs import BanditEnv, Problem
from bandit_envs.problems import build
from bandit_envs.problems.features import FEATURES
from gpbandits import check_agent

SHARED: dict[str, Any] = {
    "num_arms": 12,
    "num_contexts": 3,
    "horizon": 20,
    "max_delay": 6,
    "num_constraints": 2,
    "constraint_noise_std": 0.1,
    "availability": {"law": "bernoulli", "p": 0.3},
    "corruption": "near-optimal",
}
# What only differs in words, such as the ways to say when functions change, is on in one of them.
SAFE: dict[str, Any] = {
    "safe_seed": True,
    "misspecification": 0.05,
    "normalize": True,
    "signal_variance": 0.5,
    "prior_mean": False,
    "rkhs_bound": 3.0,
    "noise": {"law": "by-arm", "std": 0.4, "quietest": 0.1},
    "constraint_noise": {"law": "uniform"},
    "constraints": {"law": "gp", "quantile": 0.6},
    "context": {"law": "walk"},
    "num_segments": 2,
    "delay": {"law": "by-reward", "mean": 2, "more": 3, "lost": 0.1},
    "budget": {"law": "gp", "budget": 5, "noise_std": 0.1},
}
DRIFTING: dict[str, Any] = {
    "drift": {"law": "ornstein-uhlenbeck", "epsilon": 0.05},
    "noise_std": 0.1,
    "publish_model": False,
    "function_seed": 3,
    "delay": {"law": "by-arm", "base": {"law": "poisson", "mean": 2}},
    "budget": {"law": "log-gp", "budget": 6, "median": 0.5, "deviation": 0.5, "known": True},
}
# What is of one arm or of costs is off.
DUELS: dict[str, Any] = {
    "duel": True,
    **dict.fromkeys(("constraints", "constraint_noise_std", "availability", "corruption", "budget")),
    "num_constraints": 0,
    "misspecification": 0.05,
    "normalize": True,
    "context": {"law": "walk"},
    "num_segments": 2,
    "delay": {"law": "poisson", "mean": 2, "lost": 0.1},
}
CHANGING = {"at": {"change_points": [7]}, "by chance": {"changes": {"law": "geometric", "hazard": 0.1}}}
EVERYTHING = {
    "safe seed": SAFE,
    "safe seed, aggregated": SAFE | {"aggregated": True, "noise": {"law": "student-t", "std": 0.1}},
    "drift": DRIFTING | CHANGING["at"],
    "drift, aggregated": DRIFTING | CHANGING["by chance"] | {"aggregated": True},
    "duels": DUELS,
}
EVERYTHING["moves"] = DRIFTING | CHANGING["at"] | {"context": None, "num_contexts": 1, "movement": "travel"}
NEEDED = "delay", "context", "constraint", "change", "availability"
each = pytest.mark.parametrize("on", EVERYTHING.values(), ids=list(EVERYTHING))


def test_no_keyword_of_problems_is_left_at_its_default():
    made = [FEATURES | SHARED | on for on in EVERYTHING.values()]
    assert not [key for key, usual in FEATURES.items() if all(keywords[key] == usual for keywords in made)]


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("error")
@each
def test_both_checkers_have_nothing_to_say(on):
    check_env(gym.make("GPBandit-Composite-v0", **(SHARED | on)).unwrapped)
    check_env_sb3(gym.make("GPBandit-Composite-v0", render_mode="ansi", **(SHARED | on)).unwrapped)


@pytest.mark.sampled(2)
@each
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_its_vector_form_equals_its_singles(on, mode):
    ours, theirs = pair(Case("GPBandit-Composite-v0", SHARED | on), mode, 2)
    same(ours.reset(seed=11), theirs.reset(seed=11))
    assert play_both(ours, theirs, mode, 45) >= 4


def whoever_handles_everything() -> list[Any]:
    cases = []
    for name in agents.names():
        handled = agents.features(name)
        for label, on in EVERYTHING.items():
            needed = (*NEEDED, *(each for each in ("aggregated", "duel") if each in on))
            if all(getattr(handled, each) for each in needed) and (not handled.seed or "safe_seed" in on):
                cases.append(pytest.param(name, on, id=f"{name}, {label}"))
    return cases


@pytest.mark.long
@pytest.mark.parametrize(("name", "on"), whoever_handles_everything())
def test_whoever_handles_everything_passes_our_own_check(name, on):
    check_agent(name, {"everything": build("composite", SHARED | on)})


@cache
def box() -> Problem:
    """The continuous form; its functions are frozen, for to find where they are largest takes seconds."""
    fewer = {"num_contexts": 2, "num_segments": 2, "availability": None, "function_seed": 3, "horizon": 12}
    return build("composite", SHARED | fewer | {"continuous": True, "delay": {"law": "poisson", "mean": 2}})


@pytest.mark.long
@pytest.mark.filterwarnings("error")
def test_both_checkers_have_nothing_to_say_of_the_continuous_form():
    check_env(BanditEnv(box()), skip_render_check=True)
    check_env_sb3(BanditEnv(box()))


@pytest.mark.long
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_vector_form_of_the_continuous_form_equals_its_singles(mode):
    ours, theirs = pair(Case(box(), {}), mode, 2)
    same(ours.reset(seed=11), theirs.reset(seed=11))
    assert play_both(ours, theirs, mode, 40) >= 2


@pytest.mark.long
@pytest.mark.parametrize("constraint", [name for name in CONSTRAINTS if name not in ("none", "safe")])
def test_gp_agent_plays_the_continuous_form_by_every_constraint_that_boxes_have(constraint):
    check_agent(("gp-agent", {"constraint": constraint}), {"box": box()})

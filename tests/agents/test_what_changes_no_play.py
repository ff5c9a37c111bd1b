"""What changes no play without a reason: a further cost, a longer horizon, the order of the arms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from agent_cases import BATCHED, of_each_shape, seed_for, told_for
from players import each_round, play, started

import agents
from bandit_envs import BanditVectorEnv
from bandit_envs.problems import build
from gpbandits.evaluation.rehearsal import SMALL

COSTS_MORE = "the first sweep plays for each cost"
PRODUCT = "the probabilities of independent costs are multiplied, and that of a slack one is below 1"
CHARGED_TWICE = "each copy has a multiplier or charge of its own"
SLACK_CHANGES = {
    "admmbo": COSTS_MORE,
    "constrained-ei": PRODUCT,
    "ise": "it learns about every cost, a slack one too",
}
COPY_CHANGES = {
    "admmbo": COSTS_MORE,
    "constrained-ei": PRODUCT,
    **dict.fromkeys(("bandit-oco", "ckb", "epbo", "pdcbo", "rpol"), CHARGED_TWICE),
    **dict.fromkeys(("gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints"), CHARGED_TWICE),
}
# Bands that share delta are wider with one cost more, by the union bound; these have widths of their own.
FIXED = {
    "forest-ei": {"trees": 3},  # for speed
    "gp-agent": {"width": 2.0, "constraint_options": {"cost_width": 2.0}},
    **{name: {"cost_width": 2.0} for name in BATCHED if agents.features(name).seed},
}
CONSTRAINED = [name for name in BATCHED if agents.features(name).constraint]


def actions(name: str, further: Callable[[Any], Any] | None, std: float) -> np.ndarray:
    """What an agent plays in four trials where a function of the cost is told as a second one, (T, 4)."""
    place = build(
        "constrained", {"num_arms": 30, "horizon": 60, "constraint_noise_std": 0.1} | seed_for(name)
    )
    env = BanditVectorEnv(place, 4, autoreset_mode="Disabled")
    seen, _ = env.reset(seed=range(4))
    setting, told = env.setting, None
    if further is not None:
        slopes = setting.lipschitz
        setting = replace(
            setting,
            num_constraints=2,
            constraint_prior_std=np.append(setting.constraint_prior_std, std),
            lipschitz=None if slopes is None else np.repeat(slopes, 2, axis=-1),
        )

        def told(info: dict[str, Any]) -> dict[str, Any]:
            cost = info["feedback_cost"]
            return info | {"feedback_cost": np.concatenate([cost, further(cost)], axis=-1)}

    agent = started(agents.make(name, setting, 4, **FIXED.get(name, {})), range(4))
    return np.array([action for action, *_ in each_round(env, agent, seen, place.horizon, told)])


@pytest.mark.filterwarnings("ignore:psi of noisy costs is biased")
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if name not in SLACK_CHANGES))
def test_a_cost_that_is_never_violated_changes_no_play(name):
    slack = actions(name, lambda cost: 0.5 * cost - 3.0, std=3.0)
    np.testing.assert_array_equal(slack, actions(name, None, std=0.0))


@pytest.mark.filterwarnings("ignore:psi of noisy costs is biased")
@pytest.mark.parametrize("name", of_each_shape(name for name in CONSTRAINED if name not in COPY_CHANGES))
def test_a_cost_that_is_there_twice_changes_no_play(name):
    twice = actions(name, lambda cost: cost, std=1.0)
    np.testing.assert_array_equal(twice, actions(name, None, std=0.0))


# The horizon

ROUNDS, SEEDS = 40, 12
PLAIN = dict.fromkeys(("delay", "context", "changes", "constraints"))
SAID = [name for name in BATCHED if agents.features(name).horizon]
# What makes plays hang on the horizon within a few rounds where the defaults do so seldom.
ALARMS = {"restart_options": {"false_alarm_rate": 0.9, "noise_scales": (1.0,)}}
OPTIONS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("pdcbo", "safe-ucb", "safeopt"), ALARMS),
    "rgp-pe": {"eta": 4.0},
}


def everything(name: str) -> dict[str, Any]:
    """Keywords of a problem with all features that an agent handles, as far as they are its subject."""
    said = agents.features(name)
    off = {} if said.delay else {"delay": None}
    off |= {} if said.context else {"context": None}
    off |= {"changes": {"law": "at", "rounds": [15, 30]}} if said.change else {"changes": None}
    return off | (seed_for(name) if said.constraint else {"constraints": None})


def differs(name: str, seed: int, keywords: Any, options: Any) -> bool:
    """Whether the first plays of an agent, on the same draws, depend on the rounds that it is told of."""
    keywords, played = {"num_arms": 15, "horizon": 4 * ROUNDS, **keywords}, []
    for horizon in (ROUNDS, 4 * ROUNDS):
        env: Any = gymnasium.make("GPBandit-Composite-v0", **keywords).unwrapped
        observation, _ = env.reset(seed=seed)
        bold = {"cost_width": 1.0, **told_for(name, 1.0)} if keywords.get("safe_seed") else {}
        agent = started(agents.make(name, replace(env.setting, horizon=horizon), **bold, **options), seed)
        played.append(play(env, agent, observation, ROUNDS)[0])
    return played[0] != played[1]


@pytest.mark.parametrize("name", of_each_shape(name for name in BATCHED if name not in SAID))
def test_who_says_nothing_plays_the_same_whatever_the_horizon(name):
    assert not any(differs(name, 1, keywords, {}) for keywords in (PLAIN, everything(name)))


@pytest.mark.parametrize("name", of_each_shape(SAID))
def test_who_says_so_plays_otherwise_where_more_rounds_are_expected(name):
    options = OPTIONS.get(name, {})
    problems = [everything(name)] if options else [PLAIN, everything(name)]
    cases = ((seed, keywords) for seed in range(SEEDS) for keywords in problems)
    assert any(differs(name, seed, keywords, options) for seed, keywords in cases)


# The order in which arms are listed

TRIALS = 40
FINITE = [name for name in BATCHED if agents.features(name).finite]


def regrets(name, problem, order, seed):
    """The regret of an agent that sees the arms in an order, (A,), in the same trials, (TRIALS,)."""
    env = BanditVectorEnv(problem, TRIALS, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(TRIALS)))
    setting = env.setting
    mean = np.broadcast_to(setting.prior_mean, setting.decisions.points.shape[:1]) * 1.0
    shuffled = mean.reshape(-1, len(order))[:, order].ravel()
    safe = None if setting.safe_seed is None else np.argsort(order)[setting.safe_seed]
    agent = agents.make(
        name, replace(setting, arms=setting.arms[order], prior_mean=shuffled, safe_seed=safe), TRIALS
    )
    agent.reset([seed + i for i in range(TRIALS)])
    total = np.zeros(TRIALS)
    for _ in range(problem.horizon):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(order[action])
        total += info["oracle"]["regret"]
        agent.update(observation, action, reward, info)
        observation = following
    return total


@pytest.mark.long
@pytest.mark.parametrize("name", of_each_shape(FINITE))
def test_the_mean_regret_does_not_depend_on_the_order_of_the_arms(name):
    frozen = {"horizon": 20, "function_seed": 0}  # else arms are alike in law
    problem = build("composite", SMALL | frozen | seed_for(name))
    arms = np.arange(problem.decisions.num_arms)
    plain = regrets(name, problem, arms, 1000)
    for i, order in enumerate((arms[::-1], np.random.default_rng(0).permutation(arms))):
        change = regrets(name, problem, order, 2000 + 100 * i) - plain
        assert abs(change.mean()) < 4.5 * change.std(ddof=1) / np.sqrt(TRIALS)  # one in 150,000 by chance

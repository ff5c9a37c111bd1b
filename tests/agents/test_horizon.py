"""Agents whose plays depend on the horizon say so, and no other ones do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import pytest
from agent_cases import OF_ARMS, of_each_shape, seed_for, told_for
from players import play

import agents
from agents.registry import resolve_agent

ROUNDS, SEEDS = 40, 12
PLAIN = dict.fromkeys(("delay", "context", "changes", "constraints"))
BATCHED = [name for name in OF_ARMS if resolve_agent(name).batched]
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


def played(name: str, horizon: int, seed: int, keywords: Any, options: Any) -> list[int]:
    """The first plays of an agent that is told of so many rounds, on the same draws."""
    keywords = {"num_arms": 15, "horizon": 4 * ROUNDS, **keywords}
    env: Any = gymnasium.make("GPBandit-Composite-v0", **keywords).unwrapped
    observation, _ = env.reset(seed=seed)
    bold = {"cost_width": 1.0, **told_for(name, 1.0)} if keywords.get("safe_seed") else {}
    agent = agents.make(name, replace(env.setting, horizon=horizon), **bold, **options)
    agent.reset(seed)
    return play(env, agent, observation, ROUNDS)[0]


def differs(name: str, seed: int, keywords: Any, options: Any) -> bool:
    now, later = (played(name, rounds, seed, keywords, options) for rounds in (ROUNDS, 4 * ROUNDS))
    return now != later


@pytest.mark.parametrize("name", of_each_shape(name for name in BATCHED if name not in SAID))
def test_who_says_nothing_plays_the_same_whatever_the_horizon(name):
    assert not any(differs(name, 1, keywords, {}) for keywords in (PLAIN, everything(name)))


@pytest.mark.parametrize("name", of_each_shape(name for name in SAID))
def test_who_says_so_plays_otherwise_where_more_rounds_are_expected(name):
    options = OPTIONS.get(name, {})
    problems = [everything(name)] if options else [PLAIN, everything(name)]
    cases = ((seed, keywords) for seed in range(SEEDS) for keywords in problems)
    assert any(differs(name, seed, keywords, options) for seed, keywords in cases)

"""Estimates from the sample logs of the Open Bandit Dataset equal those of obp 0.4.1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpbandits.logs import value_of
from gpbandits.logs.open_bandit import CAMPAIGNS, POLICIES, open_bandit_log

STORED = Path(__file__).parents[3] / "docs" / "results" / "obp.json"  # of tools/obp_figures.py
CASES = json.loads(STORED.read_text(encoding="utf-8"))["campaigns"]
pytestmark = [
    pytest.mark.needs_packages("obp"),
    pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning"),
]


def target(campaign: str, name: str) -> np.ndarray:
    """Probability of each item at each position, (3, A)."""
    count = CAMPAIGNS[campaign]
    if name == "uniform":
        return np.full((3, count), 1.0 / count)
    if name == "bts":
        return np.array(CASES[campaign]["bts"]).T
    return np.tile(np.arange(count) == CASES[campaign]["item"], (3, 1)).astype(float)


def model_of(log, policy) -> tuple[np.ndarray, np.ndarray]:
    """Click rates of items and positions as in the script that computed the figures."""
    clicks, shown = np.zeros((2, 3, log.num_actions))
    position = log.context[:, 0].astype(int)
    np.add.at(clicks, (position, log.action), log.reward)
    np.add.at(shown, (position, log.action), 1.0)
    rate = (clicks + 0.1) / (shown + 10.0)
    return (policy[position] * rate[position]).sum(axis=1), rate[position, log.action]


@pytest.mark.parametrize("campaign", CAMPAIGNS)
@pytest.mark.parametrize("logged", POLICIES)
def test_estimates_equal_those_of_obp(campaign, logged):
    log = open_bandit_log(logged, campaign)
    position = log.context[:, 0].astype(int)
    for name, stored in CASES[campaign]["estimates"][logged].items():
        policy = target(campaign, name)
        given = {"model": model_of(log, policy), "methods": ["ips", "snips", "dr", "switch"]}
        for tau in (1.0, 5.0):
            found = value_of(policy[position], log, tau=tau, **given)
            expected = {key: stored[key] for key in ("ips", "snips", "dr")} | {
                "switch": stored[f"switch {tau:g}"]
            }
            for method, value in expected.items():
                assert found[method].value == pytest.approx(value, rel=0, abs=1e-8), (name, method)


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_replay_of_one_item_on_the_uniform_log_equals_that_of_obp(campaign):
    log = open_bandit_log("random", campaign)
    found = value_of(target(campaign, "one item")[0], log, methods=["replay"])
    stored = CASES[campaign]["estimates"]["random"]["one item"]["replay"]
    assert stored > 0.0
    assert found["replay"].value == pytest.approx(stored, rel=0, abs=1e-8)


def test_the_logs_are_whole():
    for policy in POLICIES:
        for campaign, items in CAMPAIGNS.items():
            log = open_bandit_log(policy, campaign)
            assert (len(log), log.num_actions) == (10_000, items)
            assert set(np.unique(log.action)) <= set(range(items))

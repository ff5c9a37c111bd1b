"""What a log cannot tell is refused or said."""

from __future__ import annotations

import numpy as np
import pytest

import agents
from gpbandits import evaluate
from gpbandits.logs import LogWarning, PlayLog, cautions, value_of

FEW = {"num_arms": 4, "horizon": 40}


def log_of(n: int = 400, **given) -> PlayLog:
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=n)
    columns = {"action": action, "reward": rng.normal(size=n), "propensity": np.full(n, 0.5)} | given
    return PlayLog(**{"actions": 2} | columns)


def test_a_log_without_propensities_supports_no_counterfactual():
    chance = np.full(400, 0.5)
    chance[6] = np.nan
    with pytest.raises(ValueError, match=r"no counterfactual: row 7 has no propensity.*epsilon-greedy"):
        value_of([0.5, 0.5], log_of(propensity=chance))


def test_a_log_of_certain_choices_supports_no_counterfactual():
    with pytest.raises(ValueError, match="every action was chosen with certainty"):
        value_of([0.5, 0.5], log_of(propensity=np.ones(400)))


@pytest.mark.parametrize("name", ["gp-ucb", "local-search"])
def test_the_log_of_an_agent_without_propensities_is_refused(name):
    assert name not in agents.with_propensities()
    result = evaluate("GPBandit-GP-v0", [name], trials=1, env_kwargs=FEW, log=True)
    with pytest.raises(ValueError, match="chose with certainty, or did not say"):
        value_of(np.full(4, 0.25), result.logs[name][0])


CASES = {
    "below 0.01, the least 0.002": {"propensity": np.where(np.arange(400) == 5, 0.002, 0.5)},
    "50.0% of the policy's plays are actions that the log never has": {"actions": 3},
    "equal rows: intervals may be too short": {"propensity": np.where(np.arange(400) == 5, 0.001, 0.5)},
    "the mean weight is": {"propensity": np.full(400, 0.4)},
    "the reward of action 0 differs between the first and the second half": {
        "reward": np.arange(400) + np.random.default_rng(0).normal(size=400)
    },
    "context feature 0 differs between the first and the second half": {
        "context": np.arange(400.0)[:, None] // 40
    },
}


@pytest.mark.parametrize(("words", "given"), CASES.items())
def test_a_doubtful_log_is_said_to_be_so(words, given):
    policy = [0.0, 0.5, 0.5] if "actions" in given else [0.5, 0.5]
    with pytest.warns(LogWarning) as heard:
        value_of(policy, log_of(**given), methods=["ips"])
    assert any(words in str(each.message) for each in heard)


def test_drift_between_the_log_and_now_is_said():
    with pytest.warns(LogWarning) as heard:
        value_of([0.5, 0.5], log_of(), methods=["ips"], now=log_of(reward=np.full(400, 3.0)))
    said = [str(each.message) for each in heard]
    assert [each.partition(":")[0] for each in said] == [
        f"the reward of action {arm} differs between the log and now" for arm in (0, 1)
    ]


def fruit_log(labels: list[str], seed: int, pear: float = 2.0) -> PlayLog:
    rng, means = np.random.default_rng(seed), {"apple": 0.0, "fig": 1.0, "pear": pear}
    action = rng.choice(labels, size=600)
    reward = np.array([means[each] for each in action]) + 0.1 * rng.normal(size=600)
    return PlayLog(action, reward, np.full(600, 1 / len(labels)))


@pytest.mark.parametrize(("pear", "expected"), [(2.0, []), (3.0, ["the reward of action pear differs"])])
def test_actions_of_the_log_and_now_are_compared_by_their_labels(pear, expected):
    log, now = fruit_log(["apple", "fig", "pear"], 0), fruit_log(["fig", "pear"], 1, pear)
    for one, two in ((log, now), (now, log)):
        assert [each.partition(" between")[0] for each in cautions.of_drift(one, two)] == expected


def test_labels_are_compared_with_indices_by_their_order():
    named = log_of(actions=["off", "on"])
    assert len(cautions.of_drift(named, log_of(reward=np.full(400, 3.0)))) == 2


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ([0.5, 0.6], "must have probabilities >= 0 that sum to 1"),
        ([1.5, -0.5], "must have probabilities >= 0"),
        ([1.0], r"probabilities of shape \(1, 2\)"),
        ("no-such-agent", "unknown agent"),
    ],
)
def test_a_policy_that_is_none_is_refused(policy, words):
    with pytest.raises(ValueError, match=words):
        value_of(policy, log_of())

"""Learning agents are replayed on logs: they meet what they would have met if they had played themselves."""

from __future__ import annotations

import numpy as np
import pytest
from players import at_once
from references import logs as references

from agents.registry import resolve_agent
from agents.rl.policy import PretrainedAgent
from bandit_envs import Setting
from gpbandits.logs import PlayLog, value_of
from gpbandits.logs.replay import delays_in_rows, replayed, rounds_of, setting_of

pytestmark = pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning")
MEANS = np.array([0.2, 0.5, 0.8])


def uniform_log(n: int, seed: int, chances=(1 / 3, 1 / 3, 1 / 3)) -> PlayLog:
    rng = np.random.default_rng(seed)
    action = rng.choice(3, size=n, p=chances)
    return PlayLog(action, MEANS[action] + 0.1 * rng.normal(size=n), np.array(chances)[action], actions=3)


class Greedy:
    """Plays each arm once, then the best mean; a plug-in of three methods."""

    def __init__(self, setting: Setting):
        self.sums, self.counts = np.zeros((2, len(setting.arms)))

    def reset(self, seed):
        self.sums[:], self.counts[:] = 0.0, 0.0

    def act(self, observation):
        return int(np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), np.inf).argmax())

    def update(self, observation, action, reward, info):
        self.learn(
            observation, action, float(info["feedback_reward"][info["feedback_mask"]].sum()), info["t"]
        )

    def learn(self, observation, action, reward, t):
        self.sums[action] += reward
        self.counts[action] += 1


def test_the_accepted_rows_are_those_of_the_plain_form():
    log = uniform_log(300, 0, (0.2, 0.3, 0.5))
    found, _ = replayed(log, resolve_agent(Greedy), np.arange(300), 300, seed=4)
    uniform = np.random.default_rng([4, 1]).random(300)
    passes = uniform * log.propensity < log.propensity.min()
    agent = Greedy(setting_of(log, 300))
    rows = list(zip(log.action.tolist(), log.reward.tolist(), strict=True))
    assert found.tolist() == references.replayed(agent, rows, passes, np.zeros(1))


@pytest.mark.parametrize("chances", [(1 / 3, 1 / 3, 1 / 3), (0.2, 0.3, 0.5)])
def test_a_share_of_the_rows_is_accepted_that_does_not_depend_on_the_agent(chances):
    log = uniform_log(6000, 1, chances)
    for policy in (Greedy, "random", "epsilon-greedy"):
        found = value_of(policy, log, parts=4)
        expected, rounds = min(chances), 4 * found.rounds
        assert abs(found.acceptance - expected) < 4.0 * np.sqrt(expected / (rounds / expected))


@pytest.mark.parametrize("policy", ["random", "epsilon-greedy", Greedy])
def test_the_value_of_an_agent_equals_that_of_its_own_plays(policy):
    log, rounds = uniform_log(20_000, 2), 30
    found = value_of(policy, log, parts=100, rounds=rounds)["replay"]
    own = [played(policy, rounds, seed) for seed in range(100)]
    error = np.hypot(np.std(own) / 10.0, (found.high - found.low) / 4.0)
    assert abs(found.value - np.mean(own)) < 4.0 * error


def played(policy, rounds: int, seed: int) -> float:
    rng = np.random.default_rng([seed, 9])
    agent = resolve_agent(policy)(setting_of(uniform_log(10, 0), rounds))
    agent.reset(seed + 500)
    total = 0.0
    for t in range(rounds):
        arm = int(agent.act(np.zeros(1)))
        reward = MEANS[arm] + 0.1 * rng.normal()
        total += reward
        agent.update(np.zeros(1), arm, reward, at_once(t, reward))
    return total / rounds


class Remembers(Greedy):
    heard: list[tuple[int, int]] = []  # noqa: RUF012 (one list for the test)

    def update(self, observation, action, reward, info):
        steps = info["feedback_step"][info["feedback_mask"]]
        self.heard.extend((int(step), info["t"]) for step in steps)


def test_a_reward_is_delivered_after_as_many_rounds_as_rows():
    n = 200
    time = np.arange(n, dtype=float)
    delivered = time + np.where(np.arange(n) % 2, 0.0, 3.0)
    delivered[delivered > n - 1] = np.nan
    reward = np.where(np.isnan(delivered), np.nan, 1.0)
    log = PlayLog(np.zeros(n, int), reward, np.full(n, 0.5), actions=2, time=time, delivered=delivered)
    assert set(delays_in_rows(log)[:4].tolist()) == {0, 2}  # observed with the third further row
    Remembers.heard.clear()
    found, _ = replayed(log, resolve_agent(Remembers), np.arange(n), n, seed=0)
    waits = {step: t - step for step, t in Remembers.heard}
    for k, row in enumerate(found.tolist()):
        wait = int(delays_in_rows(log)[row])
        if wait >= 0 and k + wait < len(found):
            assert waits[k] == wait


def test_an_agent_is_asked_anew_for_another_context():
    rng, n = np.random.default_rng(0), 3000
    context, action = rng.integers(2, size=n), rng.integers(2, size=n)
    reward = (context == action).astype(float)
    log = PlayLog(action, reward, np.full(n, 0.5), context=context[:, None].astype(float))
    assert value_of("epsilon-greedy", log, parts=5)["replay"].value > 0.85


def test_more_contexts_than_an_agent_can_play_on_are_refused():
    n = 30_000
    log = PlayLog(np.arange(n) % 2, np.zeros(n), np.full(n, 0.5), context=np.arange(n)[:, None] + 0.5)
    with pytest.raises(ValueError, match="round the contexts"):
        value_of("epsilon-greedy", log)


def test_learners_that_hold_their_choice_are_refused_with_several_contexts():
    log = PlayLog([0, 1] * 20, [0.0, 1.0] * 20, [0.5] * 40, context=[[0.0], [1.0]] * 20)

    class Holding(Greedy):
        holds_choice = True

    with pytest.raises(ValueError, match="chooses anew for another row"):
        value_of(Holding, log, parts=2)
    assert PretrainedAgent.holds_choice


def test_the_number_of_rounds_is_reached_by_nearly_all_replays():
    log = uniform_log(900, 3)
    reached = [
        len(replayed(log, resolve_agent("random"), np.arange(900), 900, seed)[0]) >= rounds_of(log)
        for seed in range(60)
    ]
    assert np.mean(reached) > 0.9


def test_an_agent_is_valued_by_replay_alone():
    with pytest.raises(ValueError, match="an agent that learns is valued by replay alone"):
        value_of("random", uniform_log(60, 0), methods=["ips"])


@pytest.mark.parametrize("delivered_parts", [0, 1, 2])
def test_parts_without_a_delivered_reward_are_said(delivered_parts):
    n, parts = 300, 3
    time = np.arange(n, dtype=float)
    delivered = np.where((time % parts < delivered_parts) | (time == n - 1), time, np.nan)
    reward = np.where(np.isnan(delivered), np.nan, 1.0)
    log = PlayLog(np.arange(n) % 2, reward, np.full(n, 0.5), time=time, delivered=delivered)
    found = value_of("random", log, parts=parts, rounds=20)
    assert np.isnan(found["replay"].value)
    words = f"in {parts - delivered_parts} of 3 parts no reward of the agent's rounds is delivered"
    assert any(words in each for each in found.cautions)

"""Arms are struck off at the ends of batches whose plays look at no value, and the best one stays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from agent_cases import GAUSSIAN, on_a_line, takes
from players import play, started
from scipy.stats import binomtest

import agents
from agents.algorithms.elimination import WAITS
from agents.model.rounds import Delivery
from agents.registry import resolve_agent
from agents.restarts.base import doubling_lengths, growing_lengths, quantile_wait
from bandit_envs import BanditEnv, BanditVectorEnv
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import Constant, PoissonDelay
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems.synthetic import synthetic
from gpbandits import evaluate
from gpbandits.theory.regret import mvr_bound

ELIMINATING = [name for name in GAUSSIAN if takes(name, band="plain")]
HORIZON = 60
SETTING = on_a_line(
    15, horizon=HORIZON, rkhs_bound=1.0, max_delay=HORIZON, delay={"law": "poisson", "mean": 0.5}
)
PROBLEM = synthetic(
    function="rkhs", rkhs_norm=1.5, kernel="matern52", num_arms=25, horizon=200, noise_std=0.1
)
LENGTHS = {
    "bpe": growing_lengths(HORIZON),
    "bpe-delay": growing_lengths(HORIZON, partial(quantile_wait, SETTING, 0.01)),
    "phased-elimination": doubling_lengths(HORIZON, 16),
    "batch-and-sort": growing_lengths(HORIZON),
}
ONE, HERE = np.zeros(1), np.zeros(1, dtype=np.int64)


def test_growing_batches_are_those_of_the_sheet():
    assert growing_lengths(1000) == [32, 179, 424, 365]


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 60, 999, 10**6])
def test_batches_fill_the_horizon(horizon):
    growing, doubling = growing_lengths(horizon), doubling_lengths(horizon, np.int8(5))
    assert sum(growing) == sum(doubling) == horizon
    assert min(growing) > 0 < min(doubling)
    assert len(growing) <= max(np.ceil(np.log2(max(np.log2(horizon), 1.0))), 0.0) + 1
    assert len(doubling) <= 1 + np.log2(horizon) or horizon < 5


def played(name: str, value: Any, late: bool = False) -> list[int]:
    """Arms of a trial whose feedback comes at once, or all of a batch at its end."""
    agent = started(resolve_agent(name)(SETTING))
    ends = set(np.cumsum(LENGTHS.get(name, doubling_lengths(HORIZON, 16))).tolist())
    arms, waiting = [], []
    for t in range(HORIZON):
        arms.append(agent.act(ONE))
        waiting.append(t)
        told = waiting if not late or t + 1 in ends else []
        rewards = np.array([value(arms[s]) for s in told], dtype=np.float64)
        info = delivery(t, np.array(told, dtype=np.int64), rewards, np.empty((len(told), 0)), HORIZON)
        agent.update(ONE, arms[-1], rewards.sum(), info)
        waiting = [] if told else waiting
    return arms


def hill(arm: int) -> float:
    return -abs(arm - 9) / 5.0


@pytest.mark.parametrize("name", ELIMINATING)
def test_plays_of_the_first_batch_depend_on_no_value(name):
    first = LENGTHS.get(name, LENGTHS["phased-elimination"])[0]
    one, other = played(name, hill), played(name, lambda arm: -3.0 * hill(arm))
    assert one[:first] == other[:first]
    assert one != other


@pytest.mark.parametrize("name", ELIMINATING)
def test_delays_up_to_the_end_of_a_batch_change_nothing(name):
    assert played(name, hill) == played(name, hill, late=True)


def test_no_value_and_no_delay_changes_a_play_of_mvr():
    assert played("mvr", hill) == played("mvr", lambda arm: -3.0 * hill(arm), late=True)


LAMBDA = 0.02
LEARNT: dict[str, Any] = {
    "mean": {"prior_mean": 3.0},
    "kernel": {"kernel": make_kernel("matern52", 0.05)},
    "noise": {"noise_std": 1.0, "noise_variance": 1.0},
    "bound": {"rkhs_bound": 0.2},
}


@pytest.mark.parametrize("learnt", LEARNT)
@pytest.mark.parametrize("name", ELIMINATING)
def test_what_is_learnt_within_a_batch_holds_for_its_values_too(name, learnt):
    active = []
    for changes_before in (None, 6, 0):  # plays; not at all
        agent: Any = started(resolve_agent(name)(SETTING))
        for plays, arm in enumerate((9, 9, 9, 2, 2, 4, None)):
            if plays == changes_before:
                agent.remodel(replace(agent.model, **LEARNT[learnt]))
            if arm is not None:
                agent.belief.receive(Delivery.of_values(HERE, np.array([arm]), np.full(1, 2.0 * hill(arm))))
        agent.belief.forget(HERE)
        active.append(agent.belief.active(HERE))
    told, remodelled, fresh = active
    np.testing.assert_array_equal(remodelled, fresh)
    assert not np.array_equal(told, fresh)


@pytest.mark.parametrize("name", ELIMINATING)
def test_an_arm_that_is_struck_off_strikes_off_no_other(name):
    agent: Any = started(resolve_agent(name)(replace(SETTING, kernel=make_kernel("rbf", 1e-3))))
    for value in (-50.0, 50.0):
        agent.belief.receive(Delivery.of_values(HERE, np.array([9]), np.full(1, value)))
        agent.belief.forget(HERE)
        np.testing.assert_array_equal(np.flatnonzero(~agent.belief.active(HERE)[0]), [9])


@pytest.mark.parametrize("name", [name for name in ELIMINATING if name != "batch-and-sort"])  # ignores them
def test_arms_are_struck_off_in_the_context_in_which_they_are_bad(name):
    contexts = np.array([[0.0], [1.0]])
    setting = replace(SETTING, contexts=contexts, kernel=make_kernel("rbf", [0.01, 0.2]))
    agent: Any = started(resolve_agent(name)(setting))
    here, there = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    for arm in (2, 9, 2, 9):
        point = setting.decisions.point_index(here, np.array([arm]))
        agent.belief.receive(Delivery.of_values(here, point, np.full(1, 20.0 * hill(arm))))
    agent.belief.forget(here)
    assert not agent.belief.active(here)[0, 2]
    assert agent.belief.active(there).all()


def test_a_belief_s_deviations_are_those_of_all_plays_but_of_what_is_dropped():
    agent: Any = started(resolve_agent("bpe")(SETTING))
    late = delivery(0, np.empty(0, int), np.empty(0), np.empty((0, 0)), HORIZON)
    before, known = agent.belief.std(HERE)[0], agent.posterior(ONE)
    arm = agent.act(ONE)
    agent.update(ONE, arm, 0.0, late)
    assert agent.belief.std(HERE)[0, arm] < 0.2 < before[arm]
    np.testing.assert_array_equal(agent.posterior(ONE), known)  # no value was delivered
    agent.drop(np.zeros(1, int), np.zeros(1, int))
    np.testing.assert_allclose(agent.belief.std(HERE)[0], before, rtol=1e-12)


@pytest.fixture(scope="module", params=ELIMINATING)
def trials(request) -> Any:
    """An agent after 40 trials, with the arms that were active and played in each round, and all means."""
    env = BanditVectorEnv(PROBLEM, 40, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(40)))
    agent = started(resolve_agent(request.param)(env.setting, num_trials=40), list(range(40)))
    context, rounds = np.zeros(40, dtype=np.int64), []
    for _ in range(PROBLEM.horizon):
        active = agent.belief.active(context).copy()
        action = agent.act(observation)
        rounds.append((active, action))
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
    means = np.array([trial.means[0, 0] for trial in env.simulator.trials])  # type: ignore[union-attr]
    return agent, rounds, means


@pytest.mark.sampled(2)
def test_the_best_arm_stays_as_often_as_promised(trials):
    _, rounds, means = trials
    last = rounds[-1][0]
    stayed = last[np.arange(40), means.argmax(axis=1)]
    assert binomtest(int((~stayed).sum()), 40).proportion_ci(0.99).low <= 0.1
    assert last.mean() < 0.8  # and others do not
    assert last.any(axis=1).all()


def test_what_was_struck_off_is_never_played_again(trials):
    _, rounds, _ = trials
    before = rounds[0][0]
    for active, action in rounds:
        assert active[np.arange(40), action].all()
        assert not (active & ~before).any()
        before = active


def test_the_recommended_arm_is_that_of_all_values(trials):
    agent, _, means = trials
    best = agent.recommend()
    regret = means.max(axis=1) - means[np.arange(40), best.action]
    assert regret.mean() < 0.1 * np.ptp(means, axis=1).mean()


def test_the_bound_of_mvr_is_the_formula():
    width = 1.5 + 0.1 / np.sqrt(0.01) * np.sqrt(2.0 * np.log(2 * 25 / 0.1))
    expected = 2.0 * width * np.sqrt(2.0 / np.log(1.0 + 1.0 / 0.01) * 6.0 / 100)
    computed = mvr_bound(np.array([100]), np.array([6.0]), 0.01, bound=1.5, noise_std=0.1, num_arms=25)
    np.testing.assert_allclose(computed, expected, rtol=1e-14)


# --- batches that wait ---

POISSON = on_a_line(15, horizon=200, rkhs_bound=1.0, delay=PoissonDelay(5.0))
LATE = {"law": "poisson", "mean": 10}


def ends(setting: Any, **options: Any) -> set[int]:
    agent = started(agents.make("bpe-delay", setting, **options))
    return agent.restart.ends


def regret_of(agent: Any, delay: Any = LATE) -> Any:
    problem = {"num_arms": 20, "horizon": 120, "delay": delay}
    return evaluate("GPBandit-RKHS-v0", {"it": agent}, trials=2, seed=3, env_kwargs=problem).regret["it"]


@pytest.mark.long
def test_without_extra_rounds_it_is_bpe():
    np.testing.assert_array_equal(regret_of(("bpe-delay", {"wait": 0})), regret_of("bpe"))
    assert (regret_of("bpe-delay") != regret_of("bpe")).any()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("wait", [None, *WAITS])
def test_without_delays_nothing_is_waited_for(wait):
    np.testing.assert_array_equal(regret_of(("bpe-delay", {"wait": wait}), None), regret_of("bpe", None))


def test_where_no_law_is_published_the_longest_delay_is_waited_for():
    withheld = replace(POISSON, delay=None, max_delay=12)
    assert ends(withheld) == ends(POISSON, wait=12) == ends(replace(POISSON, max_delay=12), wait="max_delay")
    assert ends(withheld) != ends(POISSON)


def test_nothing_is_waited_for_that_never_arrives():
    assert ends(replace(POISSON, max_delay=3), wait="sub-exponential") == ends(POISSON, wait=3)


def test_what_all_comes_in_time_is_learnt_before_arms_are_struck_off():
    constant = replace(POISSON, delay=Constant(8), max_delay=8)
    assert ends(constant) == ends(constant, wait=8)


# --- stages ---

CONTEXTUAL = synthetic(
    function="gp", num_arms=12, num_contexts=3, horizon=60, noise_std=0.1, delay={"law": "poisson", "mean": 4}
)


def test_the_default_width_is_that_of_the_theorem():
    agent: Any = agents.make("sup-kernel-ucb", SETTING, noise_variance=LAMBDA, delta=0.05)
    width = 1.0 + 0.1 / np.sqrt(LAMBDA) * np.sqrt(2.0 * np.log(2.0 * HORIZON * 15 / 0.05))
    np.testing.assert_allclose(agent.band(np.ones((1, 1)), np.ones((1, 1))), width, rtol=1e-12)


def test_a_play_counts_in_its_stage_before_its_value_comes_and_until_it_never_will():
    agent: Any = started(agents.make("sup-kernel-ucb", SETTING, band=1.0))
    before = agent.processes[0].std(HERE)
    arm = agent.act(ONE)
    agent.update(ONE, arm, 0.0, delivery(0, np.empty(0, int), np.empty(0), np.empty((0, 0)), HORIZON))
    assert agent.stage_of == [0]
    assert agent.processes[0].std(HERE)[0, arm] < 0.2 * before[0, arm]
    agent.drop(np.zeros(1, dtype=int))
    np.testing.assert_allclose(agent.processes[0].std(HERE), before, atol=1e-9)


def test_contexts_have_arms_of_their_own_and_late_values_are_learnt():
    env = BanditEnv(CONTEXTUAL)
    observation, _ = env.reset(seed=0)
    agent: Any = started(agents.make("sup-kernel-ucb", env.setting, band=1.0))
    truth: Any = env.simulator.trials[0]
    play(env, agent, observation, CONTEXTUAL.horizon)
    best = truth.means[0, 0].reshape(3, 12)
    found = [agent.recommend(view).action for view in env.setting.scaled_contexts]
    loss = best.max(axis=1) - best[np.arange(3), found]
    assert (loss < 0.3 * np.ptp(best, axis=1)).all()

"""Agents that are told no kernel find the unit of the reward by their first plays."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest
from agent_cases import of_each_shape
from players import at_once, started
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import agents
from agents.agent.self_scaled import FIRST, SelfScaled
from agents.registry import by_attribute, resolve_agent
from bandit_envs import Setting
from bandit_envs.kernels import validity
from bandit_envs.problem.feedback import delivery

ARMS = np.linspace(0.0, 1.0, 12)[:, None]
UNTOLD = Setting(arms=ARMS, horizon=40, max_delay=10)
BOX = Setting(low=np.zeros(2), high=np.ones(2), horizon=20)
SEEN = np.zeros(1, dtype=np.float32)


def outcome(arm: int) -> float:
    return 300.0 + 40.0 * np.sin(5.0 * arm / len(ARMS))


def tell(agent: Any, t: int, arm: int, rounds: list[int], played: list[int]) -> None:
    values = np.array([outcome(played[i]) for i in rounds])
    info = delivery(t, np.array(rounds, dtype=int), values, np.empty((len(rounds), 0)), 10)
    agent.update(SEEN, arm, 0.0, info)


def play(agent: Any, rounds: int, delay: int = 0) -> list[int]:
    agent.reset(3)
    played: list[int] = []
    for t in range(rounds):
        played.append(int(agent.act(SEEN)))
        tell(agent, t, played[-1], [t - delay] if t >= delay else [], played)
    return played


def test_a_found_prior_is_known_to_be_definite_without_an_eigenvalue_problem(monkeypatch):
    def fail(*_: Any) -> None:
        raise AssertionError("0.2 s for 1000 arms, in each of the first plays")

    monkeypatch.setattr(validity, "require_definite", fail)
    play(agents.make("gp-ucb", UNTOLD), 2 * FIRST)


@pytest.mark.parametrize("delay", [0, 3])
def test_it_plays_as_the_agent_that_is_told_the_mean_and_deviation_of_its_first_values(delay):
    agent = agents.make("gp-ucb", UNTOLD)
    played = play(agent, 25, delay)
    first = np.array([outcome(arm) for arm in played[:FIRST]])
    kernel = ConstantKernel(first.var(ddof=1)) * RBF(0.2)
    told = started(agents.make("gp-ucb", replace(UNTOLD, kernel=kernel, prior_mean=first.mean())), 3)
    for t, arm in enumerate(played):
        if t >= FIRST + delay:
            assert told.act(SEEN) == arm
        tell(told, t, arm, [t - delay] if t >= delay else [], played)
    for ours, theirs in zip(agent.posterior(SEEN), told.posterior(SEEN), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.long
def test_first_plays_are_uniform_over_the_arms_that_are_there():
    agent, counts = agents.make("gp-ucb", replace(UNTOLD, volatile=True)), np.zeros(len(ARMS))
    mask = (np.arange(len(ARMS)) % 3 > 0).astype(np.int8)
    for seed in range(1000):
        agent.reset(seed)
        agent.start({"action_mask": mask})
        counts[agent.act(SEEN)] += 1
    expected = 1000 / mask.sum()
    assert counts[mask == 0].sum() == 0
    assert np.abs(counts[mask == 1] - expected).max() < 4.5 * np.sqrt(expected)


def test_before_its_first_two_values_it_knows_nothing_and_then_answers_by_what_it_knows():
    agent = started(agents.make("gp-ucb", UNTOLD))
    tell(agent, 0, 2, [0], [2])
    assert np.ptp(agent.posterior(SEEN)[0]) == 0.0
    tell(agent, 1, 8, [1], [2, 8])
    worse, better = sorted((2, 8), key=outcome)
    assert agent.recommend(among=[worse, better]).action == better
    assert agent.recommend(among=[better]).mean == pytest.approx(outcome(better), rel=0.05)


def test_dropped_plays_are_dropped_for_good():
    agent = started(agents.make("gp-bucb", UNTOLD))
    played = []
    for t in range(FIRST + 1):
        played.append(int(agent.act(SEEN)))
        tell(agent, t, played[-1], [] if t == 1 else [t], played)
        if t == 2:
            agent.drop(np.array([1]))
    told = agents.make(
        "gp-bucb", replace(UNTOLD, kernel=agent.model.kernel, prior_mean=agent.model.prior_mean)
    )
    told.reset(0)
    for t, arm in enumerate(played):
        tell(told, t, arm, [] if t == 1 else [t], played)
        if t == 2:
            told.drop(np.array([1]))
    np.testing.assert_allclose(agent.posterior(SEEN)[1], told.posterior(SEEN)[1], rtol=1e-9)


@pytest.mark.parametrize("given", [{"kernel": "matern52"}, {"length_scale": 0.5}], ids=str)
def test_a_named_kernel_has_the_published_amplitude(given):
    setting = replace(UNTOLD, kernel=ConstantKernel(9.0) * RBF(0.2))
    assert agents.make("gp-ucb", setting, **given).model.prior_std == pytest.approx(3.0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("setting", [UNTOLD, BOX], ids=["arms", "box"])
def test_a_batch_plays_what_its_trials_play(setting):
    batch = started(agents.make("gp-ucb", setting, 2, noise_std=np.array([0.1, 5.0])), [0, 1])
    singles = [agents.make("gp-ucb", setting, noise_std=r) for r in (0.1, 5.0)]
    for i, agent in enumerate(singles):
        agent.reset(i)
    for t in range(12):
        action = batch.act(np.zeros((2, 1), dtype=np.float32))
        values = np.sum(setting.to_point(action) ** 2, axis=-1)
        each = [at_once(t, y) for y in values]
        for i, agent in enumerate(singles):
            np.testing.assert_array_equal(agent.act(SEEN), action[i])
            agent.update(SEEN, action[i], values[i], each[i])
        info = {key: np.stack([one[key] for one in each]) for key in each[0]}
        batch.update(np.zeros((2, 1), dtype=np.float32), action, values, info)


def test_saved_in_its_first_plays_and_later_it_goes_on(tmp_path):
    for rounds in (2, 9):
        agent = agents.make("gp-ts", UNTOLD)
        played = play(agent, rounds)
        agent.save(tmp_path / "agent.json")
        again = agents.load(tmp_path / "agent.json")
        for t in range(rounds, rounds + 8):
            played.append(agent.act(SEEN))
            assert again.act(SEEN) == played[-1]
            for each in (agent, again):
                tell(each, t, played[-1], [t], played)


SAME_PLAYS = [  # factories that play arms without costs, in any unit
    name
    for name in by_attribute().values()
    for features in [agents.features(name)]
    if features.finite and not (features.privileged or features.seed or features.aggregated or features.duel)
    if not resolve_agent(name).missing
]


def test_values_that_are_all_the_same_tell_no_unit_and_are_waited_for():
    agent = started(agents.make("gp-ucb", UNTOLD))
    for t in range(20):
        agent.update(SEEN, agent.act(SEEN), 0.0, at_once(t, 2.0 if t < 15 else 3.0))
        assert (agent.model.setting.kernel is None) == (t < 15)


@pytest.mark.parametrize("given", [{"kernel": RBF(0.3)}, {"kernel": ConstantKernel(4.0) * RBF(0.3)}], ids=str)
def test_a_kernel_object_says_the_unit(given):
    assert not isinstance(resolve_agent(("gp-ucb", given))(UNTOLD), SelfScaled)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_unit_in_which_no_variance_is_a_number_is_refused(size):
    agent = started(agents.make("gp-ucb", UNTOLD))
    for t in range(2):
        agent.act(SEEN)
        info = at_once(t, 0.0 if t == 0 else size)
        if t == 0:
            agent.update(SEEN, 0, 0.0, info)
    with pytest.raises(ValueError, match="feedback_reward must vary by more than 1e-140 and less than"):
        agent.update(SEEN, 0, 0.0, info)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", of_each_shape(SAME_PLAYS))
def test_factories_that_are_called_directly_play_as_make_does_in_every_unit(name):
    """A setting without a kernel publishes no unit: at 1024 times the unit the same arms are played."""
    setting = replace(UNTOLD, horizon=12)
    factory, played = getattr(agents, name.replace("-", "_")), []
    for make in (factory, partial(agents.make, name)):
        for unit in (1.0, 1024.0):
            agent = started(make(setting), 3)
            played.append([])
            for t in range(12):
                played[-1].append(int(agent.act(SEEN)))
                value = np.array([unit * outcome(played[-1][-1])])
                agent.update(SEEN, played[-1][-1], 0.0, at_once(t, value))
    assert played[1:] == played[:1] * 3


def test_factories_go_through_pickle_and_may_be_entrants_of_an_experiment():
    assert pickle.loads(pickle.dumps(agents.gp_ucb)) is agents.gp_ucb
    assert resolve_agent(agents.gp_ucb) == resolve_agent("gp-ucb")
    again = resolve_agent(lambda setting: agents.gp_ucb(setting))(UNTOLD)
    assert isinstance(again, SelfScaled)
    assert not isinstance(again._agent, SelfScaled)
    assert {"drop", "posterior", "recommend"} <= set(dir(again))


def test_a_function_that_wraps_a_factory_is_called_itself():
    @wraps(agents.gp_ucb)
    def mine(setting: Setting, **options: Any) -> Any:
        return agents.gp_ts(setting, **options)

    made = resolve_agent(mine)
    assert made.make is mine
    assert made.name == ""

"""An arm that was chosen is played until its variance says otherwise: mini-GP-UCB, mini-GP-EI."""

import math

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import GAUSSIAN, OF_PARTS, REPEATING, SETTING, batch_as_singles, of_each_shape
from players import at_once, started

import agents
from agents.acquisition.rules import UCB
from agents.agent.repeating import plays_of
from agents.posteriors import FORMS, Posterior, posterior
from agents.widths.base import FixedWidth
from bandit_envs import Decisions, Problem
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample
from gpbandits import evaluate

HERE = np.zeros(1)
SMALL = {"num_arms": 40, "horizon": 60}


def actions(agent, environment="GPBandit-GP-v0", trials=2, **keywords):
    result = evaluate(environment, {"it": agent}, trials=trials, env_kwargs=SMALL | keywords)
    return result.actions["it"]


@pytest.mark.parametrize("name", of_each_shape(REPEATING))
def test_once_is_the_plain_rule(name):
    options = OF_PARTS.get(name, {})
    np.testing.assert_array_equal(actions((name, options | {"repeat": 1.0})), actions((name, options)))


@pytest.mark.parametrize("factor", [1.1, 2.0, 4.0])
def test_an_arm_is_held_as_long_as_its_variance_says_and_choices_are_as_few_as_the_gain_says(factor):
    env = gym.make("GPBandit-GP-v0", num_arms=50, horizon=400)
    observation, _ = env.reset(seed=1)
    agent = started(agents.make("gp-ucb", env, repeat=factor), 2)
    t = choices = 0
    while t < 400:
        noise, before = agent.model.noise_variance, agent.posterior(observation)[1] ** 2
        arm, choices = agent.act(observation), choices + 1
        expected = min(max(1, math.floor(noise * (factor - 1.0) / before[arm] + 1e-6)), 400 - t)
        for played in range(expected):
            assert not played or agent.act(observation) == arm
            _, reward, _, _, info = env.step(arm)
            agent.update(observation, arm, reward, info)
        t += expected
        if expected > 1:
            assert (before / agent.posterior(observation)[1] ** 2).max() <= factor * (1.0 + 1e-6)
        assert t == 400 or agent.repeated_arms.free(t)[0]
    assert choices <= 1 + 2 * agent.belief.gain[0] / math.log((factor + 1) / 2)


def test_what_is_believed_is_what_an_agent_believes_that_learns_in_every_round():
    env = gym.make("GPBandit-GP-v0", **SMALL, prior_mean=1.5)
    observation, _ = env.reset(seed=1)
    holding, plain = agents.make("gp-ucb", env, repeat=2.0), agents.make("gp-ucb", env)
    for agent in (holding, plain):
        agent.reset(2)
    for t in range(SMALL["horizon"]):
        action = holding.act(observation)
        _, reward, _, _, info = env.step(action)
        for agent in (holding, plain):
            agent.update(observation, action, reward, info)
        if t % 7 == 0:
            np.testing.assert_allclose(
                holding.posterior(observation), plain.posterior(observation), atol=1e-9
            )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by_default", [False, True])
def test_several_plays_at_once_are_as_many_one_by_one(form, by_default):
    gram, noise = Gram(make_kernel("rbf", 0.2), np.linspace(0, 1, 30)[:, None]), np.array([0.1, 0.02])
    at_once, singly = (posterior(gram, noise, 2, 50, form) for _ in range(2))
    rng = np.random.default_rng(0)
    for trial in ([0, 1], [1], [0, 1], [0], [0, 1]):
        trial = np.array(trial)
        point, plays = rng.integers(30, size=len(trial)), rng.integers(1, 6, size=len(trial))
        values = [rng.normal(size=n) for n in plays]
        told = (Posterior if by_default else type(at_once)).observe_sums
        told(at_once, trial, point, plays.astype(float), np.array([each.sum() for each in values]))
        for i, x, each in zip(trial, point, values, strict=True):
            for value in each:
                singly.observe(np.array([i]), np.array([x]), np.array([value]))
    for ask in ("mean_at", "variance_at", "count_at", "weight_norm_at"):
        np.testing.assert_allclose(getattr(at_once, ask)(None), getattr(singly, ask)(None), atol=1e-10)
    np.testing.assert_allclose(at_once.gain, singly.gain, atol=1e-10)
    for i in range(2):
        for one, other in zip(at_once.statistics(i), singly.statistics(i), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)


def test_an_agent_that_is_made_to_play_another_arm_chooses_again():
    agent = started(agents.make("gp-ucb", SETTING, repeat=1e6))
    for t, arm in enumerate([3, 3, 3, 3]):
        agent.update(HERE, arm, 0.0, at_once(t, -1.0))
    held = agent.act(HERE)
    assert not agent.repeated_arms.free(agent.round)[0]
    assert agent.act(HERE) == held
    agent.update(HERE, (held + 1) % 20, 0.0, at_once(4, 0.0))
    assert agent.repeated_arms.free(agent.round)[0]


def test_a_fit_of_hyperparameters_ends_a_hold():
    agent = started(agents.make("gp-ucb", SETTING, repeat=1e4, refit_every=4))
    for t in range(4):
        arm = agent.act(HERE)
        agent.update(HERE, arm, 0.0, at_once(t, np.sin(arm) + 0.01 * t))
        assert agent.repeated_arms.free(t + 1)[0] == (t == 3)


@pytest.mark.parametrize("name", of_each_shape(sorted({*GAUSSIAN} - {*REPEATING})))
def test_an_agent_that_must_look_at_every_round_says_so(name):
    with pytest.raises(ValueError, match=r"repeat.* must be 1, got 2"):
        agents.make(name, SETTING, repeat=2.0)


CONTEXTUAL = Problem(
    Decisions(np.linspace(0, 1, 8)[:, None], np.array([[0.0], [1.0]])),
    GPSample(),
    make_kernel("rbf"),
    horizon=9,
)
WRONG = {
    "contexts": (CONTEXTUAL, {}, "a context may ask"),
    "samples": (SETTING, {"rule": "thompson"}, "a rule that draws samples"),
    "restarts": (SETTING, {"restart": "periodic", "restart_options": {"every": 5}}, "a restart invalidates"),
    "belief": (SETTING, {"belief": lambda model, num_trials: None}, "posterior stds grow under a belief"),
}


@pytest.mark.parametrize(("setting", "parts", "reason"), WRONG.values(), ids=WRONG)
def test_composed_agents_hold_no_arm_where_it_would_be_wrong(setting, parts, reason):
    with pytest.raises(ValueError, match=f"repeat.* must be 1, got 2: {reason}"):
        agents.compose(setting, repeat=2.0, **parts)
    assert agents.compose(setting, **parts)


def test_a_rule_of_ones_own_is_held():
    plays = actions(("gp-agent", {"rule": UCB(FixedWidth(2.0)), "repeat": 3.0}))
    assert (np.diff(plays) == 0).mean() > 0.5


CASES = {"mean": {"prior_mean": 2.0, "horizon": 30}, "delay": {"delay": {"law": "poisson", "mean": 3}}}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", of_each_shape(REPEATING))
def test_a_batch_of_holding_trials_equals_the_trials_one_by_one(name, case):
    spec = (name, {"repeat": 2.0, "initial": 3})
    batch = batch_as_singles("GPBandit-GP-v0", spec, **SMALL | CASES[case])
    assert (np.diff(batch) == 0).mean() > 0.1


@pytest.mark.parametrize("left", [0, 1, 30])
def test_what_is_known_exactly_is_played_to_the_horizon(left):
    variance = np.array([0.0, 1e-300, 1.0])
    np.testing.assert_array_equal(plays_of(2.0, np.full(3, 0.1), variance, left), [max(left, 1)] * 2 + [1])


def test_first_plays_at_random_are_single():
    first = actions(("gp-ucb", {"repeat": 1e4, "initial": 10}))[:, :10]
    assert (np.diff(first) != 0).mean() > 0.8


def test_on_a_box_a_point_is_held_too():
    plays = actions(("gp-ucb", {"repeat": 20.0}), horizon=12, continuous=True, dim=1, noise_std=0.5)
    assert len(np.unique(plays[0], axis=0)) < 8

"""The contracts of the Gaussian-process agents, for every registered name."""

import copy
import pickle
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import (
    BATCHED,
    GAUSSIAN,
    LEARNING,
    LISTENING,
    OF_ARMS,
    REPEATING,
    SETTING,
    WITH_ALL,
    batch_as_singles,
    in_turn,
    of_each_shape,
    representatives,
)
from players import each_round, play, started

import agents
import bandit_envs
from agents.agent.queries import Answers
from agents.posteriors import TABLES
from agents.registry import resolve_agent
from agents.widths.by_name import GAMMAS, WIDTHS, takes
from bandit_envs import Decisions, Problem
from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample, KnownFunction, delays
from gpbandits import evaluate

SETTINGS = {
    "defaults": {},
    "ties": {"length_scale": 0.02},  # the prior ties exactly far from data
    "matern": {"kernel": "matern52", "length_scale": 0.05},
    "delay": {"delay": {"law": "poisson", "mean": 5}, "length_scale": 0.02},
    "noiseless": {"noise": "none"},
}


def actions(environment, name, trials=2, horizon=25, first_trial=0, **env_kwargs):
    keywords = {} if isinstance(environment, Problem) else {"horizon": horizon, "num_arms": 80, **env_kwargs}
    result = evaluate(environment, {"it": name}, trials=trials, env_kwargs=keywords, first_trial=first_trial)
    return result.actions["it"]


def contextual_problem(horizon=30, **laws):
    arms, contexts = np.linspace(0, 1, 40)[:, None], np.linspace(0, 1, 5)[:, None]
    decisions = Decisions(arms, contexts)
    return Problem(decisions, GPSample(), make_kernel("rbf", [0.5, 0.2]), horizon=horizon, **laws)


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("name", "kind"), in_turn(BATCHED, SETTINGS))
def test_a_batch_of_trials_plays_exactly_the_actions_of_the_trials_one_by_one(name, kind):
    batch_as_singles("GPBandit-GP-v0", name, **{"horizon": 25, "num_arms": 80, **SETTINGS[kind]})


@pytest.mark.parametrize("name", of_each_shape(BATCHED))
def test_a_batch_equals_singles_with_contexts(name):
    batch_as_singles(contextual_problem(delay=delays.PoissonDelay(3.0)), name)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "kind"), in_turn(GAUSSIAN, SETTINGS))
def test_every_representation_plays_the_same(name, kind):
    first, *others = (actions("GPBandit-GP-v0", (name, {"form": form}), **SETTINGS[kind]) for form in TABLES)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.sampled(24)
@pytest.mark.parametrize(
    ("name", "options", "copied"),
    in_turn(
        [
            *[(name, {}) for name in BATCHED],
            *[(name, {"refit_every": 4}) for name in representatives(LEARNING)],
            *[(name, {"repeat": 2.0}) for name in representatives(REPEATING)],
        ],
        [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))],
    ),
)
def test_a_copy_in_the_middle_of_a_run_plays_on_alike(name, options, copied):
    env = gym.make("GPBandit-Delayed-v0", num_arms=60, length_scale=0.1, horizon=30)
    observation, _ = env.reset(seed=3)
    agent = started(agents.make(name, env, **options))
    observation = play(env, agent, observation, 10)[1]
    other_env, other, seen = copied((env, agent, observation))
    assert play(env, agent, observation, 8)[0] == play(other_env, other, seen, 8)[0]


def test_trials_do_not_depend_on_their_number_or_on_the_other_agents():
    keywords = {"env_kwargs": {"horizon": 30}}
    whole = evaluate("GPBandit-GP-v0", ["gp-ts", "random", "gp-ucb"], trials=6, seed=4, **keywords)
    part = evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=2, seed=4, first_trial=3, **keywords)
    np.testing.assert_array_equal(whole.actions["gp-ucb"][3:5], part.actions["gp-ucb"])
    np.testing.assert_allclose(whole.regret["gp-ucb"][3:5], part.regret["gp-ucb"], rtol=0, atol=1e-12)


def test_recommend_in_a_context_needs_its_observation():
    agent = started(agents.make("gp-ucb", contextual_problem()))
    with pytest.raises(ValueError, match="observation of a context"):
        agent.recommend()
    assert agent.recommend(np.zeros(1, dtype=np.float32)).point.shape == (1,)


def test_a_prior_mean_shifts_the_model_and_nothing_else():
    values = np.linspace(0, 3, 50)
    arms = np.linspace(0, 1, 50)[:, None]
    law = KnownFunction(lambda x: np.sin(6 * x[:, 0]))
    plain = Problem(Decisions(arms), law, make_kernel("rbf"), horizon=40)
    above = KnownFunction(lambda x: np.sin(6 * x[:, 0]) + 3 * x[:, 0])
    shifted = replace(plain, reward=above, prior_mean=values)
    # Variances alone decide pure exploration; means differ by exactly the prior mean.
    np.testing.assert_array_equal(actions(plain, "pure-exploration"), actions(shifted, "pure-exploration"))
    agent_means = []
    for problem in (plain, shifted):
        env = bandit_envs.make(problem)
        observation, _ = env.reset(seed=1)
        agent = started(agents.make("pure-exploration", env))
        play(env, agent, observation, 40)
        agent_means.append(agent.belief.mean(np.zeros(1, dtype=int))[0])
    np.testing.assert_allclose(agent_means[1] - agent_means[0], values, atol=1e-9)


def test_withheld_models_fall_back_to_stated_defaults():
    env = gym.make("GPBandit-GP-v0", publish_model=False, horizon=20)
    env.reset(seed=0)
    model = agents.make("igp-ucb", env).model
    assert model.setting.kernel is None
    assert model.kernel.length_scale == pytest.approx(0.2)
    assert model.noise_std == pytest.approx(0.1)
    assert model.rkhs_bound == pytest.approx(1.0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("width", "gamma"), [(w, g) for w in WIDTHS for g in ([*GAMMAS, 1.0] if "gamma" in takes(w) else [None])]
)
def test_widths_and_gains_go_by_name(width, gamma):
    options = {"width": width, "gamma": gamma}
    assert actions("GPBandit-RKHS-v0", ("gp-ucb", options), trials=2, horizon=15).shape == (2, 15)


BAD = {
    "unknown agent": (lambda: agents.make("gp-ucbb", SETTING), "did you mean 'gp-ucb'"),
    "unknown form": (lambda: started(agents.gp_ucb(SETTING, form="cholesky")), "unknown posterior form"),
    "num_trials": (lambda: agents.gp_ucb(SETTING, num_trials=0), "num_trials must be None or a positive"),
    "beyond": (lambda: play_on(agents.gp_ucb(SETTING, width="rkhs")), r"gamma is known for 0\.\.10 obs"),
    "arm": (
        lambda: started(agents.gp_ucb(SETTING)).update(np.zeros(1), 20, 0.0, feedback(1.0)),
        "an arm in 0..19",
    ),
    "seeds": (lambda: agents.gp_ucb(SETTING, num_trials=2).reset([1]), "seed must be 2 integers"),
    "path": (lambda: agents.make("no.such:Agent", SETTING), "does not lead to a class"),
    "action": (lambda: started(agents.gp_ucb(SETTING)).update(np.zeros(1), 0.5, 0.0, {}), "integer arm"),
    "no info": (lambda: started(agents.gp_ucb(SETTING)).update(np.zeros(1), 1, 0.0, {}), "feedback_mask"),
    "twice": (lambda: twice(agents.gp_ucb(SETTING)), "feedback comes once"),
    "round": (lambda: started(agents.gp_ucb(SETTING)).update(np.zeros(1), 1, 0.0, feedback(1.0, 7)), "0..0"),
}


def play_on(agent):
    started(agent)
    for t in range(11):
        agent.update(np.zeros(1), agent.act(np.zeros(1)), 0.0, feedback(1.0, t))


def twice(agent):
    started(agent)
    for _ in range(2):
        agent.update(np.zeros(1), 1, 0.0, feedback(1.0, 0))


def feedback(reward, step=0):
    return {
        "feedback_mask": np.array([True]),
        "feedback_step": np.array([step]),
        "feedback_reward": np.array([reward]),
    }


@pytest.mark.parametrize("name", [name for name in OF_ARMS if not agents.features(name).box])
def test_a_box_is_refused_by_who_plays_arms_alone(name):
    box = replace(WITH_ALL, arms=None, low=np.zeros(1), high=np.ones(1), safe_seed=None)
    with pytest.raises(
        ValueError, match=r"must have arms, got a box; |make the environment without continuous"
    ):
        agents.make(name, box)


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


TWO = {"feedback_mask": np.array([True, False]), "feedback_step": np.zeros(2, int)}  # slots
ARRAY = r"a numpy array of numbers, one a slot of feedback_mask \(\d,\), got "


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"feedback_mask": 1}, r"feedback_mask must be a numpy array of booleans, \(K,\) or .*, got 1"),
        ({"feedback_mask": np.True_}, "feedback_mask must be a numpy array of booleans"),
        ({"feedback_mask": np.array(True)}, "feedback_mask must be a numpy array of booleans"),
        ({"feedback_mask": np.array([True])}, f"feedback_step must be {ARRAY}nothing"),
        (TWO, f"feedback_reward must be {ARRAY}nothing"),
        (feedback(1j), f"feedback_reward must be {ARRAY}array.*j"),
        (TWO | {"feedback_reward": np.array([1j, 0.0])}, f"feedback_reward must be {ARRAY}array.*j"),
        (TWO | {"feedback_reward": np.zeros(0)}, f"feedback_reward must be {ARRAY}array"),
        (feedback(1.0) | {"feedback_reward": [1.0]}, rf"feedback_reward must be {ARRAY}\[1.0\]"),
        (TWO | feedback(1.0) | {"feedback_cost": 3.0}, f"feedback_cost must be {ARRAY}3.0"),
        (feedback(1.0) | {"feedback_std": np.array([1j])}, f"feedback_std must be {ARRAY}array.*j"),
        (feedback(1.0) | {"feedback_spent": 2.0}, f"feedback_spent must be {ARRAY}2.0"),
    ],
)
def test_damaged_info_gets_an_error_that_names_the_entry(info, message):
    with pytest.raises(ArgumentError, match=message):
        started(agents.gp_ucb(SETTING)).update(np.zeros(1), 1, 0.0, info)


WRONG = {
    "NaN": feedback(np.nan),
    "old": feedback(1.0, 3),
    "new": feedback(1.0, 9),
    "complex": feedback(1j),
    "mask": {"feedback_mask": 1},
}


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("name", "wrong"), in_turn(LISTENING, WRONG))
def test_a_round_with_wrong_feedback_can_be_told_again(name, wrong):
    plays = {}
    for disturbed in (False, True):
        agent, plays[disturbed] = started(agents.make(name, SETTING)), []
        for t in range(10):
            action = agent.act(np.zeros(1))
            if disturbed and t == 5:
                with pytest.raises(ValueError, match="feedback"):
                    agent.update(np.zeros(1), action, 0.0, WRONG[wrong])
            agent.update(np.zeros(1), action, 0.0, feedback(np.sin(action), t))
            plays[disturbed].append(action)
    assert plays[True] == plays[False]


@pytest.mark.parametrize(
    "question",
    ["alarms", "assumes_bound", "certified", "feedback_window", "infeasible", "infeasible_since", "refuted"],
)
@pytest.mark.parametrize(
    "name", representatives(name for name in GAUSSIAN if isinstance(resolve_agent(name)(SETTING), Answers))
)
def test_what_an_agent_says_of_itself_waits_for_its_first_reset(name, question):
    with pytest.raises(RuntimeError, match="call reset"):
        getattr(resolve_agent(name)(SETTING), question)


@pytest.mark.parametrize(
    ("name", "form"),
    in_turn((name for name in GAUSSIAN if hasattr(agents.make(name, SETTING), "posterior")), TABLES),
)
def test_a_posterior_that_was_kept_stays_as_it_was(name, form):
    env = gym.make("GPBandit-GP-v0", num_arms=20, horizon=6)
    observation, _ = env.reset(seed=0)
    agent = started(agents.make(name, env, form=form))
    kept = agent.posterior(observation)
    before, moved = [each.copy() for each in kept], False
    for *_, seen in each_round(env, agent, observation, 5):
        moved |= not np.array_equal(agent.posterior(seen), before)
    assert moved  # also of an agent that has started over in the end
    np.testing.assert_array_equal(kept, before)


@pytest.mark.parametrize("name", representatives(BATCHED))
def test_an_agent_asked_before_its_reset_says_so(name):
    with pytest.raises(RuntimeError, match="call reset"):
        agents.make(name, SETTING).act(np.zeros(1))


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2)])
def test_numbers_of_numpy_are_numbers(number):
    expected = agents.gp_ucb(SETTING, width=2.0).rule
    assert agents.gp_ucb(SETTING, width=number).rule == expected
    assert agents.gp_ucb(SETTING, width="rkhs", gamma=number, rkhs_bound=1.0).rule.width.gamma.value == 2.0

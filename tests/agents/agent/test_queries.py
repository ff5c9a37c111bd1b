"""One unit and one meaning for every query of every agent: the delivered mean, in the reward's unit."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, WITH_ALL, told_for, with_each
from players import at_once, started
from references import formulas
from sklearn.gaussian_process.kernels import ConstantKernel

import agents
from agents.beliefs.by_name import BELIEFS
from agents.beliefs.imputed import FILL_INS, Imputed
from bandit_envs import make
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.feedback import delivery

ARMS, LAG = 10, 2  # rounds after which a play's feedback is delivered: the last two plays are pending
X = np.linspace(0.0, 1.0, ARMS)
PLAYS = np.tile([3, 0, 6, 9, 1, 4, 7, 2, 5, 8], 3)
SEEN = np.zeros(1)
UNIT, ZERO, NOISE = 1e3, 7e3, 10.0  # of the rewards: prior std, prior mean, std of the noise
REWARD, COST = ZERO + UNIT * np.sin(6.0 * X), 50.0 * (X - 0.8)
VALUES = replace(
    WITH_ALL,
    **{
        "arms": X[:, None],
        "horizon": len(PLAYS),
        "kernel": ConstantKernel(UNIT**2) * make_kernel("rbf", 0.3),
    },
    **{"prior_mean": ZERO, "noise_std": NOISE, "constraint_noise_std": 0.0, "constraint_prior_std": 50.0},
)
UNCONSTRAINED = {"num_constraints": 0, "constraint_prior_std": None, "safe_seed": None, "lipschitz": None}
CLICKS = make("GPBandit-Clicks-v0", num_arms=ARMS, horizon=len(PLAYS)).get_wrapper_attr("setting")
SETTINGS = {"costs": VALUES, "values": replace(VALUES, **UNCONSTRAINED), "clicks": CLICKS}


def fed(name: str, setting: Any, seed: int = 0, **options: Any) -> Any:
    """Return an agent that was given the feedback of plays that others chose, but for the last two."""
    agent = started(agents.make(name, setting, **(told_for(name) | options)), seed)
    clicks, rng = setting.outcome is not None, np.random.default_rng(3)
    noise = rng.normal(size=len(PLAYS))
    values = (
        (rng.random(len(PLAYS)) < 0.2 + 0.6 * X[PLAYS]) * 1.0 if clicks else REWARD[PLAYS] + NOISE * noise
    )
    late = setting.max_delay > 0
    for t in range(len(PLAYS)):
        rounds = np.arange(t, t + 1) - LAG * late
        rounds = rounds[rounds >= 0]
        costs = COST[PLAYS[rounds], None][:, : setting.num_constraints]
        info = delivery(t, rounds, values[rounds], costs, setting.max_delay)
        agent.act(SEEN)
        agent.update(SEEN, action_of(setting, PLAYS[t]), 0.0, info)
    return agent


def action_of(setting: Any, arm: int) -> Any:
    return setting.to_action(X[[arm]]) if setting.continuous else int(arm)


def answering(names: Any) -> list[Any]:
    """Cases of agents that answer queries, in each setting."""
    asked = [name for name in names if hasattr(agents.make(name, VALUES, **told_for(name)), "beliefs")]
    asked = [name for name in asked if not agents.features(name).privileged]  # there is no truth to read
    return with_each(asked, SETTINGS)


EACH = answering(BATCHED)


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_every_query_of_an_agent_gives_one_answer_in_the_reward_s_unit(name, kind):
    agent = fed(name, SETTINGS[kind])
    best, beliefs = agent.recommend(), agent.beliefs(SEEN)
    if beliefs is None:  # of the reward less a penalty: no query takes that for the reward
        assert kind == "costs"
        assert best.mean is best.std is None
        for ask in (agent.posterior, partial(agent.believed, action=3)):
            with pytest.raises(ValueError, match="has no model of the reward itself"):
                ask(SEEN)
        return
    (mean, std), each = agent.posterior(SEEN), [agent.believed(SEEN, arm) for arm in range(ARMS)]
    np.testing.assert_array_equal(beliefs[0], (mean, std))
    np.testing.assert_array_equal(np.array(each)[:, :, 0].T, (mean, std))
    assert (best.mean, best.std) == (mean[best.action], std[best.action])
    if kind == "clicks":  # log-odds, from -1.4 to 1.4, would miss by more; some take clicks to be exact
        assert (np.abs(mean - (0.2 + 0.6 * X)) <= 0.6).all()
        return
    # Five stds, and what the bias of a forgetful or truncating agent is with three values of each arm.
    assert (np.abs(mean - REWARD) <= 5.0 * std + 0.05 * UNIT).all()
    assert (std <= UNIT * (1.0 + 1e-9)).all()
    if len(beliefs) == 2:
        assert (np.abs(beliefs[1][0] - COST) <= 5.0 * beliefs[1][1] + 5.0).all()


def delivered() -> tuple[Any, Any]:
    """Return the textbook's mean and std given the delivered values alone."""
    rng = np.random.default_rng(3)
    values = REWARD[PLAYS] + NOISE * rng.normal(size=len(PLAYS))
    kept = slice(0, len(PLAYS) - LAG)
    gram = VALUES.kernel(X[:, None])
    mean, covariance = formulas.posterior(gram, NOISE**2, PLAYS[kept], values[kept] - ZERO)
    return ZERO + mean, np.sqrt(np.diag(covariance))


FILLED = [
    {"belief": partial(Imputed, fill=fill)} if callable(fill) else {"belief": fill}
    for fill in [*BELIEFS, *FILL_INS.values()]
]


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("options", [*FILLED, {"belief": "censored", "belief_options": {"noisy": True}}])
def test_whatever_pending_plays_count_as_the_answer_is_the_posterior_of_delivered_values(options, continuous):
    setting = SETTINGS["values"]
    if continuous:
        setting = replace(setting, arms=None, low=np.zeros(1), high=np.ones(1))
    agent = fed("gp-agent", setting, noise_variance=NOISE**2, **options)
    mean, std = delivered()
    each = [agent.believed(SEEN, action_of(setting, arm)) for arm in range(ARMS)]
    np.testing.assert_allclose(np.array(each)[:, 0, 0], mean, rtol=0, atol=1e-6 * UNIT)
    np.testing.assert_allclose(np.array(each)[:, 1, 0], std, rtol=0, atol=1e-6 * UNIT)
    best = agent.recommend(among=np.array([action_of(setting, arm) for arm in range(ARMS)]))
    assert best.mean == pytest.approx(mean.max(), abs=1e-6 * UNIT)


@pytest.mark.parametrize("options", [{}, {"refit_every": 4}])
def test_a_batch_answers_as_its_trials_do(options):
    batch = agents.make("gp-agent", SETTINGS["values"], 2, **options)
    alone = [agents.make("gp-agent", SETTINGS["values"], **options) for _ in range(2)]
    batch.reset([0, 1])
    for seed, agent in enumerate(alone):
        agent.reset(seed)
    for t in range(8):
        info = at_once(t, REWARD[PLAYS[[t]]])
        for agent in alone:
            agent.update(SEEN, int(PLAYS[t]), 0.0, info)
        both = {key: np.stack([each, each]) for key, each in info.items()}
        batch.update(np.zeros((2, 1)), PLAYS[[t, t]], np.zeros(2), both)
    seen = np.zeros((2, 1))
    for ask in ("posterior", "beliefs"):
        each = [getattr(agent, ask)(SEEN) for agent in alone]
        answer = np.squeeze(getattr(batch, ask)(seen))
        np.testing.assert_allclose(answer, np.squeeze(np.stack(each, axis=-2)), rtol=1e-9)
    each = [agent.believed(SEEN, arm) for agent, arm in zip(alone, (2, 7), strict=True)]
    answer = batch.believed(seen, np.array([2, 7]))
    np.testing.assert_allclose(answer, np.array(each)[:, :, 0].T, rtol=1e-9)


# Questions change nothing

CASES = [("gp-agent", options) for options in FILLED]
CASES += [("pbgi", {"halving": True}), ("ei-per-cost", {}), ("gp-ts", {}), ("gp-ei", {})]


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_an_agent_that_is_asked_in_every_round_plays_on_as_if_it_were_not(name, options, continuous):
    keywords = {"dim": 1, "continuous": True} if continuous else {"num_arms": ARMS}
    actions = []
    for asked in (False, True):
        env = make("GPBandit-Delayed-v0", horizon=10, delay={"law": "constant", "rounds": 2}, **keywords)
        seen, _ = env.reset(seed=2)
        agent = started(agents.make(name, env, **options))
        for _ in range(10):
            action = agent.act(seen)
            if asked:
                for ask in (agent.recommend, agent.posterior, partial(agent.believed, action=action)):
                    ask(seen)
            actions.append(action)
            seen, reward, *_, info = env.step(action)
            agent.update(seen, action, reward, info)
    np.testing.assert_array_equal(actions[:10], actions[10:])


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_no_answer_is_a_draw(name, kind):
    if agents.features(name).approximate and kind != "clicks":
        pytest.skip("its dictionary is drawn")
    one, other = (fed(name, SETTINGS[kind], seed).beliefs(SEEN) for seed in (0, 1))
    if one is not None:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * UNIT)

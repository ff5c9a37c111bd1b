"""Agents of duels play what their readable forms play; their belief, bands, batches, files and errors."""

from __future__ import annotations

import itertools

import gymnasium as gym
import numpy as np
import pytest
import scipy.stats
from agent_cases import DUELLING, SETTING, batch_as_singles
from players import at_once, play
from references.duels import RULES, bands, belief, double_ts, mr_lpf_left, pop_bo, std_of_pairs
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.beliefs.preferences import LikelihoodSet, Preferences
from agents.model.model import Model
from agents.registry import resolve_agent
from agents.restarts.base import growing_lengths
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build
from gpbandits import evaluate

DUEL = "GPBandit-Duel-v0"
HERE = np.zeros(1, dtype=np.int64)
SEEN = np.zeros(1, dtype=np.float32)
NORMED = {"num_arms": 10, "horizon": 40, "function": "rkhs", "rkhs_norm": 3.0}
FEW = {"num_arms": 8, "horizon": 40, "kernel": "matern32"}  # whose matrix can be inverted


def start(name, seed=0, facts=FEW, **options):
    env = gym.make(DUEL, **facts)
    observation, _ = env.reset(seed=seed)
    agent = agents.make(name, env, **options)
    agent.reset(seed)
    return env, agent, observation


def rounds_of(name, seed, **options):
    """Yield the duels before each round, and what is played in it."""
    env, agent, observation = start(name, seed, **options)
    gram, duels = env.get_wrapper_attr("setting").kernel(env.get_wrapper_attr("setting").arms), []
    for _ in range(FEW["horizon"]):
        action = agent.act(observation)
        yield gram, list(duels), tuple(action.tolist())
        observation, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        duels.append((*action.tolist(), info["feedback_reward"][0]))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [1.0, 2.0])
@pytest.mark.parametrize("name", RULES)
def test_plays_are_those_of_the_readable_form(name, width):
    for gram, duels, pair in rounds_of(name, seed=3, width=width):
        lower, upper = bands(gram, duels, width)
        last = duels[-1][1] if duels else -1
        scores = RULES[name](lower, upper, belief(gram, duels)[0], last)
        assert pair in scores or pair[::-1] in scores, (len(duels), pair)
        assert scores.get(pair, -np.inf) >= max(scores.values()) - 1e-5, (len(duels), pair)


@pytest.mark.long
def test_double_thompson_plays_pairs_by_the_law_of_the_readable_form():
    setting = Setting(arms=np.linspace(0, 1, 4)[:, None], kernel=RBF(0.3), duel=True, horizon=10)
    duels = [(0, 1, 1.0), (2, 1, 1.0), (2, 3, 0.0), (0, 2, 0.0)]
    counts, trials = np.zeros((4, 4)), 1500
    for seed in range(trials):
        agent = resolve_agent("double-ts")(setting)
        agent.reset(seed)
        for t, (i, j, won) in enumerate(duels):
            agent.update(SEEN, np.array([i, j]), won, at_once(t, won))
        counts[tuple(agent.act(SEEN))] += 1
    law = double_ts(setting.kernel(setting.arms), duels, 20_000, np.random.default_rng(1))
    table = np.stack([counts.ravel(), law.ravel()])
    table = table[:, table.sum(axis=0) > 100]
    assert table.shape[1] > 4
    assert scipy.stats.chi2_contingency(table).pvalue > 1e-4


@pytest.mark.long
def test_pop_bo_plays_the_arm_that_may_be_ahead_of_the_last_by_most():
    bound = 2.0
    for gram, duels, pair in itertools.islice(rounds_of("pop-bo", seed=3, rkhs_bound=bound), 1, 40, 6):
        slack = 0.1 * np.sqrt(len(duels) + 1)
        scores = pop_bo(gram, duels, bound, slack, duels[-1][0])
        assert pair[1] == duels[-1][0]
        assert scores[pair] >= max(scores.values()) - 1e-4, (len(duels), pair)


def test_pop_bo_recommends_the_likeliest_arm_that_met_another():
    env, agent, observation = start("pop-bo", rkhs_bound=2.0)
    actions, _ = play(env, agent, observation, 12)
    met = {arm for i, j in actions if i != j for arm in (i, j)}
    worth = agent.belief.worth(HERE)
    assert set(np.flatnonzero(np.isfinite(worth))) == met
    assert agent.recommend().action == worth.argmax()
    root, weight = agent.belief.root, agent.belief.likeliest
    assert np.linalg.norm(weight) <= 2.0 * (1 + 1e-6)
    rows = agent.belief.rows
    slope = rows.design.T @ (rows.plays * expit(rows.z(weight)) - rows.total)
    np.testing.assert_allclose(slope, -weight * np.linalg.norm(slope) / np.linalg.norm(weight), atol=1e-4)
    assert root.shape == (FEW["num_arms"], len(weight))


@pytest.mark.long
def test_the_set_of_the_mixture_holds_the_truth_in_all_rounds():
    failed, delta, runs = 0, 0.1, 30
    for seed in range(runs):
        env, agent, observation = start("pop-bo", seed, NORMED, width="mixture", delta=delta)
        q = env.unwrapped.simulator.trials[0].means[0][0]
        true = np.log(q / (1 - q))
        held = True
        for _ in range(NORMED["horizon"]):
            against = int(agent.act(observation)[1])
            held &= bool((true - true[against] <= agent.belief.largest(HERE, against) + 1e-4).all())
            observation = play(env, agent, observation, 1)[1]
        failed += not held
    assert failed <= runs * delta


@pytest.mark.parametrize("band", [None, 0.5])
def test_mr_lpf_plays_the_least_known_pairs_and_keeps_the_arms_of_the_readable_form(band):
    bound, lam, delta = 0.1, 0.25, 0.1
    env, agent, observation = start("mr-lpf", rkhs_bound=bound, penalty=lam, delta=delta, band=band)
    gram, left = env.get_wrapper_attr("setting").kernel(env.get_wrapper_attr("setting").arms), list(range(8))
    lengths = growing_lengths(FEW["horizon"])
    assert sum(lengths) == FEW["horizon"]
    for phase, length in enumerate(lengths):
        kappa = 6.0 if phase else 1 / (expit(2 * bound) * expit(-2 * bound))
        beta = band or (bound + np.sqrt(kappa / lam * np.log(2 * len(lengths) * 8 / delta))) / 4
        duels = []
        for _ in range(length):
            i, j = agent.act(observation).tolist()
            std = std_of_pairs(gram, [(i, j) for i, j, _ in duels], kappa * lam)
            assert i in left
            assert j in left
            assert std[i, j] >= std[np.ix_(left, left)].max() - 1e-6
            observation, reward, _, _, info = env.step(np.array([i, j]))
            agent.update(observation, np.array([i, j]), reward, info)
            duels.append((i, j, info["feedback_reward"][0]))
        left = mr_lpf_left(gram, duels, left, lam, kappa * lam, beta)
        assert agent.left.tolist() == left
    assert (len(left) < 8) == (band is not None)


@pytest.mark.long
def test_by_the_band_of_its_theorem_no_arm_leaves_mr_lpf_in_2000_duels():
    env, agent, observation = start("mr-lpf", 0, {"horizon": 2000})
    play(env, agent, observation, 2000)
    assert len(agent.left) == env.get_wrapper_attr("setting").decisions.num_arms


def test_every_agent_of_duels_has_a_readable_form():
    assert set(DUELLING) == {*RULES, "double-ts", "pop-bo", "mr-lpf"}


def test_the_belief_is_that_of_the_textbook_whatever_the_order_of_the_arms():
    setting = Setting(arms=np.linspace(0, 1, 6)[:, None], kernel=RBF(0.3), duel=True)
    duels = [(0, 1, 1.0), (1, 0, 1.0), (4, 2, 0.0), (2, 4, 1.0), (3, 3, 1.0), (5, 0, 0.5)]
    here = Preferences(Model.of(setting))
    for duel in duels:
        here.add(*duel)
    f, covariance = belief(setting.kernel(setting.arms) + 1e-9 * np.eye(6), duels)
    np.testing.assert_allclose(here.mean(HERE)[0], f, atol=1e-5)
    np.testing.assert_allclose(here.std(HERE)[0], np.sqrt(np.diag(covariance)), atol=1e-5)
    assert here.rows.plays.tolist() == [2.0, 2.0, 1.0]  # an arm against itself says nothing


def test_a_constant_added_to_the_utilities_changes_no_play():
    field = {mean: ("maxminlcb", {"prior_mean": float(mean)}) for mean in ("0", "64")}
    played = evaluate(DUEL, field, trials=2, env_kwargs={"horizon": 30}).actions
    np.testing.assert_array_equal(played["0"], played["64"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DUELLING)
def test_a_batch_of_trials_plays_exactly_what_single_trials_play(name):
    facts = {"num_arms": 10, "horizon": 15}
    if agents.features(name).context:
        facts |= {"num_contexts": 3, "delay": {"law": "poisson", "mean": 3}}
    batch_as_singles(DUEL, name, 3, **facts)


@pytest.mark.parametrize("name", DUELLING)
def test_a_saved_agent_plays_on_alike(name, tmp_path):
    env, agent, observation = start(name)
    observation = play(env, agent, observation, 10)[1]
    agent.save(tmp_path / "agent.npz")
    again = agents.load(tmp_path / "agent.npz")
    np.testing.assert_array_equal(agent.act(observation), again.act(observation))
    assert agent.recommend() == again.recommend()


@pytest.mark.long
def test_the_mixture_band_covers_all_pairs_in_all_rounds_of_adaptive_play():
    failed, delta = 0, 0.1
    for seed in range(200):
        env, agent, observation = start("maxminlcb", seed, NORMED, width="mixture", delta=delta)
        q = env.unwrapped.simulator.trials[0].means[0][0]
        true = np.log(q / (1 - q))[:, None] - np.log(q / (1 - q))
        held = True
        for _ in range(NORMED["horizon"]):
            contest = agent.contest(observation)
            held &= bool(((true >= contest.lower - 1e-9) & (true <= contest.upper + 1e-9)).all())
            observation = play(env, agent, observation, 1)[1]
        failed += not held
    assert failed <= 200 * delta


def test_pop_bo_finds_the_most_where_the_first_centre_is_far_away():
    bound, width, (i, j, x) = 6.0, 0.1, (2, 16, 6)
    setting = Setting(arms=unit_grid(30), kernel=make_kernel("rbf", 0.2), duel=True)
    belief = LikelihoodSet(Model.of(setting, rkhs_bound=bound), width, 0.1)
    belief.add(i, j, 1.0)
    belief.add(x, 17, 1.0)
    found = belief.largest(HERE, i)
    likeliest, slack = belief.likeliest, width * np.sqrt(3.0)

    def loss(w):
        return np.logaddexp(0.0, -(belief.rows.design @ w)).sum()

    inside = [
        {"type": "ineq", "fun": lambda w: bound**2 - w @ w},
        {"type": "ineq", "fun": lambda w: loss(likeliest) + slack - loss(w)},
    ]
    for arm in (0, x, 25):
        ahead = belief.root[arm] - belief.root[i]
        start = 0.9 * likeliest
        best = minimize(lambda w, ahead=ahead: -(ahead @ w), start, constraints=inside, method="SLSQP")
        assert found[arm] == pytest.approx(-best.fun, abs=1e-4)


@pytest.mark.parametrize("name", DUELLING)
def test_single_arms_are_refused_with_the_remedy(name):
    with pytest.raises(ValueError, match=r'must be of duels, whose actions are pairs.*take "gp-ucb"'):
        agents.make(name, SETTING)


@pytest.mark.parametrize("action", [3, [1, 2, 3], [-1, 0], [0, 8], [0.0, 1.0]])
def test_a_play_that_is_no_pair_is_refused(action):
    _, agent, observation = start("maxminlcb")
    told = at_once(0, 1.0)
    with pytest.raises(ValueError, match="action must be a pair of arms in"):
        agent.update(observation, action, 1.0, told)


def test_the_mixture_band_says_where_it_rests_on_a_default():
    assert agents.make("maxminlcb", build("duel", {}), width="mixture").assumes_bound
    assert not agents.make("maxminlcb", build("duel", {}), width="mixture", rkhs_bound=4.0).assumes_bound
    assert not agents.make("maxminlcb", build("duel", {})).assumes_bound

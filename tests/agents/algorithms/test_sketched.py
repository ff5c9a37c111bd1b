"""Algorithms whose posterior comes from a dictionary of played points."""

from __future__ import annotations

import numpy as np
import pytest
from players import play, started
from references.formulas import information_gain
from sklearn.gaussian_process.kernels import RBF, Matern

import agents
import bandit_envs
from agents.algorithms import sketched
from agents.algorithms.sketched import READINGS
from agents.model.rounds import Delivery
from agents.posteriors import posterior
from agents.posteriors.base import SufficientStatistics
from agents.posteriors.sketched import Sketch, SketchedPosterior
from agents.registry import resolve_agent
from agents.widths.bounded_norm import BBKBWidth, BKBWidth
from bandit_envs import Decisions, Problem
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws import Gaussian, RKHSFunction
from bandit_envs.problem.decisions import unit_grid
from gpbandits import evaluate

NAMED = [name for name in agents.names() if resolve_agent(name).make.__module__ == sketched.__name__]
KERNELS = {"rbf": RBF(0.2), "matern52": Matern(0.2, nu=2.5)}
NOISE = 0.01
GRID = unit_grid(60)


def problem(kernel="rbf", horizon=120):
    return Problem(
        Decisions(GRID), RKHSFunction(norm=2.0), KERNELS[kernel], Gaussian(NOISE**0.5), horizon=horizon
    )


def played(name, rounds, kernel="rbf", **options):
    """An agent after some rounds of one trial, and its env."""
    env = bandit_envs.make(problem(kernel))
    observation, _ = env.reset(seed=1)
    agent = started(agents.make(name, env, **options))
    play(env, agent, observation, rounds)
    return agent


def exact(agent):
    """The exact posterior of what an agent has played."""
    model = agent.model
    same = posterior(model.gram, model.noise_variance, 1, 100)
    same.condition_on(0, agent.belief.sketch.statistics(0))
    return same


def plays(seed, count=200):
    rng = np.random.default_rng(seed)
    return rng.integers(0, len(GRID), count), rng.standard_normal(count)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_with_every_played_point_in_the_dictionary_it_is_exact(kernel):
    gram, (point, value) = Gram(kernel, GRID), plays(0)
    whole, sketch = posterior(gram, NOISE, 1, 200), SketchedPosterior(gram, NOISE, 1)
    seen = SufficientStatistics.merge(point, np.ones(200), value)
    for each in (whole, sketch):
        each.condition_on(0, seen)
    np.testing.assert_allclose(sketch.mean_at(None), whole.mean_at(None), atol=1e-6)
    np.testing.assert_allclose(sketch.variance_at(None), whole.variance_at(None), atol=1e-8)
    np.testing.assert_allclose(sketch.weight_norm_at(None), whole.weight_norm_at(None), rtol=1e-5, atol=1e-6)


def test_with_every_played_point_in_the_dictionary_its_gain_is_the_information_gain():
    gram, point = Gram(RBF(0.2), GRID), np.random.default_rng(2).choice(60, size=12)
    sketch, rng = SketchedPosterior(gram, NOISE, 1), np.random.default_rng(0)
    for x in point:
        sketch.play(np.array([x]))
        sketch.observe(np.zeros(1, dtype=np.int64), np.array([x]), np.zeros(1))
        sketch.renew(0, np.ones(60), rng)
    expected = information_gain(RBF(0.2)(GRID), NOISE, point)
    np.testing.assert_allclose(sketch.gain, expected, rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_formulas_are_those_of_the_papers(kernel):
    point, value = plays(1)
    count, total = np.bincount(point, minlength=60) * 1.0, np.bincount(point, value, 60)
    dictionary = np.array([3, 20, 41, 55])
    sketch = Sketch(Gram(kernel, GRID), NOISE)
    sketch.learn(dictionary, count, total)
    cross = kernel(GRID, GRID[dictionary])
    values, vectors = np.linalg.eigh(kernel(GRID[dictionary]))
    z = cross @ (vectors / np.sqrt(values)) @ vectors.T  # (N, m), the symmetric root
    inverse = np.linalg.inv(z.T @ (count[:, None] * z) + NOISE * np.eye(4))
    np.testing.assert_allclose(sketch.mean, z @ inverse @ (z.T @ total), atol=1e-9)
    spread = 1.0 - np.sum(z**2, axis=1) + NOISE * np.einsum("nr,rs,ns->n", z, inverse, z)
    np.testing.assert_allclose(sketch.variance, spread, atol=1e-9)


def test_a_play_that_is_counted_lowers_variances_as_if_it_were_learnt():
    gram, dictionary = Gram(RBF(0.2), GRID), np.array([3, 20, 41, 55])
    one, other = Sketch(gram, NOISE), Sketch(gram, NOISE)
    count = np.zeros(60)
    one.learn(dictionary, count, count)
    for x in (20, 5, 20):
        one.hallucinate(x)
        count[x] += 1.0
    other.learn(dictionary, count, count)
    np.testing.assert_allclose(one.variance, other.variance, atol=1e-10)
    np.testing.assert_array_equal(one.mean, 0.0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", NAMED)
def test_variances_are_near_the_exact_ones_and_dictionaries_small(name, kernel):
    agent = played(name, 100, kernel, size=10.0)
    sketch = agent.belief.sketch
    sketch.renew(0, agent.belief.chance(0), np.random.default_rng(0))
    ratio = sketch.variance_at(None) / exact(agent).variance_at(None)
    assert 0.99 < ratio.min() <= ratio.max() < 1.3
    assert len(sketch.sketches[0].dictionary) <= len(sketch.statistics(0).point)


@pytest.mark.long
@pytest.mark.parametrize("reading", READINGS)
def test_points_enter_as_often_as_the_law_of_the_reading_says(reading):
    """One draw for each point, by the variances after the play; or one for each play, by those before it."""
    agent = played("bkb", 60, "matern52", size=0.5, reading=reading)
    belief, sketch, rng = agent.belief, agent.belief.sketch, np.random.default_rng(0)
    plays, before = sketch.count[0].astype(int), sketch.variance_at(None)[0]
    arm = np.array([plays.argmax()])
    belief.play(arm)
    sketch.observe(np.zeros(1, dtype=int), arm, np.zeros(1))
    plays, after = sketch.count[0].astype(int), sketch.variance_at(None)[0]
    expected = np.minimum(0.5 * plays * after / NOISE, 1.0)
    if reading == "paper":
        once = np.minimum(0.5 * before / NOISE, 1.0)
        expected = np.array([1.0 - np.prod(np.full(n, 1.0 - p)) for n, p in zip(plays, once, strict=True)])
    chance, entered, draws = belief.chance(0), np.zeros(len(GRID)), 2000
    for _ in range(draws):
        sketch.renew(0, chance, rng)
        entered[sketch.sketches[0].dictionary] += 1.0
    deviation = np.sqrt(draws * expected * (1.0 - expected))
    assert ((expected > 0.05) & (expected < 0.95)).sum() > 5  # points at which the laws can be told
    assert (np.abs(entered - draws * expected) <= 5.0 * deviation + 1e-6).all()


def test_means_of_a_batch_are_frozen_and_its_variances_shrink():
    agent = played("bbkb", 40)
    frozen, changed = 0, 0
    env = bandit_envs.make(problem())
    observation, _ = env.reset(seed=1)
    for _ in range(20):
        before = [each.copy() for each in agent.posterior(observation)]
        action = agent.act(observation)
        _, reward, _, _, info = env.step(action)
        info["feedback_step"] = np.where(info["feedback_mask"], agent.round, -1)
        agent.update(observation, action, reward, info)
        mean, std = agent.posterior(observation)
        if np.array_equal(mean, before[0]):
            assert std[action] < before[1][action]
            frozen += 1
        else:
            changed += 1
    assert frozen > changed > 0


def test_a_batch_ends_when_the_variances_of_its_start_add_up_to_c():
    agent = played("bbkb", 0, growth=3.0)
    belief, point = agent.belief, np.array([7])
    start = belief.sketch.variance_of(np.zeros(1, dtype=int), point)[0] / NOISE
    assert start > 2.0  # so that one play ends it
    belief.play(point)
    belief.receive(Delivery.of_values(np.zeros(1, dtype=int), point, np.ones(1)))
    assert belief.mean(np.zeros(1, dtype=int))[0, 7] == pytest.approx(1.0 / (1.0 + NOISE))


def test_the_widths_are_those_of_the_authors_code():
    gain, t = np.array([3.0]), np.array([20])
    of_bkb, of_bbkb = BKBWidth(2.0, 0.1, 0.04, 0.5)(t, gain), BBKBWidth(2.0, 0.1, 0.04, 2.0, 0.5)(t, gain)
    assert of_bkb == pytest.approx(2.0 + 0.5 * np.sqrt(3.0 * np.log(20) + np.log(2.0)))
    assert of_bbkb == pytest.approx(2.0 + 0.5 * np.sqrt(12.0 + np.log(2.0)))


def test_the_effective_dimension_is_the_sum_of_variances_of_the_plays():
    agent = played("bkb", 60)
    seen = agent.belief.sketch.statistics(0)
    exactly = exact(agent).variance_of(np.zeros(len(seen.point), dtype=int), seen.point)
    assert agent.belief.gain[0] == pytest.approx((seen.plays * exactly).sum() / NOISE, rel=0.1)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMED)
def test_regret_is_less_than_half_of_random_play(name):
    result = evaluate(problem(), {"it": name, "random": "random"}, trials=6)
    regret = {label: each[:, -1].mean() for label, each in result.regret.items()}
    assert regret["it"] < 0.5 * regret["random"]


def test_agents_that_approximate_say_so():
    said = {name: agents.features(name) for name in agents.names()}
    approximate = [name for name, features in said.items() if features.approximate and not features.outcome]
    assert approximate == sorted(NAMED)  # beside those of clicks, whose posterior is Laplace's

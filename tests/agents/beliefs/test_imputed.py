"""Pending plays count as draws from their posterior or as fill-ins, and what that equals."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from references.formulas import posterior

import agents
from agents.acquisition.by_name import Always
from agents.acquisition.rules import UCB
from agents.agent.assembly import assemble
from agents.agent.box_domain import best_plays
from agents.agent.model_ensemble import in_epochs
from agents.beliefs.delivered import Delivered
from agents.beliefs.imputed import Fantasised, Hallucinated, Imputed, posterior_mean
from agents.beliefs.points import Arms
from agents.beliefs.surface import Surface
from agents.kernels.visited import Visited
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.objectives.base import NOTHING, Reward
from agents.widths.base import FixedWidth
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.feedback import delivery
from gpbandits import evaluate

ARMS = np.linspace(0, 1, 30)[:, None]
SETTING = Setting(arms=ARMS, horizon=50, kernel=make_kernel("rbf", 0.2), noise_std=0.2, max_delay=20)
HERE = np.zeros(1, dtype=np.int64)
AT_ARMS = Arms(HERE, SETTING.decisions)
DELIVERED, PENDING = [4, 11, 20], [11, 15, 15, 28]
VALUES = np.array([0.3, -0.7, 1.1])


def told(kind, seed=0, **options):
    """A belief of one trial after some plays, of which some are pending."""
    rngs = {"rngs": [np.random.default_rng(seed)]} if kind is Fantasised else {}
    belief = kind(Model.of(SETTING), 1, **rngs, **options)
    for x in [*DELIVERED, *PENDING]:
        belief.play(np.array([x]))
    for x, value in zip(DELIVERED, VALUES, strict=True):
        belief.receive(Delivery.of_values(HERE, np.array([x]), np.array([value])))
    return belief


def brute(values_of_pending):
    """The textbook's mean of all plays, with these values of the pending ones."""
    K, played = make_kernel("rbf", 0.2)(ARMS), [*DELIVERED, *PENDING]
    values = np.concatenate([VALUES, values_of_pending])
    return K[:, played] @ np.linalg.solve(K[np.ix_(played, played)] + 0.04 * np.eye(len(played)), values)


def fantasies(belief):
    """The values that a belief has drawn: those of which S_PP + lambda times c is the difference to mu."""
    shift = belief.shift(0)
    S = belief.mean_posterior.covariance(0, shift.point, shift.point) + 0.04 * np.eye(len(shift.point))
    return (
        belief.mean_posterior.mean_of(np.zeros(len(shift.point), dtype=int), shift.point) + S @ shift.weight
    )


@pytest.mark.parametrize("noisy", [True, False])
def test_the_mean_is_that_of_all_plays_with_the_drawn_values(noisy):
    belief = told(Fantasised, noisy=noisy)
    np.testing.assert_array_equal(belief.shift(0).point, PENDING)
    np.testing.assert_allclose(belief.mean(HERE)[0], brute(fantasies(belief)), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(belief.std(HERE), told(Hallucinated).std(HERE))
    np.testing.assert_array_equal(AT_ARMS.known(belief)[0], told(Hallucinated).mean(HERE))


@pytest.mark.long
def test_fantasies_have_the_law_of_the_values_to_come():
    drawn = np.array([fantasies(told(Fantasised, seed)) for seed in range(4000)])
    delivered = told(Delivered)
    mean = delivered.mean_posterior.mean_of(np.zeros(4, dtype=int), np.array(PENDING))
    expected = delivered.mean_posterior.covariance(0, np.array(PENDING), np.array(PENDING)) + 0.04 * np.eye(4)
    scale = np.sqrt(np.diag(expected))
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * scale / 4000**0.5).all()
    found = np.cov(drawn.T) / np.outer(scale, scale)
    np.testing.assert_allclose(found, expected / np.outer(scale, scale), rtol=0, atol=5 * (2 / 4000) ** 0.5)


def test_a_question_draws_nothing_and_a_new_round_draws_anew():
    belief = told(Fantasised)
    first = belief.mean(HERE)
    np.testing.assert_array_equal(belief.mean(HERE), first)
    belief.play(np.array([2]))
    belief.drop(HERE, np.array([2]), np.zeros(1, dtype=int))
    np.testing.assert_array_equal(belief.shift(0).point, PENDING)  # the same plays are pending
    assert not np.allclose(belief.mean(HERE), first, rtol=0, atol=1e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rule", ["ucb", "ei", "thompson"])
def test_without_delays_plays_are_those_of_delivered_feedback(rule):
    keywords = {"num_arms": 30, "horizon": 20, "length_scale": 0.2}
    plays = [
        evaluate(
            "GPBandit-GP-v0",
            {"it": ("gp-agent", {"rule": rule, "belief": belief})},
            trials=3,
            env_kwargs=keywords,
        ).actions["it"]
        for belief in ("delivered", "fantasised")
    ]
    np.testing.assert_array_equal(*plays)


def test_on_a_box_the_mean_is_that_on_a_set():
    """The same plays, delivered and pending, of the same points, with the same fantasies."""
    box = Setting(
        low=np.zeros(1), high=np.ones(1), horizon=50, kernel=SETTING.kernel, noise_std=0.2, max_delay=20
    )
    visited = Visited(1)
    model = replace(Model.of(box), form="pairs", covariances=visited.gram)
    belief = Fantasised(model, 1, rngs=[np.random.default_rng(0)])
    number = {x: visited.index(ARMS[x]) for x in dict.fromkeys([*DELIVERED, *PENDING])}
    for x in [*DELIVERED, *PENDING]:
        belief.play(np.array([number[x]]))
    for x, value in zip(DELIVERED, VALUES, strict=True):
        belief.receive(Delivery.of_values(HERE, np.array([number[x]]), np.array([value])))
    expected = brute(fantasies(belief))
    np.testing.assert_allclose(Surface.of(belief).mean(ARMS), expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        Surface.of(belief, known=True).mean(ARMS), told(Hallucinated).mean(HERE)[0], atol=1e-8
    )


@pytest.mark.parametrize("rounds", [6, 9])
def test_on_a_box_improvement_is_on_the_best_of_played_and_pending(rounds):
    box = Setting(low=np.zeros(2), high=np.ones(2), kernel=make_kernel("rbf", 0.3), horizon=20, max_delay=4)
    agent = agents.make("gp-agent", box, rule="ei", belief="fantasised", incumbent="max_mean")
    agent.reset(1)
    observation, pairs = np.zeros(1, dtype=np.float32), []
    for t in range(rounds):
        action = agent.act(observation)
        pairs.append(box.to_point(action))
        came = np.arange(t - 4, t - 3)[t < 4 :]
        values = np.sin(5 * np.array(pairs)[came].sum(axis=1))
        info = delivery(t, came, values, np.empty((len(came), 0)), 4)
        agent.update(observation, action, float(values.sum()), info)
    surface = Surface.of(agent.belief)
    _, means = best_plays(agent, surface, np.empty(0))
    assert len(means) == rounds
    np.testing.assert_allclose(means, np.sort(surface.mean(np.array(pairs)))[::-1], rtol=0, atol=1e-9)


def test_without_noise_two_plays_of_a_point_have_one_value():
    values = fantasies(told(Fantasised, noisy=False))
    assert values[1] == pytest.approx(values[2], abs=1e-9)


def test_nothing_pending_is_the_delivered_posterior():
    belief = told(Fantasised)
    for x in PENDING:
        belief.receive(Delivery.of_values(HERE, np.array([x]), np.array([0.1])))
    assert belief.shift(0) is None
    np.testing.assert_array_equal(belief.mean(HERE), AT_ARMS.known(belief)[0])


# --- fill-ins equal a dense Gaussian process of the counted plays, in fresh beliefs too ---

WINDOW, LONGEST, ROUNDS, NOISE = 4, 9, 40, 0.3
FEW = np.linspace(0.0, 1.0, 3)[:, None]  # few, so that late plays and plays in time share points
LATE = Setting(arms=FEW, horizon=ROUNDS, kernel=make_kernel("matern52"), noise_std=NOISE, max_delay=LONGEST)


class InEpochs(Reward):
    """The reward, in epochs of eleven rounds."""

    epoch = 11

    def end_round(self, rounds):
        return NOTHING


class Dense:
    """The counted plays as rows of a dense GP, each with its fill-in or value."""

    def __init__(self, gram):
        self.gram, self.plays = gram, {}  # round -> point, value or fill-in, "pending", "late" or "in time"

    def fill(self, x):
        rows = [(point, value) for point, value, state in self.plays.values() if state == "in time"]
        if not rows:
            return 0.0
        points, values = map(np.array, zip(*rows, strict=True))
        return posterior(self.gram, NOISE**2, points, values)[0][x]

    def round(self, t, x, delivered):
        """A play of x in round t, and delivered rounds with their values."""
        self.plays[t] = x, self.fill(x), "pending"
        for s, value in delivered.items():
            if s in self.plays:
                late = t - s > WINDOW
                point, filled, _ = self.plays[s]
                self.plays[s] = (point, filled, "late") if late else (point, value, "in time")
        for s, (point, _, state) in self.plays.items():
            if state == "pending":
                self.plays[s] = point, self.fill(point), state

    def begin(self, now):
        """A fresh belief before round `now` counts the pending plays whose feedback may be in time."""
        pending = {
            s: x for s, (x, _, state) in self.plays.items() if state == "pending" and now - s <= WINDOW
        }
        self.plays = {s: (x, 0.0, "pending") for s, x in pending.items()}

    @property
    def mean(self):
        if not self.plays:
            return np.zeros(len(self.gram))
        point, value, _ = map(np.array, zip(*self.plays.values(), strict=True))
        return posterior(self.gram, NOISE**2, point, value)[0]


@pytest.mark.parametrize("objective", [Reward, InEpochs])
def test_the_mean_is_that_of_a_dense_process_of_counted_plays(objective):
    belief = partial(Imputed, window=WINDOW, fill=posterior_mean)
    kinds = in_epochs(False if objective is InEpochs else None)
    rule_of = Always(UCB(FixedWidth(2.0)))
    agent = assemble(Model.of(LATE), rule_of, belief=belief, objective=objective, **kinds)
    agent.reset(0)
    rng, dense, none = np.random.default_rng(1), Dense(LATE.kernel(FEW)), np.zeros(1, dtype=np.int64)
    points, values = rng.integers(len(FEW), size=ROUNDS), rng.normal(size=ROUNDS)
    arrives = np.arange(ROUNDS) + rng.integers(LONGEST + 1, size=ROUNDS)
    for t, x in enumerate(points.tolist()):
        ready = np.flatnonzero(arrives == t)
        agent.update(none, x, 0.0, delivery(t, ready, values[ready], np.empty((len(ready), 0))))
        dense.round(t, x, dict(zip(ready.tolist(), values[ready].tolist(), strict=True)))
        if objective is InEpochs and (t + 1) % 11 == 0:
            dense.begin(t + 1)
        np.testing.assert_allclose(agent.belief.mean(none)[0], dense.mean, atol=1e-8, err_msg=f"round {t}")

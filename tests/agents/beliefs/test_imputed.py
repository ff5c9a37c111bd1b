"""Fill-ins of pending plays equal a dense Gaussian process of the counted plays, in fresh beliefs too."""

from functools import partial

import numpy as np
import pytest
from references.formulas import posterior

from agents.acquisition.by_name import Always
from agents.acquisition.rules import UCB
from agents.agent.assembly import assemble
from agents.agent.model_ensemble import in_epochs
from agents.beliefs.imputed import Imputed, posterior_mean
from agents.model.model import Model
from agents.objectives.base import NOTHING, Reward
from agents.widths.base import FixedWidth
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.feedback import delivery

WINDOW, LONGEST, ROUNDS, NOISE = 4, 9, 40, 0.3
ARMS = np.linspace(0.0, 1.0, 3)[:, None]  # few, so that late plays and plays in time share points
SETTING = Setting(
    arms=ARMS, horizon=ROUNDS, kernel=make_kernel("matern52"), noise_std=NOISE, max_delay=LONGEST
)


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
    agent = assemble(Model.of(SETTING), rule_of, belief=belief, objective=objective, **kinds)
    agent.reset(0)
    rng, dense, none = np.random.default_rng(1), Dense(SETTING.kernel(ARMS)), np.zeros(1, dtype=np.int64)
    points, values = rng.integers(len(ARMS), size=ROUNDS), rng.normal(size=ROUNDS)
    arrives = np.arange(ROUNDS) + rng.integers(LONGEST + 1, size=ROUNDS)
    for t, x in enumerate(points.tolist()):
        ready = np.flatnonzero(arrives == t)
        agent.update(none, x, 0.0, delivery(t, ready, values[ready], np.empty((len(ready), 0))))
        dense.round(t, x, dict(zip(ready.tolist(), values[ready].tolist(), strict=True)))
        if objective is InEpochs and (t + 1) % 11 == 0:
            dense.begin(t + 1)
        np.testing.assert_allclose(agent.belief.mean(none)[0], dense.mean, atol=1e-8, err_msg=f"round {t}")

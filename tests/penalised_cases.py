"""What tests of penalised objectives share: the two discs, and runs that write down what is decided."""

import numpy as np
from players import each_round
from sklearn.gaussian_process.kernels import Matern

import agents
from bandit_envs import Decisions, Problem
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.laws import Gaussian, KnownFunction, NoNoise
from bandit_envs.laws.functions import Moments

SIDE = np.linspace(0.0, 6.0, 31)
ARMS = np.array(np.meshgrid(SIDE, SIDE)).reshape(2, -1).T
DISCS = KnownFunction(lambda x: np.sin(x[:, 0]) * np.sin(x[:, 1]) + 0.95, Moments(0.0))
HALF = KnownFunction(lambda x: x[:, 0] - 5.0, Moments(0.0))
LINE = KnownFunction(lambda x: x[:, 1] - x[:, 0], Moments(0.0))
BOTH = ("gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints")
EPOCH, HORIZON = 10, 95


def discs(noise=0.0, constraints=(DISCS,), horizon=HORIZON, **laws):
    return Problem(
        Decisions(ARMS),
        KnownFunction(lambda x: -np.sin(x[:, 0]) - x[:, 1]),
        Matern(2.0, nu=2.5),
        noise=Gaussian(0.1),
        constraints=constraints,
        constraint_noise=Gaussian(noise) if noise else NoNoise(),
        horizon=horizon,
        **laws,
    )


class Run:
    """An agent's run on B trials, with the multipliers after every round and all observed costs."""

    def __init__(self, problem, name, trials=3, **options):
        env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
        observation, _ = env.reset(seed=4)
        self.agent = agents.make(name, env, num_trials=trials, epoch=EPOCH, **options)
        self.agent.reset(range(trials))
        multipliers, observed, delivered, actions = [], [], [], []
        for action, _, info, _ in each_round(env, self.agent, observation, problem.horizon):
            actions.append(action)
            multipliers.append(self.agent.objective.multipliers.value.copy())
            observed.append(info["feedback_cost"].sum(axis=1))
            delivered.append(info["feedback_mask"].sum(axis=1))
        self.actions = np.stack(actions, axis=1)
        self.multiplier = np.stack(multipliers, axis=1)  # (B, T, C) after each round
        self.observed = np.stack(observed, axis=1)  # (B, T, C) sums of what came
        self.delivered = np.stack(delivered, axis=1)  # (B, T)

    def epoch_means(self):
        whole = HORIZON // EPOCH
        shape = len(self.observed), whole, EPOCH
        sums = self.observed[:, : whole * EPOCH].reshape(*shape, -1).sum(axis=2)
        counts = self.delivered[:, : whole * EPOCH].reshape(shape).sum(axis=2)
        return sums / np.maximum(counts, 1)[:, :, None], counts

    def after_epochs(self):
        return self.multiplier[:, EPOCH - 1 :: EPOCH][:, : HORIZON // EPOCH]

"""`reading="paper"` plays what the pseudocode of Shi & Eryilmaz (2022) says, and nothing else."""

import numpy as np
import pytest
from penalised_cases import ARMS, BOTH, DISCS, HALF, discs
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import agents
from bandit_envs.environment.vector import BanditVectorEnv
from gpbandits import evaluate

S, HORIZON, B, R, DELTA, LAMBDA = 20, 140, 2.0, 0.1, 0.1, 0.01
L = HORIZON // S


class Pseudocode:
    """Algorithms 2 and 3 line by line for one trial; kernel k with k(x, x) = 1, noiseless or noisy costs."""

    def __init__(self, noisy, kernel, num_constraints, bound=B):
        self.noisy, self.gram, self.bound = noisy, kernel(ARMS), bound
        self.kappa = np.zeros(num_constraints) if noisy else np.ones(num_constraints)
        self.played, self.rewards, self.costs = [], [], []

    def scores(self):
        """mu_{s-1}(x) + beta_s sigma_{s-1}(x) of epoch l at all arms."""
        h = np.array(self.costs).reshape(-1, len(self.kappa))
        y = np.array(self.rewards) - (h if self.noisy else np.exp(np.maximum(h, 0.0)) - 1.0) @ self.kappa
        noisy_gram = self.gram[np.ix_(self.played, self.played)] + LAMBDA * np.eye(len(y))
        k = self.gram[self.played]
        mean = k.T @ np.linalg.solve(noisy_gram, y)
        variance = np.diag(self.gram) - np.einsum("ia,ia->a", k, np.linalg.solve(noisy_gram, k))
        gain = 0.5 * np.linalg.slogdet(noisy_gram / LAMBDA)[1]
        noise = R * np.sqrt(1.0 + (self.kappa**2).sum()) if self.noisy else R
        delta = DELTA / (2 * L) if self.noisy else DELTA / L
        beta = self.bound + noise * np.sqrt(2.0 * (gain + 1.0 + np.log(1.0 / delta)))
        return mean + beta * np.sqrt(np.maximum(variance, 0.0))

    def update(self, arm, reward, cost):
        self.played.append(arm)
        self.rewards.append(reward)
        self.costs.append(cost)
        if len(self.played) == S:
            mean = np.mean(self.costs, axis=0)
            if self.noisy:
                self.kappa = np.maximum(self.kappa + 0.5 * mean, 0.0)
            else:
                self.kappa = self.kappa * np.exp(np.maximum(mean, 0.0))
            self.played, self.rewards, self.costs = [], [], []


def beside_the_pseudocode(name, constraints, **options):
    """How far each of the agent's plays is from the pseudocode's best score, and each score's range, (T,)."""
    problem = discs(R if name == BOTH[1] else 0.0, constraints=constraints, horizon=HORIZON)
    env = BanditVectorEnv(problem, 1, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=[7])
    agent = agents.make(name, env, num_trials=1, rkhs_bound=B, epoch=S, **options)
    agent.reset([1])
    said = Pseudocode(name == BOTH[1], problem.kernel, len(constraints))
    missed, ranges = [], []
    for _ in range(HORIZON):
        scores = said.scores()
        action = agent.act(observation)
        missed.append(scores.max() - scores[action[0]])
        ranges.append(np.ptp(scores))
        observation, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        said.update(action[0], info["feedback_reward"].sum(), info["feedback_cost"].sum(axis=(0, 1)))
    return np.array(missed), np.array(ranges)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("constraints", [(DISCS,), (DISCS, HALF)], ids=["one", "two"])
def test_the_paper_reading_plays_the_argmax_of_the_pseudocode(name, constraints):
    missed, ranges = beside_the_pseudocode(name, constraints, reading="paper")
    assert (missed <= 1e-8 * (1.0 + ranges)).all()
    first = np.arange(HORIZON) % S == 0
    assert (ranges[first] < 1e-12).all()  # an epoch's first play is uniform, and only that one
    assert (ranges[~first] > 0.1).all()


@pytest.mark.parametrize("name", BOTH)
def test_the_default_is_another_reading(name):
    missed, ranges = beside_the_pseudocode(name, (DISCS,))
    assert (missed > 1e-8 * (1.0 + ranges)).mean() > 0.3


@pytest.mark.parametrize("name", BOTH)
def test_options_override_the_paper_reading(name):
    agent = agents.make(name, discs(), reading="paper", initial=3, epoch=5)
    assert agent.model.initial == 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize("constraint", ["dual", "multiplicative"])
def test_a_composed_agent_reads_the_paper_too(constraint):
    name = BOTH[constraint == "dual"]
    problem = discs(horizon=45)
    kernel = ConstantKernel(4.0) * Matern(2.0, nu=2.5)
    options = {"reading": "paper", "epoch": 10}
    specs = {
        "composed": ("gp-agent", {"kernel": kernel, "constraint": constraint, "constraint_options": options}),
        "named": (name, {"kernel": kernel, **options}),
    }
    plays = evaluate(problem, specs, trials=2).actions
    np.testing.assert_array_equal(plays["composed"], plays["named"])


def test_a_literal_objective_is_that_of_the_paper_however_large_the_multiplier():
    agent = agents.make(BOTH[0], discs(), reading="paper", num_trials=1)
    agent.reset([0])
    objective = agent.objective
    for log_kappa in (0.0, 5.0, 300.0, 900.0):
        objective.multipliers.value = np.full((1, 1), log_kappa)
        objective.multipliers.weights = objective.multipliers.penalty.weights(objective.multipliers.value)
        objective.centre, objective.scale = objective._units()
        value = objective.values(np.zeros(1, dtype=int), np.array([2.0]), np.array([[0.5]]))
        assert np.isfinite(value).all()
        if log_kappa <= 300.0:
            np.testing.assert_allclose(value, 2.0 - np.exp(log_kappa) * np.expm1(0.5))

"""The bounds under long-term constraints, against the formulas by hand and against runs."""

import numpy as np
import pytest
from players import each_round

import agents
from bandit_envs import make
from bandit_envs.problems.benchmarks import small_feasible_region
from gpbandits.theory.regret import Epochs, NoiselessBounds, NoisyBounds

S, L, GAMMA, B, R, DELTA, M = 25, 8, 3.0, 2.0, 0.01, 0.05, 2
EPOCHS = Epochs(S, L, GAMMA, B, R, DELTA, M)
NOISY = NoisyBounds(EPOCHS, step=0.4, reward_bound=1.5, cost_bound=0.5, slack=0.9)


def test_theorem_1_is_the_formula_by_hand():
    epoch = 4 * (B + R * np.sqrt(2 * (GAMMA + 1 + np.log(L / DELTA)))) * np.sqrt((S + 2) * GAMMA)
    bounds = NoiselessBounds(EPOCHS, gap=1.2)
    np.testing.assert_allclose(bounds.regret(np.array([S, 8 * S])), [epoch, 8 * epoch])
    psi = 1 + 8 * 1.2 + 8 * epoch / S
    np.testing.assert_allclose(bounds.violation(np.array([8 * S])), np.sqrt(M) * S * np.log(psi))
    squared = NoiselessBounds(EPOCHS, gap=1.2, inverse=lambda y: (y**0.5 - 1) / 3)  # (3 x + 1)^2
    np.testing.assert_allclose(squared.violation(np.array([8 * S])), np.sqrt(M) * S * (psi**0.5 - 1) / 3)


def test_theorem_2_is_the_formula_by_hand():
    width = R * np.sqrt(2 * (GAMMA + 1 + np.log(2 * L / DELTA)))  # R sqrt(2 (gamma + 1 + log 2L/delta))
    root = np.sqrt((S + 2) * GAMMA)
    tail = np.sqrt(4 * M) + np.sqrt(np.log(2 * L / DELTA))
    kappa = (
        np.sqrt(M) * 0.4 * 0.5
        + 2 * 0.4 * R * tail / np.sqrt(S)
        + (2 * 1.5 + 4 * (B + width) * root / S + M * 0.4 * 0.5**2 + 4 * 0.4 * R**2 * tail**2 / S)
        / (0.9 - 4 * width * root / S - 2 * R * (np.sqrt(4 * M / S) + np.sqrt(np.log(2 * L / DELTA) / S)))
    )
    assert NOISY.multiplier == pytest.approx(kappa, rel=1e-12)
    violation = S * kappa / 0.4 + 2 * R * 3 * (np.sqrt(4 * M * S) + np.sqrt(S * np.log(2 * L / DELTA)))
    assert NOISY.violation(np.array([3 * S]))[0] == pytest.approx(violation, rel=1e-12)
    learning = 4 * (B + np.sqrt(1 + kappa**2) * width) * root
    costs = M * S * 0.4 * 0.5**2 + 4 * 0.4 * R**2 * tail**2 + 2 * R * kappa * np.sqrt(S) * tail
    assert NOISY.regret(np.array([3 * S]))[0] == pytest.approx(3 * (learning + costs), rel=1e-12)


def test_without_enough_slack_theorem_2_bounds_nothing_but_a_given_multiplier_does():
    tight = NoisyBounds(EPOCHS, step=0.4, reward_bound=1.5, cost_bound=0.5, slack=0.05)
    assert tight.multiplier == np.inf == tight.violation(np.array([S]))[0]
    rounds = np.array([S, 2 * S])
    np.testing.assert_allclose(np.diff(tight.violation(rounds, np.array([1.0, 2.0]))) > S / 0.4, True)


def test_regret_bounds_grow_by_the_epoch_and_violation_by_less_where_psi_is_exponential():
    bounds, ends = NoiselessBounds(EPOCHS, gap=1.2), S * np.arange(1, L + 1)
    np.testing.assert_array_equal(bounds.regret(ends), bounds.regret(ends - 1))
    assert (np.diff(bounds.violation(ends) / ends) < 0).all()


def test_the_violation_of_a_run_stays_below_the_bound_of_its_own_multipliers():
    problem = small_feasible_region(num_arms=21**2, constraint_noise_std=0.1, horizon=100)
    env = make(problem)
    epochs = Epochs(length=20, count=5, gamma=1.0, bound=1.0, noise_std=0.1)
    observation, info = env.reset(seed=1)
    agent = agents.make("gp-ucb-noisy-constraints", env, step=5.0)
    agent.reset(seed=1)
    step = 5.0 / agent.objective.prior.std  # of costs as they are
    bounds = NoisyBounds(epochs, step=step, reward_bound=7.0, cost_bound=2.0, slack=0.05)
    total = 0.0
    for t, (_, _, info, _) in enumerate(each_round(env, agent, observation, 100), 1):
        total += info["oracle"]["cost_mean"][0]
        if t % 20 == 0:
            kappa = float(np.linalg.norm(agent.objective.multipliers.value))
            assert max(total, 0.0) <= bounds.violation(np.array([t]), kappa)[0]


@pytest.mark.parametrize("field", ["step", "slack"])
def test_a_step_or_slack_of_zero_is_an_error(field):
    with pytest.raises(ValueError, match=field):
        NoisyBounds(**{**vars(NOISY), field: 0.0})

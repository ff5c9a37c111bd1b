"""Agents that model each cost apart learn each one's hyperparameters by the schedule of the reward's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agent_cases import GAUSSIAN, of_each_shape, seed_for
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.model.hyperparameters import Fitter, Spreads
from agents.objectives.by_name import APART
from bandit_envs import BanditVectorEnv, Setting
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems import build

CONSTRAINED = [name for name in GAUSSIAN if agents.features(name).constraint]
SEPARATE = {"constraint_options": {"models": "separate"}, "constraint": "dual"}
CASES = [
    *((name, {}) for name in CONSTRAINED),
    *(("gp-agent", {"constraint": name}) for name in APART),
    ("gp-agent", SEPARATE),
    ("gp-agent", {"constraint": "safe"}),
]
SHAPE = {"num_arms": 16, "horizon": 20, "num_constraints": 2, "constraint_noise_std": 0.1}
EVERY = 6
pytestmark = pytest.mark.filterwarnings("ignore:psi of noisy costs is biased")


def played(name: str, problem: Any, **options: Any) -> np.ndarray:
    """Return what an agent plays in two trials, (T, 2)."""
    env = BanditVectorEnv(problem, 2, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=[1, 2])
    agent = agents.make(name, env.setting, 2, **options)
    agent.reset([3, 4])
    actions = []
    for _ in range(problem.horizon):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        actions.append(np.array(action))
        observation = following
    return np.stack(actions)


@pytest.mark.parametrize(("name", "options"), of_each_shape(CASES))
def test_where_nothing_is_refitted_plays_are_those_of_the_fixed_hyperparameters(name, options):
    problem = build("constrained", SHAPE | seed_for(name) | safe(options))
    fixed = played(name, problem, **composed(name, options))
    never = played(name, problem, refit_every=SHAPE["horizon"] + 1, **composed(name, options))
    np.testing.assert_array_equal(never, fixed)


@pytest.mark.parametrize(("name", "options"), of_each_shape(CASES))
def test_a_refit_changes_plays_and_the_same_seed_gives_them_again(name, options):
    problem = build("constrained", SHAPE | seed_for(name) | safe(options))
    fixed = played(name, problem, **composed(name, options))
    learnt, again = (played(name, problem, refit_every=EVERY, **composed(name, options)) for _ in range(2))
    np.testing.assert_array_equal(learnt[:EVERY], fixed[:EVERY])
    np.testing.assert_array_equal(learnt, again)


def safe(options: dict[str, Any]) -> dict[str, Any]:
    return {"safe_seed": True} if options.get("constraint") == "safe" else {}


def composed(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Without options `gp-agent` is another agent with models of its own."""
    return {"rule": "ucb", **options} if name == "gp-agent" else options


ARMS = np.random.default_rng(0).uniform(size=(40, 2))
KERNEL = RBF([0.3, 0.3], (0.05, 5.0))
SEEN = np.zeros(1)
ALONE = {
    "withheld": {"constraint_prior_std": None, "constraint_noise_std": None},
    "published": {"constraint_prior_std": [3.0, 0.2], "constraint_noise_std": [0.3, 0.01], "noise_std": 0.1},
}


def outcome(x: np.ndarray) -> np.ndarray:
    """The reward varies in both features; the costs in one each, and one of them slowly."""
    return np.array([np.sin(6 * x[0]) * np.cos(5 * x[1]), 3.0 * np.sin(8 * x[0]), 0.2 * x[1] - 0.1])


def started(name: str, published: str, **options: Any) -> tuple[Any, Setting]:
    setting = Setting(arms=ARMS, horizon=60, num_constraints=2, kernel=KERNEL, **ALONE[published])
    agent = agents.make(name, setting, refit_every=EVERY, fit_restarts=0, **options)
    agent.reset(0)
    return agent, setting


def play(agent: Any, setting: Setting, rounds: range) -> None:
    for t in rounds:
        action = agent.act(SEEN)
        reward, *cost = outcome(setting.to_point(action))
        agent.update(SEEN, action, reward, delivery(t, np.array([t]), np.array([reward]), np.array([cost])))


@pytest.mark.parametrize("published", ALONE)
@pytest.mark.parametrize("name", ["config", "pdcbo", "rpol"])
@pytest.mark.parametrize(
    "spread", [{}, {"fit_spread": 0.5, "fit_amplitude_spread": 0.5, "fit_noise_spread": 1.0}]
)
def test_each_quantity_finds_what_a_fit_of_it_alone_finds_around_its_own_noise(name, published, spread):
    agent, setting = started(name, published, **spread)
    before = agents.make(name, setting)  # its models are those before any fit
    before.reset(0)
    play(agent, setting, range(EVERY))
    play(before, setting, range(EVERY))
    rows, objective = agent.book.rows(np.zeros(1, dtype=int)), agent.objective
    values = [
        objective.values(rows.trial, rows.reward, rows.cost),
        *objective.scaled_costs(rows.trial, rows.cost).T,
    ]
    first = [before.model, *before.objective.cost_models(before.objective.scale)]
    models = [agent.model, *objective.cost_models(objective.scale)]
    spreads = Spreads(
        *(spread.get(f"fit_{x}", np.inf) for x in ("spread", "amplitude_spread", "noise_spread"))
    )
    for model, own, value in zip(models, first, values, strict=True):
        alone = Fitter(own.kernel, np.asarray(own.noise_variance).item(), 1.0, spreads=spreads)
        found = alone.fit(agent.features, rows.point, value, 0, np.random.default_rng(0))
        assert found is not None
        np.testing.assert_allclose(model.kernel.theta, found.kernel.theta, atol=1e-6)
        np.testing.assert_allclose(model.noise_std, np.sqrt(found.noise_variance), rtol=1e-5)


@pytest.mark.parametrize("published", ALONE)
@pytest.mark.parametrize("name", ["config", "pdcbo", "rpol"])
def test_bands_are_those_of_the_learnt_kernels(name, published):
    agent, setting = started(name, published)
    play(agent, setting, range(2 * EVERY))
    rows, objective = agent.book.rows(np.zeros(1, dtype=int)), agent.objective
    costs = objective.scaled_costs(rows.trial, rows.cost).T
    models = objective.cost_models(objective.scale)
    assert not np.allclose(models[0].kernel.theta, models[1].kernel.theta)
    for model, belief, value in zip(models, objective.costs, costs, strict=True):
        covariance = model.kernel(ARMS[rows.point]) + model.noise_variance * np.eye(len(value))
        gain = np.linalg.solve(covariance, model.kernel(ARMS[rows.point], ARMS))
        np.testing.assert_allclose(belief.mean(np.zeros(1, int))[0], gain.T @ value, rtol=1e-6, atol=1e-6)
        variance = model.kernel.diag(ARMS) - (gain * model.kernel(ARMS[rows.point], ARMS)).sum(axis=0)
        np.testing.assert_allclose(belief.std(np.zeros(1, int))[0] ** 2, variance, atol=1e-6)

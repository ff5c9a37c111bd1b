"""Reward and costs learn a kernel and a noise each, by one schedule, as a fit of each alone finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agent_cases import GAUSSIAN, of_each_shape, seed_for
from players import each_round
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.beliefs.surface import Surface
from agents.model.hyperparameters import Fitter
from agents.model.model import Model
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
    return np.stack([action for action, *_ in each_round(env, agent, observation, problem.horizon)])


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
SEEN, HERE = np.zeros(1), np.zeros(1, dtype=int)
TOLD: dict[str, Any] = {"horizon": 60, "num_constraints": 2, "kernel": KERNEL}
WITHHELD = {"constraint_prior_std": None, "constraint_noise_std": None}
PUBLISHED = {"constraint_prior_std": [3.0, 0.2], "constraint_noise_std": [0.3, 0.01], "noise_std": 0.1}
FINITE = Setting(arms=ARMS, **TOLD, **WITHHELD)
PUBLIC = Setting(arms=ARMS, **TOLD, **PUBLISHED)
BOX = Setting(low=np.zeros(2), high=np.ones(2), **TOLD, **WITHHELD)
LIGHT = {"search": {"candidates": 32, "starts": 1, "steps": 3}}
SPREAD = {"fit_spread": 0.5, "fit_amplitude_spread": 0.5, "fit_noise_spread": 1.0}
FITTED = [
    *((name, setting) for name in ("config", "pdcbo", "rpol") for setting in (FINITE, PUBLIC)),
    *(("constrained-ei", setting) for setting in (FINITE, BOX)),
]


def outcome(x: np.ndarray) -> np.ndarray:
    """The reward varies in both features; the costs in one each, and one of them slowly."""
    return np.array([np.sin(6 * x[0]) * np.cos(5 * x[1]), 3.0 * np.sin(8 * x[0]), 0.2 * x[1] - 0.1])


def started(name: str, setting: Setting, **options: Any) -> Any:
    more = LIGHT if setting.continuous else {}
    agent = agents.make(name, setting, **{"refit_every": EVERY, "fit_restarts": 0, **more, **options})
    agent.reset(0)
    return agent


def play(agent: Any, rounds: range) -> Any:
    for t in rounds:
        action = agent.act(SEEN)
        reward, *cost = outcome(agent.setting.to_point(action))
        agent.update(SEEN, action, reward, delivery(t, np.array([t]), np.array([reward]), np.array([cost])))
    return agent


def models_of(agent: Any) -> list[Any]:
    """Return the models of the reward and of each cost."""
    return [agent.model, *agent.objective.cost_models(agent.objective.scale)]


def values_of(agent: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the points of all plays, and the scaled values of the reward and of each cost."""
    rows, objective = agent.book.rows(HERE), agent.objective
    costs = objective.scaled_costs(rows.trial, rows.cost)
    return rows.point, [objective.values(rows.trial, rows.reward, rows.cost), *costs.T]


@pytest.mark.parametrize("spread", [{}, SPREAD])
@pytest.mark.parametrize(("name", "setting"), FITTED)
def test_each_quantity_finds_what_a_fit_of_it_alone_finds(name, setting, spread):
    agent = play(started(name, setting, **spread), range(EVERY))
    learning = Model.of(setting, refit_every=EVERY, **spread).learning
    assert learning is not None
    point, values = values_of(agent)
    first = models_of(play(started(name, setting, **(spread | {"refit_every": 99})), range(EVERY)))
    for model, own, value in zip(models_of(agent), first, values, strict=True):
        scaled = name == "constrained-ei"  # by first plays: fits begin at 0.01
        noise = 0.01 if scaled else np.asarray(own.noise_variance).item()
        alone = Fitter(setting.kernel if scaled else own.kernel, noise, 1.0, learning)
        found = alone.fit(agent.features, point, value, 0, np.random.default_rng(0))
        assert found is not None
        np.testing.assert_allclose(model.kernel.theta, found.kernel.theta, atol=1e-6)
        np.testing.assert_allclose(model.noise_std, np.sqrt(found.noise_variance), rtol=1e-5)


@pytest.mark.parametrize(("name", "setting"), FITTED)
def test_beliefs_are_those_of_the_learnt_kernels(name, setting):
    agent = play(started(name, setting), range(EVERY if setting.continuous else 2 * EVERY))
    point, values = values_of(agent)
    models, at = models_of(agent), agent.features[point]
    assert not np.allclose(models[1].kernel.theta, models[2].kernel.theta)
    for model, belief, value in zip(models, [agent.belief, *agent.objective.costs], values, strict=True):
        covariance = model.kernel(at) + model.noise_variance * np.eye(len(value))
        gain = np.linalg.solve(covariance, model.kernel(at, ARMS))
        on_box = setting.continuous
        mean, std = (
            Surface.of(belief).predict(ARMS) if on_box else (belief.mean(HERE)[0], belief.std(HERE)[0])
        )
        np.testing.assert_allclose(mean, gain.T @ value, rtol=1e-6, atol=1e-6)
        variance = model.kernel.diag(ARMS) - (gain * model.kernel(at, ARMS)).sum(axis=0)
        np.testing.assert_allclose(std**2, variance, atol=1e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("setting", [FINITE, BOX], ids=["arms", "box"])
def test_workers_ask_for_nothing_that_is_pending(setting):
    agent, asked = play(started("constrained-ei", setting, hallucinate=True), range(12)), []
    for t in range(12, 20):
        asked.append(agent.act(SEEN))
        nothing = delivery(t, np.empty(0, dtype=int), np.empty(0), np.empty((0, 2)))
        agent.update(SEEN, asked[-1], 0.0, nothing)
    assert len(np.unique(asked, axis=0)) == len(asked)


def test_told_one_after_another_it_fits_once():
    agent = started("constrained-ei", FINITE)
    with agent.listening():
        play(agent, range(20))
    assert len(agent.assumptions.fits) == 1

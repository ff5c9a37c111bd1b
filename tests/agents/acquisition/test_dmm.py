"""Bands under several regularisations against their definitions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import references
from players import play

import agents
from agents.acquisition.robust import DMM
from agents.beliefs.points import Arms, Pairs
from agents.beliefs.ridges import RATIOS, Ridges
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.posteriors import FORMS
from agents.posteriors.base import SufficientStatistics
from agents.registry import resolve_agent
from agents.widths.bounded_norm import AMMWidth
from bandit_envs import Setting
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problems.synthetic import synthetic

HERE = np.zeros(2, dtype=np.int64)
PROBLEM = synthetic(
    function="rkhs",
    rkhs_norm=1.5,
    kernel="matern52",
    num_arms=20,
    horizon=30,
    noise_std=0.2,
    delay={"law": "constant", "rounds": 1},
)
MODEL = Model.of(PROBLEM.setting(), noise_variance=0.05)
AT_ARMS = Arms(HERE, MODEL.setting.decisions)
GRAM = MODEL.gram.dense
BOX = Setting(
    low=np.zeros(1), high=np.ones(1), horizon=10, kernel=make_kernel("rbf"), noise_std=0.1, rkhs_bound=1.0
)


def played(agent: Any, rounds: int = 30, seed: int = 3) -> Any:
    """The agent after some rounds of two trials, with its actions."""
    env = BanditVectorEnv(PROBLEM, 2, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=[seed, seed + 1])
    agent.reset([1, 2])
    agent.actions, _ = play(env, agent, observation, rounds)
    return agent


def dmm_ucb(**options: Any) -> Any:
    return resolve_agent(("dmm-ucb", {"noise_variance": 0.05, **options}))(PROBLEM.setting(), 2)


def told(ratios: Any, form: str | None = None) -> tuple[Ridges, Any, Any]:
    """A belief that has seen plays of two trials, and these."""
    rng = np.random.default_rng(0)
    belief = Ridges(replace(MODEL, form=form), 2, ratios)
    point, value = rng.integers(20, size=(2, 15)), rng.normal(size=(2, 15))
    for t in range(15):
        belief.receive(Delivery.of_values(np.arange(2), point[:, t], value[:, t]))
    return belief, point, value


def quadratic(noise: float, point: Any, value: Any) -> float:
    """a y' (K + a I)^-1 y."""
    among = GRAM[np.ix_(point, point)]
    return noise * value @ np.linalg.solve(among + noise * np.eye(len(point)), value)


@pytest.mark.parametrize("form", FORMS)
def test_fits_by_innovations_are_fits_by_solving(form):
    belief, point, value = told(RATIOS, form)
    assert_fits(belief, point, value)


def assert_fits(belief: Ridges, point: Any, value: Any, trials: Any = (0, 1)) -> None:
    assert len(belief.fits) == len(RATIOS)
    for noise, misfit in belief.fits:
        for i in trials:
            expected = quadratic(noise[i], point[i], value[i]) - quadratic(0.05, point[i], value[i])
            assert misfit[i] == pytest.approx(expected, rel=1e-8, abs=1e-11)


def test_fits_follow_values_that_change_and_trials_that_start_over():
    belief, point, value = told(RATIOS)
    new = np.stack([value[0], 2.0 * value[1] - 1.0])

    def came(i: int, at: Any) -> SufficientStatistics:
        each = [new[i][point[i] == x] for x in at]
        plays = np.array([len(one) for one in each], dtype=np.float64)
        return SufficientStatistics(at, plays, np.array([one.sum() for one in each]))

    belief.revalue(np.array([1]), came)
    assert_fits(belief, point, new)
    belief.remodel(MODEL)
    assert_fits(belief, point, new)
    belief.forget(np.array([0]))
    assert [misfit[0] for _, misfit in belief.fits] == [0.0] * len(RATIOS)
    assert_fits(belief, point, new, trials=[1])


def test_every_regularisation_has_its_own_posterior():
    belief, point, value = told(RATIOS)
    for ridge in AT_ARMS.ridges(belief):
        for i in range(2):
            mean, covariance = references.posterior(GRAM, ridge.fit.noise[i], point[i], value[i])
            np.testing.assert_allclose(ridge.mean[i], mean, atol=1e-9)
            np.testing.assert_allclose(ridge.std[i], np.sqrt(np.diag(covariance)), atol=1e-9)


def test_the_regularisation_lambda_alone_is_the_amm_width():
    agent = played(dmm_ucb(ratios=[1.0]))
    other = played(resolve_agent(("gp-ucb", {"width": "amm", "noise_variance": 0.05}))(PROBLEM.setting(), 2))
    np.testing.assert_array_equal(agent.actions, other.actions)
    (ridge,) = AT_ARMS.ridges(agent.belief)
    amm = AMMWidth(MODEL.rkhs_bound, MODEL.noise_std, 0.05)
    width = amm(agent.t, agent.belief.gain)
    np.testing.assert_allclose(agent.rule.width(ridge.fit, agent.belief.gain), width, rtol=1e-10)


def test_each_width_is_the_formula_of_the_paper():
    belief, point, value = told(RATIOS)
    rule = DMM(1.5, 0.2, 0.05)
    for ridge in AT_ARMS.ridges(belief):
        noise = ridge.fit.noise[0]
        q = quadratic(0.05, point[0], value[0]) - quadratic(noise, point[0], value[0])
        gain = references.information_gain(GRAM, 0.05, point[0])
        square = (q + 2 * 0.2**2 * (gain + np.log(1 / 0.05)) + noise * 1.5**2) / noise
        expected = np.sqrt(max(square, 0.0))
        assert rule.width(ridge.fit, belief.gain)[0] == pytest.approx(expected, rel=1e-9)


def test_its_band_is_as_sure_as_it_is_told():
    assert [agents.dmm_ucb(BOX, delta=delta).rule.delta for delta in (0.02, 0.3)] == [0.02, 0.3]  # type: ignore[union-attr]


@pytest.mark.parametrize("norm", [1.5, 0.001])
def test_a_norm_that_is_far_too_small_is_refuted_and_the_right_one_is_not(norm):
    agent = played(dmm_ucb(rkhs_bound=norm, noise_std=0.2 if norm > 1 else 0.02))
    np.testing.assert_array_equal(agent.refuted, [norm < 1.0] * 2)


@pytest.mark.parametrize("options", [{"refit_every": 5}, {"initial": 2}])
def test_whoever_plays_it_the_flag_is_one_a_trial(options):
    assert played(dmm_ucb(**options), rounds=6).refuted.shape == (2,)


def test_the_width_dmm_of_gp_ucb_is_the_agent_of_that_name():
    named = played(dmm_ucb())
    width = played(resolve_agent(("gp-ucb", {"width": "dmm", "noise_variance": 0.05}))(PROBLEM.setting(), 2))
    parts = played(resolve_agent(("gp-agent", {"rule": "dmm", "noise_variance": 0.05}))(PROBLEM.setting(), 2))
    for other in (width, parts):
        np.testing.assert_array_equal(named.actions, other.actions)
    with pytest.raises(ValueError, match='gamma must be left out with the width "dmm"'):
        agents.gp_ucb(PROBLEM.setting(), width="dmm", gamma=1.0)


def test_on_a_box_it_scores_as_at_arms():
    agent = resolve_agent(("dmm-ucb", {"search": {"candidates": 16, "starts": 1, "steps": 2}}))(BOX)
    agent.reset(0)
    arms = np.linspace(0.0, 1.0, 6)[:, None]
    finite: Any = agents.dmm_ucb(replace(BOX, low=None, high=None, arms=arms))
    finite.reset(0)
    for t in range(5):
        assert agent.domain.visited.index(arms[t]) == t
        for belief in (agent.belief, finite.belief):
            belief.receive(Delivery.of_values(np.zeros(1, int), np.array([t]), np.array([np.sin(t)])))
    on_box, on_set = Pairs(np.empty(0), arms), Arms(HERE[:1], finite.setting.decisions)
    for here, there in zip(on_box.ridges(agent.belief), on_set.ridges(finite.belief), strict=True):
        np.testing.assert_allclose(here.mean, there.mean, atol=1e-9)
        np.testing.assert_allclose(here.std, there.std, atol=1e-7)
        np.testing.assert_allclose(here.fit.misfit, there.fit.misfit, rtol=1e-9, atol=1e-12)

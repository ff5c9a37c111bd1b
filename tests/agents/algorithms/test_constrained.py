"""Algorithms 2 and 3 of Shi & Eryilmaz (2022) on problems with costs, in both readings."""

import warnings

import numpy as np
import pytest
from penalised_cases import ARMS, BOTH, EPOCH, HORIZON, Run, discs
from sklearn.gaussian_process.kernels import Matern

import agents
from agents.agent import domain
from agents.model.choice import argmax_with_ties
from bandit_envs import Decisions, Problem, Setting
from bandit_envs.laws import Gaussian, KnownFunction, delays
from bandit_envs.laws.functions import Moments
from gpbandits import evaluate


@pytest.mark.sampled(1)
@pytest.mark.parametrize("initial", [0, 5])
def test_with_step_0_and_reuse_it_is_unconstrained_igp_ucb_at_the_same_delta(initial):
    shared = {"noise_variance": 0.01, "rkhs_bound": 1.0, "initial": initial}
    epochs = -(-HORIZON // EPOCH)
    specs = {
        "dual": (BOTH[1], {**shared, "step": 0.0, "epoch": EPOCH, "delta": 0.2, "standardize": False}),
        "igp": ("igp-ucb", {**shared, "delta": 0.2 / (2 * epochs)}),
    }
    plays = evaluate(discs(0.1), specs, trials=3).actions
    np.testing.assert_array_equal(plays["dual"], plays["igp"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BOTH)
def test_the_first_plays_are_uniform_once_a_trial_and_not_once_an_epoch(name, monkeypatch):
    uniform = []

    def watch(scores, *rest):
        uniform.append(bool((np.ptp(scores, axis=1) == 0).all()))
        return argmax_with_ties(scores, *rest)

    monkeypatch.setattr(domain, "argmax_with_ties", watch)
    Run(discs(), name, trials=2, reuse=False)
    assert uniform == [t < 5 for t in range(HORIZON)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BOTH)
def test_an_objective_in_its_own_units_has_the_published_prior_mean(name):
    of_a_zero = {"centre": 0.0, "standardize": False}
    specs = {"given": (name, of_a_zero), "published": (name, {"standardize": False})}
    plays = evaluate(discs(), specs, trials=2).actions
    np.testing.assert_array_equal(plays["given"], plays["published"])


EVERY_NAME = (*BOTH, "bandit-oco", "admmbo", "constrained-ei")


EVERY = {
    **{name: (name, {}) for name in EVERY_NAME},
    **{f"{name}, restart": (name, {"reuse": False}) for name in BOTH},
    **{f"{name}, separate": (name, {"models": "separate"}) for name in BOTH},
    **{f"{name}, Thompson": (name, {"inner": "thompson"}) for name in BOTH},
}


def in_contexts(horizon=120, **laws):
    """The feasible arms, 0.2 about the context, move with it; the reward alone would have all play arm 1."""
    line = np.linspace(0.0, 1.0, 25)[:, None]
    decisions = Decisions(line, contexts=np.array([[0.2], [0.5], [0.8]]))
    costs = (lambda x: x[:, 1] - x[:, 0] - 0.2, lambda x: x[:, 0] - 0.2 - x[:, 1], lambda x: -x[:, 1])
    return Problem(
        decisions,
        KnownFunction(lambda x: 2.0 * x[:, 1]),
        Matern(0.3, nu=2.5),
        noise=Gaussian(0.05),
        constraints=tuple(KnownFunction(cost, Moments(0.0)) for cost in costs),
        horizon=horizon,
        **laws,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", EVERY.values(), ids=EVERY.keys())
@pytest.mark.parametrize(
    "laws", [{}, {"delay": delays.PoissonDelay(3.0), "max_delay": 8}], ids=["now", "delayed"]
)
def test_three_constraints_in_contexts_are_learnt_with_and_without_delays(spec, laws):
    result = evaluate(in_contexts(**laws), {"it": spec, "free": "igp-ucb"}, trials=3)
    assert result.costs["it"].shape == (3, 120, 3)
    violation = {label: curve[:, -1].mean() for label, curve in result.curves("average_violation").items()}
    hard = {label: np.maximum(cost, 0.0)[:, 60:].mean() for label, cost in result.costs.items()}
    assert violation["it"] < 0.6 * violation["free"]
    assert hard["it"] < hard["free"]  # Algorithm 3 mixes arms above and below zero, so by less


SETTING = Setting(arms=ARMS, kernel=Matern(1.0, nu=2.5), num_constraints=1)


def test_warnings_for_a_linear_psi_and_for_algorithm_2_under_constraint_noise():
    with pytest.warns(UserWarning, match="n = 1 has no sublinear violation"):
        agents.make(BOTH[0], SETTING, psi="polynomial", psi_options={"n": 1})
    noisy = Setting(arms=ARMS, kernel=Matern(1.0, nu=2.5), num_constraints=1, constraint_noise_std=0.1)
    with pytest.warns(UserWarning, match="gp-ucb-noisy-constraints"):
        agents.make(BOTH[0], noisy)
    with pytest.warns(UserWarning, match="gp-ucb-noisy-constraints"):
        agents.make(BOTH[0], SETTING, constraint_noise_std=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agents.make(BOTH[1], noisy)
        agents.make(BOTH[0], noisy, constraint_noise_std=0.0)


@pytest.mark.parametrize("name", BOTH)
def test_options_override_the_paper_reading(name):
    agent = agents.make(name, discs(), reading="paper", initial=3, epoch=5)
    assert agent.model.initial == 3


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_short_epochs_have_as_many_first_plays_as_rounds(name, epoch):
    problem = discs(horizon=20)
    agent = agents.make(name, problem, num_trials=2, epoch=epoch)
    assert agent.model.initial == epoch
    result = evaluate(problem, {"it": (name, {"epoch": epoch})}, trials=2)
    assert np.isfinite(result.regret["it"]).all()


@pytest.mark.long
@pytest.mark.parametrize(("name", "noise"), [(BOTH[0], 0.0), (BOTH[1], 0.1)])
def test_regret_and_violation_fall_on_the_two_discs(name, noise):
    problem = discs(noise, horizon=350)
    specs = {"it": name, "restart": (name, {"reuse": False}), "unconstrained": "igp-ucb"}
    result = evaluate(problem, specs, trials=8)
    rounds = np.arange(1, 351)
    violation = {
        label: (np.maximum(np.cumsum(cost[:, :, 0], axis=1), 0) / rounds).mean(axis=0)
        for label, cost in result.costs.items()
    }
    regret = np.abs(result.regret["it"]).mean(axis=0) / rounds
    assert violation["it"][349] < violation["it"][199] < violation["it"][99]
    assert violation["it"][349] < 0.15 < 0.8 < violation["unconstrained"][349]
    assert violation["it"][349] < violation["restart"][349]
    assert regret[349] < 0.6

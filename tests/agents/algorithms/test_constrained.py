"""Algorithms 2 and 3 of Shi & Eryilmaz (2022) on problems with costs, in both readings."""

import warnings

import numpy as np
import pytest
from penalised_cases import ARMS, BOTH, EPOCH, HORIZON, Run, discs
from players import each_round, started
from references import posterior
from sklearn.gaussian_process.kernels import Matern

import agents
from agents.agent import domain
from agents.model.choice import argmax_with_ties
from bandit_envs import Decisions, Problem, Setting
from bandit_envs.environment.envs import BanditEnv
from bandit_envs.laws import Gaussian, KnownFunction, delays
from bandit_envs.laws.functions import Moments
from bandit_envs.problem.feedback import Feedback
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


# A kernel of every epoch's objective (k_l)

SHORT, PLAYED, REFITTED = 8, 35, 12


@pytest.fixture(scope="module", params=[(name, reuse) for name in BOTH for reuse in (True, False)], ids=str)
def run(request):
    """An agent after 35 rounds, the rounds after which its kernel was another, and what came."""
    name, reuse = request.param
    env = BanditEnv(discs(0.1 if name == BOTH[1] else 0.0, horizon=PLAYED))
    observation, _ = env.reset(seed=2)
    agent = started(agents.make(name, env, epoch=SHORT, refit_every=REFITTED, reuse=reuse), 3)
    changed, plays, came, kernel = [], [], [], agent.model.kernel
    for t, (action, _, info, _) in enumerate(each_round(env, agent, observation, PLAYED)):
        plays.append(action)
        came.append(Feedback.arrived(info)[2:])
        if agent.model.kernel is not kernel:
            changed.append(t + 1)
            kernel = agent.model.kernel
    return agent, changed, np.array(plays), came, 0 if reuse else PLAYED // SHORT * SHORT


def test_kernels_change_at_the_ends_of_epochs_alone(run):
    agent, changed, *_ = run
    assert changed == [16, 24]  # multiples of 12 are in the second and the third epoch
    assert agent.failed_fits == 0


def test_they_are_fitted_to_the_values_of_all_plays_under_the_new_multipliers(run):
    agent, _, plays, came, _ = run
    point, value, _ = agent.assumptions.sample(agent)
    np.testing.assert_array_equal(point, plays)
    reward, cost = (np.concatenate(column) for column in zip(*came, strict=True))
    expected = agent.objective.values(np.zeros(PLAYED, dtype=int), reward, cost)
    np.testing.assert_allclose(value, expected)


def test_the_belief_is_the_posterior_under_the_latest_kernel(run):
    agent, _, plays, came, begin = run
    reward, cost = (np.concatenate(column)[begin:] for column in zip(*came, strict=True))
    value = agent.objective.values(np.zeros(PLAYED - begin, dtype=int), reward, cost)
    gram = agent.model.kernel(agent.setting.decisions.points)
    mean, covariance = posterior(gram, float(agent.belief.mean_posterior.noise[0]), plays[begin:], value)
    np.testing.assert_allclose(agent.belief.mean(np.zeros(1, int))[0], mean, atol=1e-6)
    np.testing.assert_allclose(agent.belief.std(np.zeros(1, int))[0] ** 2, np.diag(covariance), atol=1e-6)

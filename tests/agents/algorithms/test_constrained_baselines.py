"""What all baselines of constrained problems keep: the rules, sense on the two discs, and clear errors."""

import numpy as np
import pytest
from baseline_cases import BOX, NOWHERE, SETTING, feedback, started, two_discs

from agents.algorithms.admmbo import admmbo
from agents.algorithms.constrained import constrained_ei
from agents.algorithms.no_model import bandit_oco
from bandit_envs.laws import delays
from gpbandits import check_agent, evaluate
from gpbandits.evaluation.rehearsal import stages

FACTORIES = {
    "bandit-oco": "agents.algorithms.no_model:bandit_oco",
    "two points": ("agents.algorithms.no_model:bandit_oco", {"points": 2}),
    "admmbo": "agents.algorithms.admmbo:admmbo",
    "constrained-ei": "agents.algorithms.constrained:constrained_ei",
}


every_agent = pytest.mark.parametrize("agent", FACTORIES.values(), ids=FACTORIES.keys())


@pytest.mark.long
@every_agent
def test_every_baseline_passes_the_conformance_suite(agent):
    problems = {name: problem for name, problem in stages().items() if name != "change"}
    check_agent(agent, {**problems, "both": two_discs(0.1, 30, delay=delays.PoissonDelay(2.0), max_delay=4)})


@pytest.mark.long
def test_every_baseline_beats_random_plays_on_the_two_discs():
    result = evaluate(two_discs(), {"random": "random", **FACTORIES}, trials=4)
    violation = {name: np.maximum(result.costs[name], 0.0).mean() for name in result.costs}
    regret = {name: result.regret[name][:, -1].mean() for name in result.regret}
    assert all(violation[name] < violation["random"] for name in FACTORIES)
    assert all(regret[name] < regret["random"] for name in FACTORIES)
    assert violation["constrained-ei"] < 0.25 * violation["random"]


BAD = {
    "points": (lambda: bandit_oco(SETTING, points=3), "points must be 1 or 2"),
    "eta": (lambda: bandit_oco(SETTING, eta=-0.1), "eta must not be negative"),
    "zeta": (lambda: bandit_oco(SETTING, zeta=0.0), "zeta must be positive"),
    "large zeta": (lambda: bandit_oco(SETTING, zeta=3.0), "zeta must be below 3"),
    "delta_reg": (lambda: bandit_oco(SETTING, delta_reg=-1.0), "delta_reg must not be negative"),
    "trials": (lambda: bandit_oco(SETTING, num_trials=0), "num_trials must be None or a positive"),
    "oco twice": (
        lambda: started(bandit_oco(SETTING)).update(NOWHERE, 1, 0.0, feedback([1.0], [[0.0, 0.0]], [3])),
        "feedback must come once",
    ),
    "initial": (
        lambda: constrained_ei(SETTING, initial=-1),
        "initial must be an integer of at least 0, got -1",
    ),
    "learning": (lambda: admmbo(SETTING, refit_every=5), "refit_every must be left out"),
    "learnt mean": (lambda: constrained_ei(SETTING, refit_every=5, fit_mean=True), "fit_mean must be left"),
    "prior mean": (lambda: constrained_ei(SETTING, prior_mean=1.0), "prior_mean must be left out"),
    "noise": (lambda: constrained_ei(SETTING, constraint_noise_std=-1.0), "constraint_noise_std"),
    "box": (lambda: admmbo(BOX), "must have arms, got a box"),
    "costs": (
        lambda: started(constrained_ei(SETTING)).update(NOWHERE, 1, 0.0, feedback([1.0], [[0.0]], [0])),
        r"feedback_cost.* must have 2 cost\(s\)",
    ),
    "rho": (lambda: admmbo(SETTING, rho=0.0), "rho must be positive"),
    "no first play": (lambda: admmbo(SETTING, initial=0), "initial must be an integer of at least 1"),
    "steps": (lambda: admmbo(SETTING, reward_steps=(5,)), "reward_steps must be two positive integers"),
    "no steps": (lambda: admmbo(SETTING, cost_steps=(5, 0)), "cost_steps must be two positive integers"),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_option_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()

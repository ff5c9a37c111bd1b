"""Bounds are those of their theorems, hold over what is played, and are refused where they do not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gpbandits
from agents.widths.information_gain import upper_bound
from bandit_envs.basics.options import parse
from bandit_envs.laws import Gaussian
from bandit_envs.laws.noise import BASES, LAWS, Noise
from bandit_envs.problems import build
from gpbandits.evaluation.plots import regret_figure
from gpbandits.theory.overlays import BOUNDS, bound

T = 150
SMALL = {"num_arms": 30, "horizon": T}
NORM = {**SMALL, "rkhs_norm": 2.0, "noise_std": 0.1, "points": "grid"}
AMM = ("gp-ucb", {"width": "amm"})
MET = {  # a problem and an agent that meet what each bound assumes
    "bounded-norm": (("rkhs", NORM), AMM),
    "igp-ucb": (("rkhs", NORM), ("igp-ucb", {"noise_variance": 1 + 2 / T})),
    "gp-sample": (("gp", SMALL), "gp-ucb"),
    "randomised": (("gp", SMALL), "irgp-ucb"),
    "hard": (("hard", {**SMALL, "kernel": "matern52"}), AMM),
    "rate": (("rkhs", {**NORM, "kernel": "matern52"}), AMM),
}
each_bound = pytest.mark.parametrize("name", BOUNDS)


def made(name: str):
    (problem, keywords), agent = MET[name]
    whole = build(problem, keywords)
    return whole, agent, bound(name, whole, agent)


@each_bound
def test_measured_regret_is_on_the_right_side_of_every_bound(name):
    problem, agent, overlay = made(name)
    regret = gpbandits.evaluate(problem, {"it": agent}, trials=3).regret["it"].mean(axis=0)
    measured = regret[overlay.rounds - 1]
    match overlay.side:
        case "upper":
            assert (measured <= overlay.values).all()
        case "lower":
            assert (measured >= overlay.values).all()
        case "slope":
            growth = np.diff(np.log(overlay.values[[-2, -1]])) / np.diff(np.log(overlay.rounds[[-2, -1]]))
            assert growth == pytest.approx((2.5 + 1) / (5 + 1))


@pytest.mark.sampled(4)
@each_bound
def test_every_bound_is_drawn_and_named_in_the_legend(name):
    problem, agent, overlay = made(name)
    result = gpbandits.evaluate(problem, {"it": agent}, trials=2)
    axes = regret_figure(result, "log-log", bounds=[overlay]).axes[0]
    assert overlay.label in axes.get_legend_handles_labels()[1]
    assert len(axes.lines) == 2


def test_the_bound_of_bounded_norms_is_the_textbook_formula():
    problem, _, overlay = made("bounded-norm")
    gamma = upper_bound(problem.gram, 0.01, T).values[0, T]
    width = np.sqrt(4.0 + 2.0 * (upper_bound(problem.gram, 0.01, T).values[0, T - 1] + np.log(10.0)))
    expected = 2 * width * np.sqrt(2 / np.log(1 + 100.0) * T * gamma)
    assert overlay.values[-1] == pytest.approx(expected, rel=0.01)
    assert overlay.values[-1] >= expected


def test_the_bound_of_dmm_is_that_of_amm_whatever_its_regularisations():
    problem, _, amm = made("bounded-norm")
    for ratios in ([0.1, 10.0], [0.3]):
        agent = ("dmm-ucb", {"ratios": ratios})
        overlay = bound("bounded-norm", problem, agent)
        np.testing.assert_allclose(overlay.values, amm.values, rtol=1e-12)
        regret = gpbandits.evaluate(problem, {"it": agent}, trials=3).regret["it"].mean(axis=0)
        assert (regret[overlay.rounds - 1] <= overlay.values).all()
    surer = bound("bounded-norm", problem, ("dmm-ucb", {"delta": 0.01}))
    assert (surer.values > amm.values).all()


def test_a_slope_has_no_level():
    problem, agent, overlay = made("rate")
    result = gpbandits.evaluate(problem, {"it": agent}, trials=2)
    scaled = [overlay._replace(values=factor * overlay.values) for factor in (1.0, 7.0)]
    figures = [regret_figure(result, "log-log", bounds=[each]) for each in scaled]
    one, seven = (np.asarray(figure.axes[0].lines[1].get_ydata(), dtype=float) for figure in figures)
    np.testing.assert_allclose(one, seven)
    with pytest.raises(ValueError, match="no level"):
        regret_figure(result, "linear", bounds=[overlay])


@pytest.mark.parametrize(
    ("name", "problem", "agent", "complaint"),
    [
        ("bounded-norm", ("rkhs", {**NORM, "rkhs_norm": None}), AMM, "stated norm"),
        ("bounded-norm", ("gp", SMALL), AMM, "stated norm"),
        ("bounded-norm", ("rkhs", NORM), None, "an agent"),
        ("bounded-norm", ("rkhs", NORM), "gp-ts", "gp-ts"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": 1.0}), "width"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": "amm", "gamma": "rate"}), "gain"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": "amm", "rkhs_bound": 1.0}), "B = 1"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": "amm", "noise_std": 0.05}), "noise_std"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": "amm", "length_scale": 0.3}), "kernel"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": "amm", "refit_every": 20}), "refit_every"),
        ("bounded-norm", ("rkhs", NORM), ("gp-ucb", {"width": "amm", "prior_mean": 0.5}), "prior mean"),
        ("bounded-norm", ("rkhs", {**NORM, "signal_variance": 4.0}), AMM, "signal_variance"),
        ("bounded-norm", ("rkhs", {**NORM, "num_segments": 2}), AMM, "changes"),
        ("bounded-norm", ("rkhs", {**NORM, "delay": {"law": "constant", "rounds": 2}}), AMM, "at once"),
        ("bounded-norm", ("rkhs", {**NORM, "noise": "student-t", "noise_std": 0.1}), AMM, "sub-Gaussian"),
        ("bounded-norm", ("rkhs", {**NORM, "constraints": {"law": "gp"}}), AMM, "constraints"),
        ("igp-ucb", ("rkhs", NORM), "igp-ucb", "1 [+] 2 / T"),
        ("gp-sample", ("gp", SMALL), ("gp-ucb", {"beta_scale": 0.2}), "beta_scale"),
        ("gp-sample", ("gp", {**SMALL, "noise": {"law": "uniform", "std": 0.1}}), "gp-ucb", "Gaussian"),
        ("gp-sample", ("gp", SMALL), ("gp-ucb", {"noise_variance": 0.1}), "noise_variance"),
        ("randomised", ("rkhs", NORM), "irgp-ucb", "GP"),
        ("randomised", ("gp", SMALL), "gp-ts", "FixedWidth"),
        ("hard", ("rkhs", NORM), None, "GPBandit-Hard-v0"),
        ("hard", ("hard", {**SMALL, "rescaled": True}), None, "rescaled"),
        ("hard", ("hard", {**SMALL, "rkhs_bound": "true"}), None, "norm"),
        ("rate", ("rkhs", {**NORM, "kernel": "linear"}), None, "Matern"),
    ],
)
def test_a_bound_is_refused_where_its_assumption_is_not_met(name, problem, agent, complaint):
    with pytest.raises(ValueError, match=complaint):
        bound(name, build(*problem), agent)


HEAVY = [
    spec
    for spec in [*LAWS, *({"law": "by-arm", "base": base} for base in BASES)]
    if parse("noise", spec, LAWS).sub_gaussian is None
]


@pytest.mark.parametrize("name", ["bounded-norm", "igp-ucb"])
@pytest.mark.parametrize("noise", HEAVY, ids=str)
def test_no_bound_for_sub_gaussian_noise_is_drawn_over_another(noise, name):
    with pytest.raises(ValueError, match="assumes sub-Gaussian noise"):
        bound(name, build("rkhs", {**NORM, "noise": noise, "noise_std": 0.1}), AMM)


def test_a_law_that_is_registered_later_is_not_taken_for_sub_gaussian():
    class Other(Gaussian):
        sub_gaussian = Noise.sub_gaussian

    with pytest.raises(ValueError, match="assumes sub-Gaussian noise"):
        bound("bounded-norm", dataclasses.replace(build("rkhs", NORM), noise=Other(0.1)), AMM)


def test_the_lower_bound_is_for_the_noise_that_functions_are_made_for():
    problem = build("hard", SMALL)
    with pytest.raises(ValueError, match="Gaussian noise of std"):
        bound("hard", dataclasses.replace(problem, noise=Gaussian(0.05)))
    with pytest.raises(ValueError, match="Gaussian noise of std"):
        bound("hard", build("hard", {**SMALL, "noise": {"law": "uniform", "std": 0.1}}))


def test_an_unknown_bound_is_answered_with_those_that_are_known():
    with pytest.raises(ValueError, match="bounded-norm"):
        bound("exact", build("gp", SMALL))


@pytest.mark.parametrize("horizon", [T - 1, T + 1])
def test_bounds_of_another_horizon_are_refused(horizon):
    problem, agent, overlay = made("hard")
    result = gpbandits.evaluate(problem, {"it": agent}, trials=1)
    other = bound("hard", build("hard", {**SMALL, "kernel": "matern52", "horizon": horizon}))
    for each, complaint in ((other, "150 rounds"), ("hard", "overlays.bound")):
        with pytest.raises(ValueError, match=complaint):
            regret_figure(result, bounds=[each])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="simple_regret"):
        regret_figure(result, metric="simple_regret", bounds=[overlay])


def test_an_id_has_the_bound_of_its_problem():
    agent, kwargs = (
        ("gp-ucb", {"width": "self-normalised"}),
        {"rkhs_norm": 2.0, "noise_std": 0.1, "horizon": 50},
    )
    by_id = bound("bounded-norm", "GPBandit-RKHS-v0", agent, kwargs)
    np.testing.assert_array_equal(by_id.values, bound("bounded-norm", build("rkhs", kwargs), agent).values)
    with pytest.raises(ValueError, match="environment must be a Problem or one of GPBandit-GP-v0"):
        bound("bounded-norm", "rkhs", agent)

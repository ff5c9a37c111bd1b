"""Widths by their names, and formulas trial by trial."""

import agent_cases
import numpy as np
import pytest
from agent_cases import BATCHED, of_each_shape

import agents
from agents.model.model import Model
from agents.widths.base import FixedWidth, Width, elementwise, log, sqrt
from agents.widths.by_name import ELSEWHERE, WIDTHS, make_width, takes
from agents.widths.information_gain import upper_bound
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel

SETTING = Setting(
    arms=np.linspace(0, 1, 20)[:, None], horizon=10, kernel=make_kernel("rbf"), noise_std=0.1, rkhs_bound=1.0
)
MODEL = Model.of(SETTING)
OPTIONS = {"beta_scale": 0.2, "gamma": 3.0}
T, GAIN = np.array([4]), np.array([0.7])


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", WIDTHS)
def test_an_option_of_a_width_has_an_effect_or_is_an_error(name, option):
    given = {option: OPTIONS[option]}
    if option in takes(name):
        assert make_width(name, MODEL, 0.1, **given)(T, GAIN) != make_width(name, MODEL, 0.1)(T, GAIN)
        return
    message = (
        f"{option} must be left out with the width '{name}'.*got {given[option]}.*take one of the widths"
    )
    with pytest.raises(ValueError, match=message):
        make_width(name, MODEL, 0.1, **given)


@pytest.mark.parametrize("name", WIDTHS)
def test_a_surer_band_is_wider_but_where_nothing_is_sure(name):
    sure, unsure = (make_width(name, MODEL, delta)(T, GAIN) for delta in (0.01, 0.1))
    assert sure > unsure if name not in {"constant", "change-point"} else sure == unsure


def test_every_option_is_taken_by_some_width_and_no_width_takes_others():
    assert {option for name in WIDTHS for option in takes(name)} == set(OPTIONS)


@pytest.mark.parametrize(
    "name", of_each_shape(name for name in BATCHED if agent_cases.takes(name, width="rkhs"))
)
def test_theorem_3_is_used_with_a_true_bound_on_the_gain_whoever_uses_it(name):
    agent = agents.make(name, SETTING, width="rkhs")
    width: Width = getattr(agent, "rule", agent).width
    bound = upper_bound(MODEL.gram, MODEL.noise_variance, SETTING.horizon)(T, GAIN)
    np.testing.assert_allclose(width(T, GAIN) ** 2, 2.0 + 300.0 * bound * np.log(T / 0.1) ** 3, rtol=1e-12)


class Formula:
    """Of a parameter that may be one number, one in an array, or one a trial."""

    def __init__(self, parameter):
        self.parameter = parameter

    @elementwise
    def of(self, t):
        """Some formula."""
        return sqrt(self.parameter * (1.0 + log(t)))


@pytest.mark.parametrize("parameter", [0.3, 2, np.array([0.3])], ids=repr)
def test_a_trial_alone_has_the_value_that_it_has_in_a_batch(parameter):
    rounds = np.arange(1, 300)
    alone = [Formula(parameter).of(rounds[i : i + 1]) for i in range(len(rounds))]
    assert all(value.shape == (1,) for value in alone)
    np.testing.assert_allclose(np.concatenate(alone), Formula(parameter).of(rounds), rtol=1e-15)


def test_a_parameter_of_each_trial_is_that_trials():
    each = np.array([0.5, 1.0, 2.0])
    together = Formula(each).of(np.array([3, 4, 5]))
    np.testing.assert_allclose(together, np.sqrt(each * (1.0 + np.log([3, 4, 5]))), rtol=1e-15)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("width", [1.5, FixedWidth(1.5)])
def test_a_width_that_is_no_name_takes_no_options(width, option):
    with pytest.raises(ValueError, match=f"{option} must be left out with the width"):
        make_width(width, MODEL, 0.1, **{option: OPTIONS[option]})


@pytest.mark.parametrize("scale", [-3.0, 0.0, np.nan, np.array([1.0, -1.0]), "big"])
@pytest.mark.parametrize("name", [name for name in WIDTHS if "beta_scale" in takes(name)])
def test_a_factor_of_beta_is_positive(name, scale):
    with pytest.raises(ValueError, match=r"beta_scale must be positive, got .*; it is a factor of beta_t"):
        make_width(name, MODEL, 0.1, beta_scale=scale)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_band_that_is_no_width_names_the_agents_that_have_it(name):
    with pytest.raises(
        ValueError, match=f'width must be another than "{name}", which .*; take .*agent'
    ) as raised:
        make_width(name, MODEL, 0.1)
    instead = {word.strip('",') for word in str(raised.value).partition("; take")[2].split()}
    assert instead & set(agents.names())

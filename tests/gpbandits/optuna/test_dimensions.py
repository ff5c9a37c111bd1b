"""Every distribution of Optuna is a parameter of a tuner, and each value is the other's."""

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from agents.tuning import Categorical, Integer, Linear, Log
from gpbandits.optuna.dimensions import Dimension, Dimensions

DISTRIBUTIONS = {
    "float": (FloatDistribution(-1.0, 3.0), Linear(-1.0, 3.0)),
    "log": (FloatDistribution(1e-5, 1e-1, log=True), Log(1e-5, 1e-1)),
    "float-step": (FloatDistribution(0.1, 1.0, step=0.3), Linear(0.1, 1.0, step=0.3)),
    "fine-step": (FloatDistribution(0.0, 1.0, step=0.1), Linear(0.0, 1.0, step=0.1)),
    "int": (IntDistribution(-3, 9), Integer(-3, 9)),
    "int-log": (IntDistribution(1, 512, log=True), Integer(1, 512, log=True)),
    "int-step": (IntDistribution(2, 18, step=4), Integer(2, 18, step=4)),
    "choice": (CategoricalDistribution((None, "a", 3, 1.5, False)), Categorical(range(5))),
}
ALL = pytest.mark.parametrize(("distribution", "kind"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)


@ALL
def test_a_distribution_is_a_parameter(distribution, kind):
    assert Dimension(distribution).kind == kind


@ALL
def test_what_the_tuner_asks_is_possible_in_optuna_and_told_as_it_was_asked(distribution, kind):
    dimension = Dimension(distribution)
    for place in range(101):
        value = kind.at(place / 100)
        asked = dimension.to_optuna(value)
        assert distribution._contains(distribution.to_internal_repr(asked))
        assert dimension.to_tuner(asked) == value


@ALL
def test_what_optuna_samples_is_told_and_asked_again(distribution, kind):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    dimensions = Dimensions({"x": distribution})
    for _ in range(20):
        values = study.ask({"x": distribution}).params
        told = dimensions.to_tuner(values)
        assert told is not None
        assert dimensions.to_optuna(told)["x"] == pytest.approx(values["x"]) or values["x"] is None


@pytest.mark.parametrize("values", [{}, {"x": 5.0}, {"x": "a"}])
def test_values_that_are_missing_or_impossible_are_told_to_nobody(values):
    assert Dimensions({"x": FloatDistribution(0, 1)}).to_tuner(values) is None


@pytest.mark.parametrize("distribution", [IntDistribution(1, 1), CategoricalDistribution((0,))])
def test_a_single_value_is_a_constant(distribution):
    dimensions, value = Dimensions({"x": distribution}), getattr(distribution, "low", 0)
    told = dimensions.to_tuner({"x": value})
    assert told is not None
    assert dimensions.to_optuna(told) == {"x": value}

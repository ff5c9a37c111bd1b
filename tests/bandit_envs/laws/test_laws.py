"""Every registered law is made by its name, is frozen, repeats itself, and names what it refuses."""

import dataclasses
import pkgutil
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from bandit_envs import laws
from bandit_envs.basics.options import parse
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws import GPSample, RecordedValues
from bandit_envs.laws.drift import Drift
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.movement import Movement
from bandit_envs.laws.outcomes import OutcomeLaw
from bandit_envs.laws.play_costs import PlayCosts
from bandit_envs.problem.decisions import unit_grid

# Every module of laws that has names for them.
MODULES = (import_module(f"{laws.__name__}.{found.name}") for found in pkgutil.iter_modules(laws.__path__))
REGISTRIES = {m.__name__.rpartition(".")[2]: m.LAWS for m in MODULES if hasattr(m, "LAWS")}
GRAM = Gram(RBF(0.2), unit_grid(9))
# What a draw is made of, what shifts costs, one problem's own, tables.
UNNAMED = "drawn", "derived", "hard", "duels", "tabulated"
DRAWN_FROM = {
    "contexts": (20, 3),
    "functions": (GRAM,),
    "play_costs": (GRAM,),
    "availability": (np.ones((20, 3), dtype=bool),),
}  # the other laws draw for a horizon
NEEDED = {"budget": 50.0}  # parameters without a default


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def accepts(drift: Drift, law: FunctionLaw) -> bool:
    try:
        drift.check(law, 20)
    except ValueError:
        return False
    return True


def drawn(kind: str, law: Any) -> np.ndarray:
    if isinstance(law, Drift):
        rewards = GPSample(), RecordedValues(np.eye(20, 9))
        reward = next(reward for reward in rewards if accepts(law, reward))
        return law.follow(reward, GRAM, rng(3), np.zeros(9), 0, np.arange(20) == 0)
    if isinstance(law, OutcomeLaw):
        return law.drawn(rng(3).random(20), law.mean(rng(4).standard_normal(20)))
    if isinstance(law, Movement):
        return law.cost(rng(3).random((20, 2)), rng(4).random((20, 2)))  # nothing is drawn
    values = law.draw(*DRAWN_FROM.get(kind, (20,)), rng(3))
    return values.values if isinstance(law, FunctionLaw | PlayCosts) else values


def made(kind: str, name: str) -> Any:
    law = REGISTRIES[kind][name]
    needed = {each.name for each in dataclasses.fields(law) if each.default is dataclasses.MISSING}
    return parse(kind, {"law": name, **{key: NEEDED[key] for key in needed}}, REGISTRIES[kind])


ALL = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]


def test_every_kind_of_law_has_names():
    assert len(REGISTRIES) == len(list(pkgutil.iter_modules(laws.__path__))) - len(UNNAMED)


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_law_is_made_by_its_name_and_from_its_own_parameters(kind, name):
    registry = REGISTRIES[kind]
    law = made(kind, name)
    assert type(law) is registry[name]
    parameters = {field.name: getattr(law, field.name) for field in dataclasses.fields(law)}
    assert parse(kind, {"law": name, **parameters}, registry) == law
    assert parse(kind, law, registry) is law


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_law_is_frozen_and_draws_the_same_from_the_same_generator(kind, name):
    law = made(kind, name)
    if dataclasses.fields(law):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(law, dataclasses.fields(law)[0].name, 1)
    first, second = drawn(kind, law), drawn(kind, law)
    assert len(first) in (20, GRAM.size)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("argument", "spec", "message"),
    [
        ("delay", {"law": "gamma"}, r"delay.* must be one of immediate, constant, .*, got 'gamma'"),
        ("delay", {"mean": 3}, r'delay\["law"\] must be one of immediate, constant, .*, got None'),
        ("delay", {"law": "poisson", "rate": 3}, "delay 'poisson' has no 'rate'; it takes lost, mean"),
        ("delay", {"law": "poisson", "mean": float("nan")}, "delay..mean.. must be 0 or positive, got nan"),
        ("delay", {"law": "constant", "rounds": -1}, "rounds.. must be 0 or a positive integer, got -1"),
        ("changes", {"law": "at", "rounds": [0, 5]}, r"changes..rounds.. must be ascending .* got \[0, 5\]"),
        ("changes", {"law": "at", "rounds": 5}, "rounds.. must be ascending rounds above 0, .* got 5"),
        ("changes", {"law": "evenly", "num_segments": 0}, "num_segments.. must be a positive integer, got 0"),
        ("changes", {"law": "recurring", "num_functions": 1}, "num_functions.. .* of at least 2, got 1"),
        ("changes", {"law": "geometric", "hazard": 0}, r'changes\["hazard"\] must be in .0, 1., got 0'),
        ("changes", {"law": "geometric", "min_gap": 0}, r'changes\["min_gap"\] must be a positive .*, got 0'),
        ("delay", {"law": "poisson", "lost": 1.5}, "delay..lost.. must be in .0, 1., got 1.5"),
        ("delay", {"law": "cyclic", "batch": 0}, "delay..batch.. must be a positive integer, got 0"),
        ("delay", {"law": "geometric", "mean": 0}, "delay..mean.. must be positive, got 0"),
        ("delay", {"law": "uniform", "low": -1}, "delay..low.. must be 0 or a positive integer, got -1"),
        ("delay", {"law": "uniform", "low": 5, "high": 4}, "high.. must be an integer >= low, got 4"),
        ("delay", {"law": "heavy-tailed", "tail": 0}, "delay..tail.. must be positive, got 0"),
        ("delay", {"law": "exponential", "mean": -1}, "delay..mean.. must be positive, got -1"),
        ("delay", {"law": "exponential", "interval": 0}, "delay..interval.. must be positive, got 0"),
        ("delay", {"law": "log-normal", "sigma": -1}, r"sigma.. must be a number in \[0, 100\], got -1"),
        ("delay", {"law": "by-reward", "mean": -1}, "delay..mean.. must be 0 or positive, got -1"),
        ("delay", {"law": "by-reward", "more": -1}, "delay..more.. must be 0 or positive, got -1"),
        ("delay", {"law": "conversions", "base": "exponential"}, r'\["base"\]\["law"\] must be one of imm'),
        ("delay", {"law": "conversions", "base": "cyclic"}, r'\["base"\]\["law"\] must be one of imm'),
        ("delay", {"law": "by-arm", "slowest": 0.5}, "delay..slowest.. must be a factor >= 1, got 0.5"),
        ("delay", {"law": "by-arm", "base": {"law": "by-arm"}}, r'\["base"\]\["law"\] must be one of imm'),
        ("context", {"law": "blocks", "length": 0}, "context..length.. must be a positive integer, got 0"),
        ("context", {"law": "recorded", "indices": []}, r"indices.. must be a list of .*, got \[\]"),
        ("context", {"law": "recorded", "indices": [0, -1]}, "indices.. must be a list of integers >= 0"),
        ("context", {"law": "recorded", "indices": 3}, "indices.. must be a list of integers >= 0, got 3"),
        ("noise", {"law": "cauchy"}, r'\["law"\] must be one of gaussian, uniform, .*, got'),
        ("noise", {"law": "gaussian", "std": -0.1}, "noise..std.. must be 0 or positive, got -0.1"),
        ("noise", {"law": "gaussian", "share": 0}, "noise..share.. must be positive or None, got 0"),
        ("noise", {"law": "student-t", "degrees": 2}, "noise..degrees.. must be above 2, .* got 2"),
        ("noise", {"law": "pareto", "index": 2}, "noise..index.. must be above 2, .* got 2"),
        ("noise", {"law": "by-arm", "quietest": 0.0}, "quietest.. must be in .0, 1., got 0.0"),
        ("noise", {"law": "by-arm", "quietest": 1.5}, "quietest.. must be in .0, 1., got 1.5"),
        ("noise", {"law": "by-arm", "base": "none"}, r'noise\["base"\]\["law"\] must be one of gaussian'),
        ("noise", {"law": "by-arm", "base": {"law": "gaussian", "std": 2.0}}, 'base.* must be without "std"'),
        ("noise", {"law": "none", "std": 0.1}, "noise..std.. must be 0 for the law 'none', got 0.1"),
        ("function", {"law": "rkhs", "ridge": 0}, "function..ridge.. must be positive, got 0"),
        ("function", {"law": "rkhs", "norm": -1}, "function..norm.. must be positive.*, got -1; or leave"),
    ],
)  # fmt: skip
def test_bad_parameters_are_one_clear_error(argument, spec, message):
    with pytest.raises(ValueError, match=message):
        parse(argument, spec, REGISTRIES.get(argument) or REGISTRIES[argument + "s"])


FORMER = """
. Uniform UniformNoise, . Recorded RecordedValues, noise Uniform UniformNoise, noise ByArm NoiseByArm,
contexts Uniform UniformContexts, contexts Recorded RecordedContexts, delays Uniform UniformDelay,
delays Poisson PoissonDelay, delays Geometric GeometricDelay, delays ByArm DelayByArm,
outcomes Bernoulli BernoulliOutcomes, outcomes Poisson PoissonCounts, changes Geometric GeometricChanges,
availability Bernoulli BernoulliAvailability, tabulated Recorded RecordedValues
"""


@pytest.mark.parametrize("names", FORMER.split(","))
def test_names_that_two_kinds_of_laws_shared_are_still_imported(names):
    module, former, name = names.split()
    found = vars(import_module(f"{laws.__name__}.{module}".rstrip(".")))
    assert found[former] is found[name]
    assert found[name].__name__ == name

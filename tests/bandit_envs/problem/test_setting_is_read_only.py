"""Nobody writes to what a setting publishes: the environment plays by the same arrays."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from bandit_envs import Setting
from bandit_envs.problems import FACTORIES, build
from bandit_envs.problems.by_name import data_files

KNOWN = {"law": "gp", "budget": 9, "known": True}
VARIANTS = {
    "gp": [{"budget": KNOWN}, {"num_contexts": 3, "budget": KNOWN}, {"num_constraints": 1, "safe_seed": True}]
}


def arrays(setting):
    """Every array by name, also of what is made from the fields."""
    found = {field.name: getattr(setting, field.name) for field in fields(setting)}
    found |= {"points": setting.decisions.points, "scaled_contexts": setting.scaled_contexts}
    found |= {f"decisions.{name}": value for name, value in vars(setting.decisions).items()}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


CASES = [
    pytest.param(name, keywords, marks=pytest.mark.needs_data(*data_files(name)))
    for name in FACTORIES
    for keywords in [{}, *VARIANTS.get(name, [])]
]


@pytest.mark.parametrize(("name", "keywords"), CASES, ids=str)
def test_no_array_of_a_trial_can_be_written_to(name, keywords):
    setting = build(name, keywords).draw(3).setting
    found = arrays(setting)
    assert found
    assert {each for each, values in found.items() if values.flags.writeable} == set()
    assert "known_costs" in found or "budget" not in keywords


def test_an_array_that_is_given_stays_that_of_who_gave_it():
    costs = np.array([1.0, 2.0, 3.0])
    setting = Setting(arms=np.arange(3.0)[:, None], horizon=5, budget=9.0, known_costs=costs)
    costs[0] = 7.0
    np.testing.assert_array_equal(setting.known_costs, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        setting.known_costs /= 2

"""Nobody writes to what a setting publishes: the environment plays by the same arrays."""

import pickle
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from players import FirstArm

from bandit_envs import Setting
from bandit_envs.problems import FACTORIES, build, data_files
from gpbandits import evaluate

KNOWN = {"law": "gp", "budget": 9, "known": True}
PAID, SEEDED = {"budget": KNOWN}, {"num_constraints": 1, "safe_seed": True}
VARIANTS = {"gp": [PAID, {"num_contexts": 3, **PAID}, SEEDED]}


def arrays(setting):
    found = {field.name: getattr(setting, field.name) for field in fields(setting)}
    found |= {"points": setting.decisions.points, "scaled_contexts": setting.scaled_contexts}
    found |= {f"decisions.{name}": value for name, value in vars(setting.decisions).items()}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


CASES = [
    pytest.param(name, keywords, marks=pytest.mark.needs_data(*data_files(name)))
    for name in FACTORIES
    for keywords in [{}, *VARIANTS.get(name, [])]
]


def written_to(values):
    """Try to write, to the array and to what it is a view of, after setting the flag anew."""
    while isinstance(values, np.ndarray):
        try:
            values.setflags(write=True)
            values[...] = 0
        except ValueError:
            values = values.base
        else:
            return True
    return not isinstance(values, bytes)


@pytest.mark.parametrize(("name", "keywords"), CASES, ids=str)
def test_no_array_of_a_trial_can_be_written_to(name, keywords):
    setting = build(name, keywords).draw(3).setting
    found = arrays(setting)
    assert found
    assert {each for each, values in found.items() if written_to(values)} == set()
    assert "known_costs" in found or "budget" not in keywords


@pytest.mark.parametrize("again", [copy, deepcopy, lambda setting: pickle.loads(pickle.dumps(setting))])
def test_nor_can_those_of_a_copy_or_of_a_setting_that_another_process_sends(again):
    problem = build("gp", {"num_contexts": 3, "budget": KNOWN})
    for setting in (again(problem.draw(3).setting), again(problem).draw(3).setting):
        assert {each for each, values in arrays(setting).items() if written_to(values)} == set()


class Vandal(FirstArm):
    """Moves the best arms away from where the next agent will look for them."""

    def reset(self, seed):
        for values in arrays(self.setting).values():
            written_to(values)


@pytest.mark.parametrize("trials", [1, 3])
def test_an_agent_that_writes_to_its_setting_leaves_others_as_they_were(trials):
    few = {"num_arms": 9, "horizon": 6}
    agents = {"vandal": Vandal, "ucb": "gp-ucb"}
    beside = evaluate("GPBandit-GP-v0", agents, trials=trials, env_kwargs=few)
    alone = evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=trials, env_kwargs=few)
    np.testing.assert_array_equal(beside.regret["ucb"], alone.regret["gp-ucb"])


@pytest.mark.parametrize("name", ["arms", "prior_mean", "known_costs"])
def test_an_array_that_is_given_stays_that_of_who_gave_it(name):
    given = np.array([[1.0], [2.0], [3.0]]) if name == "arms" else np.array([1.0, 2.0, 3.0])
    setting = Setting(**{"arms": np.arange(3.0)[:, None], "horizon": 5, "budget": 9.0, name: given})
    before, given[0] = given.copy(), 7.0
    np.testing.assert_array_equal(getattr(setting, name), before)
    with pytest.raises(ValueError, match="read-only"):
        getattr(setting, name)[0] = 2.0
    with pytest.raises(FrozenInstanceError):
        setattr(setting, name, before)

"""Options of one number a trial reach their trials, also where trials play side by side."""

from dataclasses import dataclass

import numpy as np
import pytest

import agents
from agents.acquisition.by_name import Always
from agents.agent.assembly import assemble
from agents.model.model import Model
from bandit_envs import Setting
from bandit_envs.problem.feedback import delivery

SHARED = {"horizon": 12, "noise_std": 0.1, "max_delay": 2, "reward_lower_bound": -1.0}
BOX = Setting(low=np.zeros(1), high=np.ones(1), **SHARED)
FINITE = Setting(arms=np.linspace(0, 1, 9)[:, None], **SHARED)
LIGHT = {"search": {"candidates": 16, "starts": 1, "steps": 3}}
OPTIONS = {"noise_std": (0.1, 0.4), "noise_variance": (0.01, 0.3), "rkhs_bound": (1.0, 3.0)}
AGENTS = ("gp-ucb", "igp-ucb", "gp-ucb-sdf", "r-gp-ucb", "sw-gp-ucb", "gp-ucb-cpd")


def actions(agent, point_of, trials):
    """Actions of rounds whose feedback comes at once, (T, ...): five first ones that are uniform, and six."""
    shown, played = np.zeros((trials, 1)) if trials else np.zeros(1), []
    for t in range(5 + 6):
        played.append(agent.act(shown))
        reward = -(point_of(played[-1])[..., 0] ** 2)
        each = [delivery(t, np.array([t]), np.array([y]), np.empty((1, 0)), 2) for y in np.atleast_1d(reward)]
        info = {key: np.stack([one[key] for one in each]) for key in each[0]} if trials else each[0]
        agent.update(shown, played[-1], reward, info)
    return np.array(played)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("learning", [{}, {"refit_every": 3}], ids=["fixed", "learnt"])
@pytest.mark.parametrize("setting", [FINITE, BOX], ids=["finite", "box"])
@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(("option", "numbers"), OPTIONS.items(), ids=OPTIONS)
def test_a_trial_of_a_batch_has_its_own_number(option, numbers, name, setting, learning):
    own = learning | (LIGHT if setting.continuous else {})
    batch = agents.make(name, setting, num_trials=2, **{option: np.array(numbers)}, **own)
    batch.reset([0, 1])
    together = actions(batch, setting.to_point, 2)
    for i, number in enumerate(numbers):
        single = agents.make(name, setting, **{option: number}, **own)
        single.reset(i)
        np.testing.assert_array_equal(together[:, i], actions(single, setting.to_point, 0))


@pytest.mark.parametrize("option", ["delta", "beta_scale"])
def test_any_other_option_is_one_number(option):
    with pytest.raises(ValueError, match=f"{option} must be a number"):
        agents.make("gp-ucb", FINITE, num_trials=2, **{option: np.array([0.1, 0.4])})


@pytest.mark.parametrize("window", [np.array([1, 2]), "all"])
def test_a_window_that_is_no_number_is_refused_by_name(window):
    with pytest.raises(ValueError, match="window must be a number or None"):
        agents.make("gp-ucb-sdf", FINITE, num_trials=2, window=window)


@pytest.mark.parametrize("learning", [{}, {"refit_every": 5}], ids=["in lockstep", "side by side"])
@pytest.mark.parametrize("trials", [None, 2, 4])
def test_another_number_of_numbers_than_of_trials_is_an_error_that_names_the_argument(trials, learning):
    with pytest.raises(ValueError, match=r"noise_std must be a number or . of them, one a trial, got"):
        agents.make("asy-ts", FINITE, num_trials=trials, noise_std=np.array([0.1, 0.2, 0.3]), **learning)


@dataclass(frozen=True)
class Biased:
    """The posterior mean and a bonus an arm."""

    bonus: np.ndarray  # (A,)

    def __call__(self, candidates):
        return candidates.mean + self.bonus


@pytest.mark.parametrize("learning", [{}, {"refit_every": 5}], ids=["in lockstep", "side by side"])
def test_an_array_of_one_number_an_arm_stays_whole_though_there_are_as_many_trials(learning):
    setting = Setting(arms=np.linspace(0, 1, 10)[:, None], horizon=8, noise_std=0.1)
    rule = Biased(np.where(np.arange(10) == 7, 1e6, 0.0))
    agent = assemble(Model.of(setting, **learning), Always(rule), 10)
    agent.reset(list(range(10)))
    assert (actions(agent, setting.to_point, 10) == 7).all()

"""Options of one number a trial reach their trials, and every role in a trial draws by itself."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from players import at_once, started

import agents
from agents.acquisition.by_name import Always
from agents.agent.assembly import assemble, part_of_trial
from agents.agent.generators import ROLES, Streams
from agents.model.model import Model
from agents.objectives.first_plays import GivenUnits
from agents.restarts.alarms import CalibratedAlarm
from bandit_envs import Setting

SHARED = {"horizon": 12, "noise_std": 0.1, "max_delay": 2, "reward_lower_bound": -1.0}
BOX = Setting(low=np.zeros(1), high=np.ones(1), **SHARED)
FINITE = Setting(arms=np.linspace(0, 1, 9)[:, None], **SHARED)
LIGHT = {"search": {"candidates": 16, "starts": 1, "steps": 3}}
OPTIONS = {
    "noise_std": ("gp-ucb", (0.1, 0.4)),
    "noise_variance": ("gp-ucb", (0.01, 0.2)),
    "rkhs_bound": ("igp-ucb", (1.0, 4.0)),
    "prior_mean": ("gp-ei", (0.0, 0.7)),
}


def actions(agent, point_of, trials):
    """Actions of rounds whose feedback comes at once, (T, ...): five first ones that are uniform, and six."""
    shown, played = np.zeros((trials, 1)) if trials else np.zeros(1), []
    for t in range(5 + 6):
        played.append(agent.act(shown))
        reward = -(point_of(played[-1])[..., 0] ** 2)
        each = [at_once(t, y) for y in np.atleast_1d(reward)]
        info = {key: np.stack([one[key] for one in each]) for key in each[0]} if trials else each[0]
        agent.update(shown, played[-1], reward, info)
    return np.array(played)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("learning", [{}, {"refit_every": 3}])
@pytest.mark.parametrize("setting", [FINITE, BOX], ids=["finite", "box"])
@pytest.mark.parametrize(("option", "case"), OPTIONS.items(), ids=OPTIONS)
def test_a_trial_of_a_batch_has_its_own_number(option, case, setting, learning):
    name, numbers = case
    own = learning | (LIGHT if setting.continuous else {})
    each = np.array(numbers)[:, None] if option == "prior_mean" else np.array(numbers)
    batch = started(agents.make(name, setting, num_trials=2, **{option: each}, **own), [0, 1])
    together = actions(batch, setting.to_point, 2)
    for i, number in enumerate(numbers):
        single = started(agents.make(name, setting, **{option: number}, **own), i)
        np.testing.assert_array_equal(together[:, i], actions(single, setting.to_point, 0))


def test_numbers_that_are_not_one_a_trial_stay():
    units = GivenUnits(np.array([1.0, 2.0]), 3.0)
    assert part_of_trial(units, 1) is units
    alarm = CalibratedAlarm(
        Model.of(FINITE), 3.0, 0.1, theta=np.array([1.0, 2.0]), noise_std=np.array([0.3, 0.5])
    )
    picked = part_of_trial(partial(sorted, key=alarm), 1).keywords["key"]
    np.testing.assert_array_equal(picked.theta, [1.0, 2.0])
    assert picked.noise_std == 0.5


@pytest.mark.parametrize("window", [np.array([1, 2]), "all"])
def test_a_window_that_is_no_number_is_refused_by_name(window):
    with pytest.raises(ValueError, match="window must be a number or None"):
        agents.make("gp-ucb-sdf", FINITE, num_trials=2, window=window)


NUMBERS = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("learning", [{}, {"refit_every": 5}], ids=["in lockstep", "side by side"])
@pytest.mark.parametrize("trials", [None, 2, 4])
def test_another_number_of_numbers_than_of_trials_is_an_error_that_names_the_argument(trials, learning):
    with pytest.raises(ValueError, match=r"noise_std must be a number or . of them, one a trial, got"):
        agents.make("asy-ts", FINITE, num_trials=trials, noise_std=NUMBERS, **learning)


@pytest.mark.parametrize("trials", [None, 2, 4])
@pytest.mark.parametrize(
    "name", ["sup-kernel-ucb", "rahbo", "rgp-pe", "admmbo", "gp-ucb-aggregated", "mr-lpf"]
)
def test_agents_that_play_each_trial_apart_take_as_many_numbers_as_trials(name, trials):
    """Four numbers for three trials were taken, and two were an IndexError."""
    duel, aggregated = name == "mr-lpf", name == "gp-ucb-aggregated"
    setting = Setting(arms=FINITE.arms, horizon=12, duel=duel, aggregated=aggregated)
    with pytest.raises(ValueError, match=r"rkhs_bound must be a number or . of them, one a trial, got"):
        agents.make(name, setting, num_trials=trials, rkhs_bound=NUMBERS)
    agents.make(name, setting, num_trials=3, rkhs_bound=NUMBERS)


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
    agent = started(assemble(Model.of(setting, **learning), Always(rule), 10), list(range(10)))
    assert (actions(agent, setting.to_point, 10) == 7).all()


def test_the_generators_of_a_role_are_those_that_spawn_makes_in_the_order_of_the_roles():
    seeds = [3, 2**40]
    streams = Streams(seeds)
    for i, seed in enumerate(seeds):
        children = np.random.SeedSequence(seed).spawn(len(ROLES))
        for role, child in zip(ROLES, children, strict=True):
            assert streams.of(role)[i].random() == np.random.default_rng(child).random()
        *_, third = children[ROLES.index("rule")].spawn(3)
        assert streams.of_round("rule", 2)[i].random() == np.random.default_rng(third).random()
    before = ["ties", "samples", "fits", "search", "rule", "belief", "objective", "restart", "turns"]
    assert [*ROLES[:9]] == before  # another order is another stream for each of them, and other plays


def test_the_generators_of_a_role_go_on_and_those_of_a_round_begin_again():
    streams = Streams([0])
    first, second = (streams.of("belief")[0].random() for _ in range(2))
    assert first != second
    again, other = (streams.of_round("rule", 1)[0].random() for _ in range(2))
    assert again == other != streams.of_round("rule", 2)[0].random()

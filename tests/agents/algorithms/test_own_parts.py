"""A part of one's own becomes an agent in one line, wherever our own parts play."""

from dataclasses import dataclass
from functools import partial

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.acquisition.incumbents import MaxMean
from agents.beliefs.by_name import BELIEFS
from agents.beliefs.delivered import Delivered
from agents.objectives.base import PlayByPlay, Reward
from agents.restarts.base import Never, Periodic, Unobservant
from agents.widths.tuned import FixedWidth
from gpbandits import evaluate

GP, COMPOSITE = "GPBandit-GP-v0", "GPBandit-Composite-v0"
LIGHT = {"search": {"candidates": 32, "starts": 1, "steps": 3}}
PLACES = {
    "arms": (GP, {"num_arms": 30, "horizon": 25}, {}),
    "box": (GP, {"continuous": True, "horizon": 9}, LIGHT),
    "everything": (COMPOSITE, {"num_arms": 20, "horizon": 25}, {}),
    "learning": (GP, {"num_arms": 30, "horizon": 15}, {"refit_every": 6}),
    "learning on a box": (GP, {"continuous": True, "horizon": 8}, {**LIGHT, "refit_every": 4}),
}
everywhere = pytest.mark.parametrize("place", PLACES)


@dataclass(frozen=True)
class EpsilonGreedy:
    """All candidates alike with probability epsilon, else the largest mean."""

    epsilon: agents.PerTrial = 0.3

    def __call__(self, candidates):
        coin = np.array([rng.random() for rng in candidates.rngs])
        return np.where((coin < self.epsilon)[:, None], 0.0, candidates.mean)


class Narrowing:
    """A width that falls."""

    def __call__(self, t, gain):
        return 2.0 / np.sqrt(t)


class Bold:
    """What noise does to the mean, in place of its deviation."""

    def __call__(self, candidates):
        return candidates.mean + 2.0 * candidates.weight_norm


class Forgetful(Unobservant):
    """Starts over when a coin says so."""

    def __init__(self, model, num_trials, rngs, chance: agents.PerTrial = 0.2):
        self.rngs, self.chance = rngs, np.broadcast_to(chance, num_trials)

    def end_round(self, rounds, info):
        coin = np.array([rng.random() for rng in self.rngs])
        return (coin < self.chance).nonzero()[0]


class Perturbed(Delivered):
    """Learns values to which it adds noise of its own."""

    def __init__(self, model, num_trials, rngs):
        super().__init__(model, num_trials)
        self.rngs = rngs

    def receive(self, trial, point, delay, value):
        noise = np.array([self.rngs[i].normal() for i in trial])
        super().receive(trial, point, delay, value + 0.1 * noise)


class Thrifty(PlayByPlay):
    """The reward less the sum of its costs."""

    def values(self, trial, reward, cost):
        return reward - np.maximum(cost, 0.0).sum(axis=1)


PARTS = {
    "rule": {"rule": EpsilonGreedy()},
    "a rule with a number a trial": {"rule": EpsilonGreedy(np.array([0.0, 0.7]))},
    "a rule that is a function": {"rule": lambda candidates: candidates.mean + 2.0 * candidates.std},
    "a rule that reads |a_x|": {"rule": Bold()},
    "width": {"width": Narrowing()},
    "belief": {"belief": Perturbed},
    "objective": {"objective": Thrifty},
    "restart": {"restart": partial(Forgetful, chance=np.array([0.1, 0.4]))},
    "all": {"rule": EpsilonGreedy(), "belief": Perturbed, "objective": Thrifty, "restart": Forgetful},
}


def of_trial(parts, i):
    """The parts as one trial has them, written down by hand."""
    special = {
        "a rule with a number a trial": {"rule": EpsilonGreedy([0.0, 0.7][i])},
        "restart": {"restart": partial(Forgetful, chance=[0.1, 0.4][i])},
    }
    return special.get(parts, PARTS[parts])


def played(place, trials, first=0, **parts):
    env_id, keywords, options = PLACES[place]
    spec = ("gp-agent", {**parts, **options})
    return evaluate(env_id, {"it": spec}, trials=trials, first_trial=first, env_kwargs=keywords).actions["it"]


@everywhere
@pytest.mark.parametrize("parts", PARTS)
def test_a_part_of_ones_own_plays_everywhere_and_a_batch_equals_singles(place, parts):
    together = played(place, 2, **PARTS[parts])
    singles = [played(place, 1, i, **of_trial(parts, i)) for i in range(2)]
    np.testing.assert_array_equal(together, np.concatenate(singles))


@everywhere
def test_epsilon_greedy_is_greedy_at_zero_and_plays_anything_at_one(place):
    greedy, random = (played(place, 2, rule=EpsilonGreedy(epsilon)) for epsilon in (0.0, 1.0))
    if "box" not in place:  # where the mean is climbed, and another rule is not
        np.testing.assert_array_equal(greedy, played(place, 2, rule="mean"))
    assert len(np.unique(random[0], axis=0)) > len(random[0]) // 3
    assert not np.array_equal(greedy, random)


def test_a_part_of_ones_own_that_does_what_ours_does_plays_what_ours_plays():
    ours = played("everything", 2)
    same = {"belief": BELIEFS["hallucinated"](None), "width": "improved"}
    np.testing.assert_array_equal(ours, played("everything", 2, **same))
    periodic = played("arms", 2, restart="periodic", restart_options={"every": 7})
    np.testing.assert_array_equal(periodic, played("arms", 2, restart=partial(Periodic, every=7)))
    plain = played("arms", 2, width=2.0)
    np.testing.assert_array_equal(plain, played("arms", 2, width=FixedWidth(2.0), objective=Reward))
    improved = played("arms", 2, rule="pi")
    np.testing.assert_array_equal(improved, played("arms", 2, rule="pi", incumbent=MaxMean))


def test_compose_is_the_agent_of_that_name_for_environments_and_settings():
    env = gym.make(GP, num_arms=20, horizon=10)
    observation, _ = env.reset(seed=0)
    each = [
        agents.compose(env, rule=EpsilonGreedy()),
        agents.compose(env.get_wrapper_attr("setting"), rule=EpsilonGreedy()),
        agents.make("gp-agent", env, rule=EpsilonGreedy()),
    ]
    for agent in each:
        agent.reset(3)
    assert len({agent.act(observation) for agent in each}) == 1
    batch = agents.compose(env, 2, rule=EpsilonGreedy())
    batch.reset([3, 4])
    assert batch.act(np.stack([observation] * 2)).shape == (2,)


def test_the_draws_of_a_rule_move_no_other_draws():
    def wasteful(candidates):
        for rng in candidates.rngs:
            rng.random(7)
        return candidates.mean + 2.0 * candidates.deviation()

    def frugal(candidates):
        return candidates.mean + 2.0 * candidates.deviation()

    for place in ("arms", "box"):
        np.testing.assert_array_equal(played(place, 2, rule=wasteful), played(place, 2, rule=frugal))


class NoBuilder:
    def __init__(self, every):
        self.every = every


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"rule": EpsilonGreedy}, "rule must be .*EpsilonGreedy; make an object of it"),
        ({"rule": 3}, "rule must be .*got 3"),
        ({"rule": lambda: 0}, "rule must be .*too many positional arguments"),
        ({"rule": EpsilonGreedy(), "width": 2.0}, "width must be left out"),
        ({"rule": EpsilonGreedy(), "rule_options": {"xi": 0.1}}, "rule_options must be left out"),
        ({"width": Narrowing}, "width must be an object, got the class Narrowing"),
        ({"belief": 3}, "belief must be one of .*, or a builder .*got 3"),
        ({"belief": NoBuilder}, "belief must be one of .*too many positional arguments"),
        ({"belief": Delivered, "belief_options": {"window": 3}}, "belief_options must be left out"),
        ({"restart": NoBuilder(3)}, "restart must be one of .*, or a builder"),
        ({"restart": Never, "restart_options": {"every": 3}}, "restart_options must be left out"),
        ({"objective": "dual"}, "objective must be a builder .*got 'dual'"),
        ({"objective": Reward, "constraint": "dual"}, "constraint must be left out"),
        ({"constraint": Reward}, "constraint must be text or None"),
    ],
    ids=lambda each: each if isinstance(each, str) else "-".join(each),
)
def test_a_wrong_part_is_an_error_that_names_it_and_says_what_is_allowed(parts, says):
    env = gym.make(GP, num_arms=20, horizon=5)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=says):
        agents.compose(env, **parts)


def test_an_agent_with_a_part_that_is_no_data_says_so_when_it_is_saved(tmp_path):
    env = gym.make(GP, num_arms=20, horizon=10)
    env.reset(seed=0)
    agent = agents.compose(env, rule=EpsilonGreedy())
    agent.reset(0)
    with pytest.raises(ValueError, match=r"cannot save the option 'rule' of gp-agent.*EpsilonGreedy"):
        agent.save(tmp_path / "agent.json")
    assert not list(tmp_path.iterdir())

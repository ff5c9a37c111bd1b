"""A part of one's own becomes an agent in one line, wherever our own parts play."""

from dataclasses import dataclass
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from players import at_once, each_round, play, started

import agents
from agents.acquisition.improvement import MaxMean
from agents.algorithms.composed import gp_agent
from agents.beliefs.by_name import BELIEFS
from agents.beliefs.delivered import Delivered
from agents.making import setting_of
from agents.objectives.base import Objective, Reward
from agents.restarts.base import Never, Periodic, Restart
from agents.widths.base import FixedWidth
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

    epsilon: float = 0.3

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


class Surprises:
    """The mean square of what values were off by, in predicted stds, with one of size 1 before all others."""

    def __init__(self, num_trials):
        self.count, self.total = np.ones(num_trials), np.ones(num_trials)
        self.heard = []

    def receive(self, delivery, mean, std):
        np.add.at(self.count, delivery.trial, 1.0)
        np.add.at(self.total, delivery.trial, ((delivery.reward - mean) / std) ** 2)
        self.heard.append((delivery.trial, delivery.point, delivery.reward, mean, std))

    def forget(self, trial):
        self.count[trial] = self.total[trial] = 1.0


@dataclass(frozen=True)
class LearntWidth:
    """UCB whose width grows with what values were off by."""

    factor: float = 1.0

    def memory(self, num_trials):
        return Surprises(num_trials)

    def __call__(self, candidates):
        learnt = candidates.memory
        width = self.factor * np.sqrt(learnt.total / learnt.count)
        return candidates.mean + width[:, None] * candidates.std


def learnt(setting, factor: float = 1.0, num_trials=None, **options):
    """The agent of this rule, with a path for files."""
    return gp_agent(setting, rule=LearntWidth(factor), num_trials=num_trials, **options)


class Forgetful(Restart):
    """Starts over when a coin says so."""

    def __init__(self, model, num_trials, rngs, chance: float = 0.2):
        self.rngs, self.chance = rngs, np.broadcast_to(chance, num_trials)

    def end_round(self, rounds, info):
        coin = np.array([rng.random() for rng in self.rngs])
        return (coin < self.chance).nonzero()[0]


class Perturbed(Delivered):
    """Learns values to which it adds noise of its own."""

    def __init__(self, model, num_trials, rngs):
        super().__init__(model, num_trials)
        self.rngs = rngs

    def receive(self, delivery):
        noise = np.array([self.rngs[i].normal() for i in delivery.trial])
        super().receive(delivery._replace(reward=delivery.reward + 0.1 * noise))


class Thrifty(Objective):
    """The reward less the sum of its costs."""

    def values(self, trial, reward, cost):
        return reward - np.maximum(cost, 0.0).sum(axis=1)


PARTS = {
    "rule": {"rule": EpsilonGreedy()},
    "a rule that is a function": {"rule": lambda candidates: candidates.mean + 2.0 * candidates.std},
    "a rule that reads |a_x|": {"rule": Bold()},
    "a rule that learns": {"rule": LearntWidth()},
    "a rule that learns and starts over": {"rule": LearntWidth(), "restart": Forgetful},
    "width": {"width": Narrowing()},
    "belief": {"belief": Perturbed},
    "objective": {"objective": Thrifty},
    "restart": {"restart": partial(Forgetful, chance=0.2)},
    "all": {"rule": EpsilonGreedy(), "belief": Perturbed, "objective": Thrifty, "restart": Forgetful},
}


def played(place, trials, first=0, **parts):
    env_id, keywords, options = PLACES[place]
    spec = ("gp-agent", {**parts, **options})
    return evaluate(env_id, {"it": spec}, trials=trials, first_trial=first, env_kwargs=keywords).actions["it"]


@pytest.mark.sampled(4)
@everywhere
@pytest.mark.parametrize("parts", PARTS)
def test_a_part_of_ones_own_plays_everywhere_and_a_batch_equals_singles(place, parts):
    together = played(place, 2, **PARTS[parts])
    singles = [played(place, 1, i, **PARTS[parts]) for i in range(2)]
    np.testing.assert_array_equal(together, np.concatenate(singles))


def test_a_part_of_ones_own_that_does_what_ours_does_plays_what_ours_plays():
    ours = played("everything", 2, rule="ucb")
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
    batch = started(agents.compose(env, 2, rule=EpsilonGreedy()), [3, 4])
    assert batch.act(np.stack([observation] * 2)).shape == (2,)


def test_the_draws_of_a_rule_move_no_other_draws():
    def wasteful(candidates):
        for rng in candidates.rngs:
            rng.random(7)
        return candidates.mean + 2.0 * candidates.centred_sample()

    def frugal(candidates):
        return candidates.mean + 2.0 * candidates.centred_sample()

    for place in ("arms", "box"):
        np.testing.assert_array_equal(played(place, 2, rule=wasteful), played(place, 2, rule=frugal))


# --- a rule that learns ---


def begun(place, **options):
    env_id, keywords, light = PLACES[place]
    env = gym.make(env_id, **keywords)
    seen, _ = env.reset(seed=1)
    agent = started(agents.make(f"{__name__}:learnt", env, **light, **options), 2)
    return env, agent, seen


@everywhere
def test_what_a_rule_has_learnt_survives_a_file(place, tmp_path):
    (env, agent, seen), (twin_env, twin, twin_seen) = begun(place), begun(place)
    _, seen = play(env, agent, seen, 5)
    agent.save(tmp_path / "agent.json")
    loaded = agents.load(tmp_path / "agent.json", trust=True)
    _, twin_seen = play(twin_env, twin, twin_seen, 5)
    np.testing.assert_array_equal(play(twin_env, loaded, twin_seen, 3)[0], play(env, agent, seen, 3)[0])


def test_a_rule_receives_values_with_the_belief_before_them():
    env, agent, seen = begun("arms")
    plays, _ = play(env, agent, seen, 2)
    (_, _, first, mean, std), (_, point, value, *_) = agent.memory.heard
    setting, noise = env.get_wrapper_attr("setting"), agent.model.noise_variance
    assert (mean, std) == (0.0, pytest.approx(np.sqrt(1.0 + noise)))
    assert (point, len(first), len(value)) == (plays[1], 1, 1)
    covariance = setting.kernel(setting.arms[plays])[0, 1]
    assert agent.memory.heard[1][3] == pytest.approx(covariance / (1.0 + noise) * first)


def test_a_learnt_width_differs_among_functions_and_forgets_at_a_restart():
    together = {"rule": LearntWidth(), "restart": partial(Periodic, every=4)}
    env = gym.make_vec(GP, num_envs=2, num_arms=30, horizon=25)
    seen, _ = env.reset(seed=0)
    agent = started(agents.compose(env, 2, **together), [0, 1])
    counts = []
    for _ in each_round(env, agent, seen, 9):
        counts.append(agent.memory.count.tolist())
    assert [each[0] for each in counts] == [2, 3, 4, 1, 2, 3, 4, 1, 2]
    assert agent.memory.total[0] != agent.memory.total[1]


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
    agent = started(agents.compose(env, rule=EpsilonGreedy()))
    with pytest.raises(ValueError, match=r"cannot save the option 'rule' of gp-agent.*EpsilonGreedy"):
        agent.save(tmp_path / "agent.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rule", ["ucb", "thompson", "random-ucb"])
def test_a_width_may_return_a_number(rule):
    env = gym.make(GP, num_arms=30, horizon=25)
    env.reset(seed=0)
    widths = 2.0, lambda t, gain: 2.0, lambda t, gain: np.array(2.0), lambda t, gain: [2.0] * len(t)
    for trials, seed, seen in ((None, 0, np.zeros(1)), (3, range(3), np.zeros((3, 1)))):
        actions = []
        for width in widths:
            agent = started(agents.compose(setting_of(env), trials, rule=rule, width=width), seed)
            actions.append(agent.act(seen))
        np.testing.assert_array_equal(actions[1:], [actions[0]] * 3)


def test_parts_that_replace_those_of_a_reset_are_asked():
    env = gym.make(GP, num_arms=30, horizon=25)
    observation, _ = env.reset(seed=0)
    agent = started(agents.make("gp-ucb", env))
    agent.take(restart=Periodic(agent.model, 1, every=4))
    asked = []

    class Asked(Reward):
        """Notes what it is asked."""

        def penalised(self, scores, points, t):
            asked.append("penalised")
            return scores

        def played(self, point, t):
            asked.append("played")

    agent.take(objective=Asked(agent.model, 1))
    play(env, agent, observation, 8)
    assert agent.t == 1
    assert asked == ["penalised", "played"] * 8


def test_values_of_ones_own_reward_are_asked_for():
    class Halved(Reward):
        """Half of the reward, which its belief is about."""

        def values(self, trial, reward, cost):
            return reward / 2.0

    env = gym.make(GP, num_arms=30, horizon=25)
    observation, _ = env.reset(seed=0)
    each = [agents.compose(setting_of(env), rule="mean", objective=part) for part in (Halved, None)]
    for agent in each:
        agent.reset(0)
        agent.update(observation, 3, 2.0, at_once(0, 2.0))
    halved, plain = (agent.belief.mean(np.zeros(1, dtype=np.int64)) for agent in each)
    np.testing.assert_allclose(halved, plain / 2.0, rtol=1e-12)
    assert np.abs(plain).max() > 0.5

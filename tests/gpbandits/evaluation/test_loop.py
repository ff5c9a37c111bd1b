"""One loop, the same trials for all, no look at the truth, and a callback that hears every round."""

from __future__ import annotations

import random
from functools import partial
from typing import ClassVar

import gymnasium as gym
import numpy as np
import pytest
from players import FirstArm, UniformArms
from sklearn.gaussian_process.kernels import RBF

import agents
import bandit_envs  # noqa: F401 (registers the ids)
from agents.rl.policy import Policy
from bandit_envs import BanditEnv, Problem
from bandit_envs.environment.info import Round
from bandit_envs.problems import build
from gpbandits.evaluation import Result, evaluate, trial_seeds

SMALL = {"horizon": 20, "num_arms": 50}


class Scripted:
    """Plays a fixed arm and keeps what it is told."""

    def __init__(self, setting, arm=3):
        self.setting, self.arm, self.told = setting, arm, []

    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        return self.arm

    def update(self, observation, action, reward, info):
        self.told.append(info)


def test_regret_is_that_of_the_noiseless_means_charged_at_play_time():
    for delay in (None, {"law": "constant", "rounds": 4}):
        result = evaluate("GPBandit-GP-v0", {"a": Scripted}, trials=3, env_kwargs={**SMALL, "delay": delay})
        for i in range(3):
            env = gym.make("GPBandit-GP-v0", **SMALL)
            env.reset(seed=trial_seeds(0, i)[0])
            means = env.unwrapped.simulator.trials[0].means[0, 0]
            expected = (means.max() - means[3]) * np.arange(1, 21)
            np.testing.assert_allclose(result.regret["a"][i], expected, atol=1e-12)


class Kept(Scripted):
    made: ClassVar[list[Scripted]] = []

    def __init__(self, setting):
        super().__init__(setting)
        self.made.append(self)


@pytest.fixture
def made():
    """The agents that are kept, in the order in which they are made."""
    Kept.made.clear()
    return Kept.made


def test_all_agents_meet_the_same_function_and_noise(made):
    evaluate("GPBandit-GP-v0", {"a": Kept, "b": Kept}, trials=3, env_kwargs=SMALL)
    rewards = [[info["feedback_reward"][0] for info in agent.told] for agent in made]
    assert rewards[:3] == rewards[3:]
    assert rewards[0][0] != rewards[1][0]


def test_no_agent_sees_the_oracle_unless_it_declares_itself_privileged(made):
    agents = {"p": type("Privileged", (Kept,), {"privileged": True}), "o": Kept}
    result = evaluate("GPBandit-GP-v0", agents, trials=2, env_kwargs=SMALL)
    seen = [["oracle" in info or "_oracle" in info for info in agent.told] for agent in made]
    assert seen == [[True] * 20] * 2 + [[False] * 20] * 2
    assert result.privileged == {"p"}


def test_global_generators_are_left_as_they_were():
    class Global(Scripted):
        def act(self, observation):
            random.random()
            return int(np.random.randint(5))  # noqa: NPY002

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002
    evaluate("GPBandit-GP-v0", {"g": Global}, trials=2, env_kwargs=SMALL)
    assert random.getstate() == before[0]
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_environments_come_as_ids_problems_and_callables():
    problem = gym.make("GPBandit-GP-v0", **SMALL).unwrapped.problem
    assert isinstance(problem, Problem)
    results = [
        evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=2, env_kwargs=SMALL),
        evaluate(problem, ["gp-ucb"], trials=2),
        evaluate(lambda: gym.make("GPBandit-GP-v0", **SMALL), ["gp-ucb"], trials=2),
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].actions["gp-ucb"], other.actions["gp-ucb"])


@pytest.mark.parametrize("keywords", [{"continuous": True, "dim": 1}, {"num_constraints": 2}])
def test_agents_without_a_trial_axis_are_recorded_in_the_shapes_of_those_with_one(keywords):
    environment = "GPBandit-Constrained-v0" if "num_constraints" in keywords else "GPBandit-RKHS-v0"
    both = {"batch": "random", "single": lambda setting: agents.make("random", setting)}
    result = evaluate(environment, both, trials=2, env_kwargs={"num_arms": 12, "horizon": 6, **keywords})
    batch, single = result.records["batch"], result.records["single"]
    assert batch.cost.shape == (2, 6, keywords.get("num_constraints", 0))
    for name in ("regret", "simple_regret", "cost", "violation", "action"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(single, name))


def test_a_seed_shares_no_trial_with_the_next_and_no_stream_with_the_agents():
    seeds = [trial_seeds(s, i) for s in range(3) for i in range(50)]
    assert len({word for pair in seeds for word in pair}) == 300


def test_an_environment_publishes_copies_of_its_kernel():
    problem = build("rkhs", SMALL | {"continuous": True})
    env = BanditEnv(problem)
    for _ in range(2):
        env.setting.kernel.length_scale = 5.0
        env.reset(seed=0)
    assert problem.kernel == RBF(0.2)


def test_progress_is_told_trial_by_trial():
    calls = []
    agents = {"a": Scripted, "r": "random"}
    evaluate("GPBandit-GP-v0", agents, trials=3, env_kwargs=SMALL, progress=lambda *call: calls.append(call))
    assert calls == [("a", 1), ("a", 1), ("a", 1), ("r", 3)]


BAD = {
    "progress": ({"progress": "yes"}, "progress must be True, False or a callable"),
    "trials": ({"trials": 0}, "trials must be a positive integer, got 0"),
    "too many trials": ({"trials": 10**400}, "trials must be a positive integer, got 1000"),
    "seed": ({"seed": -1}, "seed must be an integer >= 0, got -1"),
    "first_trial": ({"first_trial": 1.5}, "first_trial must be an integer >= 0"),
    "no agents": ({"agents": {}}, "agents must be at least one"),
    "a string": ({"agents": "gp-ucb"}, "agents must be a mapping"),
    "callables without labels": ({"agents": [Scripted]}, "agents must be a mapping of labels to agents"),
    "a pair without a label": ({"agents": [("gp-ucb", {})]}, "agents must be a mapping of labels to agents"),
    "a label": ({"agents": {1: "random"}}, "label of an agent must be text in one line, got 1"),
    "no label": ({"agents": {"": "random"}}, "label of an agent must be text in one line, got ''"),
    "a label of two lines": ({"agents": {"a\nb": "random"}}, "label of an agent must be text in one line"),
    "no agent": (
        {"agents": {"a": object()}},
        r"an agent is a name such as .* a class with the methods reset\(seed\), act\(observation\) and",
    ),
    "a class of something else": (
        {"agents": {"a": lambda setting: setting}},
        r"an agent must be an object with the methods reset\(seed\), .* got one of Setting without reset",
    ),
    "a class that takes no setting": ({"agents": {"a": object}}, "builtins.object must take a setting as"),
    "an agent, not its class": (
        {"agents": {"a": object.__new__(Scripted)}},
        "an agent is made anew for each setting: give Scripted, not an object of it",
    ),
    "what has a long text": (
        {"agents": {"a": {"weights": [0.0] * 1000}}},
        r"or in \(agent, options\), got .{200}\.\.\.(?!.)",
    ),
    "a policy, not its file": (
        {"agents": {"a": Policy("a2c", {}, False, "statistics", {}, {"weight": np.zeros(1000)})}},
        r'a trained policy plays from its file: policy.save\(path\), then \("agents.rl:pretrained"',
    ),
    "num_trials": ({"agents": {"a": ("gp-ucb", {"num_trials": 3})}}, "options .* must not hold num_trials"),
    "unknown agent": ({"agents": ["gp-ucb", "gp"]}, "unknown agent 'gp'"),
    "no oracle": ({"env_kwargs": {"oracle": False}}, "oracle must be on"),
    "agents in no order": (
        {"agents": {"random", "gp-ucb"}},
        "agents must be a mapping .* or a list of names",
    ),
    "names that are read once": ({"agents": (each for each in ["random"])}, "agents must be a mapping"),
    "an agent twice": ({"agents": ["random", "random"]}, "agents must be a list that names each once"),
    "an option without a name": ({"agents": {"a": ("gp-ucb", {1: 2})}}, "options must be names with values"),
    "too many workers": ({"workers": 10**12}, "workers must be a positive integer of at most 1024"),
    "callback": ({"callback": 3}, "callback must be None or a callable"),
    "callback elsewhere": ({"callback": print, "workers": 2}, "workers must be 1"),
    "keyword": ({"env_kwargs": {"horizons": 3}}, "unexpected keyword argument 'horizons'"),
    "NaN": ({"agents": {"nan": lambda setting: Scripted(setting, float("nan"))}}, "integer arm"),
    "arm": ({"agents": {"far": lambda setting: Scripted(setting, 1000)}}, "arm in 0..999"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_clear_error(change, message):
    agents = change.pop("agents", ["random"])
    with pytest.raises(ValueError, match=message):
        evaluate("GPBandit-GP-v0", agents, **change)


@pytest.mark.parametrize(("key", "of_arm"), [("regret", float), ("cost_mean", lambda arm: np.array([arm]))])
def test_an_environment_whose_truth_is_no_number_is_named(key, of_arm):
    class Odd(gym.Wrapper):
        def step(self, action):
            *others, info = self.env.step(action)
            info["oracle"][key] = of_arm(np.nan)
            return *others, info

    def made():
        constraints = {"num_constraints": 1} if key == "cost_mean" else {}
        return Odd(gym.make("GPBandit-GP-v0", num_arms=9, horizon=5, **constraints))

    with pytest.raises(ValueError, match=rf'info\["oracle"\]\["{key}"\] of the environment must be finite'):
        evaluate(made, ["random"], trials=1)


def test_an_agent_of_batches_alone_is_told_what_it_lacks():
    def many(setting, num_trials):
        raise AssertionError

    with pytest.raises(ValueError, match=r"must take num_trials=None.*give it that default"):
        evaluate(lambda: gym.make("GPBandit-GP-v0", num_arms=9, horizon=5), {"many": many}, trials=1)


def test_a_callable_takes_options_as_its_name_does():
    options = {"delta": 0.4, "beta_scale": 0.1}
    chosen = {
        "by name": ("gp-ucb", options),
        "callable": (agents.gp_ucb, options),
        "class": (Scripted, {"arm": 4}),
    }
    result = evaluate("GPBandit-GP-v0", chosen, trials=2, env_kwargs=SMALL)
    np.testing.assert_array_equal(result.actions["callable"], result.actions["by name"])
    assert (result.actions["class"] == 4).all()
    for make in (Scripted, partial(Scripted, arm=3)):
        with pytest.raises(ValueError, match="unknown option 'arms' of the agent"):
            evaluate("GPBandit-GP-v0", {"a": (make, {"arms": 3})}, trials=1, env_kwargs=SMALL)


def test_an_environment_that_is_no_bandit_is_named():
    with pytest.raises(
        ValueError, match=r"environment must be a bandit, with an attribute `setting`.*CartPole"
    ):
        evaluate("CartPole-v1", ["random"], trials=1)


def test_any_integers_will_do_and_can_be_saved(tmp_path):
    integers = {"trials": np.int64(2), "seed": np.int64(3), "first_trial": np.int64(1)}
    result = evaluate("GPBandit-GP-v0", ["random"], env_kwargs={"horizon": np.int64(5)}, **integers)
    result.save(tmp_path / "result.parquet")
    plain = evaluate("GPBandit-GP-v0", ["random"], trials=2, seed=3, first_trial=1, env_kwargs={"horizon": 5})
    loaded = Result.load(tmp_path / "result.parquet")
    np.testing.assert_array_equal(loaded.actions["random"], plain.actions["random"])


def test_an_error_says_which_agent_and_trials_it_came_from():
    with pytest.raises(ValueError, match="action") as caught:
        evaluate("GPBandit-GP-v0", {"far": lambda setting: Scripted(setting, -1)}, trials=2, env_kwargs=SMALL)
    assert caught.value.__notes__ == ["in trials 0..0", "while agent 'far' played"]


@pytest.mark.parametrize("track", [object(), "two\nlines", 3])
def test_a_track_that_is_no_text_is_refused(track):
    agent = type("OfATrack", (FirstArm,), {"track": track})
    with pytest.raises(ValueError, match="track of an agent must be None or text in one line"):
        evaluate("GPBandit-GP-v0", {"a": agent}, trials=1, env_kwargs={"horizon": 3, "num_arms": 3})


FEW = {"num_arms": 8, "horizon": 6, "num_constraints": 1}


def heard(callback=None, **options):
    entrants = {"GP-UCB": "gp-ucb", "mine": UniformArms}
    keywords = {"trials": 3, "first_trial": 2, "seed": 4, "env_kwargs": FEW} | options
    return evaluate("GPBandit-GP-v0", entrants, callback=callback, **keywords)


@pytest.mark.parametrize("options", [{}, {"checkpoints": [2, 6]}], ids=["all rounds", "some recorded"])
def test_a_callback_hears_of_every_round_what_the_result_says(options):
    rounds = []
    result = heard(rounds.append, **options)
    whole = heard()
    assert np.array_equal(result.actions["mine"][:, -1], whole.actions["mine"][:, -1])
    for name in result.records:
        for key in ("regret", "violation"):
            told = np.full((3, FEW["horizon"]), np.nan)
            for seen in rounds:
                if seen.agent == name:
                    told[seen.trial - 2, seen.round - 1] = getattr(seen, key)
            np.testing.assert_allclose(told, getattr(whole.records[name], key), rtol=1e-12)


def test_a_callback_cannot_change_what_an_agent_sees():
    def scribble(seen):
        seen.regret[:] = np.nan
        seen.violation[:] = np.nan

    for name, record in heard(scribble).records.items():
        assert np.array_equal(record.action, heard().records[name].action)
        assert np.array_equal(record.regret, heard().records[name].regret)


def test_rounds_after_a_spent_budget_are_not_told():
    rounds = []
    keywords = {"num_arms": 8, "horizon": 20, "budget": 3.0}
    result = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=keywords, callback=rounds.append)
    assert len(rounds) == result.played["random"][0] < 20


def test_a_loop_of_ones_own_tells_in_the_same_form():
    env = BanditEnv("gp", **FEW)
    observation, info = env.reset(seed=0)
    with pytest.raises(ValueError, match="info must be of a step"):
        Round.of(info)
    agent = agents.make("gp-ucb", env)
    agent.reset(0)
    action = agent.act(observation)
    *_, info = env.step(action)
    seen = Round.of(info, "mine", 3)
    assert (seen.agent, seen.round, seen.trial.tolist()) == ("mine", 1, [3])
    assert seen.regret.tolist() == [info["oracle"]["regret"]]
    assert seen.violation.tolist() == [info["oracle"]["violation"]]

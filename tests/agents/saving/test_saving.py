"""Agents and what they are made of as data in a file."""

import copy
import gc
import json
import math
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from agent_cases import BATCHED, EACH, OF_ARMS, WITH_ALL, of_each_shape, seed_for, told_for
from cases import CASES, GRIDS
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from players import play
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Exponentiation,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

import agents
from agents.algorithms import budgets
from agents.registry import resolve_agent
from agents.saving import decode, encode
from agents.saving.recorded import READ
from bandit_envs import BanditEnv, BanditVectorEnv, Setting, make
from bandit_envs.kernels.kernels import OnColumns, TableKernel
from bandit_envs.laws.delays import LAWS, Constant, DelayByArm
from bandit_envs.problems import build
from gpbandits.evaluation.trace import without_oracle

OF_BUDGETS = [name for name in OF_ARMS if resolve_agent(name).make.__module__ == budgets.__name__]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
DTYPES = st.sampled_from(["f8", "f4", "i8", "u1", "?"])
ARRAYS = DTYPES.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0)))


def through_json(value):
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


@pytest.mark.long
@given(VALUES)
def test_values_come_back_as_they_were(value):
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.long
@given(ARRAYS)
def test_arrays_come_back_bit_for_bit(array):
    back = through_json(array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert back.flags.writeable


KERNELS = {
    "sum and product": ConstantKernel(2.0, (1e-3, 10.0)) * RBF([0.1, 0.3], "fixed")
    + Matern(0.2, nu=math.inf),
    "power": Exponentiation(RationalQuadratic(0.3, 1.5), 2.0),
    "product over contexts": OnColumns(RBF(0.5), [0]) * OnColumns(Matern(0.2, nu=2.5), [1]),
    "noise": RBF([0.1], (1e-3, 1.0)) + WhiteKernel(0.1, "fixed"),
    "table": TableKernel(np.array([[2.0, 0.5], [0.5, 1.0]])),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels_come_back_with_their_hyperparameters_and_bounds(kernel):
    back = through_json(kernel)
    points = np.array([[0.0, 1.0], [1.0, 0.3], [0.0, 0.4]])
    np.testing.assert_array_equal(back(points), kernel(points))
    np.testing.assert_array_equal(back.theta, kernel.theta)
    np.testing.assert_array_equal(back.bounds, kernel.bounds)
    assert repr(back.clone_with_theta(back.theta)) == repr(kernel)


class Mine(RBF):
    """Not a kernel that a file may name."""


@pytest.mark.parametrize("law", [*LAWS, "slow"])
def test_laws_of_delays_come_back(law):
    known = (
        DelayByArm({"law": "log-normal", "mean": 3.0}, slowest=2.0, lost=0.1)
        if law == "slow"
        else LAWS[law]()
    )
    assert through_json(known) == known


@dataclass(frozen=True)
class Weekly(Constant):
    """Not a law that a file may name."""


class OwnSetting(Setting):
    """Not the class that a file names."""


REFUSED = {
    "foreign setting": (OwnSetting(arms=np.eye(2)), "of class OwnSetting; use Setting itself"),
    "foreign law of delays": (Weekly(), r"cannot save a law of delays .*LAWS\[name\]"),
    "foreign kernel": (Mine(0.2), "cannot save a kernel Mine.*; use one of"),
    "kernel in a sum": (RBF(0.2) + Mine(0.2), "cannot save a kernel Mine.*; use one of"),
    "function": (print, "cannot save <built-in function print>: it must be a number, text"),
    "objects": (np.array([print]), "cannot save an array of object"),
}


@pytest.mark.parametrize(("value", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_data_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        encode({"option": [value]})


FOREIGN = {
    "law": ({"type": "delay", "class": "os", "arguments": {}}, "a law of delays 'os'"),
    "class": ({"type": "kernel", "class": "os.system", "arguments": {}}, "a kernel 'os.system'"),
    "type": ({"type": "module", "name": "os"}, "data of type 'module'"),
    "array": ({"type": "array", "dtype": "|O", "shape": [0], "zlib": ""}, r"array of '\|O'"),
}


@pytest.mark.parametrize(("data", "message"), FOREIGN.values(), ids=FOREIGN)
def test_a_file_can_build_nothing_else(data, message):
    with pytest.raises(ValueError, match=message):
        decode(data)


@pytest.mark.parametrize("case", GRIDS)
def test_settings_come_back(case):
    env = case.make(publish_model=True)
    env.reset(seed=0)
    setting = env.get_wrapper_attr("setting")
    back = through_json(setting)
    assert repr(back) == repr(setting)
    np.testing.assert_array_equal(back.decisions.points, setting.decisions.points)
    np.testing.assert_array_equal(
        back.kernel(back.decisions.points[:50]), setting.kernel(setting.decisions.points[:50])
    )


PLAIN = ("GPBandit-GP-v0", {"num_arms": 40, "horizon": 30})
DELAYED = ("GPBandit-Delayed-v0", {"num_arms": 60, "horizon": 40, "length_scale": 0.1})
CONTEXTUAL = ("GPBandit-Contextual-v0", {"num_arms": 25, "horizon": 30})
CONSTRAINED = ("GPBandit-Constrained-v0", {"num_arms": 36, "horizon": 40})
RUNS = {
    "gp-ucb": (PLAIN, {}),
    "gp-ts": (PLAIN, {"kernel": Matern(0.2, nu=2.5)}),
    "learning": (PLAIN, {"refit_every": 5}, "gp-ucb"),
    "imputed": (DELAYED, {"fill_in": "nearest"}, "gp-ts-sdf"),
    "pairs": (CONTEXTUAL, {"form": "pairs", "width": 1.0}, "gp-ts"),
    "restarts": (CONSTRAINED, {"epoch": 8, "reuse": False, "inner": "thompson"}, "gp-ucb-noisy-constraints"),
    "admmbo learning": (CONSTRAINED, {"refit_every": 5}, "admmbo"),
    "bandit-oco": (CONSTRAINED, {}),
    "random": (PLAIN, {}),
    "holding": (PLAIN, {"repeat": 1.5}, "gp-ei"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_agent_goes_on_with_the_same_actions(name, tmp_path):
    (env_id, keywords), options, *other = RUNS[name]
    env = make(env_id, **keywords)
    observation, _ = env.reset(seed=2)
    agent = agents.make(*(other or [name]), env, **options)
    agent.reset(7)
    _, observation = play(env, agent, observation, 13)
    agent.save(tmp_path / "agent.json")
    loaded = agents.load(tmp_path / "agent.json")
    actions, _ = play(copy.deepcopy(env), agent, observation, 12)
    again, _ = play(env, loaded, observation, 12)
    np.testing.assert_array_equal(again, actions)
    if hasattr(agent, "recommend"):
        context = observation if agent.setting.contexts is not None else None
        assert repr(loaded.recommend(context)) == repr(agent.recommend(context))


@pytest.mark.parametrize("case", CASES)
def test_what_a_learner_may_see_of_a_round_is_recorded(case):
    env = case.make()
    env.reset(seed=0)
    *_, info = env.step(env.action_space.sample())
    assert without_oracle(info).keys() - {"played"} <= {*READ}  # nothing follows a play that was not made


@pytest.mark.parametrize("num_trials", [None, 2])
@pytest.mark.parametrize("name", OF_BUDGETS)
def test_a_saved_agent_knows_what_its_plays_cost(name, num_trials, tmp_path):
    problem = build("budget", {"num_arms": 20})
    env = BanditEnv(problem) if num_trials is None else BanditVectorEnv(problem, num_trials)
    observation, _ = env.reset(seed=5)
    agent = agents.make(name, env, num_trials)
    agent.reset(1 if num_trials is None else [1, 2**70])
    _, observation = play(env, agent, observation, 14)
    agent.save(tmp_path / "agent.json")
    loaded = agents.load(tmp_path / "agent.json")
    np.testing.assert_array_equal(loaded.act(observation), agent.act(observation))
    np.testing.assert_array_equal(loaded.scores, agent.scores)


def test_a_dropped_play_stays_dropped(tmp_path):
    env = make("GPBandit-Delayed-v0", num_arms=30, horizon=30, delay={"law": "constant", "rounds": 20})
    observation, _ = env.reset(seed=0)
    agent = agents.make("gp-bucb", env)
    agent.reset(0)
    play(env, agent, observation, 6)
    agent.drop([2, 4])
    agent.save(tmp_path / "agent.json")
    context = np.zeros(1, dtype=np.int64)
    loaded = agents.load(tmp_path / "agent.json")
    np.testing.assert_array_equal(loaded.belief.std(context), agent.belief.std(context))
    assert loaded.belief.gain < 6 * np.log(1e3)
    with pytest.raises(ValueError, match="feedback comes once"):
        loaded.drop([2])


def test_an_agent_that_has_not_started_can_be_saved(tmp_path):
    setting = Setting(arms=np.linspace(0, 1, 20)[:, None], horizon=20)
    agents.make("gp-ucb", setting).save(tmp_path / "agent.json")
    with pytest.raises(RuntimeError, match="first reset"):
        agents.load(tmp_path / "agent.json").act(np.zeros(1))


@pytest.mark.parametrize("name", ["gp-ucb", "random"])
def test_an_agent_that_is_made_is_of_the_class_of_its_factory_and_is_freed_once_nobody_has_it(name):
    setting = Setting(arms=np.linspace(0, 1, 5)[:, None], kernel=RBF(0.2), noise_std=0.1)
    agent = agents.make(name, setting)
    agent.reset(0)
    agent.act(np.zeros(1))
    assert isinstance(agent, type(resolve_agent(name)(setting)))
    gc.collect()
    gc.disable()  # which would free cycles of references at some later time: large tables would pile up
    try:
        left = weakref.ref(agent)
        del agent
        assert left() is None
    finally:
        gc.enable()


class Counting:
    """Learns by acting, and fails when it is asked to."""

    def __init__(self, setting):
        self.acted, self.fails = 0, False

    def reset(self, seed):
        self.acted = 0

    def act(self, observation):
        if self.fails:
            raise KeyboardInterrupt
        self.acted += 1
        return self.acted

    def update(self, observation, action, reward, info):
        self.act(observation)


class Shadowed(Counting):
    """Has a method of its own beside that of its class."""

    def __init__(self, setting):
        super().__init__(setting)
        self.act = super().act


def test_calls_that_fail_or_that_an_agent_makes_of_itself_leave_no_trace(tmp_path):
    agent = agents.make(f"{__name__}:Counting", Setting(arms=np.eye(3), horizon=9))
    agent.reset(0)
    agent.act(None)
    agent.update(None, 1, 0.0, {})
    for call in (lambda: agent.act(None), lambda: agent.update(None, 1, 0.0, {})):
        agent.fails = True
        with pytest.raises(KeyboardInterrupt):
            call()
        agent.fails = False
    agent.act(None)
    agent.save(tmp_path / "agent.json")
    assert agents.load(tmp_path / "agent.json", trust=True).acted == agent.acted == 3


def test_an_agent_whose_methods_are_not_those_of_its_class_is_refused():
    with pytest.raises(ValueError, match="must be an agent whose class defines its methods"):
        agents.make(f"{__name__}:Shadowed", Setting(arms=np.eye(3), horizon=9))


def test_an_observation_that_is_text_is_refused_by_act_and_leaves_no_trace(tmp_path):
    agent = agents.make("gp-ucb", Setting(arms=np.linspace(0, 1, 5)[:, None], kernel=RBF(0.2), noise_std=0.1))
    agent.reset(0)
    for observation in (np.array(["x"]), np.array([object()])):
        with pytest.raises(ValueError, match="observation must be numbers, as the environment's reset and"):
            agent.act(observation)
    agent.act(np.zeros(1))
    agent.save(tmp_path / "agent.json")


EVERYTHING = {
    **{"num_arms": 16, "horizon": 24, "delay": {"law": "poisson", "mean": 2.0}},
    **{"num_contexts": 3, "num_constraints": 1, "change_points": [9]},
}


@pytest.mark.long
@pytest.mark.parametrize("num_trials", [None, 2])
@pytest.mark.parametrize("name", of_each_shape(BATCHED))
def test_every_agent_goes_on_under_delays_contexts_constraints_and_changes(name, num_trials, tmp_path):
    problem = build("composite", EVERYTHING | seed_for(name))
    env = BanditEnv(problem) if num_trials is None else BanditVectorEnv(problem, num_trials)
    observation, _ = env.reset(seed=5)
    try:
        agent = agents.make(name, env, num_trials, **told_for(name))
    except ValueError as error:
        pytest.skip(f"does not play here: {error}")
    agent.reset(1 if num_trials is None else [1, 2])
    _, observation = play(env, agent, observation, 11)
    agent.save(tmp_path / "agent.json")
    actions, _ = play(copy.deepcopy(env), agent, observation, 5)
    again, _ = play(env, agents.load(tmp_path / "agent.json"), observation, 5)
    np.testing.assert_array_equal(again, actions)


@pytest.mark.parametrize("num_trials", [None, 2])
@pytest.mark.parametrize("name", EACH)
def test_every_agent_may_be_told_what_reset_says(name, num_trials):
    if num_trials and not resolve_agent(name).batched:
        pytest.skip("it plays one trial")
    agent = agents.make(name, WITH_ALL, num_trials, **told_for(name))
    agent.reset(0 if num_trials is None else [0, 1])
    agent.start({})
    getattr(agent, "close", lambda: None)()

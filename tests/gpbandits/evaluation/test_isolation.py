"""Agents in processes of their own play the same, and see nothing that they are not told."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import pickle
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import GAUSSIAN, LISTENING, of_each_shape
from players import FirstArm

from bandit_envs.problem.simulator import SingleSimulator
from gpbandits import Result, evaluate, trial_seeds
from gpbandits.evaluation.isolation import MOST_BYTES, AgentProcessError

SMALL = {"num_arms": 9, "horizon": 6}
ROUGH = {"num_arms": 400, "horizon": 2, "length_scale": 0.01}  # the best arm is hardly ever that of another


def apart_and_here(environment, agents, apart=None, **options):
    """Return an isolated run, and the run in this process that repeats it from its entropy."""
    isolated = evaluate(environment, agents, **options, **(apart or {}), isolate=True)
    return isolated, evaluate(environment, agents, **options, entropy=isolated.entropy)


class Thief(FirstArm):
    """Looks for the truth in the memory of its process, and plays the best arm if it is there.

    Simulators of other tests may be there too: its own begins and plays as it does.
    """

    def reset(self, seed):
        super().reset(seed)
        self.t = -1
        self.begun = {id(each): each.round.item() for each in simulators()}

    def act(self, observation):
        self.t += 1
        own = [each for each in simulators() if self.t and each.round.item() == self.t]
        own = [each for each in own if each.trials[0] is not None and self.begun.get(id(each), 0) == 0]
        return int(own[-1].trials[0].means[0, 0].argmax()) if own else 0


def simulators():
    return [each for each in gc.get_objects() if type(each) is SingleSimulator]


class Seeker(FirstArm):
    """Searches small (seed, trial) for its own seed, and plays the best arm of the trial they stand for."""

    def reset(self, seed):
        pairs = itertools.product(range(4), range(16))
        (mine,) = (trial_seeds(*pair) for pair in pairs if trial_seeds(*pair)[1] == seed)
        env = gym.make("GPBandit-GP-v0", **ROUGH)
        env.reset(seed=mine[0])
        self.best = int(env.unwrapped.simulator.trials[0].means[0, 0].argmax())

    def act(self, observation):
        return self.best


BEST = (
    "next(int(each.trials[0].means[0, 0].argmax()) for each in __import__('gc').get_objects() "
    "if type(each).__name__ == 'SingleSimulator' and each.trials[0] is not None)"
)


class Payload:
    """An object that evaluates text where it is unpickled: there, it becomes the best arm."""

    def __reduce__(self):
        return eval, (BEST,)


class Poisoned(ArithmeticError):
    def __reduce__(self):
        return eval, (BEST,)


class Returning(FirstArm):
    """Plays the best arm, if the process of the environment unpickles its answers."""

    def act(self, observation):
        return Payload()


class Raising(FirstArm):
    """Hands the main process an error that is the best arm."""

    def act(self, observation):
        raise Poisoned


class Writing(FirstArm):
    """Writes to the pipe itself, which it finds in the memory of its process."""

    content = pickle.dumps((Payload(), None))

    def act(self, observation):
        for each in gc.get_objects():
            if isinstance(each, Connection) and not each.closed:
                each.send_bytes(self.content)
        return 0


class Endless(Writing):
    """Answers with more bytes than any answer has."""

    content = bytes(MOST_BYTES + 1)


class Alarming(FirstArm):
    """Hands over code by what is read after the episode."""

    @property
    def alarms(self):
        return Payload()


class Leaving(FirstArm):
    def act(self, observation):
        os._exit(7)


class OddError(ArithmeticError):
    """An error that no other process knows."""


class FailingItsWay(FirstArm):
    def act(self, observation):
        raise OddError("not today")


class Shouting(FirstArm):
    def act(self, observation):
        raise RuntimeError("a" * 10**7)


@pytest.mark.long
@pytest.mark.parametrize("name", of_each_shape(name for name in GAUSSIAN if name in LISTENING))
def test_an_isolated_agent_plays_the_same(name):
    apart, here = apart_and_here("GPBandit-GP-v0", [name], trials=2, env_kwargs=SMALL)
    np.testing.assert_array_equal(apart.actions[name], here.actions[name])


@pytest.mark.long
def test_one_that_says_what_it_is_and_does_is_asked_for_it():
    agents = {"sdf": ("gp-ucb-sdf", {"window": 3}), "cpd": "gp-ucb-cpd", "oracle": "gp-ucb-oracle"}
    apart, here = apart_and_here("GPBandit-PiecewiseStationary-v0", agents, trials=2, env_kwargs=SMALL)
    assert (apart.windows, apart.privileged) == (here.windows, here.privileged) == ({"sdf": 3.0}, {"oracle"})
    assert apart.alarms.keys() == here.alarms.keys() == {"cpd"}
    assert apart.assuming == here.assuming == {"sdf"}


@pytest.mark.long
@pytest.mark.parametrize("isolate", [False, True])
def test_one_that_approximates_is_known_by_what_its_factory_declares(isolate):
    agents = {"sketch": "bkb", "exact": "gp-ucb", "class": FirstArm}
    result = evaluate("GPBandit-GP-v0", agents, trials=2, env_kwargs=SMALL, isolate=isolate)
    assert result.approximate == {"sketch"}


class InBatchesOnly(FirstArm):
    """Has to be told how many trials it plays."""

    def __init__(self, setting, num_trials):
        super().__init__(setting)
        self.num_trials = num_trials

    def act(self, observation):
        return np.zeros(self.num_trials, dtype=np.int64)


@pytest.mark.long
@pytest.mark.parametrize("trials", [1, 3])
def test_one_that_plays_batches_alone_is_told_their_size(trials):
    agents = {"batches": InBatchesOnly, "first": FirstArm}
    result = evaluate("GPBandit-GP-v0", agents, trials=trials, env_kwargs=SMALL, isolate=True)
    np.testing.assert_array_equal(result.regret["batches"], result.regret["first"])


@pytest.mark.long
def test_one_that_is_made_for_sums_gets_sums():
    sums = {**SMALL, "aggregated": True}
    runs = apart_and_here("GPBandit-Delayed-v0", ["gp-ucb-aggregated"], trials=2, env_kwargs=sums)
    np.testing.assert_array_equal(*(each.actions["gp-ucb-aggregated"] for each in runs))


@pytest.mark.long
def test_workers_may_isolate_agents_too():
    runs = apart_and_here("GPBandit-GP-v0", ["gp-ts"], {"workers": 2}, trials=3, env_kwargs=SMALL)
    np.testing.assert_array_equal(*(each.actions["gp-ts"] for each in runs))
    assert multiprocessing.get_start_method(allow_none=True) in (None, "fork", "forkserver", "spawn")


@pytest.mark.long
def test_it_does_not_find_the_truth_in_its_memory():
    agents = {"thief": Thief, "player": FirstArm}
    apart, here = apart_and_here("GPBandit-GP-v0", agents, trials=1, env_kwargs=SMALL)
    assert here.regret["thief"][0, -1] == here.regret["thief"][0, 0]  # else the theft does not work
    np.testing.assert_array_equal(apart.actions["thief"], apart.actions["player"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("agent", "error", "said"),
    [
        (Returning, TypeError, "'act' of an isolated agent must be plain data: .* got a Payload"),
        (Raising, ArithmeticError, None),
        (Writing, AgentProcessError, "must answer 'act' in plain data, and did not"),
        (Endless, AgentProcessError, "must answer 'act' in at most"),
        (Alarming, TypeError, "'alarms' of an isolated agent must be plain data"),
    ],
)
def test_what_it_answers_is_data_and_runs_nothing_beside_the_environment(agent, error, said):
    with pytest.raises(error, match=said):
        evaluate("GPBandit-GP-v0", {"a": agent}, trials=1, env_kwargs=SMALL, isolate=True)


@pytest.mark.long
def test_an_error_of_its_own_travels_as_the_nearest_built_in_one_with_its_traceback():
    with pytest.raises(ArithmeticError, match="not today") as caught:
        evaluate("GPBandit-GP-v0", {"a": FailingItsWay}, trials=1, env_kwargs=SMALL, isolate=True)
    assert type(caught.value) is ArithmeticError
    assert any("FailingItsWay" in note or "OddError" in note for note in caught.value.__notes__)
    with pytest.raises(RuntimeError) as caught:
        evaluate("GPBandit-GP-v0", {"a": Shouting}, trials=1, env_kwargs=SMALL, isolate=True)
    assert len(str(caught.value)) + sum(map(len, caught.value.__notes__)) < 100_000


@pytest.mark.long
def test_its_stopping_rules_travel():
    agents = {"a": ("gp-ucb", {"stopping": ("knowledge-gradient", {"price": 0.1})})}
    apart, here = apart_and_here("GPBandit-GP-v0", agents, trials=2, env_kwargs=SMALL)
    (one,), (other,) = (each.stopped["a"].values() for each in (apart, here))
    np.testing.assert_array_equal(one.after, other.after)
    np.testing.assert_array_equal(one.regret, other.regret)


@pytest.mark.long
def test_its_seed_does_not_tell_it_the_environments():
    keywords = {"trials": 3, "seed": 3, "env_kwargs": ROUGH}
    here, apart = (
        evaluate("GPBandit-GP-v0", {"seeker": Seeker}, **keywords, isolate=isolate)
        for isolate in (False, True)
    )
    assert not here.regret["seeker"].any()  # else the search does not work
    np.testing.assert_array_equal(apart.actions["seeker"], here.actions["seeker"])  # it finds as much
    assert apart.regret["seeker"].any()


@pytest.mark.long
def test_a_run_is_repeated_and_extended_from_its_stored_entropy(tmp_path):
    keywords = {"trials": 2, "env_kwargs": SMALL}
    first = evaluate("GPBandit-GP-v0", ["random"], **keywords, isolate=True)
    first.save(tmp_path / "r.parquet")
    entropy = Result.load(tmp_path / "r.parquet").entropy
    again = evaluate("GPBandit-GP-v0", {"random": "random", "late": FirstArm}, **keywords, entropy=entropy)
    np.testing.assert_array_equal(again.regret["random"], first.regret["random"])
    alone = evaluate(
        "GPBandit-GP-v0", {"late": FirstArm}, trials=1, first_trial=1, env_kwargs=SMALL, entropy=entropy
    )
    np.testing.assert_array_equal(alone.regret["late"], again.regret["late"][1:])


@pytest.mark.long
def test_every_isolated_run_has_entropy_of_its_own_and_agents_have_their_usual_seeds():
    runs = [evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=SMALL, isolate=True) for _ in "ab"]
    here = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=SMALL)
    assert here.entropy is None
    assert len({run.entropy for run in runs}) == 2
    secret = [trial_seeds(5, i, run.entropy) for run in runs for i in range(50)]
    assert [agent for _, agent in secret] == [trial_seeds(5, i)[1] for i in range(50)] * 2
    assert len({environment for environment, _ in secret}) == 100
    with pytest.raises(ValueError, match="entropy must be None or an integer >= 0"):
        evaluate("GPBandit-GP-v0", ["random"], trials=1, entropy=-1)


@pytest.mark.long
def test_its_death_is_said():
    with pytest.raises(AgentProcessError, match=r"ended during 'act', with exit code 7"):
        evaluate("GPBandit-GP-v0", {"a": Leaving}, trials=1, env_kwargs=SMALL, isolate=True)


@pytest.mark.long
def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from gpbandits import evaluate\n"
        "evaluate('GPBandit-GP-v0', ['random'], trials=1, isolate=True, env_kwargs={'horizon': 3})\n"
    )
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": root}
    run = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "has to call evaluate below `if __name__ == '__main__':`" in run.stderr


def test_an_agent_that_no_other_process_can_import_is_refused():
    with pytest.raises(ValueError, match="isolate=True needs agents that another process can import"):
        evaluate("GPBandit-GP-v0", {"a": lambda setting: FirstArm(setting)}, trials=1, isolate=True)
    with pytest.raises(ValueError, match="isolate must be True or False"):
        evaluate("GPBandit-GP-v0", ["random"], trials=1, isolate="no")


@pytest.mark.long
def test_no_process_is_left():
    before = multiprocessing.active_children()
    evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=SMALL, isolate=True)
    assert set(multiprocessing.active_children()) <= set(before)

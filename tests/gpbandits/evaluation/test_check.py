"""The conformance suite lets honest agents pass and catches each kind of mistake by name."""

from __future__ import annotations

import os
import pickle
import resource
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from agent_cases import BATCHED, OF_ARMS, of_each_shape, seed_for
from players import FirstArm, UniformArms

import agents
from agents.registry import resolve_agent
from bandit_envs import BanditEnv
from bandit_envs.laws.delays import PoissonDelay
from bandit_envs.problems import build
from gpbandits.evaluation import AgentCheckError, check_agent
from gpbandits.evaluation.process_state import ProcessState
from gpbandits.evaluation.rehearsal import MAKERS, SMALL, stages

FEW = {"arms": stages()["finite"]}
HERE = [name for name in OF_ARMS if not hasattr(resolve_agent(name).make, "requires")]
BOX = {"box": MAKERS["box"]()}
DELAYED = {"delayed": stages()["delay"]}


class Careful(UniformArms):
    """An agent that keeps every rule."""

    def __init__(self, setting):
        super().__init__(setting)
        self.num_arms = None if setting.continuous else len(setting.arms)


class Learner(Careful):
    """Plays the best arm that has arrived, or explores; a user's agent without a trial axis."""

    def reset(self, seed):
        super().reset(seed)
        self.played, self.best = [], (-np.inf, 0)

    def act(self, observation):
        return super().act(observation) if self.rng.random() < 0.5 else self.best[1]

    def update(self, observation, action, reward, info):
        self.played.append(action)
        mask = info["feedback_mask"]
        for step, value in zip(info["feedback_step"][mask], info["feedback_reward"][mask], strict=True):
            self.best = max(self.best, (float(value), self.played[step]))


def careful(name, **members):
    """An agent that keeps every rule but for these members."""
    for method, each in members.items():
        if callable(each):
            each.__name__ = method
    return type(name, (Careful,), members)


# --- agents that pass ---


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", of_each_shape(name for name in BATCHED if agents.features(name).finite))
def test_every_registered_agent_passes_with_all_features_at_once(name, monkeypatch):
    monkeypatch.setitem(SMALL, "horizon", 12)  # for speed
    check_agent(name, {"everything": build("composite", SMALL | seed_for(name))})


# Learners of other libraries take their time; two of them are checked in tests/agents/rl always. So do their
# optimisers, which are checked on a smaller problem in tests/agents/optimisers.
@pytest.mark.long
@pytest.mark.parametrize("name", HERE)
def test_every_registered_agent_passes_with_one_feature_after_the_other(name):
    check_agent(name)


def test_the_global_generators_are_left_as_they_were():
    class Global(Careful):
        def reset(self, seed):
            np.random.seed(seed % 2**32)  # noqa: NPY002 (what such an agent does)

        def act(self, observation):
            return int(np.random.randint(self.num_arms))  # noqa: NPY002

    before = np.random.get_state(legacy=False)  # noqa: NPY002
    check_agent(Global, FEW)
    np.testing.assert_equal(np.random.get_state(legacy=False), before)  # noqa: NPY002


# --- agents that break a rule ---


class WithoutUpdate:
    def __init__(self, setting: Any):
        pass

    def reset(self, seed):
        pass

    def act(self, observation):
        return 0


class DoesNotForget(Careful):
    def __init__(self, setting):
        super().__init__(setting)
        self.age = 0

    def reset(self, seed):
        pass

    def act(self, observation):
        self.age += 1
        return self.age % self.num_arms


class SharesStateInItsClass(Careful):
    made = 0

    def __init__(self, setting):
        super().__init__(setting)
        type(self).made += 1
        self.number = self.made

    def act(self, observation):
        return self.number % self.num_arms


class ReadsTheOracle(Careful):
    def reset(self, seed):
        super().reset(seed)
        self.regret = 0.0

    def act(self, observation):
        return int(self.regret * 1e6) % self.num_arms

    def update(self, observation, action, reward, info):
        self.regret = abs(info["oracle"]["regret"])


class LooksWhetherThereIsAnOracle(Careful):
    arm = 0

    def reset(self, seed):
        self.arm = 0

    def act(self, observation):
        return self.arm

    def update(self, observation, action, reward, info):
        self.arm = int("oracle" in info)


class ChangesTheObservation(Careful):
    def act(self, observation):
        observation += 0.25
        return super().act(observation)


class CreditsTheArmJustPlayed(Learner):
    """Right where feedback is immediate."""

    def update(self, observation, action, reward, info):
        for value in info["feedback_reward"][info["feedback_mask"]]:
            self.best = max(self.best, (float(value), action))


class CreditsTheSum(Learner):
    def update(self, observation, action, reward, info):
        self.best = max(self.best, (float(reward), action))


class Batched(FirstArm):
    """A batch that shares one generator: its trials depend on each other."""

    def __init__(self, setting: Any, num_trials: int | None = None):
        self.num_trials, self.num_arms = num_trials, len(setting.arms)

    def reset(self, seed: Any) -> None:
        self.rng = np.random.default_rng(seed)

    def act(self, observation):
        return self.rng.integers(self.num_arms, size=self.num_trials)


class Changes(Careful):
    """Does something to its process, or to its setting, in every round."""

    def __init__(self, setting: Any, what: Callable[[Any], object]):
        super().__init__(setting)
        self.setting, self.what = setting, what

    def act(self, observation):
        self.what(self.setting)
        return super().act(observation)


def leave_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(20.0,), daemon=True, name="left").start()


def lower_a_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))


CHANGES: dict[str, Callable[[Any], object]] = {
    "numpy's error handling": lambda setting: np.seterr(divide="raise"),
    "the filters of warnings": lambda setting: warnings.simplefilter("ignore", FutureWarning),
    "the environment variables": lambda setting: os.environ.update(A_NAME="x"),
    "the working directory": lambda setting: os.chdir("/"),
    "the recursion limit": lambda setting: sys.setrecursionlimit(3456),
    "the limits of the operating system": lambda setting: lower_a_limit(),
    "the published kernel": lambda setting: setting.kernel.set_params(length_scale=7.0),
    "the thread 'left'": lambda setting: leave_a_thread(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_agent_that_changes_what_its_process_shares_is_caught_and_the_change_undone(what):
    before = ProcessState.now()
    with pytest.raises(AgentCheckError, match=f"it changed or left .*{what}") as caught:
        check_agent((Changes, {"what": CHANGES[what]}), {"arms": stages()["finite"]})
    assert caught.value.check == "the process left as it was"
    assert before.changed(ProcessState.now()) == []


def test_what_a_module_changes_once_as_it_is_imported_is_no_mistake():
    class Importing(Careful):
        loaded: ClassVar[list[int]] = []

        def act(self, observation):
            if not self.loaded:
                self.loaded.append(1)
                warnings.simplefilter("ignore", FutureWarning)
            return super().act(observation)

    check_agent(Importing, FEW)


class Mistake(NamedTuple):
    agent: Any
    check: str
    message: str
    environments: Any = FEW


ALIKE = "a batch plays what its trials play alone", "a trial not to depend on the others.*round 0"
AGAIN = "same seed, same actions"
ARM = r"element of Discrete\(20\), but it returned"
IN_PLACE = "nothing changed in place"
MISTAKES = [
    Mistake(careful("Alarms", alarms=(3, 2)), "alarms", r"None or ascending rounds .*it was \(3, 2\)"),
    Mistake(WithoutUpdate, "interface", "WithoutUpdate has no update.*empty update"),
    Mistake(careful("PlaysNaN", act=lambda self, seen: np.nan), "valid actions", f"{ARM} nan"),
    Mistake(careful("OneTooFar", act=lambda self, seen: self.num_arms), "valid actions", f"{ARM} 20"),
    Mistake(
        careful("Array", act=lambda self, seen: np.array([0])), "valid actions", rf"{ARM} array\(\[0\]\)"
    ),
    Mistake(
        careful("BeyondTheBox", act=lambda self, seen: np.full(self.setting.dim, 1.001)),
        "valid actions",
        r"element of Box\(.*returned array\(\[ ?1.*",
        BOX,
    ),
    Mistake(
        careful("IgnoresTheSeed", reset=lambda self, seed: setattr(self, "rng", np.random.default_rng())),
        AGAIN,
        "reset with the same seed to start anew.*in round",
    ),
    Mistake(DoesNotForget, AGAIN, "reset with the same seed to start anew, but in round 0"),
    Mistake(SharesStateInItsClass, AGAIN, "two instances with the same seed to play alike"),
    Mistake(
        ReadsTheOracle, "honesty", r'not to depend on info\["oracle"\], but in round 1 .*privileged = True'
    ),
    Mistake(LooksWhetherThereIsAnOracle, "honesty", "but in round 1 1 became 0"),
    Mistake(
        careful("Changes", update=lambda self, seen, arm, reward, info: info.update(feedback_reward=0.5)),
        IN_PLACE,
        "not to modify the info that it is given.*copy arrays",
    ),
    Mistake(
        careful("Adds", update=lambda self, seen, arm, reward, info: info.update(seen=True)),
        IN_PLACE,
        "the info was changed",
    ),
    Mistake(ChangesTheObservation, IN_PLACE, "the observation was changed"),
    Mistake(
        careful(
            "NeedsFeedback",
            update=lambda self, seen, arm, reward, info: info["feedback_reward"][info["feedback_mask"]][0],
        ),
        "no errors",
        "update.*raised IndexError.*feedback_mask.*False",
        DELAYED,
    ),
    Mistake(
        CreditsTheArmJustPlayed,
        "late rewards",
        r'as if the arm just .*of the round info\["feedback_step"\]',
        DELAYED,
    ),
    Mistake(CreditsTheSum, "late rewards", "as if the arm just played.*reward is the sum of all", DELAYED),
    Mistake(Batched, *ALIKE),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "mistake", MISTAKES, ids=lambda mistake: f"{mistake.agent.__name__}, {mistake.check}"
)
def test_each_mistake_is_caught_and_named(mistake):
    with pytest.raises(AgentCheckError, match=mistake.message) as caught:
        check_agent(mistake.agent, mistake.environments)
    assert caught.value.check == mistake.check
    assert str(caught.value).startswith(f"[{mistake.check}] expected ")
    assert "Remedy: " in str(caught.value)
    assert caught.value.__notes__ == [f"on the environment {next(iter(mistake.environments))!r}"]


def test_an_agent_that_never_returns_is_caught_in_time():
    sleeping = careful("NeverReturns", act=lambda self, seen: time.sleep(3600.0))
    with pytest.raises(AgentCheckError, match=r"\[finite time\] .* to end within 0.2 s") as caught:
        check_agent(sleeping, FEW, time_limit=0.2)
    assert "larger time_limit" in str(caught.value)


def test_an_agent_that_reads_the_oracle_may_say_so():
    check_agent(type("Privileged", (ReadsTheOracle,), {"privileged": True}), FEW)


def test_an_agent_that_cannot_be_made_shows_its_own_error():
    with pytest.raises(ValueError, match="unknown option 'colour' of the agent") as caught:
        check_agent(("gp-ucb", {"colour": "blue"}))
    assert caught.value.__notes__ == ["on the environment 'finite'"]
    with pytest.raises(ValueError, match=r"unknown agent 'gp-ubc' \(did you mean 'gp-ucb'"):
        check_agent("gp-ubc")


@pytest.mark.long
def test_an_agent_that_declares_no_delays_may_credit_the_arm_just_played():
    def factory(setting: Any) -> Any:
        return CreditsTheArmJustPlayed(setting)

    with pytest.raises(AgentCheckError, match="late rewards"):
        check_agent(factory, DELAYED)
    factory.features = agents.Features()  # type: ignore[attr-defined]
    check_agent(factory, DELAYED)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["finite", "context", "constraint"])
def test_late_rewards_and_costs_are_told_apart_on_every_stage(stage):
    problem = MAKERS[stage]()
    late = {stage: replace(problem, delay=PoissonDelay(3.0), max_delay=4)}
    check_agent(Learner, late)
    check_agent("gp-ucb", late)
    with pytest.raises(AgentCheckError, match="late rewards"):
        check_agent(CreditsTheArmJustPlayed, late)


# --- which environments ---


def test_an_agent_is_checked_on_what_it_declares_to_handle():
    assert list(stages()) == ["finite", "delay", "context", "constraint", "change"]
    pickle.dumps(stages())  # for `workers`
    assert list(stages(agents.Features())) == ["finite"]
    assert list(stages(agents.Features(delay=True, box=True))) == ["finite", "box", "delay"]
    assert list(stages(agents.Features(finite=False, delay=True, box=True))) == ["box"]


def test_the_delayed_stage_has_rounds_without_feedback_and_feedback_that_never_arrives():
    env = BanditEnv(stages()["delay"])
    env.reset(seed=11)
    infos = [env.step(0)[4] for _ in range(24)]
    arrivals = [int(info["feedback_mask"].sum()) for info in infos]
    assert min(arrivals) == 0
    assert max(arrivals) > 1
    assert any(info["oracle"]["delay"] == -1 for info in infos)


@pytest.mark.parametrize("error", [SystemExit(0), SystemExit("farewell"), GeneratorExit()])
@pytest.mark.parametrize("method", ["reset", "act", "update"])
def test_an_agent_that_exits_is_told_apart_from_one_that_passes(method, error):
    def leave(*_arguments):
        raise error

    agent = type("Leaving", (Careful,), {method: leave})
    with pytest.raises(AgentCheckError, match=rf"\[no exit\] .* raised {type(error).__name__}"):
        check_agent(agent, FEW)


@pytest.mark.parametrize(
    ("line", "check"), [("exit(3)", "no exit"), ("import time; time.sleep(5)", "finite time")]
)
def test_a_module_that_exits_or_hangs_at_its_import_is_told_apart_from_one_that_passes(
    tmp_path, monkeypatch, line, check
):
    name = f"module_that_{check.replace(' ', '_')}"
    (tmp_path / f"{name}.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentCheckError) as caught:
        check_agent(f"{name}:Agent", time_limit=0.5)
    assert caught.value.check == check


def test_an_agent_that_passes_is_told_what_was_checked_and_where():
    said = check_agent(Careful, FEW | {"a second": FEW["arms"]})
    assert said.startswith("All is well: valid actions")
    assert said.endswith("Checked on: arms; a second.")

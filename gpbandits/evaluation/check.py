"""The conformance suite checks agents, built-in or plugged in, against the rules of `evaluate`."""

import pickle
from collections.abc import Callable, Mapping
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np

from agents.agent.generators import preserved_generators
from agents.protocol import BaseAgent, adapted
from agents.registry import METHODS, AgentFactory, AgentSpec, lacking_method, resolve_agent
from bandit_envs.basics.threads import in_browser, one_thread
from bandit_envs.environment.envs import EnvLike, make
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.setting import KERNELS, Setting
from gpbandits.evaluation.play import noted
from gpbandits.evaluation.process_state import ProcessState, left_threads, preserved_process
from gpbandits.evaluation.rehearsal import (
    AgentCheckError,
    Show,
    as_many_arms,
    check_crediting,
    everything,
    rehearse,
    scrambled,
    stages,
)
from gpbandits.evaluation.trace import checked_alarms, without_oracle

__all__ = ["AgentCheckError", "check_agent"]

SEEDS = [(11, 5), (12, 6), (13, 7)]  # of the environment and of the agent
REPEATS = (
    "same seed, same actions",
    "reset with the same seed to start anew",
    "draw all randomness from a generator made in reset from its seed, and forget everything else there",
)
INSTANCES = (
    "same seed, same actions",
    "two instances with the same seed to play alike",
    "keep no state in the class, the module or numpy's global generator",
)
HONESTY = (
    "honesty",
    'the actions not to depend on info["oracle"]',
    'learn from "feedback_mask", "feedback_step" and "feedback_reward" alone; an agent that is meant to know '
    "the truth says so with the class attribute privileged = True",
)
BATCH = (
    "a batch plays what its trials play alone",
    "the actions of a trial not to depend on the others",
    "give each trial its own generator, made from its own seed, and let no operation mix trials; break ties "
    "with a tolerance, for the last bit of a batched product differs",
)
PROCESS = (
    "the process left as it was",
    "an agent not to change what everything in its process shares",
    "use `with np.errstate(...)`, `with warnings.catch_warnings()` and full paths, copy a kernel before you "
    "set its parameters, end threads in a method close(), and leave the rest to whoever starts the process",
)


def check_agent(
    agent: AgentSpec, environments: Mapping[str, EnvLike] | None = None, *, time_limit: float = 60.0
) -> str:
    """Raise AgentCheckError unless an agent keeps the rules of `evaluate`, and say what was checked.

    It has `reset`, `act` and `update`; its actions are valid; it does not modify its arguments; it leaves the
    process and the published kernel as they were, and no thread after its `close`; the same seed gives the
    same actions, again and in another instance; its actions do not depend on `oracle` in `info`, scrambled or
    removed (unless it sets `privileged = True`); a factory that takes `num_trials` gives a batch the actions
    of single trials; with delayed, non-anonymous feedback its actions depend on the round of each reward
    (unless its factory declares that it does not handle delays); and all checks end in finite time.

    Args:
        agent: as for `evaluate`: a name, "package.module:Class" or setting -> agent, or (agent, options).
        environments: label -> an id, a `Problem` or a callable that makes an environment. Default: small
            ones with the features that the factory declares, or with every feature of a finite set where
            it declares none, and of a batch one with as many arms as trials.
        time_limit: seconds for all checks together.
    """
    checked: list[str] = []

    def run() -> None:
        factory = resolve_agent(agent)
        chosen: dict[str, EnvLike] = {**(environments or {})}
        if environments is None:
            chosen |= stages(factory.features if factory.declares else None)
            if factory.batched and "finite" in chosen:
                chosen["as many arms as trials"] = as_many_arms(len(SEEDS))
        for label, environment in chosen.items():
            _check_on(label, environment, factory)
            checked.append(label)

    with preserved_generators(), preserved_process(), one_thread():
        _finish(run, time_limit)
    return (
        "All is well: valid actions, unchanged arguments and process, the same actions from the same seed, "
        "no use of the truth and, where they apply, batches and late feedback. Checked on: "
        f"{'; '.join(checked)}."
    )


def _check_on(label: str, environment: EnvLike, factory: AgentFactory) -> None:
    with noted(f"on the environment {label!r}"):
        env = make(environment)
        setting = _setting(env)
        _check_process(env, setting, factory)
        first = _instance(setting, factory)
        played = _play(env, first, everything)
        _expect_same(played, _play(env, first, everything), REPEATS)
        _expect_same(played, _play(env, _instance(setting, factory), everything), INSTANCES)
        for show in () if first.privileged else (scrambled, without_oracle):
            _expect_same(played, _play(env, _instance(setting, factory), show), HONESTY)
        if factory.batched:
            _check_batch(env, factory, played)
        if setting.max_delay and not setting.aggregated and factory.features.delay:
            of_env, _ = SEEDS[0]
            check_crediting(
                env,
                of_env,
                lambda late, seed: _play(late, _instance(setting, factory), everything, (of_env, seed)),
            )


def _check_process(env: Any, setting: Setting, factory: AgentFactory) -> None:
    """Raise if an agent changes the process whenever it plays; a module that it imports may do so once."""
    kernel = _content(setting)
    changed = _process_changes(env, setting, factory)
    if _content(setting) != kernel:
        changed.append("the published kernel")
    elif changed:
        changed = _process_changes(env, setting, factory)
    if changed:
        raise AgentCheckError(*PROCESS, f"it changed or left {', '.join(changed)}")


def _process_changes(env: Any, setting: Setting, factory: AgentFactory) -> list[str]:
    before, threads = ProcessState.now(), set(enumerate_threads())
    with preserved_process():
        agent = _instance(setting, factory)
        _play(env, agent, everything)
        agent.close()
        changed = before.changed(ProcessState.now())
    return changed + [f"the thread {name!r}" for name in left_threads(threads)]


def _content(setting: Setting) -> bytes | None:
    """Return the bytes of the published kernels; None of one that cannot be pickled."""
    try:
        return pickle.dumps([getattr(setting, name) for name in KERNELS])
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _setting(env: Any, seed: int = SEEDS[0][0]) -> Setting:
    env.reset(seed=seed)
    return env.get_wrapper_attr("setting")


def _instance(setting: Setting, factory: AgentFactory) -> Any:
    try:
        return _with_methods(factory(setting))
    except (ValueError, AgentCheckError):
        raise  # their messages name the option or the check
    except Exception as error:
        raise AgentCheckError(
            "no errors",
            "the factory to return an agent",
            "see the error above; a factory gets a Setting, whose fields may be None, and its options",
            f"it raised {type(error).__name__}: {error}",
        ) from error


def _with_methods(agent: Any) -> BaseAgent:
    if missing := lacking_method(agent):
        raise AgentCheckError(
            "interface",
            f"the methods {METHODS}",
            "add it; an agent that learns nothing has an empty update",
            f"{type(agent).__name__} has no {missing}",
        )
    return adapted(agent)


def _play(env: Any, agent: Any, show: Show, seeds: tuple[int, int] = SEEDS[0]) -> np.ndarray:
    actions = rehearse(env, agent, *seeds, show)
    try:
        checked_alarms(agent.alarms, len(actions))
    except (TypeError, ValueError) as error:
        last = len(actions) - 1
        raise AgentCheckError(
            "alarms",
            f"`alarms`, where an agent has it, to be None or ascending rounds in 0..{last} of a trial",
            "append t, the round whose feedback raised the alarm, and begin a new list in reset",
            f"it was {agent.alarms!r}",
        ) from error
    return actions


def _check_batch(env: Any, factory: AgentFactory, first: np.ndarray) -> None:
    """Compare a batch with single trials, of which `first` is the first one's actions."""
    problem = getattr(env.unwrapped, "problem", None)
    if problem is None or not problem.play_costs.is_free:  # budgets end trials at different rounds
        return
    others = [
        _play(env, _instance(_setting(env, seeds[0]), factory), everything, seeds) for seeds in SEEDS[1:]
    ]
    env_seeds, agent_seeds = (list(column) for column in zip(*SEEDS, strict=True))
    vector = BanditVectorEnv(problem, len(SEEDS), autoreset_mode="Disabled")
    vector.reset(seed=env_seeds)
    agent = _with_methods(factory(vector.setting, num_trials=len(SEEDS)))
    together = rehearse(vector, agent, env_seeds, agent_seeds, everything)
    _expect_same(np.stack([first, *others], axis=1), together, BATCH)


def _expect_same(played: np.ndarray, again: np.ndarray, rule: tuple[str, str, str]) -> None:
    if not np.array_equal(played, again):
        same = played.shape == again.shape
        t = int((played != again).reshape(len(played), -1).any(axis=1).argmax()) if same else 0
        raise AgentCheckError(*rule, f"in round {t} {played[t]} became {again[t]}")


def _finish(task: Callable[[], None], seconds: float) -> None:
    """Run a task in a thread, which is abandoned if the agent never returns; in a browser without a limit."""
    if in_browser():
        task()
        return
    errors: list[BaseException] = []

    def work() -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=work, daemon=True, name="check_agent")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise AgentCheckError(
            "finite time",
            f"all checks to end within {seconds:g} s",
            "look for a loop without end in the module, the factory, reset, act or update, or give a slow "
            "agent a larger time_limit",
            "the agent was still at work",
        )
    if errors and not isinstance(errors[0], Exception):
        raise AgentCheckError(
            "no exit",
            "a factory and methods that return or raise an Exception",
            "leave it to whoever plays the agent to end the program; raise a ValueError instead",
            f"the agent raised {type(errors[0]).__name__}({errors[0]})",
        ) from errors[0]
    if errors:
        raise errors[0]

"""Who enters the leaderboard: every agent on every environment whose features it handles, as studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gymnasium as gym

from agents.capabilities import demanded as demanded_by
from agents.registry import names as agent_names
from agents.registry import resolve_agent
from bandit_envs.environment.making import make
from bandit_envs.environment.registration import IDS
from bandit_envs.laws.functions import Recorded
from bandit_envs.laws.play_costs import Free
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.statistics import ENOUGH
from gpbandits.experiments.checkpoints import Checkpoints
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry, Study

REFERENCE = "random"  # scores 0 in every environment
# Its first 200 of 600 rounds are its smallest data sets, on which hardly an agent differs from random play.
WHOLE = "GPBandit-GrowingDataSVM-v0"
LEARNERS = "sb3-"  # begin the names of learners that would take longer than all other agents together

CLASSES = {  # of problems, by the feature that they are for
    "context": "contextual",
    "delay": "delayed",
    "change": "changing",
    "constraint": "constrained",
    "budget": "budgeted",
}


class Entries(NamedTuple):
    """One study an environment, what cannot take part, with the reason, and the class of each problem."""

    studies: list[Study]
    excluded: list[tuple[str, str]]  # (who, why)
    classes: dict[str, str]  # of each environment's label, one of `CLASSES`


def enter(
    trials: int = ENOUGH,
    horizon: int = 200,
    environments: Sequence[str] = (),
    agents: Sequence[str] = (),
    seed: int = 0,
) -> Entries:
    """Pair agents and environments.

    Args:
        trials: of each pair.
        horizon: rounds a trial at most, but of `WHOLE`; an environment's own horizon may be shorter.
        environments: ids, each of which must be playable; all registered ones that are if empty.
        agents: names, beside the reference; all registered ones but `LEARNERS` and those of other
            libraries if empty. Those without `features` are tried everywhere.
        seed: of the trials.
    """
    studies, excluded, classes = [], [], {}
    everybody = [name for name in agent_names() if not _is_slow(name)]
    names = sorted({*(agents or everybody), REFERENCE})
    if not agents:
        slow = f"{LEARNERS}* and optimisers of other libraries"
        excluded.append((slow, "they take longer than all others together; --agent names them"))
    for env_id in environments or IDS:
        try:
            own = _problem(env_id).horizon
            kwargs = {"horizon": own if env_id == WHOLE else min(horizon, own)}
            env = make(env_id, **kwargs)
            env.reset(seed=seed)
        except (ValueError, OSError, ImportError, gym.error.Error) as error:
            if environments:  # who names an environment wants it
                raise
            excluded.append((env_id, _line(error)))
            continue
        problem, setting = env.unwrapped.problem, env.get_wrapper_attr("setting")  # type: ignore[attr-defined]
        demanded = features_of(problem)
        env.close()
        entrants = []
        for name in names:
            if missing := resolve_agent(name).lacking(demanded):
                if name in agents:  # who names an agent wants to know where it is
                    excluded.append((f"{name} on {env_id}", f"it does not handle {', '.join(missing)}"))
                continue
            try:
                resolve_agent(name)(setting)
            except (ValueError, TypeError, OSError, ImportError) as error:
                excluded.append((f"{name} on {env_id}", _line(error)))
            else:
                entrants.append(AgentEntry(name, name))
        entry = EnvironmentEntry(env_id, env_id.removeprefix("GPBandit-").removesuffix("-v0"), kwargs)
        classes[entry.label] = class_of(problem)
        studies.append(
            Study(f"leaderboard: {entry.label}", trials, (entry,), tuple(entrants), seed, checkpoints=_EVERY)
        )
    return Entries(studies, excluded, classes)


def features_of(problem: Problem) -> set[str]:
    """What an agent must handle to play a problem as it is meant."""
    actions = {"box" if problem.decisions.continuous else "finite"}
    return demanded_by(problem.setting()) | actions | ({"availability"} if problem.volatile else set())


def class_of(problem: Problem) -> str:
    """The class of problems within which agents are ranked: by its data, else by the feature that it is for.

    Contexts and delays come together; a problem of more features is "combined".
    """
    if isinstance(problem.reward, Recorded):
        return "real"
    features = features_of(problem) | ({"budget"} if not isinstance(problem.play_costs, Free) else set())
    if len(features & CLASSES.keys()) > 1 and features & {"constraint", "change", "budget"}:
        return "combined"
    return next((name for feature, name in CLASSES.items() if feature in features), "plain")


_EVERY = Checkpoints("every")  # what a round costs counts, and sums of rounds would hide it


def _problem(env_id: str) -> Problem:
    env = make(env_id)
    problem = env.unwrapped.problem  # type: ignore[attr-defined]
    env.close()
    return problem


def _is_slow(name: str) -> bool:
    """Whether it is a learner, or an optimiser of another library."""
    return name.startswith(LEARNERS) or hasattr(resolve_agent(name).make, "requires")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())

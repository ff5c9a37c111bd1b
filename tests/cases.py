"""Environments for contracts: every registered id, alone and with features, and problems composed by hand."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import bandit_envs
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Problem
from bandit_envs.basics.types import Floats
from bandit_envs.data import find
from bandit_envs.data.runs import package_of
from bandit_envs.laws import (
    GPSample,
    KnownFunction,
    RKHSFunction,
    UniformNoise,
    availability,
    changes,
    delays,
    movement,
    play_costs,
)
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build, data_files


def needs_of(task: Any) -> list[pytest.MarkDecorator]:
    """What a measured task is skipped without: files, or the wheel of a package."""
    if task.problem:
        return [pytest.mark.needs_data(*data_files(task.problem))]
    package = package_of(task.tables[0])
    return [pytest.mark.needs_packages(package)] if package else []


FEATURES = ("delay", "context", "changes", "constraints")
# Every subset of the features that the composite environment can be without.
SUBSETS = [dict.fromkeys(off) for n in range(5) for off in combinations(FEATURES, n)]
POISSON = {"law": "poisson", "mean": 3}


class Case(NamedTuple):
    environment: str | Problem
    keywords: dict[str, Any]

    def make(self, **more: Any) -> gym.Env:
        return bandit_envs.make(self.environment, **self.keywords, **more)

    def vector(self, num_envs: int, **more: Any) -> gym.vector.VectorEnv:
        if isinstance(self.environment, str):
            return gym.make_vec(self.environment, num_envs, **self.keywords, **more)
        return BanditVectorEnv(self.environment, num_envs, **self.keywords, **more)

    def sync(self, num_envs: int, mode: Any, **more: Any) -> gym.vector.SyncVectorEnv:
        return gym.vector.SyncVectorEnv([lambda: self.make(**more)] * num_envs, autoreset_mode=mode)


def registered_ids() -> list[str]:
    """Every id but those of the single real tasks, which are one id with another keyword."""
    return [env_id for env_id in gym.registry if env_id.startswith("GPBandit-") and "/" not in env_id]


@cache
def box_of(env_id: str) -> Problem | None:
    """The problem of an id on a box; None where it has no such form or its data are not here."""
    name = gym.spec(env_id).kwargs["problem"]
    if not all(map(find, data_files(name))):
        return None
    try:
        return build(name, {"continuous": True})
    except ValueError:
        return None


@cache
def kind_of(env_id: str) -> tuple[Any, ...]:
    """Return the kind of problem of an id, or the id where its data are not here."""
    name = gym.spec(env_id).kwargs["problem"]
    return features_of(build(name, {})) if all(map(find, data_files(name))) else (env_id,)


def features_of(problem: Problem) -> tuple[Any, ...]:
    """Return the class of the law of the reward, and which features there are."""
    law, setting = problem.reward, problem.setting()
    while hasattr(law, "law"):  # of which it is derived
        law = law.law
    several = problem.decisions.num_contexts > 1
    features = (several, setting.num_constraints > 0, setting.may_change, setting.max_delay > 0)
    free = problem.play_costs.is_free, problem.movement.is_free
    return type(law), features, setting.volatile, free, setting.duel


def of_each_kind(cases: list[Any]) -> list[Any]:
    """Mark cases as further ones, but for the first of each kind of problem with the same keywords."""
    met: set[Any] = set()
    marked = []
    for each in cases:
        case: Case = each.values[0]
        registered = isinstance(case.environment, str)
        kind = kind_of(case.environment) if registered else features_of(case.environment)
        kind += tuple(case.keywords)
        further = [pytest.mark.further] if kind in met else []
        marked.append(pytest.param(case, id=each.id, marks=[*each.marks, *further]))
        met.add(kind)
    return marked


def is_plain(problem: Problem) -> bool:
    return not (problem.constraints or problem.setting().may_change or problem.decisions.num_contexts > 1)


def of_id(env_id: str, label: str = "", **keywords: Any) -> Any:
    name = env_id.removeprefix("GPBandit-").removesuffix("-v0") + label
    return pytest.param(
        Case(env_id, keywords),
        id=name,
        marks=pytest.mark.needs_data(*data_files(gym.spec(env_id).kwargs["problem"])),
    )


def by_hand(**laws: Any) -> Problem:
    """25 arms, horizon 40; the keywords are those of `Problem`."""
    decisions = laws.pop("decisions", Decisions(unit_grid(25)))
    return Problem(
        **{"decisions": decisions, "reward": GPSample(), "kernel": RBF(0.2), "horizon": 40, **laws}
    )


def below(x: Floats) -> Floats:  # not lambdas: environments made of them must be picklable
    return x[:, -1] - 0.7


def above(x: Floats) -> Floats:
    return 0.2 - x[:, -1]


CONTEXTS = np.array([[0.0, 2.0], [1.0, -1.0], [0.5, 0.0], [0.25, 0.25]])
COSTS = (KnownFunction(below), KnownFunction(above))
IN_CONTEXTS = Decisions(unit_grid(25), contexts=CONTEXTS)
EVERYTHING: dict[str, Any] = {
    "decisions": IN_CONTEXTS,
    "constraints": COSTS,
    "constraint_noise": UniformNoise(0.05),
    "changes": changes.AtRounds((10, 25)),
    "delay": delays.PoissonDelay(4),
    "max_delay": 6,
    "availability": availability.BernoulliAvailability(0.8),
}
BY_HAND = {
    "contexts": by_hand(decisions=IN_CONTEXTS),
    "constraints": by_hand(constraints=COSTS, constraint_noise=UniformNoise(0.05)),
    "changes": by_hand(changes=changes.AtRounds((10, 25))),
    "volatile arms": by_hand(availability=availability.BernoulliAvailability(0.8)),
    "everything": by_hand(**EVERYTHING),
    "everything with a budget": by_hand(**EVERYTHING, play_costs=play_costs.GPCosts(16.0, noise_std=0.1)),
    "box with a budget": by_hand(
        decisions=Decisions(unit_grid(9), continuous=True),
        reward=RKHSFunction(),
        play_costs=play_costs.LogGPCosts(18.0, median=0.5, deviation=0.3, known=True),
    ),
    "moves and a budget": by_hand(
        movement=movement.Travel(0.3), play_costs=play_costs.GPCosts(16.0), delay=delays.PoissonDelay(2)
    ),
    "box with moves": by_hand(
        decisions=Decisions(unit_grid(9), continuous=True),
        reward=RKHSFunction(),
        movement=movement.Switching(0.2),
    ),
    "box with contexts, changes and delays": by_hand(
        decisions=Decisions(unit_grid(9), contexts=CONTEXTS[:2], continuous=True),
        reward=RKHSFunction(),
        delay=delays.PoissonDelay(2),
        changes=changes.AtRounds((15,)),
    ),
}

GRIDS = of_each_kind([of_id(env_id, horizon=30) for env_id in registered_ids()])
DELAYED = of_each_kind([of_id(env_id, ", delayed", horizon=30, delay=POISSON) for env_id in registered_ids()])
BOXES = [env_id for env_id in registered_ids() if box_of(env_id)]
# A reset searches the optimum of every segment: in boxes that change, the problems by hand have fewer.
STILL_BOXES = [env_id for env_id in BOXES if not box_of(env_id).setting().may_change]  # type: ignore[union-attr]
PLAIN_BOXES = [env_id for env_id in BOXES if is_plain(box_of(env_id))]  # type: ignore[arg-type]


def quick_box(env_id: str) -> Any:
    """A box of an id whose resets take milliseconds: few contexts, and feasible optima that are kept."""
    problem = box_of(env_id)
    assert problem is not None
    keywords: dict[str, Any] = {"num_contexts": 2} if problem.decisions.num_contexts > 2 else {}
    if problem.constraints:
        keywords["function_seed"] = 0
    return of_id(env_id, ", box", horizon=40, continuous=True, **keywords)


IN_BOXES = of_each_kind([quick_box(env_id) for env_id in STILL_BOXES])
COMPOSED = [pytest.param(Case(problem, {}), id=name) for name, problem in BY_HAND.items()]
CASES = [*GRIDS, *DELAYED, *IN_BOXES, *COMPOSED]


def played(env: BanditEnv | gym.Env, seed: int | None = 0, rounds: int | None = None) -> list[Any]:
    """Everything an episode of random plays returns: (observation, info) of the reset, then the steps."""
    env.action_space.seed(0)
    outputs: list[Any] = [env.reset(seed=seed)]
    done = False
    while not done and (rounds is None or len(outputs) <= rounds):
        outputs.append(env.step(env.action_space.sample()))
        done = outputs[-1][2] or outputs[-1][3]
    return outputs
